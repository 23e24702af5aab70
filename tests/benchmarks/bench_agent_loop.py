"""What an agent's loop adds to a step: ``python -m tests.benchmarks.bench_agent_loop``.

A turn is 50 steps: scripts of 4,000 characters are shown, so that a conversation grows as real ones
do. The language model answers at once, in this process. What is given is the time that a step takes
beyond the model's answer and the action itself: making the prompt, limits, record, reading the
answer, the trace; and once more with the openai SDK and an HTTP server on loopback in between.
"""

import dataclasses
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pytest_mlab.actions import Action
from pytest_mlab.agents import Agent, find_agent
from pytest_mlab.agents.repertoire import choose_actions
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import AgentStop
from pytest_mlab.llm import LLM, Reply, Request, Spec, ToolCall, connect, lookup
from pytest_mlab.models import meter_models
from pytest_mlab.results import Identity, Usage
from pytest_mlab.sandbox import View
from pytest_mlab.sandbox.none import NoSandbox
from pytest_mlab.trace import Trace
from pytest_mlab.workbench import Workbench
from pytest_mlab.workspace import Workspace
from tests.agents.scripted import Said, call, name_llm, speak, step
from tests.folders import load
from tests.llm.servers import serve_canned

STEPS = 50
TURNS = 9
SIZE = 4000
MOST_MS = 5.0

CALL = call("inspect_script_lines", script_name="a.py", start_line_number=1, end_line_number=80)
STEP = step("Inspect Script Lines", script_name="a.py", start_line_number=1, end_line_number=80)


@dataclasses.dataclass
class Watch:
    """Adds up the time that is not the loop's."""

    seconds: float = 0.0

    def time(self, function: Callable[..., object]) -> Callable[..., object]:
        """Give a function that is timed."""

        def timed(*args: object, **kwargs: object) -> object:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.seconds += time.perf_counter() - start

        return timed


class AtOnce:
    """Always answers the same."""

    name = "at-once"

    def __init__(self, said: Said) -> None:
        calls = tuple(
            ToolCall("call_0", name, json.dumps(arguments)) for name, arguments in said.calls
        )
        self.reply = Reply(text=said.text, tool_calls=calls, usage=Usage(100, 20))

    def complete(self, request: Request) -> Reply:
        """Answer."""
        return self.reply


def time_turn(folder: Path, agent: Agent, llm: LLM, spec: Spec) -> float:
    """Give what a step of a turn takes beyond the actions, in ms."""
    root, public = folder / "workspace", folder / "public"
    root.mkdir(parents=True)
    public.mkdir()
    (root / "a.py").write_text("x = 1  # a line of fifty characters, as they come\n" * (SIZE // 50))
    watch = Watch()
    identity = Identity(task="t", agent="a", llm="l", trial=1, nodeid="t", task_digest="", seed=0)
    models = meter_models(llm, (spec, spec, spec), connect, identity=identity, folder=folder)
    environment = Environment(
        load(folder),
        Workbench(Workspace(root, public), NoSandbox(), View(writable=root), folder / "outputs"),
        actions=[_timed(action, watch) for action in choose_actions(agent, "l")],
        limits=Limits(seconds=3600, steps=STEPS),
        trace=Trace(folder / "trace.jsonl"),
        models=models,
    )
    environment.start()
    start = time.perf_counter()
    with suppress(AgentStop):
        agent.run(environment)
    whole = time.perf_counter() - start
    assert environment.charged == STEPS
    assert len(environment.steps[-1].observation.text) > SIZE
    return (whole - watch.seconds) / STEPS * 1000


def _timed(action: Action, watch: Watch) -> Action:
    return dataclasses.replace(action, run=watch.time(action.run))  # type: ignore[arg-type]


def main() -> None:
    """Time turns of the two agents, without and with an SDK in between."""
    failed = False
    with tempfile.TemporaryDirectory() as name:
        base = Path(name).resolve()
        for agent, said in (("research", STEP), ("tools", CALL)):
            alone = [
                time_turn(
                    base / f"{agent}{turn}",
                    find_agent(agent),
                    AtOnce(said),
                    Spec(name="at-once", model="at-once", protocol="own", free=True),
                )
                for turn in range(TURNS)
            ]
            with serve_canned(speak(said, "openai")) as server:
                spec = lookup(name_llm(server.url, "openai"))
                served = [
                    time_turn(base / f"{agent}-{turn}", find_agent(agent), connect(spec), spec)
                    for turn in range(TURNS)
                ]
            median = statistics.median(alone)
            failed |= median > MOST_MS
            print(
                f"{agent}: {median:.2f} ms a step (of {TURNS} turns {min(alone):.2f} to "
                f"{max(alone):.2f}); with SDK and server {statistics.median(served):.2f} ms"
            )
    if failed:
        raise SystemExit(f"more than {MOST_MS} ms")


if __name__ == "__main__":
    main()
