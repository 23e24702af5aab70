"""A conversation with tools, over both SDKs, at a server that this project did not write."""

from pytest_mlab.llm import Message, Request, Tool
from tests.llm.conftest import at

FILE = {"type": "object", "properties": {"file_name": {"type": "string"}}}
FOLDER = {"type": "object", "properties": {"dir_path": {"type": "string"}}}
SCRIPT = {"type": "object", "properties": {"script_name": {"type": "string"}}}
TOOLS = (
    Tool("list_files", "List a folder.", FOLDER),
    Tool("read_file", "Read a file.", FILE),
    Tool("execute_script", "Run a script.", SCRIPT),
)


def test_calls_and_results_go_back_and_forth_until_the_model_is_done(
    fakellm: str, protocol: str
) -> None:
    llm = at(fakellm, protocol)
    # The server tells conversations apart by how they begin.
    messages = [Message.user(f"Please work with tools, over {protocol}.")]

    first = llm.complete(Request(messages=tuple(messages), tools=TOOLS))
    assert first.stop == "tool"
    assert [(call.name, call.parse()) for call in first.tool_calls] == [
        ("list_files", {"dir_path": "."})
    ]
    messages += [first.message(), Message.tool_result(first.tool_calls[0].id, "train.py data/")]

    second = llm.complete(Request(messages=tuple(messages), tools=TOOLS))
    assert [call.name for call in second.tool_calls] == ["execute_script", "read_file"]
    run, read = second.tool_calls
    messages += [
        second.message(),
        Message.tool_result(run.id, "validation accuracy: 0.93"),
        Message.tool_result(read.id, "no such file", failed=True),
    ]

    last = llm.complete(Request(messages=tuple(messages), tools=TOOLS))
    assert last.stop == "end"
    assert last.text == "The accuracy is 0.93."
    assert last.tool_calls == ()


def test_usage_and_time_are_the_calls_own(fakellm: str, protocol: str) -> None:
    reply = at(fakellm, protocol).complete(Request(messages=(Message.user("hello"),)))
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.cost_usd == 0  # an address on this machine
    assert 0 < reply.seconds < 30
    assert reply.model == "a-model"
