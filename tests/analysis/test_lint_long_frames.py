"""Frames over budget and callbacks that keep others waiting: found, named, with evidence."""

import re
from fractions import Fraction
from pathlib import Path

import pytest

from inspector.analysis.lint.findings import (
    BLOCKING,
    COLLECTION,
    HOST_SLOW,
    OVER_BUDGET,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.rules import findings
from inspector.analysis.statistics.frame_budget import USUAL_FRAME, FrameBudget, loop_budget
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.vocabulary import (
    CALL_ENDED,
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    CLOCK_RATE,
    FRAME_BEGAN,
    FRAME_ENDED,
    FRAME_SHARES,
    LOOP_ASKED,
    LOOP_FOUND,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    PHASE_ENDED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_FIRED,
    LoopKind,
    MemberKind,
    Phase,
    Share,
    two_durations,
)

MS = 1_000_000
FRAME_NS = 16_666_667
BUDGET = FrameBudget(FRAME_NS)


def looked_at(folder: Path, body: str, seconds: float = 20) -> dict[FindingKind, Finding]:
    """Run the body of a scene in virtual time; return the findings that are about long frames."""
    source = "def build(stage):\n" + "\n".join(f"    {line}" for line in body.strip().split("\n"))
    session = virtual_session(scene_file(folder, source))
    pass_seconds(session, seconds)
    found = findings(session.history)
    session.close()
    kinds = {BLOCKING, OVER_BUDGET}
    return {finding.kind: finding for finding in found if finding.kind in kinds}


def test_that_a_timer_that_blocks_others_is_found_with_what_it_made_late(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """
stage.root.set_interval(2, lambda: stage.work(0.2), name="load")
stage.root.set_interval(0.05, int, name="tick")
stage.root.set_interval(0.08, int, name="tock")
""",
    )

    blocks = found.pop(BLOCKING)
    # What was worked is virtual; what the calls cost besides is measured.
    assert re.match("“load” took 2.. ms in frame ", blocks.text)
    assert "the limit for a frame is 19.2 ms. “tick” and “tock” had to wait for it" in blocks.text
    assert "fired up to 150 ms late. It took too long 9 times." in blocks.text
    assert blocks.subject == 1
    assert not found


def test_that_two_long_calls_are_twice(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """
stage.root.set_interval(8, lambda: stage.work(0.2), name="load")
stage.root.set_interval(0.05, int, name="tick")
""",
    )

    assert "It took too long twice." in found[BLOCKING].text


def test_that_the_likely_one_of_several_timers_is_named(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """
stage.root.set_interval(1, int, name="second")
stage.root.set_interval(2, lambda: stage.work(0.2), name="load")
stage.root.set_interval(0.05, int, name="tick")
""",
    )

    assert found[BLOCKING].text.startswith("“load” took 2")


def test_that_timers_that_cannot_be_told_apart_are_all_named(tmp_path: Path) -> None:
    found = looked_at(
        tmp_path,
        """
stage.root.set_interval(2, lambda: stage.work(0.2), name="load")
stage.root.set_interval(2, int, name="with it")
stage.root.set_interval(0.07, int, name="tick")
""",
    )

    text = found[BLOCKING].text
    assert text.startswith("One of “load” and “with it” took 2")
    assert "“tick” had to wait for it" in text


@pytest.mark.parametrize(("work", "is_told"), [(0.018, False), (0.03, False), (0.06, True)])
def test_that_one_hiccup_is_not_told_of(tmp_path: Path, work: float, *, is_told: bool) -> None:
    found = looked_at(tmp_path, f'stage.root.set_timeout(2, stage.work, {work}, name="load")', 5)

    assert (BLOCKING in found) == is_told
    assert OVER_BUDGET not in found


def test_that_frames_over_budget_are_found_with_their_share_and_work(tmp_path: Path) -> None:
    found = looked_at(tmp_path, "stage.every_frame(lambda delta: stage.work(0.05))", 10)

    over = found[OVER_BUDGET]
    assert over.text.startswith("200 of 200 frames after the first (100.0 %) were over budget ")
    assert "over budget (19.2 ms): median 50.0 ms" in over.text
    assert "Callbacks took a median of 5" in over.text


class Played:
    """A log into which a test writes frames by hand."""

    def __init__(self) -> None:
        self.log = EventLog()
        self.at_ns = 0
        self.frames = 0
        name = self.log.intern
        self.log.append((0, CLOCK_ADDED, 1, 0, name("root")))
        self.log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
        for number, label in ((1, "whole"), (2, "inner")):
            self.log.append((0, MEMBER_ADDED, number, 0, name(label)))
            self.log.append((0, MEMBER_ORIGIN, number, 1, MemberKind.FRAME_CALLBACK))

    def frame(
        self,
        interval_ns: int,
        busy_ns: int = MS,
        *calls: tuple[int, int, int],
        shares: dict[Share, int] | None = None,
        delta_ns: int | None = None,
    ) -> None:
        """Write a frame with calls: member, began, took."""
        self.at_ns += interval_ns
        record, index = self.log.append, self.frames
        self.frames += 1
        record((self.at_ns, FRAME_BEGAN, 1, index, interval_ns if delta_ns is None else delta_ns))
        if shares is not None:
            ns = [shares.get(share, 0) for share in Share]
            pairs = two_durations(ns[0], ns[1]), two_durations(ns[2], ns[3])
            record((self.at_ns, FRAME_SHARES, *pairs, ns[4]))
        for member, began_ns, took_ns in calls:
            record((self.at_ns, CALL_ENDED, member, began_ns, took_ns))
        record((self.at_ns, PHASE_ENDED, Phase.UPDATE, index, busy_ns))
        record((self.at_ns, FRAME_ENDED, 1, interval_ns, busy_ns))

    def found(self) -> list[Finding]:
        return findings(LogHistory(self.log), budget=BUDGET)

    def found_in_program(self) -> list[Finding]:
        """Return what is found if the frames are those of a loop of a program."""
        history = LogHistory(self.log)
        state = history.state_before(history.end)
        return findings(history, budget=loop_budget(state, Fraction(60), waits=False))


def played_by_program(kind: LoopKind = LoopKind.DRAWS_FRAMES) -> Played:
    played = Played()
    played.log.append((0, LOOP_FOUND, 1, played.log.intern("game"), kind))
    return played


def test_that_a_game_that_caps_itself_at_30_is_not_held_against_60() -> None:
    played = played_by_program()
    for number in range(160):
        played.frame(33 * MS + (number % 3) * MS)

    assert not played.found_in_program()


def test_that_frames_of_a_program_are_held_against_what_its_loop_asks_for() -> None:
    played = played_by_program()
    for number in range(100):
        played.frame(40 * MS)
        if number == 5:
            played.log.append((played.at_ns, LOOP_ASKED, 1, 16 * MS, 0))

    (over,) = played.found_in_program()
    assert over.text.startswith(
        "99 of 99 frames after the first (100.0 %)"
        " were over budget (18.4 ms, 15 % above what the loop asks for): "
    )


def test_that_long_frames_of_a_program_are_held_against_its_usual_one() -> None:
    played = played_by_program()
    for number in range(160):
        played.frame(33 * MS, 5 * MS)
        if number % 10 == 0:
            played.frame(33 * MS, 90 * MS)
            played.frame(100 * MS)

    found = {finding.kind: finding.text for finding in played.found_in_program()}
    assert set(found) == {OVER_BUDGET, BLOCKING}
    assert found[OVER_BUDGET].startswith(
        "16 of 191 frames after the first (8.4 %)"
        " were over budget (38.0 ms, 15 % above the loop's usual frame): median "
        "100 ms, at most 100 ms. Callbacks took a median of 90.0 ms of that."
    )


def test_that_frames_of_a_program_that_was_slowed_are_as_long_as_in_its_own_time() -> None:
    played = played_by_program()
    for _ in range(100):
        played.frame(33 * MS)
    played.log.append((played.at_ns, CLOCK_RATE, 1, RATE_DENOMINATOR // 4, 0))
    for _ in range(100):
        played.frame(4 * 33 * MS, delta_ns=33 * MS)
    played.log.append((played.at_ns, CLOCK_RATE, 1, RATE_DENOMINATOR, 0))
    for _ in range(100):
        played.frame(33 * MS)

    assert not played.found_in_program()


@pytest.mark.parametrize("is_same_turn", [True, False])
def test_that_a_turn_that_made_timers_late_is_found(*, is_same_turn: bool) -> None:
    """Timers of programs fire in a turn, not before it."""
    log = EventLog()
    root, tick = log.intern("server"), log.intern("tick")
    log.append((0, CLOCK_ADDED, 1, 0, root))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    log.append((0, LOOP_FOUND, 1, log.intern("asyncio"), LoopKind.WAITS_FOR_EVENTS))
    log.append((0, TIMER_ADDED, 1, 1, tick))
    log.append((0, TIMER_ARMED, 1, 50 * MS, 50 * MS))
    at_ns = 0
    for index in range(40):
        is_long = index % 10 == 5
        is_late = is_long if is_same_turn else index % 10 == 6
        busy_ns = 300 * MS if is_long else MS
        log.append((at_ns, FRAME_BEGAN, 1, index, 50 * MS))
        fired = (at_ns, TIMER_FIRED, 1, 250 * MS if is_late else 0, at_ns + 50 * MS)
        log.append(fired)
        at_ns += busy_ns
        log.append((at_ns, FRAME_ENDED, 1, 51 * MS, busy_ns))
        at_ns += 50 * MS
    budget = FrameBudget(FRAME_NS, by_busy=True)

    found = {finding.kind: finding for finding in findings(LogHistory(log), budget=budget)}
    assert found[BLOCKING].text.startswith(
        "What the loop called took 300 ms in frame 5; the limit for a frame is 19.2 ms. "
        "“tick” had to wait for it and fired up to 250 ms late. It took too long 4 times."
    )
    assert found[BLOCKING].frame == 5


def test_that_turns_of_a_loop_that_waits_have_no_usual_length() -> None:
    log = played_by_program(LoopKind.WAITS_FOR_EVENTS)
    for _ in range(160):
        log.frame(500 * MS)
    history = LogHistory(log.log)
    state = history.state_before(history.end)

    assert loop_budget(state, Fraction(60), waits=True) == FrameBudget(FRAME_NS, by_busy=True)


def test_that_frames_of_a_held_loop_are_held_against_its_usual_frame() -> None:
    played = played_by_program()
    played.log.append((0, LOOP_ASKED, 1, 33 * MS, 0))
    for _ in range(160):
        played.frame(40 * MS)
    played.log.append((played.at_ns, CLOCK_RATE, 1, 0, 0))
    history = LogHistory(played.log)
    state = history.state_before(history.end)

    budget = loop_budget(state, Fraction(60), waits=False, of="interval_ns")

    assert budget == FrameBudget(40 * MS, origin=USUAL_FRAME)


def test_that_a_scene_that_holds_its_rate_on_a_real_timer_has_no_finding() -> None:
    played = Played()
    for number in range(300):
        played.frame(FRAME_NS + (2 * MS if number % 2 else -2 * MS))
    for _ in range(12):
        played.frame(33 * MS)

    assert played.found() == []


def test_that_the_innermost_call_that_took_the_time_is_named() -> None:
    played = Played()
    for _ in range(100):
        played.frame(FRAME_NS)
    for _ in range(3):
        played.frame(FRAME_NS, 30 * MS, (2, 2 * MS, 25 * MS), (1, MS, 28 * MS))
        played.frame(33 * MS)

    (blocks,) = played.found()
    assert blocks.kind is BLOCKING
    assert blocks.text == (
        "“inner” took 30.0 ms in frame 100; the limit for a frame is 19.2 ms. The next "
        "frame had to wait for it. It took too long 3 times. Spread the work over several frames, "
        "or move it to a thread."
    )
    assert (blocks.member_id, blocks.frame) == (2, 100)


def test_that_long_frames_without_work_are_blamed_on_no_callback() -> None:
    played = Played()
    for _ in range(10):
        played.frame(FRAME_NS)
    for _ in range(290):
        played.frame(33 * MS)

    (over,) = played.found()
    assert over.text == (
        "290 of 299 frames after the first (97.0 %)"
        " were over budget (19.2 ms): median 33.0 ms, at most 33.0 "
        "ms. Callbacks took a median of only 1.00 ms of that; the rest was not measured."
    )


def test_that_work_with_nothing_waiting_is_not_blocking() -> None:
    played = Played()
    for _ in range(100):
        played.frame(FRAME_NS, 40 * MS, (1, MS, 38 * MS))

    assert played.found() == []


IDLE = {Share.IDLE: FRAME_NS - MS, Share.CALLBACKS: MS}


def played_with(count: int, interval_ns: int, shares: dict[Share, int]) -> Played:
    """Return a log of frames in time, and some that are not."""
    played = Played()
    for _ in range(40):
        played.frame(FRAME_NS, shares=IDLE)
    for _ in range(count):
        played.frame(interval_ns, shares=shares)
    return played


def test_that_one_very_late_wake_up_is_the_slow_hosts_and_no_callbacks() -> None:
    played = played_with(1, 270 * MS, {Share.HOST_LATE: 254 * MS, Share.IDLE: 16 * MS})

    (slow,) = played.found()
    assert (slow.kind, slow.frame) == (HOST_SLOW, 40)
    assert slow.text.startswith(
        "Host late: 1 frame over budget (19.2 ms) only because of it, 254 ms of 270 ms in "
        "frame 40, 254 ms in all. Other programs took the processor"
    )


def test_that_collections_are_named_where_they_made_frames_too_long() -> None:
    played = played_with(3, 28 * MS, {Share.GARBAGE_COLLECTION: 12 * MS, Share.IDLE: 16 * MS})

    found = {finding.kind: finding for finding in played.found()}
    assert set(found) == {COLLECTION, OVER_BUDGET}
    assert "12.0 ms of 28.0 ms in frame 40, 36.0 ms in all. Keep" in found[COLLECTION].text
    assert found[OVER_BUDGET].text.endswith(" What took most of it: garbage collection in 3.")


def test_that_frames_of_which_nothing_was_measured_are_put_down_to_the_unknown() -> None:
    (over,) = played_with(3, 28 * MS, {}).found()

    assert over.text.endswith(" What took most of it: unknown in 3.")


def test_that_a_few_short_hiccups_of_the_host_are_no_finding() -> None:
    assert not played_with(2, 28 * MS, {Share.HOST_LATE: 12 * MS, Share.IDLE: 16 * MS}).found()


def test_that_frames_that_the_inspector_made_too_long_are_not_the_scenes() -> None:
    by_inspector = {Share.INSPECTOR: 12 * MS, Share.IDLE: 16 * MS}
    assert not played_with(30, 28 * MS, by_inspector).found()

    played = played_with(30, 28 * MS, by_inspector)
    for _ in range(10):
        played.frame(40 * MS, shares={Share.CALLBACKS: 30 * MS, Share.INSPECTOR: 5 * MS})
    (over,) = [finding for finding in played.found() if finding.kind is OVER_BUDGET]
    assert over.text == (
        "10 of 79 frames after the first (12.7 %)"
        " were over budget (19.2 ms): median 40.0 ms, at most 40.0 "
        "ms. What took most of it: callbacks in 10. Besides them, the inspector alone made 30 "
        "too long."
    )


def test_that_the_line_of_a_timer_that_blocks_is_named(tmp_path: Path) -> None:
    found = looked_at(tmp_path, "stage.root.set_interval(2, lambda: stage.work(0.2), name='load')")

    assert re.search(r"in frame \d+, set at scene.py:2\b", found[BLOCKING].text)
