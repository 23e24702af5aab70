"""Plots as shapes in a coordinate system of their own; the page's template makes SVG of them.

Every plot is `WIDTH` units wide, which is about a telephone's width, so that its text can be read
there. ``series`` number who is shown; the page's style gives each a colour and the template a form.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

WIDTH = 400
TEXT = 11
"""Height of a line of text."""
NAMES = 18
"""Longer names beside an axis are shortened to this many letters."""


@dataclass(frozen=True)
class Shape:
    """A piece of a plot: a ``line`` or ``curve`` through points, a ``mark`` or a ``text`` at one.

    ``label`` is what a text says, or what a mark stands for when it is pointed at.
    """

    kind: str
    points: tuple[tuple[float, float], ...]
    style: str = ""
    series: int | None = None
    label: str = ""

    @property
    def x(self) -> float:
        """Where the first point is, to the right."""
        return self.points[0][0]

    @property
    def y(self) -> float:
        """Where the first point is, downwards."""
        return self.points[0][1]

    @property
    def path(self) -> str:
        """The points as SVG writes a path."""
        return "M" + "L".join(f"{x:.1f},{y:.1f}" for x, y in self.points)


@dataclass
class Plot:
    """A plot that is being drawn; ``series`` names its series, ``summary`` says what it shows."""

    title: str
    summary: str
    series: tuple[str, ...]
    height: float
    note: str = ""
    shapes: list[Shape] = field(default_factory=list)
    width: int = WIDTH

    def line(self, *points: tuple[float, float], style: str) -> None:
        """Draw a line of the plot itself: an axis, a grid."""
        self.shapes.append(Shape("line", points, style))

    def curve(
        self, points: Sequence[tuple[float, float]], series: int, style: str, label: str = ""
    ) -> None:
        """Draw a line of a series."""
        self.shapes.append(Shape("curve", tuple(points), style, series, label))

    def mark(self, x: float, y: float, series: int, label: str, style: str = "") -> None:
        """Draw a point of a series."""
        self.shapes.append(Shape("mark", ((x, y),), style, series, label))

    def text(self, x: float, y: float, text: str, anchor: str) -> None:
        """Write something: ``start``, ``middle`` or ``end`` says which part of it is at x."""
        self.shapes.append(Shape("text", ((x, y),), anchor, label=text))

    def row_name(self, x: float, y: float, name: str) -> None:
        """Write the name of a row to the left of x, shortened if need be."""
        shown = name if len(name) <= NAMES else f"{name[: NAMES - 1]}…"
        self.shapes.append(Shape("text", ((x, y),), "end", label=shown))

    def x_axis(
        self, scale: "Scale", top: float, bottom: float, form: Callable[[float], str]
    ) -> None:
        """Draw a grid of upright lines with their figures below."""
        for tick in scale.ticks:
            x = scale(tick)
            self.line((x, top), (x, bottom), style="grid")
            self.text(x, bottom + TEXT + 3, form(tick), "middle")

    def y_axis(
        self, scale: "Scale", left: float, right: float, form: Callable[[float], str]
    ) -> None:
        """Draw a grid of level lines with their figures to the left."""
        for tick in scale.ticks:
            y = scale(tick)
            self.line((left, y), (right, y), style="grid")
            self.text(left - 5, y + TEXT / 3, form(tick), "end")


@dataclass(frozen=True)
class Scale:
    """Where a figure from ``low`` to ``high`` is drawn, between ``start`` and ``end``.

    What is beyond is drawn at the end that it is beyond.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Give the place of a figure."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def holds(self, value: float) -> bool:
        """Whether a figure is within the scale."""
        return self.low <= value <= self.high

    @property
    def ticks(self) -> list[float]:
        """Three to seven round figures within the scale."""
        raw = (self.high - self.low) / 5
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(size * power for size in (1, 2, 2.5, 5, 10) if size * power >= raw * 0.999)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [count * step for count in range(first, last + 1)]
