"""The gate between a time source and a life: it notes what comes through, and can do it again."""

from collections.abc import Callable

import pytest

from inspector.clocks import ManualTimeSource
from inspector.sessions.replay.journal import Beginning, Journal, Script
from inspector.sessions.sources.gate import Gate, gate_before
from inspector.sessions.sources.virtual_source import VirtualTimeSource
from inspector.sessions.stage import JumpsInTime
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


def woken_by(gate: Gate, at_ns: int) -> list[int]:
    """Have a gate wake somebody; returns a list to which the instants come."""
    instants: list[int] = []
    gate.attach(lambda: instants.append(gate.now_ns()))
    gate.set_wake(at_ns)
    return instants


@sources
def test_that_what_comes_through_is_told_from_the_beginning_of_the_session(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    pass_ns(source, 1_000)
    gate = gate_before(source)
    readings: list[tuple[Reading, int]] = []
    gate.on_reading = lambda reading, value: readings.append((reading, value))

    instants = woken_by(gate, 1_030)
    pass_ns(source, 30)

    assert instants == [1_030]
    assert readings == [(Reading.ADVANCED if gate.is_manual else Reading.WOKEN, 30)]
    assert gate.relative_ns == 30


@sources
def test_that_a_successor_leaves_the_source_alone_until_it_goes_live(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    gate = gate_before(source)
    ours = woken_by(gate, 10)
    successor = gate.successor()
    successor.follow(Script(Journal(Beginning())))
    theirs = woken_by(successor, 10)
    gate.set_wake(10)

    pass_ns(source, 10)
    assert (ours, theirs) == ([10], [])

    successor.end_following()
    successor.go_live()
    successor.set_wake(20)
    pass_ns(source, 10)

    assert (ours, theirs) == ([10], [20])


@sources
def test_that_the_same_comes_through_again_when_a_script_is_followed(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    gate = gate_before(source)
    journal = Journal(Beginning())
    what = Reading.ADVANCED if gate.is_manual else Reading.WOKEN
    journal.note(what, 0, 25)
    successor = gate.successor()
    successor.follow(Script(journal))
    instants = woken_by(successor, 25)

    successor.let_through(what, 25)

    assert (instants, source.now_ns()) == ([25], 0)


@sources
def test_that_work_takes_no_time_of_the_source_while_a_script_is_followed(
    make_source: Callable[[], ManualTimeSource | VirtualTimeSource],
) -> None:
    source = make_source()
    successor = gate_before(source).successor()
    successor.follow(Script(Journal(Beginning())))

    work = successor.source_of_work
    assert isinstance(work, JumpsInTime)
    work.jump_ns(50)

    assert source.now_ns() == 0
