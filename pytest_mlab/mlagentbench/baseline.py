"""Measuring the baseline while the data are prepared, for which no trial can be run yet.

The scorer needs what comes of it: the starter's submission tells whose fault a failure is.
"""

import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from pytest_mlab.baselines import ANY, check_scores
from pytest_mlab.data import PreparedData
from pytest_mlab.exceptions import InfraError, InvalidSubmission, TaskError
from pytest_mlab.gpu import find_devices
from pytest_mlab.leases import lease
from pytest_mlab.mlagentbench.folder import SETTINGS
from pytest_mlab.mlagentbench.record import REFERENCE
from pytest_mlab.mlagentbench.script import Script
from pytest_mlab.resources import Demand
from pytest_mlab.sandbox import View, find_sandbox
from pytest_mlab.scoring import score_workspace
from pytest_mlab.task import Task
from pytest_mlab.workspace import Workspace


def measure_baseline(task: Task, data: PreparedData) -> tuple[float, ...]:
    """Run the unmodified starter as often as the task says; give the scores.

    The first run's submission is kept beside the private data. Raises `TaskError` where the starter
    gives no score, or where its scores spread so much that doing nothing might succeed.
    """
    scores = []
    demand = Demand(task.resources.gpus, task.resources.memory_gb, task.resources.cpus)
    with (
        lease(demand, find_devices("auto")) as devices,
        tempfile.TemporaryDirectory(prefix="mlab-baseline-") as name,
    ):
        for number in range(task.baseline.runs):
            root = Path(name).resolve() / str(number)
            scores.append(_score_starter(task, data, root, devices))
            if number == 0:
                reference = data.private / REFERENCE / task.submission.file
                reference.parent.mkdir(parents=True)
                shutil.copyfile(root / task.submission.file, reference)
    check_scores(task, scores, _settings(task))
    return tuple(scores)


def _score_starter(task: Task, data: PreparedData, root: Path, devices: tuple[str, ...]) -> float:
    sandbox = find_sandbox("auto")
    workspace = Workspace.create(task, data.public, root)
    view = View(
        writable=root,
        readable=(data.public,),
        memory_gb=task.resources.memory_gb,
        network=task.resources.network,
        environment={"CUDA_VISIBLE_DEVICES": ",".join(devices)},
    )
    script = Script(
        task.workspace / task.starter,
        sandbox.command([sys.executable, str(workspace.path(task.starter))], view),
        cwd=root,
        environment=sandbox.environment(view),
    )
    try:
        script.run(task.limits.seconds)
    except (TaskError, InfraError) as error:
        raise _explain(task, error) from error
    try:
        return score_workspace(replace(task, baseline=ANY), root, data, sandbox).value
    except (TaskError, InvalidSubmission) as error:
        raise _explain(task, error) from error


def _explain(task: Task, error: Exception) -> TaskError:
    return TaskError(
        f"{task.workspace / task.starter}: the starter, unmodified, gives no baseline. State one "
        f"in {_settings(task)}: [baseline] score, std and runs, of a starter that works. "
        f"What happened: {error}"
    )


def _settings(task: Task) -> Path:
    return task.folder / "scripts" / SETTINGS
