"""What there is to say about a frame: its phases, and what happened meanwhile."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from inspector.analysis.interval_shares import named_shares
from inspector.timebase import NS_PER_SECOND, format_duration
from inspector.vocabulary import Phase, Share, what_was_raised

from .detail_rows import (
    MOST_LISTED,
    DetailRow,
    RowKind,
    heading,
    instant_with_ns,
    sentence,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.frame_history import Frame
    from inspector.events.states import Failure
    from inspector.events.timeline import Timeline


#: Shorter shares are noise of the measurement.
_LEAST_SHOWN_NS: Final = 10_000


class _Dated(Protocol):
    @property
    def at_ns(self) -> int: ...


_DatedT = TypeVar("_DatedT", bound=_Dated)


def frame_rows(timeline: Timeline, index: int) -> list[DetailRow]:
    """Return what there is to say about a frame."""
    frames = timeline.frames
    if index < frames.first:
        return [sentence(f"Frame {index:,} is no longer in the log.")]
    if index >= frames.end:
        return [sentence(f"Frame {index:,} has not ended yet.")]
    frame = frames.frame(index)
    interval_ns = frame.interval_ns
    rate = f" ({NS_PER_SECOND / interval_ns:,.1f} per second)" if interval_ns else ""
    rows = [
        heading(f"Frame {index:,}"),
        DetailRow("Began at", instant_with_ns(frame.at_ns)),
        DetailRow("Frame time", f"{format_duration(interval_ns)}{rate}"),
        DetailRow("Delta", f"{format_duration(frame.delta_ns)} of the root clock"),
    ]
    if frame.cut_ns:
        rows.append(
            DetailRow("Cut", f"{format_duration(frame.cut_ns)} cut from the delta (max_delta)")
        )
    busy = f" ({frame.busy_ns / interval_ns:.0%} of the frame time)" if interval_ns else ""
    rows.append(DetailRow("Busy", f"{format_duration(frame.busy_ns)}{busy}"))
    rows += _share_rows(frame)
    rows += _phase_rows(frame.phases)
    rows += _rows_within(timeline, index)
    return rows


def _share_rows(frame: Frame) -> list[DetailRow]:
    """Return where the time before a frame went, the whole of it."""
    interval_ns = frame.interval_ns
    named = named_shares(frame.shares, interval_ns)
    if not named:
        return []
    return [
        heading("Since the frame before"),
        *(
            DetailRow(
                name.capitalize(),
                f"{format_duration(time_ns)}, {time_ns / interval_ns:.0%}",
                RowKind.SHARE,
                share=time_ns / interval_ns,
            )
            for name, time_ns in named.items()
            if time_ns >= _LEAST_SHOWN_NS or name == Share.INSPECTOR.text
        ),
    ]


def _phase_rows(phases: tuple[int, ...]) -> list[DetailRow]:
    total_ns = sum(phases)
    if not total_ns:
        return []
    return [
        heading("Phases"),
        *(
            DetailRow(
                phase.text.capitalize(),
                f"{format_duration(phases[phase])}, {phases[phase] / total_ns:.0%}",
                RowKind.SHARE,
                share=phases[phase] / total_ns,
                phase=phase,
            )
            for phase in Phase
        ),
    ]


def _rows_within(timeline: Timeline, index: int) -> list[DetailRow]:
    """Return commands, marks and failures since the frame before."""
    span = timeline.frames.span(index)
    assert span is not None
    after_ns, until_ns = span
    rows = [
        DetailRow(
            f"Command {command.number}",
            command.text + (f" – refused: {command.refusal}" if command.refusal else ""),
        )
        for command in _within(timeline.commands, after_ns, until_ns)
    ]
    rows += [DetailRow("Mark", mark.text) for mark in _within(timeline.marks, after_ns, until_ns)]
    if rows:
        rows.insert(0, heading("During it"))
    start = bisect_left(timeline.failures, index, key=_frame_of)
    stop = bisect_right(timeline.failures, index, lo=start, key=_frame_of)
    count = stop - start
    if count:
        rows.append(heading("1 failure" if count == 1 else f"{count:,} failures"))
        for failure in timeline.failures[start : min(stop, start + MOST_LISTED)]:
            rows += _failure_rows(failure)
        if count > MOST_LISTED:
            rows.append(sentence(f"and {count - MOST_LISTED:,} more"))
    return rows


def _frame_of(failure: Failure) -> int:
    return failure.frame


def _failure_rows(failure: Failure) -> list[DetailRow]:
    last_line = what_was_raised(failure.traceback)
    return [
        DetailRow("✖ Failed", f"“{failure.label}”: {last_line}"),
        DetailRow("", failure.traceback.strip(), RowKind.CODE),
    ]


def _within(records: Sequence[_DatedT], after_ns: int, until_ns: int) -> Sequence[_DatedT]:
    """Return the records after one instant up to another; they are in order of time."""
    start = bisect_right(records, after_ns, key=_instant_of)
    return records[start : bisect_right(records, until_ns, lo=start, key=_instant_of)]


def _instant_of(record: _Dated) -> int:
    return record.at_ns
