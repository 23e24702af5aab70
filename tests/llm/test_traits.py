"""What models take, by their names; sources are in docs/llms.md."""

import pytest

from pytest_mlab.llm.traits import PLAIN, THINKING_TOKENS, Traits, traits_of


@pytest.mark.parametrize(
    "model",
    [
        "gpt-4",
        "gpt-4o",
        "gpt-4.1-mini",
        "gpt-5.3-chat-latest",
        "claude-1",
        "claude-2.1",
        "claude-3-opus-20240229",
        "claude-opus-4-20250514",
        "claude-sonnet-4-5-20250929",
        "claude-opus-4-6",
        "anthropic/claude-3.5-sonnet",
        "gemini-1.5-pro",
        "gemini-pro",
        "mistralai/mixtral-8x7b-instruct",
        "something-else",
    ],
)
def test_ordinary_models_take_everything(model: str) -> None:
    assert traits_of(model) == PLAIN


@pytest.mark.parametrize(
    "model", ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-6-sol", "openai/gpt-5"]
)
def test_openais_models_that_reason_take_no_sampling(model: str) -> None:
    assert traits_of(model) == Traits(thinks=True, temperature=False, stop=False)


@pytest.mark.parametrize(
    "model", ["claude-opus-4-7", "claude-opus-4-8", "anthropic/claude-opus-4.8"]
)
def test_from_4_7_on_claude_takes_no_temperature(model: str) -> None:
    assert traits_of(model) == Traits(temperature=False)


@pytest.mark.parametrize(
    "model",
    [
        "claude-opus-5",
        "claude-sonnet-5-5",
        "claude-haiku-5-5",
        "claude-fable-5-2",
        "claude-mythos-preview",
    ],
)
def test_from_5_on_claude_thinks_and_cannot_be_forced(model: str) -> None:
    assert traits_of(model) == Traits(thinks=True, temperature=False, forced_tools=False)


@pytest.mark.parametrize(
    "model", ["gemini-2.5-pro", "gemini-3-flash-preview", "google/gemini-4-argon"]
)
def test_gemini_thinks_from_2_5_on(model: str) -> None:
    assert traits_of(model) == Traits(thinks=True)


def test_room_to_think_comes_on_top() -> None:
    assert PLAIN.output_limit(2000) == 2000
    assert Traits(thinks=True).output_limit(2000) == 2000 + THINKING_TOKENS
    assert Traits(longest=512).output_limit(2000) == 512
