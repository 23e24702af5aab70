"""The options: their names on the command line and in an ini file, their defaults.

Loaded by every session of pytest, whether it has tasks or not: imports next to nothing.
"""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.conventions import INTERVAL, THRESHOLD


@dataclass(frozen=True)
class Option:
    """An option; its ini twin is its name with underscores.

    ``many`` may be given repeatedly; without a value, one means that of ``alone``.
    """

    flag: str
    help: str
    metavar: str | None = None
    default: str | None = None
    many: bool = False
    ini: bool = True
    alone: str | None = None

    @property
    def arguments(self) -> dict[str, Any]:
        """What the command line's parser is told; without a default, to tell what was given."""
        if self.metavar is None:
            return {"help": self.help, "action": "store_true", "default": None}
        action = "append" if self.many else "store"
        least = {} if self.alone is None else {"nargs": "?", "const": self.alone}
        given = {"help": self.help, "action": action, "metavar": self.metavar, "default": None}
        return given | least

    @property
    def name(self) -> str:
        """The name in an ini file and in ``config.option``."""
        return self.flag.removeprefix("--").replace("-", "_")


OPTIONS = (
    Option("--mlab-llm", "ask this language model; repeatable", "NAME", many=True),
    Option(
        "--mlab-agent",
        "run this agent: research, react, simple, tools, hillclimb, baseline, solution or "
        "package.module:attribute; repeatable (default: research, hillclimb without an LLM)",
        "NAME",
        many=True,
    ),
    Option("--mlab-fast-llm", "ask this one for summaries (default: the agent's)", "NAME"),
    Option("--mlab-edit-llm", "ask this one to edit files (default: the agent's)", "NAME"),
    Option("--mlab-trials", "trials of each task, agent and LLM (default: 1)", "N", "1"),
    Option(
        "--mlab-threshold",
        f"improvement over the baseline that a success has to exceed (default: {THRESHOLD:.2f})",
        "FRACTION",
        str(THRESHOLD),
    ),
    Option("--mlab-max-steps", "steps an agent may take (default: the task's)", "N"),
    Option("--mlab-timeout", "time an agent may take (default: the task's)", "SECONDS"),
    Option("--mlab-max-tokens", "tokens a trial may use (default: no limit)", "N"),
    Option("--mlab-max-cost", "money a trial may spend (default: no limit)", "USD"),
    Option(
        "--mlab-budget",
        "what the whole session may use: USD, or 5usd,2Mtok,8gpuh,3h (default: no limit)",
        "AMOUNT",
    ),
    Option(
        "--mlab-gate",
        "what makes the session pass: each (trial succeeds), rate>=0.375 (,per-task and ,point may "
        "follow) or no-worse-than=results.json (default: each)",
        "GATE",
        "each",
    ),
    Option(
        "--mlab-gate-max-trials",
        "run the trials in rounds, up to N of each, until the gate's verdict is sure",
        "N",
    ),
    Option("--mlab-seed", "seed of everything random in an agent (default: 0)", "N", "0"),
    Option(
        "--mlab-gpus",
        "devices to use: auto, none or ids such as 0,1 (default: auto)",
        "IDS",
        "auto",
    ),
    Option(
        "--mlab-sandbox",
        "how commands are confined: auto, none or a kind (default: auto)",
        "KIND",
        "auto",
    ),
    Option("--mlab-image", "image for --mlab-sandbox=container (default: the task's)", "IMAGE"),
    Option(
        "--mlab-tasks",
        "folder of tasks to run instead of the bundled ones; repeatable",
        "DIR",
        many=True,
    ),
    Option(
        "--mlab-progress",
        "what is shown while trials run: auto, live (a display on a terminal), plain or "
        f"plain:SECONDS (lines at intervals, default {INTERVAL:g}), none (default: auto)",
        "KIND",
        "auto",
    ),
    Option("--mlab-results", "folder that records go to (default: .mlab)", "DIR", ".mlab"),
    Option("--mlab-json", "write all results to this file", "PATH"),
    Option("--mlab-html", "write a report to this file, as one HTML page", "PATH"),
    Option(
        "--mlab-resume",
        "go on after an interrupted session, the last one or that of --mlab-results: finished "
        "trials are taken over, others start over (trial, the default) or go on from their last "
        "step (step)",
        "HOW",
        ini=False,
        alone="trial",
    ),
    Option(
        "--mlab-eval-steps",
        "score the submission of each step after the trial, for curves; decides nothing",
        ini=False,
    ),
    Option(
        "--mlab-prepare",
        "fetch and prepare the tasks' data, ahead of a run, instead of running agents",
        ini=False,
    ),
    Option(
        "--mlab-strict",
        "make an error of what a task lacks here (packages, credentials, devices), not a skip",
        ini=False,
    ),
    Option("--mlab-check", "check the tasks themselves instead of running agents", ini=False),
)

_BY_NAME = {option.name: option for option in OPTIONS}

SESSION = pytest.StashKey[str]()
"""The folder of this session's records, relative to the root folder."""


def look_up(config: pytest.Config, name: str) -> Any:
    """Give an option's value from the command line or the ini file; empty where neither has it."""
    value = config.getoption(name)
    if value is None and _BY_NAME[name].ini:
        value = config.getini(name)
    return value if value is not None else ([] if _BY_NAME[name].many else "")


def locate(config: pytest.Config, name: str, path: str) -> Path:
    """Give the place of an option's path.

    It is seen from where pytest was started, as all of pytest's are; from the root folder where the
    ini file names it.
    """
    given = config.getoption(name) is not None
    base = config.invocation_params.dir if given else config.rootpath
    return Path(os.path.normpath(base / path))


def name_session(config: pytest.Config) -> str:
    """Give a new session's folder, the controller's in a worker; a trial will make it."""
    named: str | None = getattr(config, "workerinput", {}).get("mlab_session")
    results = locate(config, "mlab_results", look_up(config, "mlab_results") or ".mlab")
    if config.getoption("mlab_resume") and (results / "session.json").exists():
        results = results.parent  # a session is named, whose neighbour this one becomes
    if results.is_relative_to(config.rootpath):
        results = results.relative_to(config.rootpath)
    return named or f"{results}/{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
