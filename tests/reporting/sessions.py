"""Sessions as they lie on disk: plans, results, traces and histories of trials that never ran."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

from pytest_mlab import runs
from pytest_mlab.history import History
from pytest_mlab.reporting.document import make_document, write_document
from pytest_mlab.reporting.summary import summarise
from pytest_mlab.results import Result, Usage
from pytest_mlab.trace import Trace
from tests.reporting.builders import make_results

LETTERS = "SSBSIBNSBA"
OUTPUT = "epoch {} of 40: loss 0.3127, validation accuracy: 0.9134\n"


def make_trials(tasks: Sequence[str], agents: Sequence[str], count: int) -> Iterator[Result]:
    """Give results of every task and agent, their figures spread over what may happen."""
    for at, task in enumerate(tasks):
        for by, agent in enumerate(agents):
            letters = (LETTERS[by:] + LETTERS * (count // len(LETTERS) + 1))[:count]
            for result in make_results(letters, task=task, agent=agent, llm=f"model-{by}"):
                improvement = result.improvement
                if improvement is not None:
                    improvement += 0.02 * (at + by - result.trial % 3)
                usage = Usage(9_000 * (by + 1), 800 + 10 * result.trial, 0, 0.02 * (by + 1))
                detail = "submission.csv has 97 rows, not 600" if not result.valid else ""
                yield dataclasses.replace(
                    result, improvement=improvement, usage=usage, detail=detail
                )


def write_session(
    folder: Path,
    trials: Sequence[Result],
    steps: int,
    *,
    history: bool = False,
    traced: int | None = None,
) -> Path:
    """Write the records of a session whose trials took so many steps; all, or the first ``traced``.

    The others have a result, and no folder.
    """
    trials = [dataclasses.replace(one, nodeid=f"{n}::[{n}]") for n, one in enumerate(trials)]
    runs.write_plan(folder, trials)
    recorded = []
    for trial in trials[:traced]:
        place = runs.open_folder(folder, trial)
        recorded.append(dataclasses.replace(trial, folder=str(place), steps=steps))
        write_steps(place, steps, history=history)
        runs.record_result(place, recorded[-1])
    recorded += trials[len(recorded) :]
    document = make_document(folder.name, recorded, [], [], summarise(recorded))
    write_document(folder / runs.RESULTS, document)
    return folder


def write_steps(place: Path, steps: int, *, history: bool) -> None:
    """Write a trace in which a script is edited and run by turns, and the history of that."""
    workspace = place / runs.WORKSPACE
    workspace.mkdir()
    lines = [f"parameter_{n} = {n}" for n in range(80)]
    (workspace / "train.py").write_text("\n".join(lines) + "\n")
    kept = History(place / runs.HISTORY, workspace) if history else None
    if kept:
        kept.record("start: the fresh workspace")
    trace = Trace(place / runs.TRACE)
    for step in range(steps):
        trace.append("note", Thought=f"Perhaps parameter {step} is too small. " * 4)
        lines[step % 80] = f"parameter_{step % 80} = {step + 1000}"
        content = "\n".join(lines) + "\n"
        if step % 2 == 0:
            (workspace / "train.py").write_text(content)
            action, arguments = "Write File", {"file_name": "train.py", "content": content}
            output = "train.py is written."
        else:
            action, arguments = "Execute Script", {"script_name": "train.py"}
            output = "".join(map(OUTPUT.format, range(40)))
        commit = {"commit": kept.record(f"step {step + 1}: {action}")} if kept else {}
        trace.append(
            "step", action=action, arguments=arguments, observation=output, ok=True, **commit
        )
    trace.append("end", stop="submitted", crash="")
    trace.close()
