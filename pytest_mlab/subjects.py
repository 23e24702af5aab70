"""Who tries: agents and language models by their names, checked before any task runs."""

import math
from collections.abc import Iterable, Sequence

import pytest

from pytest_mlab.agents import DEFAULT, DEFAULT_WITH_LLM, Agent, asks_llm, needs_llm
from pytest_mlab.exceptions import UsageError
from pytest_mlab.llm import LLM, Spec, check
from pytest_mlab.sandbox import Sandbox
from pytest_mlab.settings import Settings

SETTINGS = pytest.StashKey[Settings]()

Subject = tuple[str, str | None]
"""The names of an agent and of the LLM that it asks, if it asks one."""

SUBJECTS = pytest.StashKey[list[Subject]]()


def list_subjects(config: pytest.Config) -> list[Subject]:
    """Give who tries: each agent with each LLM, or alone where it asks none."""
    if SUBJECTS not in config.stash:
        config.stash[SUBJECTS] = _find_subjects(config)
    return config.stash[SUBJECTS]


def _find_subjects(config: pytest.Config) -> list[Subject]:
    settings = config.stash[SETTINGS]
    default = DEFAULT_WITH_LLM if settings.llms else DEFAULT
    subjects: list[Subject] = []
    for name in settings.agents or (default,):
        agent = make_agent(config, name)
        if needs_llm(agent) and not settings.llms:
            raise UsageError(
                f'agent "{name}" asks a language model: name one with --mlab-llm, '
                "such as --mlab-llm=gpt-4 or, without a key, --mlab-llm=local"
            )
        llms: Sequence[str | None] = settings.llms if asks_llm(agent) else ()
        subjects += [(name, llm) for llm in llms or (None,)]
    return subjects


def make_agent(config: pytest.Config, name: str) -> Agent:
    """Make the agent of a name, as the hooks say."""
    agent: Agent = config.hook.pytest_mlab_make_agent(config=config, name=name)
    return agent


def find_llm(config: pytest.Config, name: str) -> Spec:
    """Find the LLM of a name, as the hooks say, without connecting to it."""
    found: LLM | Spec = config.hook.pytest_mlab_make_llm(config=config, name=name)
    if isinstance(found, Spec):
        return found
    made = found
    return Spec(name=name, model=name, protocol="own", own=lambda _: made)


def find_roles(config: pytest.Config, main: str) -> tuple[Spec, Spec, Spec]:
    """Find the LLMs of a trial: the main one, the fast one and the one that edits.

    What is played back is what all of them answered then.
    """
    settings = config.stash[SETTINGS]
    first = find_llm(config, main)
    if first.protocol == "replay":
        return first, first, first
    fast, edit = (
        find_llm(config, other) if other and other != main else first
        for other in (settings.fast_llm, settings.edit_llm)
    )
    return first, fast, edit


def check_subjects(config: pytest.Config) -> None:
    """See that all who are to try can; raises `MlabError` that says what is missing."""
    names = dict.fromkeys(llm for _, llm in list_subjects(config) if llm is not None)
    specs = {spec.name: spec for name in names for spec in find_roles(config, name)}
    for spec in specs.values():
        check(spec)
    _check_prices(config.stash[SETTINGS], specs.values())


def check_confinement(config: pytest.Config, sandbox: Sandbox) -> None:
    """See that no code of an LLM runs unconfined unless that was asked for; raises `UsageError`."""
    llms = [llm for _, llm in list_subjects(config) if llm is not None]
    if llms and sandbox.name == "none" and config.stash[SETTINGS].sandbox == "auto":
        raise UsageError(
            f"{llms[0]} would write code that runs unconfined: no sandbox works here; "
            "--mlab-sandbox=bwrap says why, and what would help; --mlab-sandbox=none goes on "
            "without, if this machine may be read and changed by that code"
        )


def _check_prices(settings: Settings, specs: Iterable[Spec]) -> None:
    """Refuse a limit of cost that cannot be held."""
    limited = settings.budget is not None and settings.budget.usd < math.inf
    if settings.max_cost is None and not limited:
        return
    from pytest_mlab.llm.prices import has_price

    for spec in specs:
        if not has_price(spec):
            option = "--mlab-budget" if settings.max_cost is None else "--mlab-max-cost"
            raise UsageError(
                f"{option}: the price of {spec.name} is not known, so that its cost cannot be "
                "limited; limit its tokens, with --mlab-max-tokens or --mlab-budget=2Mtok"
            )
