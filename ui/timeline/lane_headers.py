"""Headers of lanes: their state at the instant shown, and the places of their buttons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from PySide6.QtCore import QRect
from PySide6.QtGui import QFont, QFontMetrics

from inspector.analysis.lanes.lanes import LaneKind
from inspector.analysis.lanes.waits import MOST_TIMERS, calm_duration, lane_wait, timer_rows
from inspector.display_text import counted, listed, one_line
from inspector.events.states import ClockState
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_SECOND, brief_duration
from inspector.vocabulary import TimerKind, rate_chip, rate_text

from ..selected.commands import is_clock_paused

if TYPE_CHECKING:
    from inspector.analysis.lanes.rows import LaneRow

#: With more clocks than this, pending timers of folded branches are not counted.
_MOST_COUNTED: Final = 500
#: Sizes in pixels at 100 % text, from the right edge of the headers.
_BUTTON_FROM: Final = 72
_BUTTON: Final = 24
_CHIP_FROM: Final = 44
_CHIP: Final = 36
_CHIP_PAD: Final = 8
_LEAST_CHIP: Final = 24
#: Gap between a name and the sign of a clock that goes on, which is narrower than its button.
_NAME_GAP: Final = 4
_CONTROL: Final = 20
_UNITS: Final = {"s": "seconds", "ms": "milliseconds"}
#: Headers narrower than this have only names.
_LEAST_WITH_CONTROLS: Final = 140
USUAL_RATE: Final = "×1"
INDENT: Final = 14
#: Where the name begins, and where the sign for folding begins.
NAME_FROM: Final = 26
FOLD_FROM: Final = 11


class HeaderState(NamedTuple):
    rate: str = ""  # The rate of a clock, such as ×1; empty without one
    is_paused: bool = False  # Whether the clock is paused itself
    is_stopped: bool = False  # Whether it stands still because of a clock above
    is_fixed: bool = False  # Whether the session does not allow to pause it
    is_over: bool = False  # Whether nothing waits for the timer
    note: str = ""  # The interval of a timer, or how many timers of a folded clock are pending


class HeaderPlaces(NamedTuple):
    """Where the parts of a clock's header are; empty where there is no room for them."""

    pause: QRect
    rate: QRect


def header_state(row: LaneRow, timeline: Timeline, *, is_past: bool) -> HeaderState:
    clock = timeline.clocks.get(row.clock_id)
    if clock is None:
        return HeaderState(is_over=row.kind is LaneKind.TIMER)
    if row.kind is LaneKind.CLOCK:
        return _clock_state(row, clock, timeline)
    is_stopped = any(each.n == 0 for each in timeline.path(clock.id))
    if row.kind is not LaneKind.TIMER or row.lane is None:
        return HeaderState(is_stopped=is_stopped)
    places = timer_rows(row.lane, timeline, MOST_TIMERS, is_past=is_past)
    if places:
        return HeaderState(is_stopped=is_stopped, note=_interval_note(places, timeline))
    note = "done" if len(row.lane.instants) and not is_past else ""
    return HeaderState(is_stopped=is_stopped, is_over=True, note=note)


def header_reading(row: LaneRow, state: HeaderState, timeline: Timeline, *, is_past: bool) -> str:
    """Return what screen readers say of a row; ``timeline`` has its dues resolved."""
    parts = [row.label, row.kind.text]
    clock = timeline.clocks.get(row.clock_id)
    if row.kind is LaneKind.CLOCK and clock is not None:
        reasons = timeline.pause_reasons(clock.id)
        if state.is_paused:
            parts.append(f"paused by {'you' if clock.pause_cause else 'the program'}")
        elif reasons:
            parts.append(f"stopped by {reasons[-1].clock_name}")
        local_s = timeline.local_ns(clock.id) / NS_PER_SECOND
        parts += [f"local time {local_s:.3f} seconds", f"rate {rate_text(clock.rate_n)}"]
        count = pending_of(row, timeline)
        if count:
            verb = "waits" if count == 1 else "wait"
            parts.append(f"{counted(count, 'timer')} {verb}")
    elif row.kind is LaneKind.TIMER and row.lane is not None:
        parts.append(state.note)
        waits = lane_wait(row.lane, timeline, 0, is_past=is_past)
        if waits.paused:
            parts.append(f"waits for {listed(list(waits.paused))}")
        elif waits.late_ns:
            parts.append(f"late by {_spoken(waits.late_ns)}")
        elif waits.due_in_ns:
            parts.append(f"due in {_spoken(waits.due_in_ns)}")
    return ", ".join(one_line(part) for part in parts if part)


