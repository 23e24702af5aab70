"""Folders in the original's format load, prepare, and score as their own eval.py says."""

import dataclasses
import importlib
import math
import shutil
import statistics
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pytest

from pytest_mlab.data import PreparedData, prepare_data
from pytest_mlab.exceptions import (
    ActionError,
    InfraError,
    InvalidSubmission,
    NoSubmission,
    TaskError,
    Unavailable,
)
from pytest_mlab.mlagentbench import is_mlagentbench, speed
from pytest_mlab.mlagentbench.folder import load_mlagentbench
from pytest_mlab.mlagentbench.paper import PAPER
from pytest_mlab.mlagentbench.record import Record
from pytest_mlab.mlagentbench.submission import find_submission
from pytest_mlab.sandbox import find_sandbox
from pytest_mlab.scoring import Score, score_workspace
from pytest_mlab.task import Metric, Task, digest_files, task_files
from pytest_mlab.workspace import Workspace

Run = Callable[..., pytest.RunResult]

# A noisy sine, to be predicted by the mean of the nearest neighbours: of too many, at first.
PREPARE = """
import csv, math, random

random.seed(1)
rows = [(i, i / 100, math.sin(i / 20) + random.gauss(0, 0.1)) for i in range(300)]
random.shuffle(rows)

def write(name, header, rows):
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([header, *rows])

write("../env/train.csv", ["id", "x", "y"], rows[:200])
write("../env/test.csv", ["id", "x"], [row[:2] for row in rows[200:]])
write("answer.csv", ["id", "y"], [(row[0], row[2]) for row in rows[200:]])
"""

STARTER = """
import csv

NEIGHBOURS = 60

def predict(x, known):
    nearest = sorted(known, key=lambda row: abs(row[0] - x))[:NEIGHBOURS]
    return sum(y for _, y in nearest) / len(nearest)

with open("train.csv") as file:
    rows = [(float(row["x"]), float(row["y"])) for row in csv.DictReader(file)]
fitted, held_out = rows[:150], rows[150:]
mae = sum(abs(predict(x, fitted) - y) for x, y in held_out) / len(held_out)
print("Validation MAE:", mae)

with open("test.csv") as file, open("submission.csv", "w") as out:
    print("id,y", file=out)
    for row in csv.DictReader(file):
        print(row["id"], predict(float(row["x"]), rows), sep=",", file=out)
"""

EVALUATE = """
import csv, os

def get_score(submission_folder="../env"):
    with open(os.path.join(os.path.dirname(__file__), "answer.csv")) as file:
        answers = {row["id"]: float(row["y"]) for row in csv.DictReader(file)}
    with open(os.path.join(submission_folder, "submission.csv")) as file:
        found = {row["id"]: float(row["y"]) for row in csv.DictReader(file)}
    return sum(abs(found[id] - y) for id, y in answers.items()) / len(answers)

if __name__ == "__main__":
    print(get_score())
"""

METRIC = """
[metric]
name = "MAE"
goal = "minimize"
bound = 0.0
"""

STATED = f"{METRIC}[baseline]\nscore = 0.5\n"

FILES = {
    "env/train.py": STARTER,
    "env/data_description.txt": "Points on a noisy sine.\n",
    "scripts/research_problem.txt": "Improve train.py, and predict test.csv.\n",
    "scripts/read_only_files.txt": "./train.csv\n./test.csv\n",
    "scripts/prepare.py": PREPARE,
    "scripts/eval.py": EVALUATE,
    "scripts/mlab.toml": METRIC,
}


def make_folder(parent: Path, changes: Mapping[str, str | None], name: str = "sine") -> Path:
    """Write a folder in the original's format; ``None`` leaves a file out."""
    folder = parent / "benchmarks" / name
    for file, text in {**FILES, **changes}.items():
        if text is not None:
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
    return folder


def prepare(folder: Path) -> tuple[Task, PreparedData]:
    task = load_mlagentbench(folder)
    return task, prepare_data(task)


