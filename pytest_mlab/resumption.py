"""How an item's trial takes up what an earlier session has recorded of it, where one is resumed."""

import dataclasses
import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from pytest_mlab import runs
from pytest_mlab.agents import Agent, describe_agent, goes_on, name_of
from pytest_mlab.checkpoint import CannotGoOn, Checkpoint, read_checkpoint, restore
from pytest_mlab.collection import identity_of, need_of
from pytest_mlab.environment import Limits
from pytest_mlab.exceptions import InfraError, TaskError
from pytest_mlab.results import Result
from pytest_mlab.resuming import hold, resume_trial, write_conditions
from pytest_mlab.session import DEVICES, NOTE, RESUMED, session_folder
from pytest_mlab.subjects import SETTINGS, find_llm, find_roles
from pytest_mlab.task import Task
from pytest_mlab.workspace import Workspace

TAKEN = pytest.StashKey[Result]()
"""The result of an item's trial that is taken over from the session that this one resumes."""
EARLIER = pytest.StashKey[Path]()
"""The folder of an item's interrupted trial that is to be gone on with."""
PAST = pytest.StashKey[Checkpoint | None]()
"""Where an item's trial goes on from."""
HELD = pytest.StashKey[int | None]()
"""What keeps the session's records in use."""


def take_up(item: pytest.Item, folder: Path, agent: Agent, limits: Limits) -> None:
    """Write down what an item's trial depends on, and find what there is of it already.

    A result that is taken over is recorded in the trial's own ``folder`` at once.
    """
    _hold(item.config)
    identity = identity_of(item)
    assert identity is not None
    conditions = _list_conditions(item, agent, limits)
    write_conditions(folder, conditions)
    resumed = item.config.stash[RESUMED]
    if resumed is None:
        return
    found = resume_trial(resumed, identity.nodeid, conditions)
    settings = item.config.stash[SETTINGS]
    if found.result is None and settings.budget is not None:
        from pytest_mlab.budgeting import check_budget

        check_budget(item.config, identity, need_of(item, len(item.config.stash[DEVICES])))
    item.stash[NOTE] = found.note
    if found.result is not None:
        runs.record_result(folder, found.result)
        item.stash[TAKEN] = found.result
    elif found.folder is not None and settings.resume == "step":
        replayed = identity.llm and find_llm(item.config, identity.llm).protocol == "replay"
        if goes_on(agent) and not replayed:
            item.stash[EARLIER] = found.folder
        else:
            who = identity.llm if replayed else name_of(agent)
            item.stash[NOTE] += f"; {who} cannot go on from a step"


def _hold(config: pytest.Config) -> None:
    """Keep the session's records in use for as long as this process runs."""
    if HELD not in config.stash:
        config.stash[HELD] = held = hold(session_folder(config))
        if held is not None:
            config.add_cleanup(partial(os.close, held))


def _list_conditions(item: pytest.Item, agent: Agent, limits: Limits) -> dict[str, str]:
    """Give what a trial's result depends on, in words: another word, another trial."""
    config, settings = item.config, item.config.stash[SETTINGS]
    identity = identity_of(item)
    assert identity is not None
    roles = ("LLM", "fast LLM", "edit LLM")
    specs = find_roles(config, identity.llm) if identity.llm is not None else ()
    return {
        "task": identity.task_digest,
        "agent": describe_agent(agent),
        **{
            role: f"{spec.name} ({spec.protocol}, {spec.base_url or 'its own server'})"
            for role, spec in zip(roles, specs, strict=False)
        },
        "seed": str(identity.seed),
        "seconds": f"{limits.seconds:g}",
        "steps": str(limits.steps),
        "tokens": str(limits.tokens),
        "cost": str(limits.cost),
        "threshold": f"{settings.threshold:g}",
    }


def open_workspace(request: pytest.FixtureRequest, task: Task, folder: Path) -> Workspace:
    """Make a fresh workspace, or bring it to where an interrupted trial stood.

    That of a trial whose result is taken over is the one that it left.
    """
    item = request.node
    taken = item.stash.get(TAKEN, None)
    if taken is not None:
        left = Path(taken.folder, runs.WORKSPACE)
        return Workspace(left, left / task.data_at, task.read_only)
    if dataclasses.replace(task).digest != task.digest:
        raise TaskError(
            f"{task.folder}: was edited after this session began: its trials would be of different "
            "tasks; start anew, or put it back and go on with --mlab-resume"
        )
    public, root = request.getfixturevalue("mlab_data").public, folder / runs.WORKSPACE
    workspace = Workspace.create(task, public, root)
    earlier = item.stash.get(EARLIER, None)
    if earlier is None:
        return workspace
    try:
        item.stash[PAST] = checkpoint = read_checkpoint(earlier)
        restore(checkpoint, workspace.root, folder)
    except CannotGoOn as reason:
        item.stash[PAST] = None
        item.stash[NOTE] += f"; it cannot go on: {reason}"
        shutil.rmtree(root)
        return Workspace.create(task, public, root)
    except OSError as error:
        raise InfraError(f"{folder}: the trial cannot go on there: {error}") from error
    goes_on_after = f"goes on after step {len(checkpoint.steps)}"
    item.stash[NOTE] = item.stash[NOTE].replace("starts over", goes_on_after)
    return workspace
