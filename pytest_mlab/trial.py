"""One trial: an agent takes its turn in an environment, and what it leaves behind is scored."""

import dataclasses
import traceback
from contextlib import suppress
from dataclasses import dataclass

from pytest_mlab.agents import Agent
from pytest_mlab.curves import write_curve
from pytest_mlab.deadline import GRACE, enforce_deadline
from pytest_mlab.environment import Environment
from pytest_mlab.evaluation import score_history
from pytest_mlab.exceptions import InfraError, LimitReached, MlabError, Submitted, Unavailable
from pytest_mlab.judgement import Judgement, judge
from pytest_mlab.results import Result, Stop, error_result
from pytest_mlab.runs import HISTORY, record_result
from pytest_mlab.world import Setup


def run_trial(setup: Setup, agent: Agent, environment: Environment) -> Result:
    """Let the agent take its turn, score the final workspace and record the result.

    The workspace is scored however the turn ended. What is not the agent's fault is recorded as an
    error and raised again, an `MlabError`.
    """
    environment.start()
    try:
        turn = _take_turn(agent, environment)
        judgement = judge(setup, environment.decoys)
    except Unavailable:
        raise
    except MlabError as error:
        with suppress(InfraError):  # a full disk that ended the trial has no room for this either
            record_result(setup.folder, error_of(setup, environment, error))
        raise
    result = Result(
        **vars(setup.identity),
        **vars(_add_turn(judgement, turn)),
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
    gave_up: str = ""


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
    gave_up = environment.gave_up if stop == "gave-up" else ""
    return _Turn(stop, environment.seconds, crash, gave_up)


def _add_turn(judgement: Judgement, turn: _Turn) -> Judgement:
    """Add to the judgement of the workspace how the turn ended."""
    status, details = judgement.status, [judgement.detail]
    if turn.crash:
        # Tampering is the graver one; whatever else the workspace is worth, a crash is no success.
        if status != "tampered":
            status, details = "agent-error", []
        details.append(turn.crash)
    elif turn.gave_up:
        details.append(f"the agent gave up: {turn.gave_up}")
    # Half a surrogate pair, which no stream takes, is shown by its escape.
    detail = "; ".join(filter(None, details)).encode("utf-8", "backslashreplace").decode()
    return dataclasses.replace(judgement, status=status, detail=detail)
