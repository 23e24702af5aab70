"""What OpenAI's two protocols share: its SDK, and where its users send it."""

import functools
from typing import Any

from pytest_mlab.llm.provider import Provider, forbid_late_requests


class OpenAIProvider(Provider):
    """A model behind OpenAI's SDK; a subclass speaks one of its protocols."""

    url_variable = "OPENAI_BASE_URL"

    @staticmethod
    @functools.cache
    def connect(base_url: str | None, key: str, retries: int) -> Any:
        import openai

        return openai.OpenAI(
            base_url=base_url,
            api_key=key,
            max_retries=retries,
            http_client=openai.DefaultHttpxClient(event_hooks={"request": [forbid_late_requests]}),
        )
