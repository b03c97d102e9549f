"""The entries of the journal: what is read is what was put in, and a day of it is small."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.commands.scene import RewindTo, StepBack
from inspector.commands.transport import StepFrames
from inspector.events.conditions.breakpoint import BreakAction
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.sessions.replay.journal import (
    _MORE_BYTES,
    BLOCK,
    Beginning,
    Journal,
    PackedEntries,
)
from inspector.sessions.replay.rerun import rerun
from inspector.testing import held_session, scene_file

numbers = st.integers(-(2**63), 2**63 - 1)


@given(
    st.lists(st.tuples(st.integers(0, 102), numbers, numbers), min_size=1, max_size=40),
    st.integers(0, 2 * BLOCK),
)
def test_that_entries_are_read_as_they_were_added(
    some: list[tuple[int, int, int]], before: int
) -> None:
    entries = PackedEntries()
    expected = [(1, n, 16_666_667 * n) for n in range(before)] + some * (BLOCK // len(some) + 1)
    for each in expected:
        entries.append(each)

    assert len(entries) == len(expected)
    places = range(0, len(expected), 7)
    assert [entries[n] for n in places] == [expected[n] for n in places]
    assert entries[len(expected) - 1] == expected[-1]


def test_that_entries_can_be_read_in_any_order() -> None:
    entries = PackedEntries()
    for n in range(7 * BLOCK + 3):
        entries.append((1, n // 2, n * n))
    order = list(range(0, len(entries), 97))
    random.Random(1).shuffle(order)

    assert all(entries[n] == (1, n // 2, n * n) for n in order)


def test_that_a_day_of_wake_ups_takes_less_than_32_megabytes() -> None:
    dice = random.Random(1)
    entries = PackedEntries()
    at_ns = 0
    count = 50 * BLOCK
    for frame in range(count):
        # As late as the wake-ups of a computer are, and some of timers between the frames.
        at_ns = frame * 16_666_667 + abs(round(dice.gauss(60_000, 30_000)))
        entries.append((1, frame, at_ns))

    wake_ups_a_day = 75 * 86_400
    assert entries.size_bytes / count * wake_ups_a_day < 32e6


SCENE = """
    def build(stage):
        stage.root.set_interval(0.05, lambda: stage.mark("tick"))
"""


def test_that_a_scene_goes_back_through_packed_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inspector.sessions.replay.journal.BLOCK", 64)
    session = held_session(scene_file(tmp_path, SCENE))
    for _ in range(3 * 64):
        session.submit(StepFrames(1))
    session.refresh()

    session.submit(StepBack(2))
    session.refresh()

    assert session.frames_run == 3 * 64 - 2
    assert session.timeline.commands[-1].refusal == ""
    assert rerun(session.history, session.scene_path).is_same
    session.close()


def test_that_a_journal_with_too_many_entries_is_given_up_and_said_so(tmp_path: Path) -> None:
    session = held_session(scene_file(tmp_path, SCENE))
    session._run.journal = Journal(session._run.journal.beginning, 10)
    for _ in range(15):
        session.submit(StepFrames(1))
    session.refresh()

    for command in (StepBack(1), RewindTo(0)):
        session.submit(command)
        session.refresh()

        refusal = session.timeline.commands[-1].refusal
        assert "no longer kept. Reload the scene to start again" in refusal
    assert session.frames_run == 15
    assert (len(session._run.journal), session._run.journal.size_bytes) == (0, 0)
    session.close()


def test_that_a_journal_counts_what_it_takes() -> None:
    journal = Journal(Beginning())
    journal.note(1, 0, 5)

    assert journal.size_bytes == 24
    assert (len(journal), journal.code_and_value(0)) == (1, (1, 5))
    hit = BreakpointHit(1, BreakAction.HOLD, 0, 0, 0, 0, "")
    journal.note(1, 0, 5, hit)
    assert journal.size_bytes == 48 + _MORE_BYTES


def test_that_a_journal_is_given_up_with_the_first_entry_that_is_too_many() -> None:
    journal = Journal(Beginning(), most_entries=2)
    lengths = []
    for _ in range(4):
        journal.note(1, 0, 5)
        lengths.append((len(journal), journal.is_given_up))
    assert lengths == [(1, False), (2, False), (0, True), (0, True)]


def test_that_entries_that_were_dropped_leave_nothing_behind() -> None:
    entries = PackedEntries()
    for value in (1, 2):
        for _ in range(BLOCK):
            entries.append((value, 0, 0))
        assert (len(entries), entries[0][0]) == (BLOCK, value)
        assert entries.size_bytes > 0
        entries.clear()
        assert (len(entries), entries.size_bytes) == (0, 0)
