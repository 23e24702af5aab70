"""What a project can make its own: fixtures, hooks, test functions of its own on chosen tasks."""

import json

import pytest

from tests.projects import Project, nodeid


@pytest.fixture
def cut(project: Project) -> Project:
    """A project with one task."""
    project.task("cut")
    return project


def test_a_fixture_of_the_projects_own_gives_the_agent(
    cut: Project, plugin_args: tuple[str, ...]
) -> None:
    cut.pytester.makeconftest("""
        import pytest
        from agents import Tuner

        @pytest.fixture(params=[2, 4])
        def mlab_agent(request):
            agent = Tuner(cut=request.param)
            agent.name = f"tuner-{request.param}"
            return agent
    """)
    run = cut.run(*plugin_args, "tasks")
    run.assert_outcomes(passed=2)
    found = {result.agent: result for result in cut.results().values()}
    assert sorted(found) == ["tuner-2", "tuner-4"]
    assert found["tuner-2"].score == 0.8
    assert found["tuner-4"].score == 1.0


def test_a_task_folder_may_have_fixtures_of_its_own(cut: Project) -> None:
    cut.task(
        "slice",
        files={
            "conftest.py": "import pytest\nfrom agents import Tuner\n\n"
            "@pytest.fixture\ndef mlab_agent():\n    return Tuner(cut=3)\n"
        },
    )
    cut.run("tasks", "--mlab-agent=solution").assert_outcomes(passed=2)
    results = {result.task: result for result in cut.results().values()}
    assert (results["cut"].agent, results["cut"].score) == ("solution", 1.0)
    assert (results["slice"].agent, results["slice"].score) == ("Tuner", 0.9)


def test_workspace_and_environment_can_be_changed(cut: Project) -> None:
    cut.pytester.makeconftest("""
        import pytest

        @pytest.fixture
        def mlab_workspace(mlab_workspace):
            (mlab_workspace.root / "notes.md").write_text("try 4")
            return mlab_workspace

        @pytest.fixture
        def mlab_environment(mlab_environment):
            class Told:
                def __getattr__(self, name):
                    return getattr(mlab_environment, name)

                @property
                def instruction(self):
                    return mlab_environment.instruction + "There are notes."

            return Told()
    """)
    cut.write(
        "reader.py",
        "def read(environment):\n"
        "    assert environment.instruction.endswith('There are notes.')\n"
        "    assert environment.act('Read File', file_name='notes.md').text == 'try 4'\n"
        "    environment.act('Execute Script', script_name='train.py')\n",
    )
    cut.run("tasks", "--mlab-agent=reader:read").assert_outcomes(failed=1)
    assert cut.statuses() == {"cut": "below-threshold"}


def test_a_hook_makes_agents_by_name(cut: Project) -> None:
    cut.pytester.makeconftest("""
        from agents import Tuner

        def pytest_mlab_make_agent(name):
            if name.startswith("at-"):
                return Tuner(cut=int(name[3:]))
    """)
    run = cut.run("tasks", "--mlab-agent=at-3", "--mlab-agent=baseline")
    run.assert_outcomes(passed=1, failed=1)
    assert cut.results()[nodeid("cut", "at-3")].score == 0.9


def test_hooks_change_actions_and_see_results(cut: Project, plugin_args: tuple[str, ...]) -> None:
    cut.pytester.makeconftest("""
        from pytest_mlab.actions import ACTIONS

        def pytest_mlab_actions(task):
            assert task.name == "cut"
            return [action for action in ACTIONS if action.name != "Write File"]

        def pytest_mlab_trial_finished(config, result):
            with open(config.rootpath / "seen", "a") as file:
                print(result.agent, result.status, file=file)

        def pytest_mlab_update_json(config, document):
            assert not hasattr(config, "workerinput")
            document["commit"] = "f00d"
    """)
    agents = ["--mlab-agent=agents:Tuner", "--mlab-agent=solution"]
    run = cut.run(*plugin_args, "tasks", *agents, "--mlab-json=out.json")
    run.assert_outcomes(failed=2)
    seen = sorted((cut.path / "seen").read_text().splitlines())
    assert seen == ["agents:Tuner below-threshold", "solution below-threshold"]
    document = json.loads((cut.path / "out.json").read_text())
    assert document.pop("commit") == "f00d"
    assert document == cut.document()


def test_what_a_hook_adds_must_be_json(cut: Project) -> None:
    cut.pytester.makeconftest(
        "def pytest_mlab_update_json(document):\n    document['commit'] = object()\n"
    )
    run = cut.run("tasks", "--mlab-agent=solution", "--mlab-json=out.json")
    run.stdout.fnmatch_lines(["results not written: Object of type object is not JSON *"])
    assert run.ret == pytest.ExitCode.INTERNAL_ERROR
    assert cut.statuses() == {"cut": "success"}


