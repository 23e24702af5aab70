"""What a session with tasks does beyond plain pytest; registered once there is a task.

Everything that `pytest_mlab.plugin` does not load for sessions without tasks comes in through here.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mlab import resuming, runs
from pytest_mlab.agents import Agent, find_agent
from pytest_mlab.collection import identity_of, need_of
from pytest_mlab.exceptions import UsageError
from pytest_mlab.llm import Spec, lookup
from pytest_mlab.options import SESSION, locate, look_up
from pytest_mlab.ordering import ErrorMemory, order_items
from pytest_mlab.outcome import settle_outcome
from pytest_mlab.pace import PACE, Pace
from pytest_mlab.reporting.junit import junit_properties
from pytest_mlab.resources import measure_machine
from pytest_mlab.sandbox import Sandbox, find_sandbox
from pytest_mlab.settings import read_settings
from pytest_mlab.subjects import SETTINGS, check_confinement, check_subjects

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Sequence

    from pytest_mlab.actions import Action

DEVICES = pytest.StashKey[tuple[str, ...]]()
RESUMED = pytest.StashKey[Path | None]()
"""The session that this one resumes."""
NOTE = pytest.StashKey[str]()
"""What becomes of an item's trial in a session that resumes another."""
SANDBOX = pytest.StashKey[Sandbox]()


def start(config: pytest.Config) -> None:
    """Check what was asked for, before anything runs; raises `MlabError`."""
    config.stash[SETTINGS] = settings = read_settings(config)
    # A task that is wrong is an error of its own: it keeps no other from running.
    config.option.continue_on_collection_errors = True
    check_subjects(config)
    if config.option.collectonly:
        return
    from pytest_mlab.gpu import find_devices

    config.stash[SANDBOX] = find_sandbox(settings.sandbox, settings.image)
    check_confinement(config, config.stash[SANDBOX])
    devices: tuple[str, ...] | None = getattr(config, "workerinput", {}).get("mlab_devices")
    config.stash[DEVICES] = find_devices(settings.gpus) if devices is None else devices
    config.stash[RESUMED] = _find_resumed(config)
    if settings.budget is not None:
        from pytest_mlab.budgeting import open_budget

        open_budget(config)
    if not _is_worker(config):
        _check_writable(session_folder(config))
        for name, plugin in _make_controllers(config):
            config.pluginmanager.register(plugin, f"pytest_mlab.{name}")


def _make_controllers(config: pytest.Config) -> Iterator[tuple[str, object]]:
    """Make what gathers, shows and judges results; one process does it for all."""
    from pytest_mlab.reporting.collector import ResultCollector
    from pytest_mlab.watching import Watcher

    settings, folder, resumed = (
        config.stash[SETTINGS],
        session_folder(config),
        config.stash[RESUMED],
    )
    if resumed is not None:
        from pytest_mlab.reporting.resumed import ResumeReporter

        yield "resumed", ResumeReporter(resumed)
    plan = partial(runs.read_plan, folder)
    collector = ResultCollector(config, plan, folder / runs.RESULTS, settings.json)
    yield "results", collector
    config.stash[PACE] = pace = Pace(config)
    yield "pace", pace
    machine = measure_machine(len(config.stash[DEVICES]))
    yield "watch", Watcher(config, folder, collector, pace.expectations, machine)
    if settings.html is not None:
        from pytest_mlab.reporting.page.writer import PageWriter

        yield "page", PageWriter(collector, folder, settings.html)
    yield "errors", ErrorMemory(config)
    if settings.budget is not None:
        from pytest_mlab.budgeting import BudgetKeeper

        yield "budget", BudgetKeeper(config, collector)
    if settings.gate is not None:
        from pytest_mlab.gating import Gatekeeper

        yield "gate", Gatekeeper(config, settings.gate, settings, collector)


def session_folder(config: pytest.Config) -> Path:
    """Give the folder of this session's records."""
    return config.rootpath / config.stash[SESSION]


def _find_resumed(config: pytest.Config) -> Path | None:
    """Find the session to resume and keep it for this one; the controller does it for all."""
    if config.stash[SETTINGS].resume is None:
        return None
    if _is_worker(config):
        return Path(config.workerinput["mlab_resumed"])  # type: ignore[attr-defined]  # xdist's
    results = locate(config, "mlab_results", look_up(config, "mlab_results") or ".mlab")
    found = resuming.find_session(results)
    held = resuming.hold(found, alone=True)
    if held is None:
        raise UsageError(
            f"--mlab-resume: {found} is in use: that session still runs, or another one resumes "
            "it; wait until it has ended"
        )
    config.add_cleanup(partial(os.close, held))
    return found


