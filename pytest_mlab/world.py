"""Where a trial takes place: all that it runs with, and the environment made of it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from pytest_mlab.actions import Action
from pytest_mlab.checkpoint import CannotGoOn, Checkpoint, read_checkpoint
from pytest_mlab.concealment import find_concealed
from pytest_mlab.data import PreparedData
from pytest_mlab.decoys import Decoys, lay_decoys
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.evaluation import whole_submission
from pytest_mlab.history import History
from pytest_mlab.integrity import originals
from pytest_mlab.models import Models
from pytest_mlab.results import Identity
from pytest_mlab.runs import HISTORY, OUTPUTS, TRACE
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.task import Task
from pytest_mlab.trace import Trace
from pytest_mlab.workbench import Workbench
from pytest_mlab.workspace import Workspace

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


@dataclass(frozen=True, kw_only=True)
class Setup:
    """Who tries what, with what, and where it is recorded."""

    identity: Identity
    task: Task
    data: PreparedData
    workspace: Workspace
    sandbox: Sandbox
    limits: Limits
    threshold: float
    folder: Path
    devices: tuple[str, ...] = ()
    threads: int = 1
    eval_steps: bool = False
    past: Checkpoint | None = None


@contextmanager
def open_environment(
    setup: Setup, actions: Sequence[Action], models: Models | None = None
) -> Iterator[Environment]:
    """Give the environment of a trial; its processes end with the context."""
    whole = whole_submission(setup.task) if setup.eval_steps else {}
    past = setup.past
    with (
        lay_decoys(setup.folder, setup.data) as decoys,
        closing(Trace(setup.folder / TRACE, past.traced if past else 0.0)) as trace,
        closing(History(setup.folder / HISTORY, setup.workspace.root, whole)) as history,
    ):
        seen = {"sandbox": setup.sandbox.name, "decoys": decoys.watched}
        if past is None:
            trace.append("start", **seen, **vars(setup.identity))
            history.record("start: the fresh workspace")
        else:
            trace.append("resume", **seen, of=str(past.folder))
        workbench = Workbench(
            setup.workspace,
            setup.sandbox,
            _make_view(setup, decoys),
            setup.folder / OUTPUTS,
            problem=setup.task.instruction,
            models=models,
        )
        environment = Environment(
            setup.task,
            workbench,
            actions=actions,
            limits=setup.limits,
            trace=trace,
            history=history,
            decoys=decoys,
            past=past,
            models=models,
            seed=setup.identity.seed,
        )
        try:
            yield environment
        finally:
            workbench.close()


@contextmanager
def look_back(setup: Setup, folder: Path) -> Iterator[Environment]:
    """Give the environment of a trial that is over, recorded in a folder: what was done in it."""
    try:
        past = read_checkpoint(folder)
    except CannotGoOn:
        past = None
    view = View(writable=setup.workspace.root, readable=())
    workbench = Workbench(setup.workspace, setup.sandbox, view, folder / OUTPUTS)
    with closing(Trace(Path(os.devnull))) as trace:
        yield Environment(
            setup.task, workbench, actions=(), limits=setup.limits, trace=trace, past=past
        )


def _make_view(setup: Setup, decoys: Decoys) -> View:
    """Give what the agent's processes see."""
    return View(
        writable=setup.workspace.root,
        readable=(setup.data.public, decoys.folder),
        concealed=find_concealed(setup.task),
        in_place_of=originals(setup.task, setup.workspace.root) | decoys.places,
        memory_gb=setup.task.resources.memory_gb,
        workspace_gb=setup.task.resources.workspace_gb,
        workspace_files=setup.task.resources.workspace_files,
        image=setup.task.resources.image,
        network=setup.task.resources.network,
        environment={
            "CUDA_VISIBLE_DEVICES": ",".join(setup.devices),
            **dict.fromkeys(_THREADS, str(setup.threads)),
            # Threads that spin while they wait take the cores from the trial next door.
            "OMP_WAIT_POLICY": "PASSIVE",
        },
    )
