"""From a name to a model: whose it is, where it answers, which variable holds the key."""

import os
from dataclasses import dataclass, field, replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from pytest_mlab.llm.errors import LLMUsageError, MissingKey, UnknownLLM
from pytest_mlab.llm.traits import LOCAL, PLAIN, Traits, traits_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_mlab.llm import LLM

Protocol = Literal["openai-chat", "openai-responses", "anthropic-messages", "replay", "own"]

ENTRY_POINTS = "pytest_mlab.llms"

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"
OPENROUTER_URL = "https://openrouter.ai/api/v1"
OLLAMA_URL = "http://127.0.0.1:11434"
HF_URL = "http://127.0.0.1:8000/v1"  # where `vllm serve` answers

FORMS = (
    "gpt-…, o1…, claude-…, gemini-…, mixtral-…, openrouter/VENDOR/MODEL, ollama/MODEL, hf/MODEL, "
    "openai:MODEL@URL, anthropic:MODEL@URL, local, local-anthropic, replay:DIR"
)

RETIRED = {
    "gpt-3.5-turbo": "OpenAI announced its end for 2026-10-23",
    "gpt-4": "OpenAI announced its end for 2026-10-23",
    "gpt-4-turbo": "OpenAI announced its end for 2026-10-23",
    "claude-1": "Anthropic retired it on 2024-11-06",
    "claude-2.1": "Anthropic retired it on 2025-07-21",
    "claude-3-opus-20240229": "Anthropic retired it on 2026-01-05",
    "gemini-pro": "Google retired Gemini 1.0 Pro on 2025-04-09",
}
"""Models of the paper that their provider may no longer serve; said where it answers so."""


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One language model and how to reach it; made by `lookup`, or by an entry point's function.

    ``name`` is what the user typed, ``model`` what the provider calls it. ``base_url`` None is the
    SDK's own default. ``key_variable`` names the environment variable of the key, None where none
    is needed; the key itself is never here. ``provider`` is the id under which `genai-prices` lists
    the prices, empty where they are not known; ``free`` marks what costs nothing. ``local`` marks
    the model that this project serves itself. ``own`` makes the LLM of the protocol ``own``.
    """

    name: str
    model: str
    protocol: Protocol
    base_url: str | None = None
    key_variable: str | None = None
    key_required: bool = True
    provider: str = ""
    free: bool = False
    local: bool = False
    traits: Traits = field(default=PLAIN)
    note: str = ""
    own: "Callable[[Spec], LLM] | None" = field(default=None, repr=False)


def lookup(name: str) -> Spec:
    """Find the model that a name stands for, without importing any SDK or asking any server.

    Raises `UnknownLLM`, listing the forms a name may have.
    """
    for find in (_special, _prefixed, _addressed, _family, _registered):
        if spec := find(name):
            return spec
    raise UnknownLLM(
        f"--mlab-llm={name}: no such language model. A name is one of: {FORMS}; "
        f"or what a package registers as an entry point of the group {ENTRY_POINTS!r}."
    )


def check(spec: Spec) -> None:
    """See that an LLM can be asked, before any task runs and without asking it.

    Raises `MissingKey`, naming the variable to set; `Unavailable`, with the command that installs
    what is missing; `LLMUsageError` where there is nothing to replay.
    """
    if spec.key_variable and spec.key_required and not os.environ.get(spec.key_variable):
        raise MissingKey(
            f"--mlab-llm={spec.name} needs a key: set the environment variable {spec.key_variable}."
        )
    if spec.local:
        from pytest_mlab.llm.local import require

        require()
    if spec.protocol == "replay" and not any(Path(spec.model).rglob("llm.jsonl")):
        raise LLMUsageError(
            f"--mlab-llm={spec.name}: no llm.jsonl in or under {spec.model}; give the folder that "
            "--mlab-results named in an earlier run."
        )


def _special(name: str) -> Spec | None:
    """Find the models that this project serves itself."""
    if name in {"local", "local-anthropic"}:
        return Spec(
            name=name,
            model="SmolLM2-135M-Instruct",
            protocol="openai-chat" if name == "local" else "anthropic-messages",
            free=True,
            local=True,
            traits=LOCAL,
        )
    kind, colon, folder = name.partition(":")
    if kind == "replay" and colon and folder:
        return Spec(name=name, model=folder, protocol="replay", free=True)
    return None


def _prefixed(name: str) -> Spec | None:
    """Find a model whose name begins with a server."""
    server, _, model = name.partition("/")
    if not model:
        return None
    if server == "openrouter":
        return _openrouter(name, model)
    if server == "ollama":
        host = os.environ.get("OLLAMA_HOST", OLLAMA_URL)
        url = host if "://" in host else f"http://{host}"
        return _compatible(name, model, f"{url.rstrip('/')}/v1")
    if server == "hf":
        return _compatible(name, model, os.environ.get("HF_BASE_URL", HF_URL), key="HF_TOKEN")
    return None


def _addressed(name: str) -> Spec | None:
    """Find a model whose name says its protocol and address, ``openai:MODEL@URL#VARIABLE``."""
    protocol, _, rest = name.partition(":")
    if not rest or protocol not in {"openai", "anthropic"}:
        return None
    if "@" not in rest:
        return _openai(name, rest) if protocol == "openai" else _anthropic(name, rest)
    model, _, address = rest.rpartition("@")
    url, _, variable = address.partition("#")
    if not model or not urlsplit(url).netloc:
        raise UnknownLLM(
            f"--mlab-llm={name}: expected {protocol}:MODEL@URL, such as "
            f"{protocol}:my-model@http://127.0.0.1:8000{'/v1' if protocol == 'openai' else ''}, "
            "and #VARIABLE after it where the server wants the key that VARIABLE holds."
        )
    spec = _compatible(name, model, url, key=variable or None, key_required=bool(variable))
    return spec if protocol == "openai" else replace(spec, protocol="anthropic-messages")