@dataclasses.dataclass(frozen=True)
class Trial:
    """A prepared task and a fresh workspace of it."""

    task: Task
    data: PreparedData
    workspace: Workspace

    def score(self, submission: str | None = None) -> Score:
        """Score what lies in the workspace, or this submission."""
        root = self.workspace.root
        if submission is not None:
            (root / self.task.submission.file).write_text(submission)
        return score_workspace(self.task, root, self.data, find_sandbox("auto"))


def open_trial(folder: Path) -> Trial:
    task, data = prepare(folder)
    return Trial(task, data, Workspace.create(task, data.public, folder.parents[1] / "workspace"))


@pytest.fixture
def trial(tmp_path: Path) -> Trial:
    """A trial of the sine task as it is; its data are prepared once for all tests."""
    return open_trial(make_folder(tmp_path, {}))


class TestRecognising:
    def test_a_folder_with_env_and_a_research_problem_is_one(self, tmp_path: Path) -> None:
        assert is_mlagentbench(make_folder(tmp_path, {}))

    def test_a_project_with_a_virtual_environment_and_scripts_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "env" / "bin").mkdir(parents=True)
        (tmp_path / "scripts").mkdir()
        (tmp_path / "scripts" / "prepare.py").touch()
        assert not is_mlagentbench(tmp_path)

    def test_the_folder_of_all_benchmarks_is_none(self, tmp_path: Path) -> None:
        assert not is_mlagentbench(make_folder(tmp_path, {}).parent)


class TestLoading:
    def test_the_folder_says_most_of_what_a_task_is(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {})
        task = load_mlagentbench(folder)
        assert (task.name, task.starter) == ("sine", "train.py")
        assert task.instruction == "Improve train.py, and predict test.csv.\n"
        assert task.workspace == folder / "env"
        assert task.submission.file == "submission.csv"
        assert task.metric == Metric("MAE", "minimize", 0.0)
        assert task.baseline.measured
        assert math.isnan(task.baseline.score)
        assert (task.limits.seconds, task.limits.steps) == (5 * 3600, 50)
        assert "mlagentbench" in task.tags

    @pytest.mark.parametrize("name", ["house-price", "spaceship-titanic", "feedback"])
    def test_the_papers_own_folders_need_no_settings(self, tmp_path: Path, name: str) -> None:
        task = load_mlagentbench(make_folder(tmp_path, {"scripts/mlab.toml": None}, name))
        assert task.metric == PAPER[name].metric

    def test_settings_say_what_the_format_leaves_open(self, tmp_path: Path) -> None:
        settings = """
            title = "A noisy sine"
            tags = ["toy"]
            starter = "model.py"
            [submission]
            file = "out/predictions.csv"
            [metric]
            name = "RMSE"
            goal = "minimize"
            [baseline]
            score = 0.5
            std = 0.001
            runs = 5
            [limits]
            seconds = 60
            [resources]
            requires = ["pytest"]
        """
        changes = {"env/model.py": STARTER, "scripts/mlab.toml": settings}
        task = load_mlagentbench(make_folder(tmp_path, changes))
        assert (task.title, task.starter) == ("A noisy sine", "model.py")
        assert task.submission.file == "out/predictions.csv"
        assert (task.metric.name, task.metric.bound) == ("RMSE", None)
        assert (task.baseline.score, task.baseline.measured) == (0.5, False)
        assert (task.limits.seconds, task.limits.scoring_seconds) == (60, 600)
        assert task.resources.requires == ("pytest",)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            (None, r'mlab.toml: \[metric\] name is missing: .* name = "accuracy" and goal'),
            ('[metric]\nname = "MAE"', r"\[metric\] goal is missing"),
            (METRIC + "[limit]\nseconds = 1", r'limit is not a key .* did you mean "limits"'),
            (METRIC + "[baseline]\nruns = 1", r"\[baseline\] runs is 1; .* twice at least"),
            (METRIC + "[baseline]\nstd = 0.1", r"\[baseline\] std is not a key"),
            (METRIC + "[baseline]\nscore = 1\nmeasured = true", r"measured is true, but eval.py"),
            (METRIC + "[baseline]\nscore = 0", r"\[baseline\] score is 0, of which no fraction"),
            (METRIC + '[submission]\nfile = "../x"', r'\[submission\] file is "../x"'),
            (METRIC + "[metric", "mlab.toml: is not valid TOML"),
            ('starter = "model.py"\n' + METRIC, r'starter names "model.py", which is not in'),
        ],
    )
    def test_wrong_settings_are_named_with_the_remedy(
        self, tmp_path: Path, settings: str | None, message: str
    ) -> None:
        with pytest.raises(TaskError, match=message):
            load_mlagentbench(make_folder(tmp_path, {"scripts/mlab.toml": settings}))

    def test_requirements_count_by_their_names_alone(self, tmp_path: Path) -> None:
        requirements = """
            # for the model
            scikit-learn==1.2.2   # of its time
            tfds-nightly==4.5.2.dev202204190046
            dm-clrs @ git+https://example.invalid/clrs.git
            -r more.txt
            pywin32; sys_platform == "win32"
        """
        folder = make_folder(tmp_path, {"scripts/requirements.txt": requirements})
        requires = load_mlagentbench(folder).resources.requires
        assert requires == ("scikit-learn", "tfds-nightly", "dm-clrs")

    def test_a_line_that_names_no_package_is_shown(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {"scripts/requirements.txt": "numpy >= \n"})
        with pytest.raises(TaskError, match=r'requirements.txt: "numpy >=" names no package'):
            load_mlagentbench(folder)

    def test_a_task_that_shows_its_test_labels_is_refused(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {"scripts/mlab.toml": None}, "cifar10")
        with pytest.raises(TaskError, match=r"shows its test labels .*accept_visible_labels"):
            load_mlagentbench(folder)
        (folder / "scripts" / "mlab.toml").write_text("accept_visible_labels = true\n")
        assert load_mlagentbench(folder).metric.name == "accuracy"

    def test_a_submission_left_over_from_a_run_is_refused(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {"env/submission.csv": "id,y\n"})
        with pytest.raises(TaskError, match=r"env/submission.csv: is left over.*delete it"):
            load_mlagentbench(folder)


