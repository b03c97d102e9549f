"""The state of attached programs, in sentences."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from inspector.display_text import counted
from inspector.timebase import format_duration, format_instant

if TYPE_CHECKING:
    from inspector.sessions.attached.event_sorter import EventSorter
    from inspector.sessions.attached.link import Ended, Unable
    from inspector.sessions.attached.program import JoinedProgram


def what_they_do(programs: Sequence[JoinedProgram], broken_by: str, *, is_running: bool) -> str:
    """Return what the attached programs do; ``broken_by`` says which breakpoint holds them."""
    if silent := [f"“{each.name}”" for each in programs if each.is_silent]:
        verb = "does" if len(silent) == 1 else "do"
        return f"{', '.join(silent)} {verb} not answer: busy, or stopped from outside."
    names = ", ".join(f"“{each.name}”" for each in programs)
    verb = "is" if len(programs) == 1 else "are"
    if any(each.is_stepping for each in programs):
        return f"{names} {verb} being stepped."
    if is_running:
        return f"{names} {verb} running."
    because = f" because {broken_by}" if broken_by else ""
    unheld = {each.library: None for program in programs for each in program.unheld}
    but = f", but what {' and '.join(unheld)} calls runs on" if unheld else ""
    return f"{names} {verb} held{because}{but}."


def more_about(programs: Iterable[JoinedProgram], *, is_reachable: bool) -> Iterator[str]:
    """Yield sentences on what does not work with them, and whether others can still connect."""
    for program in programs:
        if busy := list(_what_is_busy(program)):
            yield from busy
        elif not program.is_described:
            yield f"The state of “{program.name}” is still being read."
        yield from _what_is_unseen(program)
        if text := program.loss_text:
            yield f"“{program.name}”: {text}."
    if not is_reachable:
        yield "The socket was removed from outside: no further program can connect."


def _what_is_busy(program: JoinedProgram) -> Iterator[str]:
    """Yield sentences on busy threads whose timers are therefore unknown."""
    for clock_id, (thread, since_ns) in program.waits_for.items() if program.is_attached else ():
        if (clock := program.clocks.get(clock_id)) is not None:
            name = f"its thread “{thread}”" if thread else "its thread"
            since = "is busy"
            if since_ns is not None and since_ns < 0:
                since = "has been busy since before it was attached"
            elif since_ns is not None:
                since = f"has been busy since {format_instant(since_ns)}"
            what = f"Timers of “{clock.title}” in “{program.name}” are not known yet"
            yield f"{what}: {name} {since}."


def what_is_missing(programs: Iterable[JoinedProgram], sorter: EventSorter) -> Iterator[str]:
    """Yield sentences on missing or inexact events."""
    for program in programs:
        yield from (f"{program.name}: {sentence}" for sentence in _what_is_unseen(program))
        yield from _what_is_busy(program)
        if text := program.loss_text:
            yield f"{program.name}: {text}."
        if count := program.translation.unusable.total():
            yield f"{program.name}: {counted(count, 'invalid event')} left out."
        if program.error_ns:
            yield f"{program.name}: its clock was {program.clock_text}."
    if count := sorter.misfits.total():
        yield f"Left out {counted(count, 'event')} that did not fit the state."
    if sorter.late:
        yield (
            f"{counted(sorter.late, 'event came late and is', 'events came late and are')} shown "
            f"up to {format_duration(sorter.late_ns)} too late."
        )


def _what_is_unseen(program: JoinedProgram) -> Iterator[str]:
    for adapter in program.limited:
        yield f"{adapter.library or adapter.name}: {adapter.message.rstrip('.')}."


def why_unable(program: Unable) -> str:
    return f"{program.name} (process {program.pid}) cannot be attached: {program.reason}."


def how_it_ended(exit_code: int | None, news: Ended, *, goes_on: bool) -> str:
    """Return how a process ended, or that it ``goes_on``; the exit code is that of a shell."""
    if exit_code is not None:
        return _by_exit_code(exit_code)
    if news.is_orderly:
        return news.reason or "it has ended"
    if goes_on:
        return f"{news.reason or 'the connection was lost'}, and it goes on by itself"
    return news.reason or "it has ended, or was killed"


def _by_exit_code(exit_code: int) -> str:
    number = exit_code - 128 if exit_code > 128 else -exit_code  # noqa: PLR2004 - of shells
    with suppress(ValueError):
        return f"it was ended by {signal.Signals(number).name}"
    return f"it has ended with exit code {exit_code}"