OWN_TESTS = """
    import pytest

    @pytest.mark.mlab_task("tasks/c*")
    def test_few_steps(mlab_run):
        result = mlab_run()
        assert result.success
        assert result.steps <= 2, "too many steps"

    @pytest.mark.mlab_task("slice")
    @pytest.mark.mlab_task("tasks/slice", "sl*")
    def test_runs_the_starter(mlab_run, mlab_environment, mlab_workspace):
        mlab_run()
        names = [step.action for step in mlab_environment.steps]
        assert "Execute Script" in names
        assert (mlab_workspace.root / "submission.csv").exists()

    @pytest.mark.mlab_task("tasks/*")
    def test_states_its_limits(mlab_task):
        assert mlab_task.limits.steps == 30
"""


def test_own_test_functions_run_on_the_tasks_that_they_name(
    cut: Project, plugin_args: tuple[str, ...]
) -> None:
    cut.task("slice")
    cut.pytester.makepyfile(test_own=OWN_TESTS)
    cut.write("pytest.ini", "[pytest]\nmlab_agent = solution\naddopts = --strict-markers\n")
    run = cut.run(*plugin_args, "-v")
    run.assert_outcomes(passed=3, failed=1)
    run.stdout.fnmatch_lines_random(
        [
            "*test_own.py::test_few_steps[[]cut-solution-trial1]*",
            "*test_own.py::test_runs_the_starter[[]slice-solution-trial1]*",
            "*test_own.py::test_states_its_limits[[]slice]*",
            "E * AssertionError: too many steps",
            "2 trials: 2 successes *",
        ]
    )
    assert {result.status for result in cut.results().values()} == {"success"}


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ('@pytest.mark.mlab_task("tasks/q?")', '*mlab_task("tasks/q?") matches no task folder *'),
        ('@pytest.mark.mlab_task("/tasks")', "*mlab_task('/tasks'): give a task's name or a *"),
        ("@pytest.mark.mlab_task(3)", "*mlab_task(3): give a task's name or a pattern *"),
        ("", "*test_own.py::test_own: uses a fixture of pytest-mlab, but names no task; mark *"),
    ],
)
def test_a_wrong_pattern_is_an_error_of_that_file(cut: Project, marker: str, message: str) -> None:
    cut.write("test_own.py", f"import pytest\n\n{marker}\ndef test_own(mlab_run): mlab_run()\n")
    cut.write("test_other.py", "def test_other(): pass\n")
    run = cut.run("--continue-on-collection-errors")
    run.assert_outcomes(errors=1, passed=1)
    run.stdout.fnmatch_lines([message])
    run.stdout.no_fnmatch_line("*pytest_mlab/*")


class TestResources:
    def test_waiting_counts_against_no_limit(self, project: Project) -> None:
        """A device is busy for longer than the trial, and its net, may last."""
        project.task("cut", resources={"gpus": 1}, limits={"seconds": 20})
        project.write(
            "conftest.py",
            """
import threading, time
import pytest
from pytest_mlab.leases import lease
from pytest_mlab.resources import Demand

@pytest.fixture(scope="session", autouse=True)
def busy():
    free, held = threading.Event(), threading.Event()
    def hold():
        with lease(Demand(gpus=1), ("0",)):
            held.set()
            free.wait()
    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    threading.Timer(2.5, free.set).start()
    yield
    thread.join()

def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.timeout(2, method="signal", func_only=True), append=False)
""",
        )
        run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:solve", "--mlab-gpus=0")
        run.assert_outcomes(passed=1)
        (result,) = project.results().values()
        assert result.seconds < 2.5

    @pytest.mark.parametrize(
        ("resources", "reason"),
        [({"gpus": 1}, "*needs 1 GPU(s)*"), ({"memory_gb": 4096}, "*needs 4096 GB of memory*")],
    )
    def test_what_the_machine_lacks_is_a_skip_with_the_remedy(
        self, project: Project, resources: dict[str, int], reason: str
    ) -> None:
        project.task("cut", resources=resources)
        run = project.run("-p", "no:xdist", "tasks", "--mlab-agent=solution", "--mlab-gpus=none")
        run.assert_outcomes(skipped=1)
        run.stdout.fnmatch_lines([f"skipped cut (1): {reason}"])

    def test_threads_are_the_cores_that_a_task_asks_for(self, project: Project) -> None:
        project.task("asks", resources={"cpus": 1})
        project.write(
            "agents.py",
            "def look(environment):\n"
            "    environment.act('Write File', file_name='t.py',\n"
            '        content=\'import os; print(os.environ["OMP_NUM_THREADS"], "threads")\')\n'
            "    environment.act('Execute Script', script_name='t.py')\n",
        )
        project.run("-p", "no:xdist", "tasks", "--mlab-agent=agents:look")
        (trace,) = (project.sessions[-1]).glob("*/trace.jsonl")
        assert "1 threads" in trace.read_text()
