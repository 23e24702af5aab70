"""Costs come from the price lists; what is not in them is known to be unknown."""

import pytest

from pytest_mlab.llm import lookup
from pytest_mlab.llm.prices import cost_of, has_price


def test_the_papers_models_cost_what_their_providers_asked() -> None:
    """Per million tokens: gpt-4 $30 in and $60 out, Claude 2.1 $8 and $24."""
    assert cost_of(lookup("gpt-4"), input_tokens=10**6, output_tokens=10**6) == 90
    assert cost_of(lookup("claude-2.1"), input_tokens=10**6, output_tokens=10**6) == 32


def test_cached_tokens_are_cheaper_and_written_ones_dearer() -> None:
    spec = lookup("claude-3-opus-20240229")
    plain = cost_of(spec, input_tokens=1000, output_tokens=0)
    cached = cost_of(spec, input_tokens=1000, output_tokens=0, cached_tokens=1000)
    written = cost_of(spec, input_tokens=1000, output_tokens=0, written_tokens=1000)
    assert cached < plain < written


def test_a_known_address_has_its_owners_prices() -> None:
    assert has_price(lookup("openai:deepseek-chat@https://api.deepseek.com/v1"))


@pytest.mark.parametrize(
    "name", ["openai:m@https://llm.corp.example/v1", "claude-9-new", "openrouter/nobody/nothing"]
)
def test_an_unknown_price_is_told_from_none(name: str) -> None:
    spec = lookup(name)
    assert not has_price(spec)
    assert cost_of(spec, input_tokens=10**6, output_tokens=10**6) == 0


@pytest.mark.parametrize("name", ["local", "replay:somewhere", "ollama/llama3", "hf/m"])
def test_what_runs_here_is_free(name: str) -> None:
    spec = lookup(name)
    assert has_price(spec)
    assert cost_of(spec, input_tokens=10**6, output_tokens=10**6) == 0
