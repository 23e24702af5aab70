"""What a bundled task is tested for; a task's own test module is a subclass and a few lines.

    class TestSpaceshipTitanic(BundledTask):
        name = "spaceship-titanic"

        def write_raw(self, raw): ...
            # What download() would have fetched: small, generated, in the source's own format.

        def change_answers(self, raw, data, patch): ...
            # The same source, but for the answers of the test rows.

A task whose data are here (tag ``offline``) has no `write_raw`: it is tested on its real data. Its
`change_answers` patches the package that they come from.
"""

import csv
import importlib.util
import itertools
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import ClassVar

import pytest

from pytest_mlab.data import PreparedData, raw_folder
from pytest_mlab.task import Task, digest_files, task_files

REPOSITORY = Path(__file__).parents[2]
FOLDER = REPOSITORY / "tasks"


class BundledTask:
    """Tests of one task, to be inherited; the fixtures are in this folder's ``conftest.py``."""

    name: ClassVar[str]
    has_answers: ClassVar[bool] = True
    permutes: ClassVar[bool] = True

    @property
    def folder(self) -> Path:
        """The task's folder."""
        return FOLDER / self.name

    def write_raw(self, raw: Path) -> None:
        """Write what ``download`` would fetch; left out where the data need no download."""

    def change_answers(self, raw: Path, data: PreparedData, patch: pytest.MonkeyPatch) -> None:
        """Change the answers of the test rows where ``build`` takes them from, and nothing else.

        ``raw`` is a copy of what `write_raw` wrote; ``data`` are those that were built from it.
        """
        raise NotImplementedError(f"{self.name}: say where its answers come from")

    @pytest.mark.slow
    def test_passes_all_checks(self, data: PreparedData, cache: Path) -> None:
        """Starter, scorer and solution work end to end, and are worth what the task says."""
        command = [sys.executable, "-m", "pytest", f"tasks/{self.name}", "--mlab-check", "-rs"]
        run = subprocess.run(
            [*command, "-p", "no:cacheprovider"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "MLAB_CACHE": str(cache)},
        )
        assert run.returncode == 0, run.stdout + run.stderr
        skipped = [line for line in run.stdout.splitlines() if line.startswith("SKIPPED")]
        assert bool(skipped) == (not (self.has_answers and self.permutes)), run.stdout
        assert all("no answers to permute" in line for line in skipped), run.stdout

    def test_the_answers_of_the_test_set_change_nothing_that_agents_see(
        self, task: Task, data: PreparedData, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Public data do not depend on the answers: nothing in them gives one away."""
        if not self.has_answers:
            pytest.skip("no answers exist before a submission is scored")
        raw = tmp_path / "raw"
        shutil.copytree(raw_folder(task), raw)
        monkeypatch.chdir(task.folder)
        monkeypatch.syspath_prepend(str(task.folder))
        self.change_answers(raw, data, monkeypatch)
        changed = PreparedData(tmp_path / "public", tmp_path / "private")
        changed.public.mkdir()
        changed.private.mkdir()
        assert task.preparer is not None
        load_module(task.preparer).build(raw, changed.public, changed.private)
        assert digest(changed.private) != digest(data.private), "no answer was changed"
        assert digest(changed.public) == digest(data.public)


class BundledTable(BundledTask):
    """Tests of a task on ``train.csv`` and ``test.csv``, of which ``target`` is to be predicted."""

    target: ClassVar[str]
    id_column: ClassVar[str] = "id"
    public: ClassVar[Sequence[str]] = ("test.csv", "train.csv")

    def test_the_answers_are_all_there_and_only_in_private(self, data: PreparedData) -> None:
        test, labels = read(data.public / "test.csv"), read(data.private / "labels.csv")
        assert [row[self.id_column] for row in test] == [row[self.id_column] for row in labels]
        assert all(row[self.target] for row in labels)
        assert self.target not in test[0]
        assert sorted(path.name for path in data.public.iterdir()) == list(self.public)

    def test_no_training_row_gives_a_test_row_away(self, data: PreparedData) -> None:
        train, test = read(data.public / "train.csv"), read(data.public / "test.csv")
        assert not set(map(self.inputs, train)) & set(map(self.inputs, test))
        assert not {row[self.id_column] for row in train} & {row[self.id_column] for row in test}

    def test_the_order_of_rows_says_nothing_about_the_answers(self, data: PreparedData) -> None:
        """Neighbours are as unlike as strangers: their mean difference is that of random pairs."""
        labels = read(data.private / "labels.csv")
        values = [self.as_number(row[self.target]) for row in labels]
        step = len(values) // 2
        rotated = values[step:] + values[:step]
        neighbours = sum(abs(a - b) for a, b in itertools.pairwise(values)) / (len(values) - 1)
        strangers = sum(abs(a - b) for a, b in zip(values, rotated, strict=True)) / len(values)
        assert neighbours == pytest.approx(strangers, rel=0.15)

    def test_the_instruction_counts_the_rows(self, task: Task, data: PreparedData) -> None:
        if "offline" not in task.tags:
            pytest.skip("these are generated rows, not the real ones")
        for file in ("train.csv", "test.csv"):
            assert f"{len(read(data.public / file)):,} " in task.instruction

    def as_number(self, answer: str) -> float:
        """Give an answer as a number."""
        return float(answer)

    def inputs(self, row: Mapping[str, str]) -> tuple[str, ...]:
        """Give a row without its id and its answer."""
        return tuple(v for name, v in row.items() if name not in {self.id_column, self.target})

    def asked_rows(self, data: PreparedData) -> set[tuple[str, ...]]:
        """Give the inputs of the test rows, by which the source's rows can be told."""
        return {self.inputs(row) for row in read(data.public / "test.csv")}


def read(file: Path) -> list[dict[str, str]]:
    """Read a CSV file."""
    with file.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream))


def write(file: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file, and give its path."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])
    return file


def digest(folder: Path) -> str:
    """Give the sha256 over names and contents of a folder's files."""
    return digest_files(folder, task_files(folder))


def load_module(file: Path) -> ModuleType:
    """Import a file of a task's folder anew."""
    spec = importlib.util.spec_from_file_location(f"{file.parent.name}_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def load_scorer(name: str) -> Callable[[Path, Path], float]:
    """Give the function ``score`` of a bundled task."""
    score: Callable[[Path, Path], float] = load_module(FOLDER / name / "score.py").score
    return score