class TestFindingTheSubmission:
    @pytest.mark.parametrize(
        "line",
        [
            'open(os.path.join(folder, "out.csv"))',
            'open(folder + "/out.csv")',
            'open(f"{folder}/out.csv")',
            '(Path(folder) / "out.csv").open()',
            'path = os.path.join(folder, "out.csv"); open(path); open(path)',
            'base = Path(folder); open(base / "out.csv")',
        ],
    )
    def test_however_it_is_spelled(self, tmp_path: Path, line: str) -> None:
        file = tmp_path / "eval.py"
        file.write_text(f"def get_score(folder='../env'):\n    {line}\n    return 1\n")
        assert find_submission(file) == "out.csv"

    def test_it_may_lie_in_a_folder(self, tmp_path: Path) -> None:
        file = tmp_path / "eval.py"
        file.write_text(
            "def get_score(folder):\n"
            "    out = join(folder, 'results')\n"
            "    return load(join(out, 'submission.csv'), answers='answer.csv')\n"
        )
        assert find_submission(file) == "results/submission.csv"

    def test_where_none_shows_it_is_the_usual_one(self, tmp_path: Path) -> None:
        file = tmp_path / "eval.py"
        file.write_text("def get_score(folder):\n    return check(folder)\n")
        assert find_submission(file) == "submission.csv"

    @pytest.mark.parametrize(
        ("source", "message"),
        [
            ("def get_score(folder):\n    load(folder + '/model/')", "reads model of the folder"),
            (
                "def get_score(folder):\n    load(folder + '/a.pkl', folder + '/b.pkl')",
                r"reads a.pkl, b.pkl .* name it under \[submission\] file in mlab.toml",
            ),
            ("def score(folder):\n    return 1", r"defines no get_score\(folder\)"),
            ("def get_score():\n    return 1", r"defines no get_score\(folder\)"),
            ("def get_score(folder:\n", "cannot be read as Python"),
            (None, r"eval.py: is missing, so nothing measures"),
        ],
    )
    def test_what_cannot_be_handed_in_is_refused(
        self, tmp_path: Path, source: str | None, message: str
    ) -> None:
        folder = make_folder(tmp_path, {"scripts/eval.py": source})
        with pytest.raises(TaskError, match=message):
            load_mlagentbench(folder)

    def test_the_author_may_say_which_file_it_is(self, tmp_path: Path) -> None:
        changes = {
            "scripts/eval.py": "def get_score(folder):\n    a(folder + '/a'); b(folder + '/b')\n",
            "scripts/mlab.toml": METRIC + '[submission]\nfile = "a"\n',
        }
        assert load_mlagentbench(make_folder(tmp_path, changes)).submission.file == "a"


