"""Progress of preparing a task's data, which can take long and is silent otherwise."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from itertools import chain
from pathlib import Path
from typing import Any, TextIO

from pytest_mlab.task import Task


@contextmanager
def show_preparing(
    task: str, folders: Sequence[Path], capture: Any, stream: TextIO
) -> Iterator[None]:
    """Show, while the body runs, that a task is being prepared, and how much came into its folders.

    ``capture`` is pytest's capture manager, which is held off meanwhile. On a terminal the line is
    redrawn; elsewhere (a log, a worker of xdist) one line is written at the end.
    """
    start, before = time.monotonic(), _size(folders)
    with ExitStack() as stack:
        if capture is not None:
            stack.enter_context(capture.global_and_fixture_disabled())
        if stream.isatty() and "PYTEST_XDIST_WORKER" not in os.environ:
            stack.enter_context(_live(task, folders, before))
        yield
        megabytes = (_size(folders) - before) / 1e6
        seconds = time.monotonic() - start
        print(f"\nmlab: prepared {task}: {megabytes:.1f} MB in {seconds:.1f} s", file=stream)


def show_measuring(task: Task, capture: Any, stream: TextIO) -> None:
    """Say that a task's starter is being run for its baseline, past pytest's capturing."""
    with nullcontext() if capture is None else capture.global_and_fixture_disabled():
        print(
            f"\nmlab: {task.name} states no baseline: running its starter "
            f"{task.baseline.runs} times",
            file=stream,
        )


@contextmanager
def _live(task: str, folders: Sequence[Path], before: int) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    class Growth(TextColumn):
        def render(self, task: Any) -> Any:
            task.fields["grown"] = f"{(_size(folders) - before) / 1e6:.1f} MB"
            return super().render(task)

    progress = Progress(
        SpinnerColumn(),
        TextColumn("preparing {task.description}"),
        Growth("{task.fields[grown]}"),
        TimeElapsedColumn(),
        console=Console(stderr=True),
    )
    progress.add_task(task, total=None, grown="")
    with Live(progress, console=progress.console, transient=True, refresh_per_second=4):
        yield


def _size(folders: Sequence[Path]) -> int:
    """Add up the files of folders in which some are renamed and removed meanwhile."""
    total = 0
    for parent, _, names in chain.from_iterable(map(os.walk, folders)):
        for name in names:
            with suppress(OSError):
                total += Path(parent, name).lstat().st_size
    return total
