"""What a session is at: its trials under way, what is done and spent, and how long it will take."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pytest_mlab.activity import Activity
from pytest_mlab.reporting.formats import format_count, format_seconds
from pytest_mlab.results import Identity, Usage

LACKING = {"gpus": "GPUs", "memory_gb": "memory", "cpus": "cores"}


@dataclass
class TraceFollower:
    """What a trial's trace says so far; reads on where it stopped.

    ``figure`` is the last validation figure that a script of the agent's printed. The hidden score
    is not among what is followed: there is none before the trial is over.
    """

    file: Path
    metric: str
    steps: int = 0
    figure: float | None = None
    usage: Usage = field(default_factory=Usage)
    over: bool = False
    _read_to: int = 0

    def follow(self) -> None:
        """Take in what was appended since."""
        try:
            with self.file.open("rb") as trace:
                trace.seek(self._read_to)
                for line in trace:
                    if not line.endswith(b"\n"):
                        break
                    self._read_to += len(line)
                    self._take(json.loads(line))
        except FileNotFoundError:
            return

    def _take(self, event: Mapping[str, Any]) -> None:
        from pytest_mlab.agents.hillclimb import find_figure

        if event["event"] == "end":
            self.over = True
        if event["event"] != "step":
            return
        self.steps += 1
        self.usage += Usage(**event.get("usage", {}))
        if event["ok"] and event["action"] == "Execute Script":
            figure = find_figure(str(event["observation"]), self.metric)
            self.figure = self.figure if figure is None else figure


@dataclass(frozen=True)
class Running:
    """A trial under way, ``seconds`` long in its phase.

    ``activity`` is None as long as its worker has not said anything.
    """

    identity: Identity
    seconds: float
    activity: Activity | None
    trace: TraceFollower | None

    @property
    def acts(self) -> bool:
        """Whether it has all that it waited for."""
        return self.activity is not None and self.activity.phase == "acting"

    @property
    def cells(self) -> tuple[str, ...]:
        """Worker, trial, what it does, time, devices and the last validation figure, as shown."""
        identity, activity = self.identity, self.activity
        who = identity.agent if identity.llm is None else f"{identity.agent} · {identity.llm}"
        figure = self.trace.figure if self.trace is not None else None
        return (
            activity.worker if activity is not None else "",
            f"{identity.task} · {who} · trial {identity.trial}",
            self._doing,
            format_seconds(self.seconds),
            f"GPU {','.join(activity.devices)}" if activity and activity.devices else "",
            "" if figure is None else f"validation {figure:.6g}",
        )

    @property
    def _doing(self) -> str:
        if self.activity is None:
            return "starts"
        if self.activity.phase == "waiting":
            return f"waits for {', '.join(LACKING[kind] for kind in self.activity.lacks)}"
        if self.activity.phase == "preparing" or self.trace is None:
            return "preparing"
        if self.trace.over:
            return "scoring"
        return f"step {self.trace.steps}/{self.activity.max_steps}"


@dataclass(frozen=True)
class Overview:
    """A session at one moment; ``left`` are the seconds until its end, None where unknown."""

    done: int
    planned: int
    successes: int
    usage: Usage
    left: float | None
    running: Sequence[Running]

    @property
    def headline(self) -> str:
        """All that can be said in one line."""
        parts = [
            f"{self.done} of {format_count(self.planned, 'trial')} done",
            format_count(self.successes, "success"),
            f"{len(self.running)} running",
        ]
        parts += [f"{self.usage.tokens:,} tokens"] if self.usage.tokens else []
        parts += [f"{self.usage.cost_usd:.2f} USD"] if self.usage.cost_usd else []
        parts += [] if self.left is None else [f"about {format_seconds(self.left)} left"]
        return "mlab: " + ", ".join(parts)

    def lines(self) -> list[str]:
        """Give it as plain lines, the columns of the trials aligned."""
        rows = [running.cells for running in self.running]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        aligned = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True) if width)
            for row in rows
        ]
        return [self.headline, *(f"  {line.rstrip()}" for line in aligned)]


def render_overview(overview: Overview, width: int, height: int, *, color: bool) -> list[str]:
    """Give it as lines for a terminal, none of them wider than it, and no more than ``height``."""
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    room = max(0, height - 1)
    shown = list(overview.running)
    shown = shown if len(shown) <= room else shown[: max(0, room - 1)]
    table = Table.grid(padding=(0, 2, 0, 0))
    styles = ("cyan", "bold", "", "dim", "magenta", "green")
    for style in styles:
        table.add_column(style=style, no_wrap=True, overflow="ellipsis")
    for running in shown:
        table.add_row(*map(Text, running.cells))
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=True,
        color_system="standard" if color else None,
        legacy_windows=False,
        emoji=False,
        highlight=False,
    )
    console.print(Text(overview.headline, style="bold"), no_wrap=True, overflow="ellipsis")
    if shown:
        console.print(table)
    if len(shown) < len(overview.running) and room:
        console.print(f"… and {len(overview.running) - len(shown)} more", style="dim")
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()[: max(1, height)]