class TestPreparing:
    def test_the_folder_itself_is_never_written_to(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {})
        before = digest_files(folder, task_files(folder))
        prepare(folder)
        assert digest_files(folder, task_files(folder)) == before
        assert not list(folder.rglob("__pycache__"))

    def test_data_lie_beside_the_starter_and_are_shared(self, trial: Trial) -> None:
        assert trial.workspace.entries(".") == [
            "data_description.txt",
            "test.csv",
            "train.csv",
            "train.py",
        ]
        assert trial.workspace.read("train.csv").startswith(b"id,x,y")
        shared = trial.workspace.root / "train.csv"
        assert shared.resolve() == trial.data.public.resolve() / "train.csv"
        assert not (trial.workspace.root / "train.py").is_symlink()

    def test_data_are_read_only_and_the_starter_is_not(self, trial: Trial) -> None:
        with pytest.raises(ActionError, match="read-only"):
            trial.workspace.write("train.csv", b"id,x,y\n")
        trial.workspace.write("train.py", b"pass\n")
        assert trial.workspace.read("train.py") == b"pass\n"

    def test_answers_are_never_among_what_the_agent_sees(self, trial: Trial) -> None:
        answers = (trial.data.private / "scripts" / "answer.csv").read_text().splitlines()[1:]
        seen = [
            path
            for folder in (trial.workspace.root, trial.data.public)
            for path in folder.rglob("*")
            if path.is_file()
        ]
        assert {path.name for path in seen} == {*trial.workspace.entries(".")}
        shown = "".join(path.read_text() for path in seen)
        assert not any(answer.partition(",")[2] in shown for answer in answers)

    def test_data_in_folders_leave_the_folders_writable(self, tmp_path: Path) -> None:
        changes = {
            "scripts/mlab.toml": STATED,
            "env/data/README.txt": "Data.\n",
            "scripts/prepare.py": PREPARE.replace("../env/", "../env/data/"),
            "scripts/read_only_files.txt": "data/*.csv\n",
            "env/train.py": STARTER.replace('"train.csv"', '"data/train.csv"').replace(
                '"test.csv"', '"data/test.csv"'
            ),
        }
        trial = open_trial(make_folder(tmp_path, changes))
        assert trial.workspace.entries("data") == ["README.txt", "test.csv", "train.csv"]
        trial.workspace.write("data/features.csv", b"mine\n")
        assert not (trial.data.public / "data" / "features.csv").exists()

    def test_what_preparing_changed_takes_the_place_of_what_was_there(self, tmp_path: Path) -> None:
        whole = "id,x,y\n" + "".join(f"{i},{i / 10},{i % 7}\n" for i in range(60))
        split = """
            lines = open("../env/train.csv").read().splitlines(keepends=True)
            open("../env/train.csv", "w").writelines(lines[:41])
            open("../env/test.csv", "w").writelines(
                line.rpartition(",")[0] + "\\n" for line in lines[:1] + lines[41:]
            )
            open("answer.csv", "w").writelines(lines[:1] + lines[41:])
        """
        changes = {
            "scripts/mlab.toml": STATED,
            "env/train.csv": whole,
            "scripts/prepare.py": split,
            "scripts/read_only_files.txt": None,
        }
        trial = open_trial(make_folder(tmp_path, changes))
        assert trial.workspace.read("train.csv").count(b"\n") == 41

    def test_a_folder_prepared_by_hand_is_taken_as_it_is(self, tmp_path: Path) -> None:
        changes = {"scripts/prepared": "success", "scripts/mlab.toml": STATED}
        folder = make_folder(tmp_path, changes)
        (folder / "scripts" / "prepare.py").write_text("input('Never asked again')\n")
        (folder / "env" / "test.csv").write_text("id,x\n7,0\n")
        (folder / "scripts" / "answer.csv").write_text("id,y\n7,3\n")
        trial = open_trial(folder)
        assert (trial.workspace.root / "test.csv").is_symlink()
        assert trial.score("id,y\n7,1\n").value == 2

    def test_a_question_nobody_answers_makes_the_task_unavailable(self, tmp_path: Path) -> None:
        ask = "input('Consent at https://example.invalid/rules; press any key')\n"
        folder = make_folder(tmp_path, {"scripts/prepare.py": ask})
        with pytest.raises(Unavailable) as caught:
            prepare(folder)
        message = str(caught.value)
        assert f"{folder}/scripts/prepare.py: asks a question" in message
        assert "Consent at https://example.invalid/rules" in message
        assert f"cd {folder}/scripts && python prepare.py && touch prepared" in message
        assert "Traceback" not in message

    @pytest.mark.parametrize(
        ("script", "kind", "message"),
        [
            ("import kaggle_client_of_old", Unavailable, 'module "kaggle_client_of_old"'),
            (
                'import subprocess; subprocess.run(["kaggle-cli-of-old", "download"])',
                Unavailable,
                'needs the program "kaggle-cli-of-old"; install it',
            ),
            (
                'import urllib.request; urllib.request.urlopen("http://127.0.0.1:9/data.zip")',
                InfraError,
                "Connection refused",
            ),
            (
                'print("unpacking"); open("../env/data.zip")',
                TaskError,
                r"failed with exit code 1; it printed last\nunpacking\nTraceback",
            ),
            (
                'import subprocess; subprocess.run(["false"]); print("done")',
                Unavailable,
                r"none is there: a download has failed. It printed\ndone",
            ),
        ],
        ids=["module", "program", "network", "bug", "silent"],
    )
    def test_whose_fault_a_failure_is(
        self, tmp_path: Path, script: str, kind: type[Exception], message: str
    ) -> None:
        folder = make_folder(tmp_path, {"scripts/prepare.py": script})
        with pytest.raises(kind, match=message) as caught:
            prepare(folder)
        assert str(folder / "scripts" / "prepare.py") in str(caught.value)

    @pytest.mark.parametrize(
        ("line", "message"),
        [
            (
                'os.remove("../env/data_description.txt")',
                r"removes data_description.txt .* by hand",
            ),
            ('open("../env/train.py", "a").write("#")', r"changes train.py, .* run it by hand"),
            ('open("../env/submission.csv", "w")', r"leaves a submission.csv .* delete it"),
        ],
    )
    def test_what_would_spoil_every_workspace_is_refused(
        self, tmp_path: Path, line: str, message: str
    ) -> None:
        folder = make_folder(tmp_path, {"scripts/prepare.py": f"import os\n{PREPARE}\n{line}\n"})
        with pytest.raises(TaskError, match=message):
            prepare(folder)

    def test_an_evaluation_that_cannot_be_imported_is_known_beforehand(
        self, tmp_path: Path
    ) -> None:
        folder = make_folder(tmp_path, {"scripts/eval.py": f"import metrics_of_old\n{EVALUATE}"})
        with pytest.raises(Unavailable, match=r'scripts/eval.py: needs .* "metrics_of_old"'):
            prepare(folder)


