"""Instants in the past: what people type for an instant, and where that is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.analysis.instants import InstantError, InstantFinder
from inspector.clocks.tree import ClockTree
from inspector.events.frame_history import FrameHistory
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.events.timeline import Timeline
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_instant
from inspector.vocabulary import FRAME_BEGAN, FRAME_ENDED, TIMER_FIRED

FRAME_MS = 20
TICK_MS = 50
LAST_MS = 2_005


def session(budget_bytes: int = 64 * 1024 * 1024) -> tuple[LogHistory, FrameHistory]:
    """Return two seconds with a frame every 20 ms and a timer every 50 ms."""
    log = EventLog(budget_bytes)
    tree = ClockTree(log)
    tree.root.set_interval(TICK_MS / 1_000, lambda: None, name="tick")
    tree.root.set_interval(TICK_MS * 2 / 1_000, lambda: None, name="every other")
    for index in range(LAST_MS // FRAME_MS):
        at_ns = (index + 1) * FRAME_MS * NS_PER_MS
        tree.run_to(at_ns)
        log.append((at_ns, FRAME_BEGAN, 1, index, FRAME_MS * NS_PER_MS))
        log.append((at_ns, FRAME_ENDED, 1, FRAME_MS * NS_PER_MS, 0))
        log.settle()
    timeline = Timeline(log.strings)
    if log.first:
        timeline = log.base.copy()
    timeline.apply_all(log.read(log.first).events)
    return LogHistory(log), timeline.frames


def two_seconds() -> InstantFinder:
    return InstantFinder(*session(), LAST_MS * NS_PER_MS)


def found_ms(text: str, from_ms: float = 1_000) -> float:
    return two_seconds().find(text, round(from_ms * NS_PER_MS)) / NS_PER_MS


@pytest.mark.parametrize(
    ("text", "at_ms"),
    [
        ("1.5", 1_500),
        ("00:01.25", 1_250),
        ("250ms", 250),
        ("250 ms", 250),
        (" 1/4 ", 250),
        ("frame 12", 260),
        ("Frame 0", 20),
        ("#7", 160),
        ("f7", 160),
        ("+0.5s", 1_500),
        ("-0.5s", 500),
        ("\N{MINUS SIGN}250ms", 750),
        ("- 250 ms", 750),
        ("+2 frames", 1_040),
        ("-2 frames", 960),
        ("+1 frame", 1_020),
        ("-frame", 980),
        ("+3 timers", 1_150),
        ("-1 timer", 950),
        ("+timer", 1_050),
        ("start", 0),
        ("END", LAST_MS),
        ("+0 frames", 1_000),
    ],
)
def test_that_a_place_is_found_as_people_write_it(text: str, at_ms: int) -> None:
    assert found_ms(text) == at_ms


def test_that_a_step_between_frames_leads_to_either_of_them() -> None:
    assert found_ms("+1 frame", 1_010) == 1_020
    assert found_ms("-1 frame", 1_010) == 1_000
    assert found_ms("-2 frames", 1_010) == 980
    assert found_ms("+1 frame", 5) == 20


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("soon", "“soon” is not an instant: write 02:10.5, frame 812, +3 timers"),
        ("", "“” is not an instant"),
        ("+", "“+” is not an instant"),
        ("frame", "“frame” is not an instant"),
        ("+3 cats", "“+3 cats” is not an instant"),
        ("frame 812", "There is no frame 812: frames 0 to 99 are available."),
        ("frame " + "9" * 30, "999999… is too large a number."),
        ("1:00", "1:00.000 is in the future: it is now 0:02.005."),
        ("+5s", "0:06.000 is in the future: it is now 0:02.005."),
        ("-5s", "-0:04.000 is too early: the session begins at 0:00.000."),
        ("+60 frames", "Fewer than 60 frames began after this instant."),
        ("-60 frames", "Fewer than 60 frames began before this instant."),
        ("+90 timers", "Fewer than 90 timers fired after this instant."),
        ("-90 timers", "Fewer than 90 timers fired before this instant."),
    ],
)
def test_that_what_is_no_place_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(InstantError) as caught:
        found_ms(text)

    assert str(caught.value).startswith(sentence)


def test_that_one_step_too_many_is_refused_in_the_singular() -> None:
    places = two_seconds()

    with pytest.raises(InstantError, match=r"^No frame began before this instant\.$"):
        places.frames_from(0, -1)
    with pytest.raises(InstantError, match=r"^No timer fired after this instant\.$"):
        places.timers_from(places.last_ns, 1)


def test_that_there_is_no_frame_before_one_has_run() -> None:
    places = InstantFinder(LogHistory(EventLog()), FrameHistory(), 0)

    with pytest.raises(InstantError, match=r"^There is no frame 3: none has run yet\.$"):
        places.find("frame 3", 0)
    with pytest.raises(InstantError, match="No frame began"):
        places.find("+1 frame", 0)


def test_that_what_is_not_kept_is_refused() -> None:
    history, frames = session(budget_bytes=150 * BYTES_PER_EVENT)
    places = InstantFinder(history, frames, LAST_MS * NS_PER_MS)
    assert history.first

    with pytest.raises(InstantError, match="is too early: the log begins at 0:01"):
        places.find("0.1", places.last_ns)
    with pytest.raises(InstantError, match=r"There is no frame 2: frames \d+ to 99 are available"):
        places.find("frame 2", places.last_ns)
    assert places.find("start", 0) == history.first_ns


@given(st.text(max_size=12), st.integers(0, LAST_MS))
def test_that_any_text_leads_somewhere_known_or_to_a_sentence(text: str, from_ms: int) -> None:
    places = two_seconds()
    at_ns, sentence = places.first_ns, "."
    try:
        at_ns = places.find(text, from_ms * NS_PER_MS)
    except InstantError as error:
        sentence = str(error)

    assert places.first_ns <= at_ns <= places.last_ns
    assert sentence.endswith(".")


@given(from_ns=st.integers(0, LAST_MS * NS_PER_MS), steps=st.integers(-120, 120))
def test_that_steps_count_the_instants_at_which_something_happened(
    from_ns: int, steps: int
) -> None:
    history, frames = session()
    places = InstantFinder(history, frames, LAST_MS * NS_PER_MS)
    events = history.events(0, history.end)
    fires = sorted({event[0] for event in events if event[1] == TIMER_FIRED})
    for instants, hop in (
        (fires, places.timers_from),
        (list(frames.at_ns), places.frames_from),
    ):
        before = [each for each in instants if each < from_ns]
        after = [each for each in instants if each > from_ns]
        wanted = before[::-1] if steps < 0 else after
        if not steps:
            assert hop(from_ns, steps) == from_ns
        elif abs(steps) <= len(wanted):
            assert hop(from_ns, steps) == wanted[abs(steps) - 1]
        else:
            with pytest.raises(InstantError):
                hop(from_ns, steps)


@given(at_ns=st.integers(0, LAST_MS * NS_PER_MS))
def test_that_an_instant_is_found_as_it_is_written(at_ns: int) -> None:
    at_ns -= at_ns % NS_PER_MS

    assert two_seconds().find(format_instant(at_ns), NS_PER_SECOND) == at_ns