def name_end(places: HeaderPlaces, unit: float, *, is_paused: bool) -> int:
    """Return where the name of a clock ends: the sign of one that goes on is a narrow one."""
    return places.pause.left() + (-4 if is_paused else round(_NAME_GAP * unit))


def header_name(row: LaneRow) -> str:
    return one_line(f"{row.label} (gone)" if row.is_gone else row.label)


def name_font(row: LaneRow, font: QFont) -> QFont:
    """Return the font of the name of a row, of that of all other texts."""
    shown = QFont(font)
    if row.kind is LaneKind.CLOCK:
        shown.setWeight(QFont.Weight.DemiBold)
    return shown


def name_left(row: LaneRow, unit: float) -> int:
    return round((NAME_FROM + row.indentation * INDENT) * unit)


def pending_of(row: LaneRow, timeline: Timeline) -> int:
    """Return how many timers are pending in the branch of a clock's row."""
    if row.kind is not LaneKind.CLOCK or row.clock_id not in timeline.clocks:
        return 0
    return sum(timeline.clocks[each].pending for each in timeline.branch(row.clock_id))


def header_places(
    row: QRect, unit: float, small: QFont, rate: str, name_right: int = 0
) -> HeaderPlaces:
    """Return where the buttons of a clock are, in the header of its row; nowhere without a rate.

    Args:
        unit: Pixels of a pixel at 100 % text.
        small: The font of small texts.
        rate: The text of the chip. That of a long one is wider, to the left.
        name_right: Where the name ends if it is whole. The usual rate has less room for it.
    """
    spare = row.width() - round(_LEAST_WITH_CONTROLS * unit)
    if not rate or spare < 0:
        return HeaderPlaces(QRect(), QRect())
    high = min(round(_CONTROL * unit), row.height() - 2)
    top = row.y() + (row.height() - high) // 2
    chip = round(_CHIP * unit)
    wanted = QFontMetrics(rate_font(small, rate)).horizontalAdvance(rate) + round(_CHIP_PAD * unit)
    more = min(max(wanted - chip, 0), spare)
    if rate == USUAL_RATE:
        lacking = name_right - (row.width() - round((_BUTTON_FROM - _NAME_GAP) * unit))
        more = -min(max(lacking, 0), chip - round(_LEAST_CHIP * unit))
    button, left = (row.width() - round(each * unit) - more for each in (_BUTTON_FROM, _CHIP_FROM))
    return HeaderPlaces(
        QRect(button, top, round(_BUTTON * unit), high), QRect(left, top, chip + more, high)
    )


def rate_font(small: QFont, rate: str) -> QFont:
    """Return the font of a rate's chip: a rate other than 1 is bold."""
    font = QFont(small)
    font.setBold(rate != USUAL_RATE)
    return font


def _clock_state(row: LaneRow, clock: ClockState, timeline: Timeline) -> HeaderState:
    above = timeline.clocks.get(clock.parent_id)
    is_stopped = above is not None and any(each.n == 0 for each in timeline.path(above.id))
    is_counted = row.is_folded and len(timeline.clocks) <= _MOST_COUNTED
    count = pending_of(row, timeline) if is_counted else 0
    note = f"{count:,}" if count else ""
    is_paused = is_clock_paused(timeline, clock)
    return HeaderState(rate_chip(clock.rate_n), is_paused, is_stopped, note=note)


def _interval_note(places: Sequence[int], timeline: Timeline) -> str:
    table = timeline.timers
    intervals = [table.interval[each] for each in places if table.kind[each] != TimerKind.TIMEOUT]
    return _span_text(intervals) if intervals else "once"


def _span_text(intervals_ns: Sequence[int]) -> str:
    """Return a duration as short as it can be said, or the shortest and the longest of some."""
    low_ns = min(intervals_ns)
    low, high = (brief_duration(each) for each in (low_ns, max(intervals_ns)))
    if low == high:
        return low
    number, _, unit = low.partition(" ")
    if unit == "ms" and high.endswith(" s"):
        return f"{low_ns / NS_PER_SECOND:.3g}–{high}"
    return f"{number if high.endswith(f' {unit}') else low}–{high}"


def _spoken(duration_ns: int) -> str:
    number, _, unit = calm_duration(duration_ns).partition(" ")
    return f"{number} {_UNITS.get(unit, unit)}".rstrip()
