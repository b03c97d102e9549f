"""What a run reads time through: it reports what the source says, and can replay it."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.sessions.replay.journal import Beginning, Journal, Script
from inspector.sessions.sources.journalled_source import (
    JournalledManualSource,
    JournalledSource,
    journalled,
)
from inspector.vocabulary import Reading

SOURCES: list[type[ManualTimeSource] | type[VirtualTimeSource]] = [
    ManualTimeSource,
    VirtualTimeSource,
]
sources = pytest.mark.parametrize("make_source", SOURCES)


def pass_ns(source: ManualTimeSource | VirtualTimeSource, duration_ns: int) -> None:
    if isinstance(source, VirtualTimeSource):
        source.pass_ns(duration_ns)
    else:
        source.advance_ns(duration_ns)


def woken_by(reader: JournalledSource, at_ns: int) -> list[int]:
    """Wait for a wake-up; returns a list to which the instants come."""
    instants: list[int] = []
    reader.attach(lambda: instants.append(reader.now_ns()))
    reader.set_wake(at_ns)
    return instants


@sources
def test_that_what_comes_through_is_told_from_the_beginning_of_the_session(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    pass_ns(source, 1_000)
    reader = journalled(source)
    readings: list[tuple[Reading, int]] = []
    reader.on_reading = lambda reading, value: readings.append((reading, value))

    instants = woken_by(reader, 1_030)
    pass_ns(source, 30)

    assert instants == [1_030]
    assert readings == [(Reading.ADVANCED if reader.is_manual else Reading.WOKEN, 30)]
    assert reader.relative_ns == 30


@sources
def test_that_a_second_leaves_the_source_alone_until_it_goes_live(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    reader = journalled(source)
    ours = woken_by(reader, 10)
    second = reader.beside()
    second.follow(Script(Journal(Beginning())))
    theirs = woken_by(second, 10)
    reader.set_wake(10)

    pass_ns(source, 10)
    assert (ours, theirs) == ([10], [])

    second.go_live()
    second.set_wake(20)
    pass_ns(source, 10)

    assert (ours, theirs) == ([10], [20])


@sources
def test_that_the_same_comes_through_again_when_a_script_is_followed(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    reader = journalled(source)
    journal = Journal(Beginning())
    what = Reading.ADVANCED if reader.is_manual else Reading.WOKEN
    journal.note(what, 0, 25)
    second = reader.beside()
    second.follow(Script(journal))
    instants = woken_by(second, 25)

    second.replay(what, 25)

    assert (instants, source.now_ns()) == ([25], 0)


@sources
def test_that_work_takes_no_time_of_the_source_while_a_script_is_followed(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    second = journalled(source).beside()
    second.follow(Script(Journal(Beginning())))

    assert second.pass_work_ns(50)

    assert source.now_ns() == 0


@sources
def test_that_a_closed_reader_is_not_woken_while_its_source_goes_on(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    reader = journalled(source)
    instants = woken_by(reader, 10)

    reader.close()
    pass_ns(source, 20)

    assert (instants, reader.now_ns()) == ([], 20)


def test_that_a_meter_is_told_of_wake_ups_and_of_when_they_are_wanted() -> None:
    told: list[object] = []
    source = VirtualTimeSource()
    reader = JournalledSource(source)
    meter: Any = SimpleNamespace(
        wake=told.append,
        want=lambda at_ns: told.append(("wanted", at_ns)),
        end_wake=lambda: told.append("end"),
    )
    reader.meter = meter
    reader.now_ns()
    woken_by(reader, 10)
    source.pass_ns(10)
    assert told == [("wanted", 10), 10, "end"]

    # Nobody measures while a script is followed, which wakes nothing.
    reader.follow(Script(Journal(Beginning())))
    reader.set_wake(30)
    reader.replay(Reading.ADVANCED, 30)
    source.pass_ns(30)
    assert len(told) == 3
    assert reader.pass_work_ns(5)
    assert source.now_ns() == 40


def test_that_work_passes_virtual_time_and_takes_real_time() -> None:
    source = VirtualTimeSource()
    reader = JournalledSource(source)
    assert reader.pass_work_ns(5)
    assert (source.now_ns(), reader.ahead_ns) == (5, 5)
    real: Any = SimpleNamespace(now_ns=lambda: 7)
    assert not JournalledSource(real).pass_work_ns(5)

    manual = ManualTimeSource()
    by_hand = journalled(manual)
    jumps: list[int] = []
    assert isinstance(by_hand, JournalledManualSource)
    by_hand.attach_virtual(lambda _: None, jumps.append)
    by_hand.jump_ns(3)
    assert by_hand.pass_work_ns(4)
    assert (manual.now_ns(), by_hand.now_ns(), by_hand.ahead_ns, jumps) == (7, 7, 0, [3, 4])