def _check_writable(session: Path) -> None:
    """Refuse a folder that no records can be written to, before anything is spent on trials."""
    there = next(path for path in session.parents if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(
            f"--mlab-results: no records can be written to {there}; name another folder, or make "
            "this one writable"
        )


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Let xdist's workers share the devices that the controller found."""
    node.workerinput["mlab_devices"] = node.config.stash[DEVICES]
    node.workerinput["mlab_resumed"] = str(node.config.stash[RESUMED])
    node.workerinput["mlab_live"] = node.config.pluginmanager.get_plugin("pytest_mlab.watch").live


def pytest_report_header(config: pytest.Config) -> str | None:
    """Say what confines the agents and where the records go."""
    if config.option.collectonly:
        return None
    found: tuple[str, ...] = config.stash[DEVICES]
    devices = ", ".join(found) or "none"
    header = f"mlab: sandbox {config.stash[SANDBOX].name}, GPUs {devices}"
    settings = config.stash[SETTINGS]
    records = f", records in {config.stash[SESSION]}"
    return header if settings.check or settings.prepare else header + records


@pytest.hookimpl(trylast=True)
def pytest_mlab_make_agent(name: str) -> Agent:
    """Make the agent of a name."""
    return find_agent(name)


@pytest.hookimpl(trylast=True)
def pytest_mlab_make_llm(name: str) -> Spec:
    """Find the language model of a name."""
    return lookup(name)


@pytest.hookimpl(trylast=True)
def pytest_mlab_actions(agent: Agent, llm: str | None) -> Sequence[Action]:
    """Give the actions that an agent names, else all that can be done here."""
    from pytest_mlab.agents.repertoire import choose_actions

    return choose_actions(agent, llm)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put first what has to come first, once it is known what is going to run."""
    order_items(config, items)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_finish(session: pytest.Session) -> None:
    """Write down which trials are going to run; one process does it for all."""
    config = session.config
    worker = getattr(config, "workerinput", {"workerid": "gw0"})["workerid"]
    if worker == "gw0" and not config.option.collectonly:
        identities = [identity for item in session.items if (identity := identity_of(item))]
        devices = len(config.stash[DEVICES])
        needs = {item.nodeid: need for item in session.items if (need := need_of(item, devices))}
        if identities:
            runs.write_plan(session_folder(config), identities, needs)
            resuming.begin_session(session_folder(config), config.stash[RESUMED])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out a trial that is not needed any more, or that the budget is used up before."""
    settings, identity = item.config.stash[SETTINGS], identity_of(item)
    if identity is None:
        return
    if settings.budget is not None:
        from pytest_mlab.budgeting import check_budget

        earlier = item.config.stash[RESUMED]
        # what may be taken over is free; whether it is, `take_up` knows
        if earlier is None or not resuming.has_ended(earlier, identity.nodeid):
            check_budget(item.config, identity, need_of(item, len(item.config.stash[DEVICES])))
    if settings.gate is None or settings.per_round is None:
        return
    from pytest_mlab.gating import NOT_NEEDED, is_needed

    if not is_needed(session_folder(item.config), settings.gate, identity):
        pytest.skip(NOT_NEEDED)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give an item the outcome of its trial, and let the report carry the result."""
    report = yield
    result = settle_outcome(item, call, report)
    if call.when == "setup" and NOTE in item.stash:
        report.mlab_resume = item.stash[NOTE]  # type: ignore[attr-defined]  # reports take extras
    if result is not None:
        properties = junit_properties(result)
        for where in (item, report):
            # a rerun's take the place of the first run's
            others = (pair for pair in where.user_properties if not pair[0].startswith("mlab."))
            where.user_properties[:] = [*others, *properties]
        report.mlab_result = result.to_json()  # type: ignore[attr-defined]  # reports take extras
    return report


def is_shown_live(config: pytest.Config) -> bool:
    """Say whether the terminal is taken by a display; nobody else may write there then."""
    watcher = config.pluginmanager.get_plugin("pytest_mlab.watch")
    if watcher is None:  # in a worker
        told: bool = getattr(config, "workerinput", {}).get("mlab_live", False)
        return told
    live: bool = watcher.live
    return live
