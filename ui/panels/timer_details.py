"""What there is to say about a timer, and why it has not fired."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from inspector.timebase import format_duration, format_instant

from ..models.clock_texts import fraction_text
from ..models.standing import reason_text
from ..models.timer_cells import remaining_text, short_site
from ..session_bridge import Selection
from .detail_rows import (
    DetailRow,
    Link,
    ago,
    heading,
    instant_with_ns,
    linked,
    path_links,
    sentence,
)

if TYPE_CHECKING:
    from inspector.trace.timeline import Timeline
    from inspector.trace.timer_table import TimerRow


def timer_rows(timeline: Timeline, timer_id: int) -> list[DetailRow]:
    """Return what there is to say about a timer, and why it has not fired."""
    if timer_id not in timeline.timers:
        return [sentence("This timer is not pending any more: it has fired or was cleared.")]
    timer = timeline.timers.row(timer_id)
    clock = timeline.clocks[timer.clock_id]
    due_ns = timeline.session_due_ns(timer_id)
    rows = [
        heading(f"Timer “{timer.label}”"),
        linked("Clock", path_links(timeline, timer.clock_id)),
        DetailRow("Kind", timer.kind.text),
    ]
    if timer.interval_ns:
        rows.append(DetailRow("Every", f"{format_duration(timer.interval_ns)} of “{clock.name}”"))
    rows += [
        DetailRow("Due, local", instant_with_ns(timer.due_ns)),
        DetailRow(
            "Due, session",
            "never at present rates" if due_ns is None else instant_with_ns(due_ns),
        ),
        DetailRow("Fires in", remaining_text(timeline, timer)),
        heading("Why it has not fired yet" if not timer.fired else "Why it does not fire now"),
    ]
    rows += [sentence(text) for text in why_waiting(timeline, timer)]
    reasons = timeline.pause_reasons(timer.clock_id)
    rows += [
        linked(
            "Waits for",
            (
                Link(f"“{reason.clock_name}”", Selection.clock(reason.clock_id)),
                Link(f" {reason_text(reason)}, {ago(timeline, reason.since_ns)}"),
            ),
        )
        for reason in reasons
    ]
    rows.append(heading("History"))
    rows.append(DetailRow("Fired", f"{timer.fired:,} times" if timer.fired != 1 else "once"))
    if timer.fired:
        rows.append(DetailRow("Last late by", format_duration(timer.last_lateness_ns)))
    rows.append(DetailRow("Set at", short_site(timer.call_site) or "not known"))
    rows.append(DetailRow("Number", f"{timer_id}, scheduled as number {timer.order}"))
    return rows


def why_waiting(timeline: Timeline, timer: TimerRow) -> list[str]:
    """Return in sentences why a timer has not fired, and what would change that."""
    clock = timeline.clocks[timer.clock_id]
    local_ns = timeline.local_ns(clock.id)
    left_ns = timer.due_ns - local_ns
    effective = timeline.effective_rate(clock.id)
    sentences = []
    if left_ns > 0:
        sentences.append(
            f"On “{clock.name}” it is {format_instant(local_ns)}; "
            f"{format_duration(left_ns)} of its time are left."
        )
    else:
        sentences.append("It is due and fires with the next wake-up.")
    if effective and left_ns > 0:
        if effective != 1:
            due_ns = timeline.session_due_ns(timer.id)
            assert due_ns is not None
            sentences.append(
                f"At an effective rate of {fraction_text(effective)} that takes "
                f"{format_duration(due_ns - timeline.at_ns)} of session time."
            )
        if not timeline.is_running:
            sentences.append("The session is held: it fires when that much time is let pass.")
    elif not effective:
        sentences.append(_what_would_help(timeline, timer, left_ns))
    return sentences


def _what_would_help(timeline: Timeline, timer: TimerRow, left_ns: int) -> str:
    reasons = timeline.pause_reasons(timer.clock_id)
    frozen = [f"“{reason.clock_name}”" for reason in reasons if reason.is_rate_zero]
    paused = [f"“{reason.clock_name}”" for reason in reasons if not reason.is_rate_zero]
    if frozen:
        verb = "gets" if len(frozen) == 1 else "get"
        return f"It cannot fire before {_listed(frozen)} {verb} a rate above 0."
    rate = Fraction(1)
    for clock in timeline.path(timer.clock_id):
        rate *= clock.rate
    if not rate:
        return "It cannot fire: a paused clock above it also has rate 0."
    after_ns = -(-max(left_ns, 0) * rate.denominator // rate.numerator)
    verb = "is" if len(paused) == 1 else "are"
    return f"It fires {format_duration(after_ns)} after {_listed(paused)} {verb} resumed."


def _listed(names: list[str]) -> str:
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} and {names[-1]}"