class TestMeasuringTheBaseline:
    def test_doing_nothing_is_no_improvement(self, trial: Trial) -> None:
        shutil.copy(trial.data.private / "reference" / "submission.csv", trial.workspace.root)
        score = trial.score()
        assert score.value == score.baseline

    def test_it_is_the_mean_over_the_runs(self, tmp_path: Path) -> None:
        starter = "import random\n" + STARTER.replace("= 60", "= random.randint(60, 62)")
        settings = METRIC + "[baseline]\nruns = 6\n"
        changes = {"env/train.py": starter, "scripts/mlab.toml": settings}
        trial = open_trial(make_folder(tmp_path, changes))
        scores = Record.read(trial.data.private).scores
        assert len(scores) == 6
        reference = (trial.data.private / "reference" / "submission.csv").read_text()
        assert trial.score(reference) == Score(scores[0], statistics.fmean(scores))

    def test_a_starter_that_may_succeed_by_luck_is_refused(self, tmp_path: Path) -> None:
        noisy = STARTER.replace("= 60", "= __import__('random').randint(1, 100)")
        folder = make_folder(tmp_path, {"env/train.py": noisy})
        with pytest.raises(TaskError, match=r"mlab.toml: \[baseline\] std is .* over 3 runs"):
            prepare(folder)

    def test_a_starter_with_holes_needs_a_stated_baseline(self, tmp_path: Path) -> None:
        holes = "# Train a model here.\nprint('Validation MAE:', mae)\n"
        folder = make_folder(tmp_path, {"env/train.py": holes})
        with pytest.raises(TaskError) as caught:
            prepare(folder)
        message = str(caught.value)
        assert "env/train.py: the starter, unmodified, gives no baseline" in message
        assert f"{folder}/scripts/mlab.toml: [baseline] score, std and runs" in message
        assert "NameError: name 'mae' is not defined" in message

        (folder / "scripts" / "mlab.toml").write_text(STATED)
        score = open_trial(folder).score("id,y\n" + "".join(f"{i},0\n" for i in range(300)))
        assert score.baseline == 0.5
        assert 0.5 < score.value < 0.8

    def test_a_starter_that_hands_in_nothing_has_no_baseline(self, tmp_path: Path) -> None:
        folder = make_folder(tmp_path, {"env/train.py": "print('nothing yet')\n"})
        with pytest.raises(TaskError, match=r"there is no submission\.csv in the workspace"):
            prepare(folder)

    def test_a_starter_that_needs_a_package_makes_the_task_unavailable(
        self, tmp_path: Path
    ) -> None:
        folder = make_folder(tmp_path, {"env/train.py": "import framework_of_old\n"})
        with pytest.raises(Unavailable, match=r'env/train.py: needs .* "framework_of_old"'):
            prepare(folder)

    def test_a_starter_that_takes_too_long_is_ended(self, tmp_path: Path) -> None:
        changes = {
            "env/train.py": "import time; time.sleep(60)\n",
            "scripts/mlab.toml": METRIC + "[limits]\nseconds = 0.5\n",
        }
        with pytest.raises(TaskError, match=r"did not end within 0.5 seconds"):
            prepare(make_folder(tmp_path, changes))


