"""The language models of one trial: one for each role, all behind one meter."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pytest_mlab.budget import Budget
from pytest_mlab.llm import LLM, Spec
from pytest_mlab.llm.meter import Meter
from pytest_mlab.llm.record import FILE, Record
from pytest_mlab.results import Identity, Usage


@dataclass(frozen=True)
class Models:
    """The LLMs that a trial may ask, within its limits; what they were asked is recorded.

    ``main`` is the agent's own, ``fast`` summarises, ``edit`` changes files; they may be the same.
    """

    meter: Meter
    main: LLM
    fast: LLM
    edit: LLM

    @property
    def usage(self) -> Usage:
        """What all of them together have used."""
        return self.meter.usage


Connect = Callable[[Spec], LLM]


def meter_models(
    main: LLM,
    specs: tuple[Spec, Spec, Spec],
    connect: Connect,
    *,
    identity: Identity,
    folder: Path,
    max_tokens: int | None = None,
    max_cost: float | None = None,
    budget: Budget | None = None,
) -> Models:
    """Give a trial's LLMs, of which ``main`` is there already; ``specs`` are main, fast and edit.

    Each name is connected once: a replay plays one sequence, whichever roles it plays in.
    """
    record = Record(
        folder / FILE,
        task=identity.task,
        agent=identity.agent,
        llm=identity.llm or "",
        trial=identity.trial,
    )
    meter = Meter(
        seconds=lambda: 0.0,  # the environment's clock takes its place
        max_tokens=max_tokens,
        max_cost=max_cost,
        budget=budget,
        record=record,
    )
    spec, fast, edit = specs
    known = {spec.name: main}
    for other in (fast, edit):
        if other.name not in known:
            known[other.name] = connect(other)
    return Models(
        meter=meter,
        main=meter.over(main, spec),
        fast=meter.over(known[fast.name], fast, "fast"),
        edit=meter.over(known[edit.name], edit, "edit"),
    )