def _family(name: str) -> Spec | None:
    """Find a model by the family that its name begins with."""
    if name.startswith(("gpt-", "o1", "o3", "o4", "chatgpt-", "codex-")):
        return _openai(name, name)
    if name.startswith("claude-"):
        return _anthropic(name, name)
    if name.startswith(("gemini-", "gemma-")):
        return Spec(
            name=name,
            model=name,
            protocol="openai-chat",
            base_url=GEMINI_URL,
            key_variable="GEMINI_API_KEY",
            provider="google",
            traits=traits_of(name),
            note=RETIRED.get(name, ""),
        )
    if name.startswith("mixtral"):
        return _openrouter(name, f"mistralai/{name}")
    return None


def _registered(name: str) -> Spec | None:
    """Find what a package registered under the name, or under its part before the slash."""
    kind, _, model = name.partition("/")
    found = {entry.name: entry for entry in entry_points(group=ENTRY_POINTS)}
    entry = found.get(name) or found.get(kind)
    if entry is None:
        return None
    spec = entry.load()(name if entry.name == name else model)
    if not isinstance(spec, Spec):
        raise UnknownLLM(
            f"--mlab-llm={name}: {entry.value} (entry point {entry.name!r} of {ENTRY_POINTS!r}) "
            f"must return a pytest_mlab.llm.Spec, not {type(spec).__name__}."
        )
    return spec


def _openai(name: str, model: str) -> Spec:
    traits = traits_of(model)
    return Spec(
        name=name,
        model=model,
        # Chat completions refuse tools to the models that reason, from gpt-5.6 on.
        protocol="openai-responses" if traits.thinks else "openai-chat",
        key_variable="OPENAI_API_KEY",
        provider="openai",
        traits=traits,
        note=RETIRED.get(name, ""),
    )


def _anthropic(name: str, model: str) -> Spec:
    return Spec(
        name=name,
        model=model,
        protocol="anthropic-messages",
        key_variable="ANTHROPIC_API_KEY",
        provider="anthropic",
        traits=traits_of(model),
        note=RETIRED.get(name, ""),
    )


def _openrouter(name: str, model: str) -> Spec:
    return Spec(
        name=name,
        model=model,
        protocol="openai-chat",
        base_url=OPENROUTER_URL,
        key_variable="OPENROUTER_API_KEY",
        provider="openrouter",
        traits=traits_of(model),
    )


def _compatible(
    name: str, model: str, url: str, *, key: str | None = None, key_required: bool = False
) -> Spec:
    loopback = urlsplit(url).hostname in {"127.0.0.1", "localhost", "::1"}
    return Spec(
        name=name,
        model=model,
        protocol="openai-chat",
        base_url=url,
        key_variable=key,
        key_required=key_required,
        free=loopback,
        traits=traits_of(model),
    )
