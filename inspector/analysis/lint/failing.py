"""The rule about callbacks that raise."""

from __future__ import annotations

from collections.abc import Iterator

from inspector.analysis.lint.findings import FAILS, Finding
from inspector.analysis.lint.seen import Survey
from inspector.display_text import counted
from inspector.vocabulary import what_was_raised


def failing(seen: Survey) -> Iterator[Finding]:
    """Find callbacks that raised an exception."""
    for name, failures in seen.failures.items():
        timer = seen.timers.get(failures.timer_id)
        raised = what_was_raised(seen.text(failures.raised))
        times = "once" if failures.count == 1 else f"{counted(failures.count, 'time')}, at first"
        where = "" if timer is None else f" It is a timer of {seen.caller_name(timer)}."
        text = f"“{seen.text(name)}” failed {times} with {raised}.{where}"
        yield Finding(
            FAILS,
            text,
            failures.at_ns,
            failures.cursor,
            failures.timer_id,
            0 if timer is None else timer.clock_id,
            seen.frame_of(failures.at_ns),
        )
