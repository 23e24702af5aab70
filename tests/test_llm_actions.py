"""Actions that ask a language model, on a real workspace, with scripted answers."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pytest_mlab.actions import ACTIONS
from pytest_mlab.environment import Environment, Limits
from pytest_mlab.exceptions import ActionError, LimitReached
from pytest_mlab.llm import Reply, Request, Spec, StopReason
from pytest_mlab.llm.meter import Meter
from pytest_mlab.llm_actions import LLM_ACTIONS, find_code
from pytest_mlab.models import Models
from pytest_mlab.results import Usage
from pytest_mlab.sandbox import View
from pytest_mlab.sandbox.none import NoSandbox
from pytest_mlab.steps import Observation
from pytest_mlab.trace import Trace, read_trace
from pytest_mlab.workbench import Workbench
from pytest_mlab.workspace import Workspace
from tests.folders import load

SCRIPT = "def f():\n    return 1\n\n\ndef g():\n    return 2\n"
EDIT = {"script_name": "a.py", "edit_instruction": "return 3", "save_name": "a.py"}

Answer = str | tuple[str, StopReason]


class Scripted:
    """An LLM that gives one answer after the other."""

    name = "scripted"

    def __init__(self, answers: Sequence[Answer]) -> None:
        self.answers = list(answers)
        self.requests: list[Request] = []

    def complete(self, request: Request) -> Reply:
        """Give the next answer."""
        self.requests.append(request)
        answer = self.answers.pop(0)
        text, stop = answer if isinstance(answer, tuple) else (answer, "end")
        return Reply(text=text, stop=stop, usage=Usage(10, 2))

    @property
    def prompts(self) -> list[str]:
        """What it was asked."""
        return [request.messages[0].text for request in self.requests]


class Bench:
    """An environment with a script in it and a language model behind its actions."""

    def __init__(self, folder: Path, llm: Scripted, max_tokens: int | None = None) -> None:
        public = folder / "public"
        public.mkdir()
        self.root = folder / "workspace"
        self.root.mkdir()
        (self.root / "a.py").write_text(SCRIPT)
        workspace = Workspace(self.root, public)
        meter = Meter(seconds=lambda: 60.0, max_tokens=max_tokens)
        metered = meter.over(llm, Spec(name="scripted", model="scripted", protocol="own"))
        models = Models(meter, metered, metered, metered)
        sandbox, view = NoSandbox(), View(writable=self.root)
        self.llm = llm
        self.trace = folder / "trace.jsonl"
        self.trace_writer = Trace(self.trace)
        self.environment = Environment(
            load(folder),
            Workbench(
                workspace, sandbox, view, folder / "outputs", problem="Do it.", models=models
            ),
            actions=(*ACTIONS, *LLM_ACTIONS),
            limits=Limits(seconds=60, steps=10, tokens=max_tokens),
            trace=self.trace_writer,
            models=models,
        )
        self.environment.start()

    def act(self, name: str, **arguments: Any) -> Observation:
        """Do an action."""
        return self.environment.act(name, **arguments)

    @property
    def script(self) -> str:
        """The script as it is now."""
        return (self.root / "a.py").read_text()


Make = Callable[..., Bench]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Make]:
    made: list[Bench] = []

    def make(*answers: Answer, **options: Any) -> Bench:
        made.append(Bench(tmp_path, Scripted(answers), **options))
        return made[-1]

    yield make
    for one in made:
        one.trace_writer.close()


def test_an_edit_is_saved_and_shown_as_a_diff(bench: Make) -> None:
    at = bench("```python\n" + SCRIPT.replace("return 1", "return 3") + "```")
    observation = at.act("Edit Script (AI)", **EDIT)
    assert observation.ok
    assert at.script == SCRIPT.replace("return 1", "return 3")
    assert "-    return 1\n+    return 3\n" in observation.text
    assert "It parses as Python." in observation.text
    assert SCRIPT in at.llm.prompts[0]
    assert (at.llm.requests[0].temperature, at.llm.requests[0].max_tokens) == (0.5, 4000)


def test_an_edit_may_be_saved_elsewhere_and_begin_with_nothing(bench: Make) -> None:
    at = bench("```python\nx = 1\n```", "```python\ny = (\n```")
    at.act("Edit Script (AI)", script_name="no.py", edit_instruction="x", save_name="b/new.py")
    assert (at.root / "b" / "new.py").read_text() == "x = 1\n"
    assert not (at.root / "no.py").exists()
    observation = at.act("Edit Script (AI)", **EDIT)
    assert "It does not parse: line 1" in observation.text
    assert at.act("Undo Edit Script", script_name="a.py").ok
    assert at.script == SCRIPT


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        ("def f():\n    return 3\n", "holds no fenced code"),
        ("```python\ndef f():\n    retu", "is not closed"),
        (("```python\ndef f():\n    return 3\n```", "length"), "cut off after 4000 tokens"),
        ("```python\nx = 1\n```\nand\n```python\ny = 2\n```", "2 pieces of code"),
        ("```python\n\n```", "code is empty"),
        ("", "holds no fenced code"),
        (("I will not.", "refused"), "it refuses (I will not.)"),
        (("", "filtered"), "its provider withheld it"),
    ],
)
def test_an_answer_that_is_no_whole_script_is_never_saved(
    bench: Make, answer: Answer, told: str
) -> None:
    at = bench(answer)
    observation = at.act("Edit Script (AI)", **EDIT)
    assert not observation.ok
    assert told in observation.text
    assert "Nothing is saved" in observation.text
    assert at.script == SCRIPT
    assert not at.act("Undo Edit Script", script_name="a.py").ok


def test_code_is_found_among_other_blocks() -> None:
    text = "Run it:\n```bash\npython a.py\n```\n\n```py\nx = 1\n```\nThat is all."
    assert find_code(text) == "x = 1\n"
    with pytest.raises(ActionError, match="no fenced code"):
        find_code("``` is a fence in the midst ``` of a line".replace("``` is", "x ``` is"))


def test_a_segment_is_put_back_where_it_was(bench: Make) -> None:
    at = bench("```python\n    return 3\n```")
    segment = {**EDIT, "start_line_number": 2, "end_line_number": 2}
    observation = at.act("Edit Script Segment (AI)", **segment)
    assert at.script == SCRIPT.replace("return 1", "return 3")
    assert observation.text.count("\n-") == 2  # the diff's head and the one line
    assert "return 2" not in at.llm.prompts[0]
    out = at.act("Edit Script Segment (AI)", **{**segment, "start_line_number": 90})
    assert "a.py has 6 lines; there are none from 90 to 2" in out.text


def test_a_file_is_understood_block_by_block(bench: Make) -> None:
    at = bench("In part 1.", "In part 2.", "In all.")
    (at.root / "long.txt").write_text("a" * 10_000 + "b" * 5)
    observation = at.act("Understand File", file_name="long.txt", things_to_look_for="letters")
    assert observation.text == "In all."
    assert "bbbbb" in at.llm.prompts[1]
    assert "aaaaa" not in at.llm.prompts[1]
    assert "Part 2:\nIn part 2." in at.llm.prompts[2]
    assert {request.temperature for request in at.llm.requests} == {0.01}


def test_what_cannot_be_understood_is_said(bench: Make) -> None:
    at = bench(("", "filtered"))
    look = {"things_to_look_for": "anything"}
    assert not at.act("Understand File", file_name="none.txt", **look).ok
    observation = at.act("Understand File", file_name="a.py", **look)
    assert observation == Observation(
        "The language model gave no answer: its provider withheld it.", ok=False
    )


def test_the_research_log_is_kept_without_charge_and_out_of_reach(bench: Make) -> None:
    at = bench("Much was learned.", "The figure is 3.")
    before = at.environment.remaining.steps
    assert at.act("Append Summary to Research Log", content="The figure is 3.").ok
    assert at.act("Reflection", things_to_reflect_on="What?").text == "Much was learned."
    assert at.act("Retrieval from Research Log", current_plan="Go").text == "The figure is 3."
    assert at.environment.remaining.steps == before
    assert all("The figure is 3." in prompt and "Do it." in prompt for prompt in at.llm.prompts)
    assert sorted(path.name for path in at.root.iterdir()) == ["a.py"]


def test_a_step_that_a_limit_ends_is_recorded_with_its_usage(bench: Make) -> None:
    at = bench("Fine.", max_tokens=3000)
    look = {"file_name": "a.py", "things_to_look_for": "anything"}
    assert at.act("Understand File", **look).ok
    at.environment._models.meter.max_tokens = 100  # type: ignore[union-attr]
    with pytest.raises(LimitReached) as reached:
        at.act("Understand File", **look)
    assert reached.value.limit == "tokens"
    first, second = [event for event in read_trace(at.trace) if event["event"] == "step"]
    assert first["usage"]["input_tokens"] == 10
    assert (second["ok"], second["usage"]["input_tokens"]) == (False, 0)
    assert second["observation"] == "the limit of tokens is reached"
