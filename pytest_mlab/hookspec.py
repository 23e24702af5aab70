"""The hooks that a ``conftest.py`` or a plugin may implement.

The defaults are ordinary implementations in `pytest_mlab.session` that are tried last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pytest_mlab.actions import Action
    from pytest_mlab.agents import Agent
    from pytest_mlab.llm import LLM, Spec
    from pytest_mlab.results import Result
    from pytest_mlab.task import Task


@pytest.hookspec(firstresult=True)
def pytest_mlab_make_agent(config: pytest.Config, name: str) -> Agent | None:
    """Make the agent of a name; called once a trial, in the process that runs it.

    .. code-block:: python

        def pytest_mlab_make_agent(config, name):
            if name == "mine":
                return MyAgent(temperature=0.2)
    """


@pytest.hookspec(firstresult=True)
def pytest_mlab_make_llm(config: pytest.Config, name: str) -> LLM | Spec | None:
    """Give the language model of a name, or the `Spec` by which it is connected to.

    Called before anything runs, to see that there is one, and once a trial, in the process that
    runs it. Only a `Spec` carries prices; a bare LLM's calls cost nothing that is known.

    .. code-block:: python

        def pytest_mlab_make_llm(config, name):
            if name == "mine":
                return MyLLM()
    """


@pytest.hookspec(firstresult=True)
def pytest_mlab_actions(
    config: pytest.Config, task: Task, agent: Agent, llm: str | None
) -> Sequence[Action] | None:
    """Give the actions that an agent may use on a task; ``llm`` names what it asks, if anything.

    .. code-block:: python

        from pytest_mlab.actions import ACTIONS

        def pytest_mlab_actions(config, task):
            return [action for action in ACTIONS if action.name != "Python REPL"]
    """


@pytest.hookspec
def pytest_mlab_trial_finished(config: pytest.Config, result: Result) -> None:
    """See the result of a trial; called in the process that ran it, once it is recorded.

    .. code-block:: python

        def pytest_mlab_trial_finished(config, result):
            print(result.task, result.status, file=sys.stderr)
    """


@pytest.hookspec
def pytest_mlab_update_json(config: pytest.Config, document: dict[str, Any]) -> None:
    """Change what ``--mlab-json`` writes; called in the controller, at the end of the session.

    .. code-block:: python

        def pytest_mlab_update_json(config, document):
            document["commit"] = os.environ.get("GITHUB_SHA")
    """