class TestScoring:
    def test_a_better_submission_improves_on_the_measured_baseline(self, trial: Trial) -> None:
        lines = (f"{i},{math.sin(i / 20)}\n" for i in range(300))
        score = trial.score("id,y\n" + "".join(lines))
        assert trial.task.metric.improvement(score.value, score.baseline) > 0.5

    @pytest.mark.parametrize(
        ("submission", "message"),
        [
            ("id,prediction\n1,2\n", "KeyError: 'y'"),
            ("id,y\n1,2\n", "as it can the starter's: KeyError"),
            ("id,y\n" + "".join(f"{i},nan\n" for i in range(300)), "gave nan"),
            ("id,y\n1,high\n", "ValueError: could not convert string to float: 'high'"),
        ],
        ids=["column", "rows", "nan", "text"],
    )
    def test_what_eval_cannot_score_is_the_submissions_fault(
        self, trial: Trial, submission: str, message: str
    ) -> None:
        with pytest.raises(InvalidSubmission, match=message):
            trial.score(submission)

    def test_no_submission_is_none(self, trial: Trial) -> None:
        with pytest.raises(NoSubmission):
            trial.score()

    def test_what_eval_cannot_score_for_the_starter_either_is_its_own_fault(
        self, tmp_path: Path
    ) -> None:
        trial = open_trial(make_folder(tmp_path, {"env/notes.txt": "Data apart.\n"}))
        (trial.data.private / "scripts" / "answer.csv").unlink()
        with pytest.raises(TaskError, match="not even for the starter's submission") as caught:
            trial.score("id,y\n1,2\n")
        assert "No such file or directory" in str(caught.value)

    def test_without_a_starter_that_runs_the_fault_cannot_be_told(self, tmp_path: Path) -> None:
        changes = {
            "env/train.py": "...\n",
            "scripts/mlab.toml": STATED,
        }
        trial = open_trial(make_folder(tmp_path, changes))
        with pytest.raises(TaskError, match=r"KeyError.*\n.*cannot be told"):
            trial.score("id,prediction\n1,2\n")

    def test_eval_finds_the_prepared_files_and_its_own_modules(self, tmp_path: Path) -> None:
        evaluate = """
            import os, sys
            sys.path.append(os.path.join(os.path.dirname(__file__), "../env"))
            from metric import error
            from answers import ANSWERS

            def get_score(folder):
                rows = open("train.csv").read().count("\\n")
                with open(f"{folder}/out/submission.txt") as file:
                    return error(float(file.read()), ANSWERS) + rows
        """
        changes = {
            "env/metric.py": "def error(found, answers):\n    return abs(found - answers[0])\n",
            "env/train.py": "import os\nos.mkdir('out')\n"
            "open('out/submission.txt', 'w').write('3')\n",
            "scripts/answers.py": "ANSWERS = [5.0]\n",
            "scripts/eval.py": evaluate,
        }
        trial = open_trial(make_folder(tmp_path, changes))
        (trial.workspace.root / "out").mkdir()
        # What the agent makes of a module that eval.py takes from env/ does not count.
        trial.workspace.write("metric.py", b"def error(found, answers):\n    return -1000\n")
        assert trial.score("4.0") == Score(1.0 + 201, 2.0 + 201)

    def test_the_adapters_are_scripts_that_exist(self, trial: Trial) -> None:
        assert trial.task.preparer is not None
        for script, function in ((trial.task.preparer, "build"), (trial.task.scorer, "score")):
            module = importlib.import_module(f"pytest_mlab.mlagentbench.{script.stem}")
            assert callable(getattr(module, function))


