"""Agents are found by name, entry point or reference, or refused with what there is."""

import importlib.metadata
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_mlab.agents import BUILT_IN, ENTRY_POINTS, find_agent
from pytest_mlab.agents.baseline import BaselineAgent
from pytest_mlab.environment import Environment
from pytest_mlab.exceptions import UsageError

MODULE = """
class Idle:
    def run(self, environment):
        self.seen = environment

class Demanding:
    def __init__(self, temperature):
        pass

class NoAgent:
    pass

idle = Idle()

def act(environment):
    environment.append("acted")

number = 3
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Makes modules importable."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, source: str) -> None:
        (tmp_path / f"{name}.py").write_text(source)

    make("own_agents", MODULE)
    return make


@pytest.fixture(autouse=True)
def fresh_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget modules of the tests before."""
    import sys

    for name in [name for name in sys.modules if name.startswith("own_")]:
        monkeypatch.delitem(sys.modules, name)


@pytest.fixture
def register(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Registers an entry point, as an installed package does."""

    def add(name: str, value: str) -> None:
        points = importlib.metadata.EntryPoints(
            [importlib.metadata.EntryPoint(name, value, ENTRY_POINTS)]
        )
        monkeypatch.setattr(importlib.metadata, "entry_points", points.select)

    return add


def refusal(name: str) -> str:
    with pytest.raises(UsageError) as error:
        find_agent(name)
    return str(error.value)


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_agents_go_by_their_names(name: str) -> None:
    agent = find_agent(name)
    assert getattr(agent, "name", name) == name
    assert callable(agent.run)


@pytest.mark.usefixtures("module")
class TestReferences:
    def test_to_a_class_an_object_or_a_function(self) -> None:
        assert type(find_agent("own_agents:Idle")).__name__ == "Idle"
        assert type(find_agent("own_agents:idle")).__name__ == "Idle"
        seen: list[str] = []
        find_agent("own_agents:act").run(seen)  # type: ignore[arg-type]  # stands for any object
        assert seen == ["acted"]

    def test_a_class_is_made_anew_each_time(self) -> None:
        assert find_agent("own_agents:Idle") is not find_agent("own_agents:Idle")

    @pytest.mark.parametrize(
        ("name", "problem"),
        [
            ("own_agents:Nobody", "cannot be loaded: AttributeError"),
            ("no_such_module:Agent", "is the folder of no_such_module on the path (ini option"),
            ("own_agents.deeper:Agent", "cannot be loaded: ModuleNotFoundError"),
            (":Agent", "cannot be loaded: ValueError"),
            (".own_agents:Idle", "cannot be loaded: TypeError"),
            ("own_agents:", "cannot be loaded: AttributeError"),
            ("own_agents:number", "is a int; it needs run(environment)"),
            ("own_agents:NoAgent", "is a NoAgent; it needs run(environment)"),
            ("own_agents:Demanding", "cannot be made without arguments: TypeError"),
        ],
    )
    def test_that_lead_nowhere_are_refused_with_the_reason(self, name: str, problem: str) -> None:
        assert refusal(name).startswith(f'agent "{name}" ')
        assert problem in refusal(name)

    @pytest.mark.parametrize("source", ["def f(:", "1 / 0", "import no_such_package"])
    def test_a_module_that_cannot_be_imported_says_why(
        self, module: Callable[[str, str], None], source: str
    ) -> None:
        module("own_broken", source)
        assert 'agent "own_broken:Agent" cannot be loaded: ' in refusal("own_broken:Agent")


class TestUnknownNames:
    def test_the_nearest_name_is_suggested(self) -> None:
        assert refusal("hillclimbs").startswith(
            'there is no agent "hillclimbs"; did you mean "hillclimb"? '
        )

    def test_else_those_that_there_are(self) -> None:
        assert "there are: baseline, cheat, " in refusal("zzz")

    def test_and_how_to_name_ones_own(self) -> None:
        assert refusal("zzz").endswith("Your own: --mlab-agent=package.module:attribute")


@pytest.mark.usefixtures("module")
class TestEntryPoints:
    def test_are_found_by_their_names(self, register: Callable[[str, str], None]) -> None:
        register("theirs", "own_agents:Idle")
        assert type(find_agent("theirs")).__name__ == "Idle"
        assert "theirs" in refusal("zzz")

    def test_do_not_take_a_built_in_agents_name(self, register: Callable[[str, str], None]) -> None:
        register("baseline", "own_agents:Idle")
        assert isinstance(find_agent("baseline"), BaselineAgent)

    def test_that_are_broken_are_refused_with_the_reason(
        self, register: Callable[[str, str], None]
    ) -> None:
        register("theirs", "no_such_module:Agent")
        assert 'agent "theirs" cannot be loaded' in refusal("theirs")


def test_a_function_of_this_process_is_an_agent_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def act(environment: Environment) -> None:
        raise NotImplementedError

    monkeypatch.setattr("tests.folders.act", act, raising=False)
    assert find_agent("tests.folders:act").run is act
