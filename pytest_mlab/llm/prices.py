"""What tokens cost, by the price lists that `genai-prices` ships."""

from pytest_mlab.llm.catalog import Spec


def has_price(spec: Spec) -> bool:
    """Say whether the cost of this LLM's calls is known, a free one's included."""
    return spec.free or _price(spec, 0, 0, 0, 0) is not None


def cost_of(
    spec: Spec,
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
    if spec.free:
        return 0.0
    return _price(spec, input_tokens, output_tokens, cached_tokens, written_tokens) or 0.0


def _price(spec: Spec, read: int, written: int, cached: int, kept: int) -> float | None:
    """Look the model up by its provider, or else by its address; None where it is not listed."""
    if not spec.provider and not spec.base_url:
        return None
    from genai_prices import Usage, calc_price

    usage = Usage(
        input_tokens=read,
        output_tokens=written,
        cache_read_tokens=cached,
        cache_write_tokens=kept,
    )
    try:
        if spec.provider:
            price = calc_price(usage, spec.model, provider_id=spec.provider)
        else:
            price = calc_price(usage, spec.model, provider_api_url=spec.base_url)
    except LookupError:
        return None
    return float(price.total_price)
