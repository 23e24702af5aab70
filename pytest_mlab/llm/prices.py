"""What tokens cost, by the price lists that `genai-prices` ships."""

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_mlab.llm.catalog import Spec


def has_price(spec: "Spec") -> bool:
    """Say whether the cost of this LLM's calls is known, a free one's included."""
    return spec.free or _price(spec.provider, spec.base_url, spec.model) is not None


def cost_of(
    spec: "Spec",
    *,
    input_tokens: int,
    output_tokens: int,
    cached_tokens: int = 0,
    written_tokens: int = 0,
) -> float:
    """Give the price in US dollars; 0 where none is known (`has_price`).

    ``input_tokens`` is all of the input: what was read from the provider's cache
    (``cached_tokens``) and what was written to it (``written_tokens``) are parts of it, each at a
    price of its own.
    """
    model = None if spec.free else _price(spec.provider, spec.base_url, spec.model)
    if model is None:
        return 0.0
    from genai_prices import Usage

    usage = Usage(
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cache_read_tokens=cached_tokens,
        cache_write_tokens=written_tokens,
    )
    info, provider = model
    return float(info.calc_price(usage, provider).total_price)


@functools.cache
def _price(provider: str, base_url: str | None, model: str) -> Any:
    """Find the model in the price lists: by provider where it is known, else by address."""
    if not provider and not base_url:
        return None
    from genai_prices.data_snapshot import get_snapshot

    try:
        found, info = get_snapshot().find_provider_model(
            model, None, provider or None, None if provider else base_url
        )
    except LookupError:
        return None
    return info, found