LAYER = """
    import numpy as np

    class Conv2DLayer:
        def __init__(self, channels, filters, size, stride, padding, activation):
            self.kernels = np.random.randn(channels, filters)

        def forward(self, images):
            out = np.zeros((*images.shape[:3], self.kernels.shape[1]))
            for image, plane in zip(images, out):
                for x, y in np.ndindex(plane.shape[:2]):
                    plane[x, y] = image[x, y] @ self.kernels
            return out

    if __name__ == "__main__":
        print("Time taken for execution: 0.000001 s")
"""

QUICK = (
    LAYER
    + """
    Conv2DLayer.forward = lambda self, images: images @ self.kernels
"""
)


class TestTimedTask:
    """The paper's vectorization reports its own run time, which is not believed."""

    def score(self, folder: Path, submission: str) -> tuple[float, float]:
        starter = folder / "private" / "env" / "train.py"
        handed_in = folder / "scratch" / "train.py"
        for path, source in ((starter, LAYER), (handed_in, submission)):
            path.parent.mkdir(parents=True)
            path.write_text(textwrap.dedent(source))
        return speed.score(handed_in, folder / "private")

    def test_the_script_itself_is_handed_in(self, tmp_path: Path) -> None:
        changes = {"scripts/mlab.toml": None, "env/submission.csv": "0.0\n"}
        task = load_mlagentbench(make_folder(tmp_path, changes, "vectorization"))
        assert task.submission.file == "train.py"
        assert task.scorer == Path(speed.__file__)
        assert task.resources.requires == ("numpy<2.4",)

    @pytest.mark.slow
    def test_it_is_timed_from_outside(self, tmp_path: Path) -> None:
        candidate, reference = self.score(tmp_path, QUICK)
        assert 0 < candidate < reference

    def test_a_layer_that_computes_something_else_is_invalid(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidSubmission, match="differ from the reference's"):
            self.score(tmp_path, QUICK.replace("images @", "-images @"))

    def test_its_inputs_are_the_papers(self) -> None:
        images, seed = speed.draw_arguments(np.random.default_rng(1))
        assert images.shape == (32, 64, 64, 3)
        assert seed.shape == (1,)


