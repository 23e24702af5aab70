"""The folder of records: a folder a session, in it a folder a trial."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab import runs
from pytest_mlab.results import Identity, Result

NODEID = "tasks/digits/task.toml::test_beats_baseline[digits-hillclimb-trial1]"


def identity(nodeid: str = NODEID) -> Identity:
    return Identity(
        task="digits",
        agent="hillclimb",
        llm=None,
        trial=1,
        nodeid=nodeid,
        task_digest="0" * 64,
        seed=3,
    )


class TestTrialFolder:
    def test_is_named_after_the_tests_parameters(self, tmp_path: Path) -> None:
        name = runs.trial_folder(tmp_path, NODEID).name
        assert name.startswith("digits-hillclimb-trial1-")

    def test_is_another_one_for_another_test(self, tmp_path: Path) -> None:
        other = NODEID.replace("tasks/", "other/")
        assert runs.trial_folder(tmp_path, NODEID) != runs.trial_folder(tmp_path, other)
        assert runs.trial_folder(tmp_path, NODEID) == runs.trial_folder(tmp_path, NODEID)

    @given(st.text(min_size=1))
    def test_is_one_plain_folder_whatever_the_id(self, nodeid: str) -> None:
        session = Path("/records/session")
        folder = runs.trial_folder(session, nodeid.encode("utf-8", "replace").decode())
        assert folder.parent == session
        assert folder.name.isascii()
        assert len(folder.name) < 200
        assert not set(folder.name) & set("/\\ \n:[]")

    def test_says_whose_it_is_before_the_trial_starts(self, tmp_path: Path) -> None:
        folder = runs.open_folder(tmp_path, identity())
        record = json.loads((folder / runs.IDENTITY).read_text())
        assert Identity(**record) == identity()

    def test_of_a_rerun_lies_beside_the_first(self, tmp_path: Path) -> None:
        first, second, third = (runs.open_folder(tmp_path, identity()) for _ in range(3))
        assert (second.name, third.name) == (f"{first.name}.2", f"{first.name}.3")


class TestPlan:
    def test_is_read_back_by_test_id(self, tmp_path: Path) -> None:
        planned = [identity(f"{NODEID}{number}") for number in range(3)]
        runs.write_plan(tmp_path / ".mlab" / "session", planned)
        plan = runs.read_plan(tmp_path / ".mlab" / "session")
        assert list(plan.values()) == planned
        assert plan[planned[1].nodeid] == planned[1]

    def test_of_a_session_without_trials_is_empty(self, tmp_path: Path) -> None:
        assert runs.read_plan(tmp_path) == {}

    def test_lets_git_ignore_the_folder_that_it_makes(self, tmp_path: Path) -> None:
        for session in ("one", "two"):
            runs.write_plan(tmp_path / ".mlab" / session, [identity()])
        assert (tmp_path / ".mlab" / ".gitignore").read_text().endswith("\n*\n")

    def test_lets_git_see_a_folder_of_the_users_own(self, tmp_path: Path) -> None:
        """Records may go anywhere, the project's root included."""
        runs.write_plan(tmp_path / "session", [identity()])
        assert not (tmp_path / ".gitignore").exists()


def test_a_result_is_recorded_whole(tmp_path: Path) -> None:
    result = Result(**vars(identity()), status="success", score=1.0, detail="half \ud800")
    runs.record_result(tmp_path / "trial", result)
    assert Result.from_json((tmp_path / "trial" / runs.RESULT).read_text()) == result
