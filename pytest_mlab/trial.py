"""One trial: an agent takes its turn in an environment, and what it leaves behind is scored."""

import dataclasses
import os
import traceback
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pytest_mlab.actions import Action
from pytest_mlab.agents import Agent
from pytest_mlab.checkpoint import CannotGoOn, Checkpoint, read_checkpoint
from pytest_mlab.concealment import find_concealed
from pytest_mlab.curves import write_curve
from pytest_mlab.data import PreparedData
from pytest_mlab.deadline import GRACE, enforce_deadline
from pytest_mlab.decoys import Decoys, lay_decoys
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.evaluation import score_history, whole_submission
from pytest_mlab.exceptions import (
    InfraError,
    InvalidSubmission,
    LimitReached,
    MlabError,
    NoSubmission,
    Submitted,
    Unavailable,
)
from pytest_mlab.history import History
from pytest_mlab.integrity import check_scorer, check_written, find_tampering, originals
from pytest_mlab.models import Models
from pytest_mlab.results import Identity, Result, Status, Stop, error_result
from pytest_mlab.review import find_flags
from pytest_mlab.runs import HISTORY, OUTPUTS, TRACE, record_result
from pytest_mlab.sandbox import Sandbox, View
from pytest_mlab.scoring import score_workspace
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
        image=setup.task.resources.image,
        network=setup.task.resources.network,
        environment={
            "CUDA_VISIBLE_DEVICES": ",".join(setup.devices),
            **dict.fromkeys(_THREADS, str(setup.threads)),
            # Threads that spin while they wait take the cores from the trial next door.
            "OMP_WAIT_POLICY": "PASSIVE",
        },
    )


def run_trial(setup: Setup, agent: Agent, environment: Environment) -> Result:
    """Let the agent take its turn, score the final workspace and record the result.

    The workspace is scored however the turn ended. What is not the agent's fault is recorded as an
    error and raised again, an `MlabError`.
    """
    environment.start()
    try:
        turn = _take_turn(agent, environment)
        outcome = _judge(setup, turn, environment.decoys)
        if turn.stop == "gave-up" and environment.gave_up:
            parts = (outcome.get("detail"), f"the agent gave up: {environment.gave_up}")
            outcome["detail"] = "; ".join(filter(None, parts))
    except Unavailable:
        raise
    except MlabError as error:
        with suppress(InfraError):  # a full disk that ended the trial has no room for this either
            record_result(setup.folder, error_of(setup, environment, error))
        raise
    result = Result(
        **vars(setup.identity),
        **outcome,
        stop=turn.stop,
        metric=setup.task.metric.name,
        threshold=setup.threshold,
        steps=environment.charged,
        seconds=turn.seconds,
        usage=environment.usage,
        folder=str(setup.folder),
    )
    record_result(setup.folder, result)
    return _look_back(setup, result) if setup.eval_steps else result


def _look_back(setup: Setup, result: Result) -> Result:
    """Score the submissions on the way and add the best of them, which decides nothing."""
    scores = score_history(setup.folder / HISTORY, setup.task, setup.data, setup.sandbox)
    with suppress(OSError):  # the result stands without them
        write_curve(setup.folder, scores)
    best = scores[-1].best if scores else None
    result = dataclasses.replace(result, best_score=best)
    record_result(setup.folder, result)
    return result


def error_of(setup: Setup, environment: Environment, error: MlabError) -> Result:
    """Give the result of a trial that ended in an error which is not the agent's fault."""
    return dataclasses.replace(
        error_result(setup.identity, error, setup.folder),
        metric=setup.task.metric.name,
        threshold=setup.threshold,
        steps=environment.charged,
        seconds=environment.seconds,
        usage=environment.usage,
    )


@dataclass(frozen=True)
class _Turn:
    """How an agent's turn ended."""

    stop: Stop
    seconds: float
    crash: str = ""


def _take_turn(agent: Agent, environment: Environment) -> _Turn:
    crash = trace = ""
    try:
        with enforce_deadline(environment.remaining.seconds + GRACE):
            agent.run(environment)
        environment.check_limits()  # what the agent may have swallowed
        stop: Stop = "gave-up"
    except Submitted:
        stop = "submitted"
    except LimitReached as reached:
        stop = reached.limit
    except MlabError:
        raise
    except (Exception, SystemExit) as error:
        environment.check_record()
        stop = "crashed"
        first = str(error).strip().partition("\n")[0]
        crash = f"the agent raised {type(error).__name__}: {first}".removesuffix(": ")
        trace = "".join(traceback.format_exception(error))
    environment.end(stop, trace)
    return _Turn(stop, environment.seconds, crash)


def _judge(setup: Setup, turn: _Turn, decoys: Decoys | None) -> dict[str, Any]:
    """Score the workspace and give the result's status and figures."""
    outcome = _judge_workspace(setup, decoys)
    if turn.crash:
        status = outcome["status"] if outcome["status"] == "tampered" else "agent-error"
        details = (outcome["detail"] if status == "tampered" else "", turn.crash)
        outcome |= {"status": status, "detail": "; ".join(filter(None, details))}
    # Half a surrogate pair, which no stream takes, is shown by its escape.
    detail = outcome.get("detail", "").encode("utf-8", "backslashreplace").decode()
    return outcome | {"detail": detail}


def _judge_workspace(setup: Setup, decoys: Decoys | None) -> dict[str, Any]:
    task, root, seal = setup.task, setup.workspace.root, setup.workspace.seal
    baseline = None if task.baseline.measured else task.baseline.score
    evidence = [] if decoys is None else decoys.opened()
    if seal is not None:
        check_scorer(task, seal)
        evidence += find_tampering(seal, root, setup.data)
    if evidence:
        return {"status": "tampered", "baseline": baseline, "detail": "; ".join(evidence)}
    try:
        if seal is not None:
            check_written(task, seal, root)
        score = score_workspace(task, root, setup.data, setup.sandbox)
    except InvalidSubmission as error:
        kind: Status = "no-submission" if isinstance(error, NoSubmission) else "invalid-submission"
        return {"status": kind, "baseline": baseline, "detail": str(error)}
    improvement = task.metric.improvement(score.value, score.baseline)
    success = improvement > setup.threshold
    session = setup.folder.parent
    return {
        "status": "success" if success else "below-threshold",
        "score": score.value,
        "baseline": score.baseline,
        "improvement": improvement,
        "detail": "",
        "flags": find_flags(task, setup.identity, score, workspace=root, session=session)
        if success
        else (),
    }
