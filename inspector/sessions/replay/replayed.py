"""A recording as a test: its readings and commands as text, and a run of the scene from these."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from inspector.events.history import History
from inspector.events.schema import (
    ADDED,
    COMMAND_DETAILS,
    FIRINGS,
    FRAME_STARTS,
    EventGroup,
    Unit,
    kinds_with,
)
from inspector.sessions.replay.journal import Journal, JournalError, events_to_run_again
from inspector.sessions.replay.replay import compared
from inspector.sessions.replay.rerun import run_again
from inspector.vocabulary import MARK, READING, EventKind, RawEvent

_ASKED: Final = (
    COMMAND_DETAILS | kinds_with(subject=Unit.COMMAND) | kinds_with(group=EventGroup.BREAKPOINTS)
)
_READINGS_IN_A_LINE: Final = 5
#: Of timers that fired more often, only the number, the first and the last firing are compared.
_MOST_LISTED: Final = 50


class Replayed(Struct, frozen=True):
    # Session times at which timers fired, in nanoseconds, by the timers' names.
    firings: dict[str, list[int]]
    marks: list[tuple[int, str]]  # Session times and texts of the marks


def what_happened(events: Sequence[RawEvent], strings: Sequence[str]) -> Replayed:
    names: dict[int, str] = {}
    firings: dict[str, list[int]] = {}
    marks: list[tuple[int, str]] = []
    for at_ns, kind, subject, a, b in events:
        if kind == ADDED[Unit.TIMER]:
            names[subject] = strings[b]
        elif kind in FIRINGS:
            firings.setdefault(names.get(subject, f"timer {subject}"), []).append(at_ns)
        elif kind == MARK:
            marks.append((at_ns, strings[a]))
    return Replayed(firings, marks)


def replayed(scene_path: Path, outside: str) -> Replayed:
    """Run a scene again with the readings and commands of :func:`outside_text`."""
    strings = [""]
    journal = Journal.from_events(list(_events_in(outside, strings)), strings)
    with run_again(scene_path, journal) as session:
        return what_happened(session.log.read().events, session.log.strings)


def outside_text(events: Sequence[RawEvent], strings: Sequence[str]) -> str:
    """Return the readings and commands of a run as lines of text.

    Readings of the time source are ``reason:value:frames``, several in a line; commands
    and breakpoints that were hit are JSON.
    """
    lines: list[str] = []
    readings: list[str] = []
    frame = told_frame = 0

    def end_line() -> None:
        if readings:
            lines.append(" ".join(readings))
            readings.clear()

    for event in events:
        at_ns, kind, subject, a, b = event
        if kind in FRAME_STARTS:
            frame = a + 1
        elif kind == READING:
            readings.append(f"{subject}:{a}:{b}")
            if len(readings) == _READINGS_IN_A_LINE:
                end_line()
        elif kind in _ASKED:
            end_line()
            if frame != told_frame:
                told_frame = frame
                lines.append(json.dumps([at_ns, "frame_began", 0, frame - 1, 0]))
            _, _, who, first, second = compared(event, strings) or event
            values = [at_ns, EventKind(kind).name.lower(), who, first, second]
            lines.append(json.dumps(values, ensure_ascii=False))
    end_line()
    return "\n".join(lines)


def _events_in(text: str, strings: list[str]) -> Iterator[RawEvent]:
    numbers = {"": 0}

    def number(value: Any) -> int:  # noqa: ANN401 - a number or a text
        if not isinstance(value, str):
            return int(value)
        if value not in numbers:
            numbers[value] = len(strings)
            strings.append(value)
        return numbers[value]

    # Not splitlines(): a name may contain other line ends, such as U+2028.
    for line in text.strip("\n").split("\n"):
        try:
            if line.startswith("["):
                at_ns, kind, subject, a, b = json.loads(line)
                yield at_ns, EventKind[kind.upper()], subject, number(a), number(b)
            else:
                for reading in line.split():
                    subject, a, b = map(int, reading.split(":"))
                    yield 0, READING, subject, a, b
        except (ValueError, KeyError, TypeError) as error:
            raise JournalError(f"A line cannot be read ({line[:60]}): {error}.") from error


def pytest_text(history: History, title: str, scene_path: Path, test_path: Path) -> str:
    """Return a test that runs a recorded scene again and checks that it does the same.

    The test will be at ``test_path``, and finds the scene from there.
    """
    events, strings = events_to_run_again(history), history.strings
    # Raise now if the recording cannot be replayed, not when the test is run.
    Journal.from_events(events, strings)
    happened = what_happened(events, strings)
    listed = {n: times for n, times in happened.firings.items() if len(times) <= _MOST_LISTED}
    counted = {
        name: (len(times), times[0], times[-1])
        for name, times in happened.firings.items()
        if len(times) > _MOST_LISTED
    }
    folder = test_path.absolute().parent
    shown = "".join(each if each.isprintable() else " " for each in title)
    return _TEST.format(
        title=" ".join(shown.replace('"', "'").replace("\\", "/").split()),
        scene=Path(os.path.relpath(scene_path.absolute(), folder)).as_posix(),
        firings=_listing(listed),
        counts=_listing(counted),
        marks="\n".join(f"    {mark!r}," for mark in happened.marks),
        outside=outside_text(events, strings),
    )


def _listing(values: dict[str, Any]) -> str:
    return "\n".join(f"    {name!r}: {value!r}," for name, value in values.items())


_TEST: Final = '''\
"""Runs “{title}” again as it was recorded, and looks whether it does the same.

Written by Timeline Inspector from a recording. Times are session time in nanoseconds.
"""

from pathlib import Path

import pytest

from inspector.sessions.replay.replayed import Replayed, replayed

SCENE = Path(__file__).parent / {scene!r}

#: When timers fired, by their names.
FIRINGS: dict[str, list[int]] = {{
{firings}
}}

#: Of timers that fired often: how often, first and last.
COUNTS: dict[str, tuple[int, int, int]] = {{
{counts}
}}

MARKS: list[tuple[int, str]] = [
{marks}
]


@pytest.fixture(scope="module")
def run() -> Replayed:
    return replayed(SCENE, OUTSIDE)


@pytest.mark.parametrize("timer", FIRINGS)
def test_that_a_timer_fires_when_it_did(run: Replayed, timer: str) -> None:
    assert run.firings.get(timer, []) == FIRINGS[timer]


@pytest.mark.parametrize("timer", COUNTS)
def test_that_a_timer_fires_as_often_as_it_did(run: Replayed, timer: str) -> None:
    times = run.firings.get(timer, [0])
    assert (len(times), times[0], times[-1]) == COUNTS[timer]


def test_that_no_other_timer_fires(run: Replayed) -> None:
    assert run.firings.keys() == FIRINGS.keys() | COUNTS.keys()


def test_that_the_marks_are_the_same(run: Replayed) -> None:
    assert run.marks == MARKS


#: What came from outside: readings of the time source (reason:value:frames) and commands.
OUTSIDE = r"""
{outside}
"""
'''
