"""Options of an exported graph, its budgets as text, and its colours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from msgspec import Struct, structs

from inspector.analysis.statistics.frame_budget import (
    DEFAULT_BUDGETS_MS,
    FrameBudget,
    checked_budget_ms,
)
from inspector.foreign.numbers import number_in, refusal
from inspector.formats.drawing.display_list import Stroke
from inspector.formats.frame_times import FrameTimes
from inspector.tokens import COLORS, CURVES, THEMES, ThemeName
from inspector.vocabulary import Measure

DEFAULT_SIZE_PT: Final = (720.0, 405.0)
DEFAULT_DPI: Final = 144.0
SMALLEST_WIDTH_PT: Final = 400.0
SMALLEST_HEIGHT_PT: Final = 300.0
LARGEST_SIDE_PT: Final = 14_400.0
FEWEST_DOTS_PER_INCH: Final = 36.0
MOST_DOTS_PER_INCH: Final = 1_200.0


#: What a graph shows of frame times: each as a bar, or how they are distributed.
FigureName: TypeAlias = Literal["frames", "percentiles", "distribution", "l-shape"]
FIGURES: Final[tuple[FigureName, ...]] = get_args(FigureName)
#: The smallest text of a graph, in points, and how many of them a preset fits into the height.
_SMALLEST_TEXT_PT: Final = 11.0
_TEXTS_HIGH: Final = 45


class Preset(NamedTuple):
    """The size of a figure for a use, in pixels."""

    title: str
    width: int
    height: int

    @property
    def size_pt(self) -> tuple[float, float]:
        """Width and height at which the smallest text is 1/45 of the height."""
        height_pt = _TEXTS_HIGH * _SMALLEST_TEXT_PT
        return self.width * height_pt / self.height, height_pt

    @property
    def dots_per_inch(self) -> float:
        """Resolution at which a PNG of that size has as many pixels."""
        return 72 * self.height / self.size_pt[1]

    def applied_to(self, options: ExportOptions) -> ExportOptions:
        """Return options with this size."""
        width_pt, height_pt = self.size_pt
        dots = self.dots_per_inch
        sized = structs.replace(options, width_pt=width_pt, height_pt=height_pt, is_in_pixels=True)
        return structs.replace(sized, dots_per_inch=dots)


PRESETS: Final = {
    "slide": Preset("Slide", 1920, 1080),
    "article": Preset("Article column", 1440, 900),
    "card": Preset("Social card", 1200, 630),
}


class ExportOptions(Struct, frozen=True):
    """How frame times are drawn and written.

    Attributes:
        title: Title of the graph; by default the name of the scene.
        measure: Time of a frame that the line shows.
        budgets_ms: Frame-time budgets, each a labelled line.
        knows_refresh: Whether the first budget is the time between two refreshes of the screen; if
            not, it is unknown.
        stacked: Whether the phases of the frame are drawn as areas below the line.
        theme: Colours on white or on near-black.
        width_pt: Width of the picture in points (1/72 inch).
        height_pt: Height of the picture in points.
        dots_per_inch: Resolution of a PNG; 144 is two pixels per point.
        is_in_pixels: Whether the size of an SVG is in pixels of this resolution, not in points.
        interventions: Whether interventions are shown and written.
        markers: Whether bookmarks, notes, named ranges and marks are shown and written.
        inspector_budget_ms: Frames over this budget because of the inspector alone do not count in
            numbers; ``None`` if all count.
        figure: What a graph shows.
    """

    title: str = ""
    measure: Measure = "interval"
    budgets_ms: tuple[float, ...] = DEFAULT_BUDGETS_MS
    knows_refresh: bool = True
    stacked: bool = False
    theme: ThemeName = "light"
    width_pt: float = DEFAULT_SIZE_PT[0]
    height_pt: float = DEFAULT_SIZE_PT[1]
    dots_per_inch: float = DEFAULT_DPI
    is_in_pixels: bool = False
    interventions: bool = True
    markers: bool = True
    inspector_budget_ms: float | None = None
    figure: FigureName = "frames"

    def __post_init__(self) -> None:
        """Refuse values out of range; a ``ValueError`` names them."""
        if self.measure not in ("interval", "busy", "delta"):
            raise ValueError(f"measure must be interval, busy or delta, not {self.measure!r}")
        if self.figure not in FIGURES:
            raise ValueError(f"figure must be one of {', '.join(FIGURES)}, not {self.figure!r}")
        if self.theme not in GRAPH_COLORS:
            raise ValueError(f"theme must be light or dark, not {self.theme!r}")
        for budget_ms in self.budgets_ms:
            checked_budget_ms(budget_ms)
        _check_range("width_pt", self.width_pt, SMALLEST_WIDTH_PT, LARGEST_SIDE_PT)
        _check_range("height_pt", self.height_pt, SMALLEST_HEIGHT_PT, LARGEST_SIDE_PT)
        _check_range("dots_per_inch", self.dots_per_inch, FEWEST_DOTS_PER_INCH, MOST_DOTS_PER_INCH)

    def counted(self, frames: FrameTimes) -> tuple[FrameTimes, int]:
        """Return the frames that count in numbers, and how many others there are."""
        if self.inspector_budget_ms is None or self.measure != "interval":
            return frames, 0
        return frames.without_inspector(FrameBudget.of_ms(self.inspector_budget_ms))


def left_out_text(count: int) -> str:
    """Return in words how many frames do not count; empty if all do."""
    return f"without {count:,} late by the inspector" if count else ""


def _check_range(name: str, value: float, low: float, high: float) -> None:
    if not low <= value <= high:
        raise ValueError(f"{name} must be between {low:g} and {high:g}, not {value:g}")


class GraphColors(Struct, frozen=True):
    """The colours of a graph by meaning."""

    background: str  # Behind everything
    text: str  # Title and values
    muted_text: str  # Explanations; contrast of at least 4.5 to 1 on the background
    axis: str  # Lines of the axes and budgets
    grid: str  # Lines at the ticks
    line: str  # The measured time
    failure: str  # What failed or is wrong
    selection: str  # What is chosen
    selection_shade: str  # Behind what is chosen
    expected: str  # What is expected


def _graph_colors(theme: ThemeName) -> GraphColors:
    color = COLORS[theme]
    return GraphColors(
        background=color["bg"],
        text=color["text"],
        muted_text=color["muted"],
        axis=color["edge"],
        grid=color["line"],
        line=color["bar"],
        failure=color["red"],
        selection=color["blue"],
        selection_shade=color["bluebg"],
        expected=color["clock"],
    )


GRAPH_COLORS: Final[Mapping[str, GraphColors]] = {theme: _graph_colors(theme) for theme in THEMES}


def curve_stroke(index: int, theme: ThemeName, width: float) -> Stroke:
    """Return how the curve of that number is drawn among others."""
    token, dash = CURVES[index % len(CURVES)]
    return Stroke(COLORS[theme][token], width, dash)


_BUDGET: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ms|fps|hz)?")


def parse_budgets_ms(text: str) -> tuple[float, ...]:
    """Parse budgets: ``16.7 8.33``, ``60fps``, ``16.7 ms, 120 fps``.

    Raises:
        ValueError: A word is neither milliseconds nor a rate; the message names it.
    """
    joined = re.sub(r"(?<=\d)\s+(?=(?:ms|fps|hz)\b)", "", text.strip().lower())
    budgets: list[float] = []
    for word in re.split(r"[\s;,]+", joined):
        if not word:
            continue
        match = _BUDGET.fullmatch(word)
        try:
            value = number_in(match[1]) if match is not None else Fraction(0)
        except ValueError:
            value = Fraction(0)
        if match is None or value <= 0:
            hint = "write milliseconds such as 16.7, or 60fps"
            raise ValueError(refusal("a budget", word, hint))
        budgets.append(checked_budget_ms(value if match[2] in (None, "ms") else 1000 / value))
    return tuple(dict.fromkeys(budgets))


def budgets_to_text(budgets_ms: Sequence[float]) -> str:
    """Return budgets as text that parses to the same values."""
    words = []
    for budget_ms in budgets_ms:
        rate = round(1000 / budget_ms)
        words.append(f"{rate}fps" if rate and 1000 / rate == budget_ms else f"{budget_ms!r}ms")
    return " ".join(words)