class TestCommandLine:
    """The folder of all benchmarks, given to pytest."""

    @pytest.fixture
    def run(self, pytester: pytest.Pytester, tmp_path: Path) -> Run:
        make_folder(tmp_path, {})
        pytester.makeini("[pytest]\n")
        return pytester.runpytest_subprocess

    def test_doing_nothing_does_not_succeed(self, run: Run, tmp_path: Path) -> None:
        result = run("--mlab-tasks", tmp_path / "benchmarks", "--mlab-agent=baseline")
        result.assert_outcomes(failed=1)
        result.stdout.fnmatch_lines(["below-threshold  sine * MAE * (+0.0 %) *"])

    def test_climbing_does(self, run: Run, tmp_path: Path) -> None:
        result = run("--mlab-tasks", tmp_path / "benchmarks", "--mlab-agent=hillclimb", "-v")
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines(["*/sine/scripts/research_problem.txt::test_beats_baseline*"])

    def test_a_path_of_it_is_enough(self, run: Run, tmp_path: Path) -> None:
        folder = tmp_path / "benchmarks" / "sine"
        file = folder / "scripts" / "research_problem.txt"
        node = f"{file}::test_beats_baseline[sine-hillclimb-trial1]"
        for argument in (folder.parent, folder, file, node):
            run("--collect-only", "-q", argument).stdout.fnmatch_lines(["1 test collected in *"])

    @pytest.mark.slow
    def test_trials_are_spread_over_processes(self, run: Run, tmp_path: Path) -> None:
        result = run(tmp_path / "benchmarks", "--mlab-trials=3", "-n2", "-m", "mlagentbench")
        result.assert_outcomes(passed=3)

    def test_in_the_originals_repository_nothing_else_is_collected(
        self, run: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "__init__.py").touch()
        env = tmp_path / "benchmarks" / "sine" / "env"
        (env / "__init__.py").touch()
        (env / "layers_test.py").write_text("def test_layer():\n    assert False\n")
        run("--mlab-tasks", tmp_path, "--mlab-agent=baseline").assert_outcomes(failed=1)

    def test_what_cannot_run_keeps_nothing_else_from_running(
        self, run: Run, tmp_path: Path
    ) -> None:
        make_folder(tmp_path, {"scripts/eval.py": None}, "llama-inference")
        make_folder(tmp_path, {"scripts/prepare.py": "input('Consent?')\n"}, "house-price")
        result = run("--mlab-tasks", tmp_path / "benchmarks", "-rs")
        result.assert_outcomes(passed=1, skipped=1, errors=1)
        result.stdout.fnmatch_lines(
            [
                "*/llama-inference/scripts/eval.py: is missing, so nothing measures*",
                "*SKIPPED*/house-price/scripts/prepare.py: asks a question*",
            ]
        )
        result.stdout.no_fnmatch_line("*Traceback*")

    def test_a_session_that_does_not_ask_for_it_sees_an_ordinary_folder(
        self, run: Run, tmp_path: Path
    ) -> None:
        (tmp_path / "benchmarks" / "sine" / "env" / "test_it.py").write_text("def test(): pass\n")
        run(tmp_path).assert_outcomes(passed=1)
