"""``--mlab-prepare`` makes tasks ready ahead of a run; ``--mlab-strict`` forgives no lack."""

import json
from pathlib import Path

import pytest

from tests.folders import PREPARER, STARTER
from tests.projects import Project, nodeid

UNSTATED = {"score": None, "runs": 5}
NOISY = STARTER.replace("CUT = 1", "import random\nCUT = random.choice([1, 2])")
CONSENT = (
    "from pytest_mlab import Unavailable\ndef download(raw):\n"
    "    if not (raw / 'train.csv').exists():\n"
    "        raise Unavailable(f'accept the rules, or put it there by hand as {raw}/train.csv')\n"
    + PREPARER
)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of the test's own."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MLAB_CACHE", str(folder))
    return folder


def baselines(cache: Path) -> list[Path]:
    """List the baselines that were measured."""
    return sorted(cache.glob("data/*/baseline-*.json"))


class TestPrepare:
    def test_every_task_is_prepared_skipped_or_an_error(
        self, project: Project, plugin_args: tuple[str, ...], cache: Path
    ) -> None:
        project.task("fine")
        project.task("consent", files={"prepare.py": CONSENT})
        project.task("broken", files={"prepare.py": "1 / 0\n"})
        run = project.run(*plugin_args, "tasks", "--mlab-prepare", "-v", "-rs")
        run.assert_outcomes(passed=1, skipped=1, errors=1)
        run.stdout.fnmatch_lines_random(
            [
                "*tasks/fine/task.toml::test_is_ready[[]fine]*",
                "SKIPPED * accept the rules, or put it there by hand as *",
                "*ZeroDivisionError*",
            ]
        )
        assert [path.name.split("-")[0] for path in (cache / "data").iterdir()] == ["fine"]
        assert project.sessions == []

    def test_markers_and_names_select_as_in_a_run(self, project: Project) -> None:
        project.task("near", tags=["offline"])
        project.task("far")
        ids = project.collect("tasks", "--mlab-prepare", "-m", "offline")
        assert ids == ["tasks/near/task.toml::test_is_ready[near]"]
        assert project.collect("tasks", "--mlab-prepare", "-k", "far") == [
            "tasks/far/task.toml::test_is_ready[far]"
        ]

    def test_what_was_put_there_by_hand_is_built_from(self, project: Project, cache: Path) -> None:
        project.task("consent", files={"prepare.py": CONSENT})
        raw = cache / "raw" / "consent"
        project.run("tasks", "--mlab-prepare", "-rs").stdout.fnmatch_lines([f"*{raw}/train.csv"])
        (raw / "train.csv").write_text("by hand")
        project.run("tasks", "--mlab-prepare").assert_outcomes(passed=1)

    def test_a_run_afterwards_finds_all_done(self, project: Project, cache: Path) -> None:
        project.task("cut", baseline=UNSTATED)
        first = project.run("tasks", "--mlab-prepare")
        first.stderr.fnmatch_lines(["mlab: cut states no baseline: running its starter 5 times"])
        second = project.run("tasks", "--mlab-agent=solution")
        second.assert_outcomes(passed=1)
        assert "mlab: cut" not in second.stderr.str()
        assert len(baselines(cache)) == 1


class TestABaselineThatIsNotStated:
    """The task's author did not have the data: it is measured where they are prepared."""

    def test_is_the_mean_over_runs_of_the_starter(
        self, project: Project, plugin_args: tuple[str, ...], cache: Path
    ) -> None:
        project.task("cut", baseline=UNSTATED)
        agents = ("--mlab-agent=baseline", "--mlab-agent=solution")
        project.run(*plugin_args, "tasks", *agents).assert_outcomes(passed=1, failed=1)
        results = project.results()
        assert results[nodeid("cut")].baseline == results[nodeid("cut")].score == 0.7
        assert results[nodeid("cut", "solution")].baseline == 0.7
        (file,) = baselines(cache)
        assert json.loads(file.read_text()) == [0.7] * 5

    def test_is_measured_anew_when_the_task_changes(self, project: Project, cache: Path) -> None:
        for cut in ("CUT = 1", "CUT = 2"):
            starter = STARTER.replace("CUT = 1", cut)
            project.task("cut", baseline=UNSTATED, files={"workspace/train.py": starter})
            project.run("tasks", "--mlab-agent=baseline").assert_outcomes(failed=1)
        assert sorted(json.loads(file.read_text())[0] for file in baselines(cache)) == [0.7, 0.8]

    def test_a_sound_task_passes_all_checks(self, project: Project) -> None:
        project.task("cut", baseline=UNSTATED)
        project.run("tasks", "--mlab-check").assert_outcomes(passed=7)

    def test_the_options_of_a_run_do_not_bind_the_starter(self, project: Project) -> None:
        project.task("cut", baseline=UNSTATED)
        run = project.run("tasks", "--mlab-agent=solution", "--mlab-max-steps=1")
        assert next(iter(project.results().values())).baseline == 0.7, run.stdout.str()

    @pytest.mark.parametrize(
        ("changes", "message"),
        [
            pytest.param(
                {"files": {"workspace/train.py": "1 / 0\n"}},
                "*train.py: the starter, unmodified, gives no baseline: *no-submission*",
                id="a starter that fails",
            ),
            pytest.param(
                {"files": {"workspace/train.py": STARTER.replace("CUT = 1", "CUT = 4")}},
                "*task.toml: [[]baseline] score is 1: an improvement of more than 10% *",
                id="a starter that cannot be improved",
            ),
            pytest.param(
                {"files": {"workspace/train.py": NOISY}, "baseline": {"score": None, "runs": 40}},
                "*task.toml: [[]baseline] std is 0.0* over 40 runs: a do-nothing agent would *",
                id="a starter that succeeds by luck",
            ),
        ],
    )
    def test_a_starter_that_gives_none_is_the_authors_mistake(
        self, project: Project, changes: dict[str, object], message: str, cache: Path
    ) -> None:
        project.task("cut", **{"baseline": UNSTATED, **changes})  # type: ignore[arg-type]
        run = project.run("tasks", "--mlab-agent=baseline")
        run.assert_outcomes(errors=1)
        run.stdout.fnmatch_lines([message])
        assert baselines(cache) == []


class TestStrict:
    @pytest.mark.parametrize("option", ["--mlab-prepare", "--mlab-check", "--mlab-agent=baseline"])
    def test_what_is_missing_is_an_error_with_the_remedy(
        self, project: Project, option: str
    ) -> None:
        project.task("needy", resources={"requires": ["no-such-package"]})
        project.run("tasks", option).assert_outcomes(skipped=7 if "check" in option else 1)
        run = project.run("tasks", option, "--mlab-strict")
        assert run.ret == pytest.ExitCode.TESTS_FAILED
        assert run.parseoutcomes().keys() == {"errors"}
        run.stdout.fnmatch_lines_random(["*needs packages *: pip install no-such-package*"])

    def test_it_is_the_machines_fault_in_the_results(self, project: Project) -> None:
        project.task("needy", resources={"requires": ["no-such-package"]})
        project.run("tasks", "--mlab-agent=baseline", "--mlab-strict")
        assert project.statuses() == {"needy": "infra-error"}
