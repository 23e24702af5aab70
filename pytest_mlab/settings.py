"""The options of a session, checked."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_mlab.conventions import INTERVAL
from pytest_mlab.exceptions import UsageError
from pytest_mlab.options import OPTIONS, locate, look_up

if TYPE_CHECKING:
    from pytest_mlab.allowance import Allowance
    from pytest_mlab.gates import Gate


@dataclass(frozen=True)
class Settings:
    """The options of a session, checked; `None` where a task's own limit stands.

    Without a ``gate`` every trial has to succeed. With ``per_round``, the ``trials`` are the most
    that there may be, and are run so many at a time.
    """

    llms: tuple[str, ...]
    agents: tuple[str, ...]
    fast_llm: str | None
    edit_llm: str | None
    trials: int
    threshold: float
    max_steps: int | None
    timeout: float | None
    max_tokens: int | None
    max_cost: float | None
    budget: "Allowance | None"
    gate: "Gate | None"
    per_round: int | None
    seed: int
    gpus: str
    sandbox: str
    image: str | None
    json: Path | None
    html: Path | None
    check: bool
    prepare: bool
    eval_steps: bool
    resume: str | None
    progress: str
    interval: float
    strict: bool


def read_settings(config: pytest.Config) -> Settings:
    """Check every option; raises `UsageError` that names the option and what it takes."""
    reader = _Reader(config)
    gate, most = reader.gate("--mlab-gate"), reader.positive_int("--mlab-gate-max-trials")
    trials = reader.positive_int("--mlab-trials") or 1
    if most is not None and gate is None:
        raise UsageError(
            "--mlab-gate-max-trials: needs a gate on all trials together, such as "
            '--mlab-gate "rate>=0.375"; with each, a single miss decides'
        )
    if most is not None and most < trials:
        raise UsageError(
            f"--mlab-gate-max-trials: {most} is less than a round of --mlab-trials={trials}"
        )
    progress, interval = reader.progress("--mlab-progress")
    sandbox = reader.text("--mlab-sandbox") or "auto"
    if config.getoption("mlab_image") and sandbox.partition(":")[0] != "container":
        raise UsageError("--mlab-image: is what a container runs; add --mlab-sandbox=container")
    return Settings(
        llms=reader.many("--mlab-llm"),
        agents=reader.many("--mlab-agent"),
        fast_llm=reader.text("--mlab-fast-llm"),
        edit_llm=reader.text("--mlab-edit-llm"),
        trials=most or trials,
        threshold=reader.number("--mlab-threshold", low=0) or 0.0,
        max_steps=reader.positive_int("--mlab-max-steps"),
        timeout=reader.number("--mlab-timeout", low=0, strictly=True),
        max_tokens=reader.positive_int("--mlab-max-tokens"),
        max_cost=reader.number("--mlab-max-cost", low=0, strictly=True),
        budget=reader.allowance("--mlab-budget"),
        gate=gate,
        per_round=trials if most else None,
        seed=reader.whole("--mlab-seed") or 0,
        gpus=reader.devices("--mlab-gpus"),
        sandbox=sandbox,
        image=reader.text("--mlab-image"),
        json=reader.path("--mlab-json"),
        html=reader.path("--mlab-html"),
        check=bool(look_up(config, "mlab_check")),
        resume=reader.choice("--mlab-resume", ("trial", "step")),
        eval_steps=bool(look_up(config, "mlab_eval_steps")),
        progress=progress,
        interval=interval,
        prepare=bool(look_up(config, "mlab_prepare")),
        strict=bool(look_up(config, "mlab_strict")),
    )


_DEVICE = re.compile(r"\d+|(GPU|MIG)-[\w/-]+")


class _Reader:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def text(self, flag: str) -> str | None:
        option = next(option for option in OPTIONS if option.flag == flag)
        return str(look_up(self._config, option.name)) or option.default

    def path(self, flag: str) -> Path | None:
        given = self.text(flag)
        name = flag.removeprefix("--").replace("-", "_")
        return locate(self._config, name, given) if given else None

    def choice(self, flag: str, choices: tuple[str, ...]) -> str | None:
        value = self.text(flag)
        if value is not None and value not in choices:
            names = " nor ".join(choices)
            raise UsageError(
                f'{flag}: "{value}" is neither {names}; before other arguments, write '
                f"{flag}={choices[0]}"
            )
        return value

    def many(self, flag: str) -> tuple[str, ...]:
        option = next(option for option in OPTIONS if option.flag == flag)
        return tuple(dict.fromkeys(look_up(self._config, option.name)))

    def devices(self, flag: str) -> str:
        value = self.text(flag) or "auto"
        names = [name.strip() for name in value.split(",")]
        if value not in ("auto", "none") and not all(map(_DEVICE.fullmatch, names)):
            raise UsageError(f'{flag}: "{value}" is not auto, none or ids of devices such as 0,1')
        return value

    def allowance(self, flag: str) -> "Allowance | None":
        value = self.text(flag)
        if value is None:
            return None
        from pytest_mlab.allowance import parse_allowance

        return parse_allowance(value)

    def gate(self, flag: str) -> "Gate | None":
        value = self.text(flag) or "each"
        checks = (look_up(self._config, name) for name in ("mlab_check", "mlab_prepare"))
        if value == "each" or any(checks):
            return None
        from pytest_mlab.gates import parse_gate

        return parse_gate(value)

    def progress(self, flag: str) -> tuple[str, float]:
        value = self.text(flag) or "auto"
        kind, colon, seconds = value.partition(":")
        if value in ("auto", "live", "plain", "none"):
            return value, INTERVAL
        if kind == "plain" and colon and re.fullmatch(r"\d+(\.\d+)?", seconds) and float(seconds):
            return kind, float(seconds)
        raise UsageError(f'{flag}: "{value}" is not auto, live, plain, plain:SECONDS or none')

    def whole(self, flag: str) -> int | None:
        value: int | None = self._convert(flag, int, "a whole number")
        return value

    def positive_int(self, flag: str) -> int | None:
        value = self.whole(flag)
        if value is not None and value < 1:
            raise UsageError(f"{flag}: {value} is not a whole number above 0")
        return value

    def number(self, flag: str, *, low: float, strictly: bool = False) -> float | None:
        value: float | None = self._convert(flag, float, "a number")
        if value is None:
            return None
        if not math.isfinite(value) or value < low or (strictly and value == low):
            kind = "above" if strictly else "of at least"
            raise UsageError(f"{flag}: {value:g} is not a number {kind} {low:g}")
        return value

    def _convert(self, flag: str, kind: Callable[[str], Any], words: str) -> Any:
        text = self.text(flag)
        if text is None:
            return None
        try:
            return kind(text)
        except ValueError:
            raise UsageError(f'{flag}: "{text}" is not {words}') from None
