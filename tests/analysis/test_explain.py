"""Why a timer has not fired, or when it did: every sentence is true, and leads to its event."""

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from inspector.analysis.evidence import Explanation, Reason
from inspector.analysis.explain import call_past
from inspector.analysis.explain.call_past import KEPT_STRETCHES, CallPast
from inspector.analysis.explain.explain import explain
from inspector.analysis.predict.timers import next_fires
from inspector.calls.call import CallId
from inspector.clocks import ClockTree
from inspector.clocks.failures import FailurePolicy
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.events.frame_history import FrameHistory
from inspector.events.history import LogHistory
from inspector.events.log import BYTES_PER_EVENT, EventLog
from inspector.sessions.hosted import HostedSession
from inspector.sessions.interval_meter import KnownShares
from inspector.sessions.runs.virtual import run_frame_times, run_virtual
from inspector.testing import scene_file, virtual_session
from inspector.timebase import format_instant, seconds_to_ns
from inspector.vocabulary import (
    CALLBACK_FAILED,
    CLOCK_PAUSED,
    CLOCK_RATE,
    CLOCK_REMOVED,
    MEMBER_ADDED,
    MEMBER_ORIGIN,
    NEVER,
    TIMER_ADDED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TRANSPORT,
    MemberKind,
    Phase,
)

MS = 1_000_000
SECOND = 1_000_000_000

SCENE = """
    from inspector.clocks import MissedTicks

    def build(stage):
        game = stage.root.child("game")
        enemies = game.child("enemies", rate="1/2")
        boss = enemies.set_timeout(10, lambda: None, name="boss")
        enemies.set_interval(2, lambda: None, delay=0.5, name="wave")
        game.set_interval(0.25, lambda: None, name="tick")
        ui = stage.root.child("ui")
        ui.set_timeout(3, game.pause, name="menu")
        game.set_timeout(0.5, lambda: None, name="once")
        doomed = game.set_timeout(5, lambda: None, name="doomed")
        ui.set_timeout(1, lambda: game.clear(doomed), name="clears it")
        frozen = stage.root.child("frozen", rate=0)
        frozen.set_timeout(1, lambda: None, name="never")
        level = game.child("level")
        inner = level.child("inner")
        inner.set_timeout(9, lambda: None, name="in the level")
        ui.set_timeout(2, level.remove, name="leaves the level")
"""


class Stand:
    """A hosted scene on virtual time, and the explanations of its timers."""

    def __init__(self, folder: Path, scene: str = SCENE) -> None:
        self.session: HostedSession = virtual_session(scene_file(folder, scene))

    def run(self, seconds: float | Fraction, frame_rate: int = 60) -> None:
        run_virtual(
            self.session, duration_ns=seconds_to_ns(seconds), dt_ns=Fraction(SECOND, frame_rate)
        )
        self.session.refresh()

    def clock(self, name: str) -> int:
        clocks = self.session.timeline.clocks.values()
        return next(clock.id for clock in clocks if clock.name == name)

    def timers(self, name: str) -> list[int]:
        log = self.session.log
        label = log.intern(name)
        return [
            event[2]
            for event in log.read(0).events
            if event[1] == TIMER_ADDED and event[4] == label
        ]

    def explain(self, name: str, at_ns: int | None = None) -> Explanation:
        at_ns = self.session.timeline.at_ns if at_ns is None else at_ns
        return explain(self.session.history, CallId(self.timers(name)[0]), at_ns)

    def kind_of(self, reason: Reason) -> int:
        assert reason.cursor is not None, reason
        event = self.session.log.slice(reason.cursor, reason.cursor + 1)[0]
        assert event[0] == reason.at_ns, (event, reason)
        return event[1]


@pytest.fixture
def stand(tmp_path: Path) -> Iterator[Stand]:
    stand = Stand(tmp_path)
    yield stand
    stand.session.close()


def texts(explanation: Explanation) -> list[str]:
    return [reason.text for reason in explanation.reasons]


def reason_with(explanation: Explanation, text: str) -> Reason:
    found = [reason for reason in explanation.reasons if text in reason.text]
    assert len(found) == 1, f"{text!r} in {texts(explanation)}"
    return found[0]


# ------------------------------------------------------------------ timers that wait


def test_that_a_timer_that_is_not_due_says_when_it_fires_and_why_it_takes_so_long(
    stand: Stand,
) -> None:
    stand.run(1)

    explanation = stand.explain("boss")

    assert explanation.subject.startswith("Timer “boss” (")
    assert explanation.headline == ("Fires in 19.0 s, at 0:20.000, if rates stay as they are.")
    assert texts(explanation) == [
        "It was set at scene.py:7 in build, for 10.0 s of “enemies”.",
        "Since it was set, 1.00 s of session time has passed, and 500 ms on “enemies”.",
        "It is due at 00:10.000 in the time of “enemies”, which is at 00:00.500; 9.50 s remain.",
        "At an effective rate of 0.5 that takes 19.0 s of session time.",
        "“enemies” runs at ×½ since it was created.",
    ]
    assert [reason.is_number for reason in explanation.reasons] == [
        False,
        False,
        True,
        False,
        False,
    ]


LONG_PAUSE = """
    def build(stage):
        enemies = stage.root.child("enemies")
        enemies.set_timeout(100, lambda: None, name="boss")
        enemies.set_timeout(1, lambda: None, name="bomb")

        def set_rate(rate):
            enemies.rate = rate

        for number in range(20):
            stage.root.set_timeout(402 + number, set_rate, "1/4", name="slow")
            stage.root.set_timeout(402.5 + number, set_rate, 1, name="fast")
"""


def test_that_the_changes_that_cost_most_are_named_and_the_others_counted(tmp_path: Path) -> None:
    stand = Stand(tmp_path, LONG_PAUSE)
    stand.run(10, frame_rate=2)
    stand.session.submit(PauseClock(stand.clock("enemies")))
    stand.run(360, frame_rate=2)
    stand.session.submit(ResumeClock(stand.clock("enemies")))
    stand.run(60, frame_rate=2)

    explanation = stand.explain("boss")

    _set, paused, slow, more, since, *_ = texts(explanation)
    assert paused == "You paused “enemies” for 6:00.000."
    assert slow == "The program slowed “enemies” to ×¼, 5 times, for 500 ms each time."
    assert len(reason_with(explanation, "slowed").again_ns) == 4
    assert more == "There were 15 more changes of these clocks, none of greater effect."
    assert since.startswith("Since it was set")
    # What came after the end of a timer did not delay it.
    assert "slowed" not in "".join(texts(stand.explain("bomb")))
    at_ns = 400 * SECOND
    assert "more change" not in "".join(texts(stand.explain("boss", at_ns)))
    slowed = texts(stand.explain("boss", 402 * SECOND + SECOND // 4))
    assert "The program slowed “enemies” to ×¼." in slowed
    assert not [text for text in slowed if "runs at" in text]
    stand.session.close()


def test_that_changes_are_named_in_the_order_of_time(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
    def build(stage):
        enemies = stage.root.child("enemies")
        enemies.set_timeout(100, lambda: None, name="boss")
        for at, seconds in ((1, 20), (30, 0.01), (40, 2)):
            stage.root.set_timeout(at, enemies.pause)
            stage.root.set_timeout(at + seconds, enemies.resume)
    """,
    )
    stand.run(60)

    _set, *pauses, _since, _due = texts(stand.explain("boss"))

    assert pauses == [
        f"The program paused “enemies” for {lasted}." for lasted in ("20.0 s", "10.0 ms", "2.00 s")
    ]


def test_that_a_move_is_named_with_who_did_it(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
    def build(stage):
        game, enemies = stage.root.child("game"), stage.root.child("enemies", rate="1/2")
        enemies.set_timeout(10, lambda: None, name="boss")
        stage.root.set_timeout(1, enemies.move_to, game)
    """,
    )
    stand.run(3)

    assert texts(stand.explain("boss"))[1] == "The program moved “enemies”."
    assert reason_with(stand.explain("boss"), "moved").again_ns == ()
    stand.session.close()


@pytest.mark.parametrize(
    ("seconds", "lasted"), [((5, 5), "5.00 s each time"), ((5, 6), "11.0 s in all")]
)
def test_that_pauses_that_are_alike_are_one_sentence_without_a_comma(
    tmp_path: Path, seconds: tuple[int, int], lasted: str
) -> None:
    one, other = seconds
    stand = Stand(
        tmp_path,
        f"""
    def build(stage):
        enemies = stage.root.child("enemies")
        enemies.set_timeout(100, lambda: None, name="boss")
        for at, seconds in ((1, {one}), (30, {other})):
            stage.root.set_timeout(at, enemies.pause)
            stage.root.set_timeout(at + seconds, enemies.resume)
    """,
    )
    stand.run(40, frame_rate=10)

    assert texts(stand.explain("boss"))[1] == f"The program paused “enemies” twice, for {lasted}."


def test_that_one_more_change_is_counted_in_the_singular(tmp_path: Path) -> None:
    pauses = """
        def build(stage):
            root, enemies = stage.root, stage.root.child("enemies")
            root.set_timeout(0.25, enemies.set_rate, "1/9")
            root.set_timeout(0.5, enemies.set_rate, 1)
            root.set_timeout(0.75, lambda: enemies.set_timeout(60, print, name="boss"))
            for number in range({count}):
                root.set_timeout(1 + 2 * number, enemies.set_rate, f"1/{{number + 2}}")
                root.set_timeout(2 + 2 * number, enemies.set_rate, 1)
    """
    said = []
    for count in range(1, 12):
        folder = tmp_path / str(count)
        folder.mkdir()
        stand = Stand(folder, pauses.format(count=count))
        stand.run(30, frame_rate=2)
        said += [text for text in texts(stand.explain("boss")) if "more change" in text]
        stand.session.close()

    assert said[:2] == [
        "There was 1 more change of these clocks, none of greater effect.",
        "There were 2 more changes of these clocks, none of greater effect.",
    ]


def test_that_a_pause_that_began_before_the_timer_was_set_is_named(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            root, enemies = stage.root, stage.root.child("enemies")
            root.set_timeout(1, enemies.pause)
            root.set_timeout(2, lambda: enemies.set_timeout(9, print, name="boss"))
            root.set_timeout(5, enemies.resume)
        """,
    )
    stand.run(6)

    paused = reason_with(stand.explain("boss"), "paused")

    assert paused.text == "The program paused “enemies” for 4.00 s."
    assert stand.kind_of(paused) == CLOCK_PAUSED
    stand.session.close()


@pytest.mark.parametrize(("begin", "end", "covered"), [(2, 4, "4.00 s"), (6, 7, "")])
def test_that_pauses_at_the_same_time_are_said_to_be(
    tmp_path: Path, begin: float, end: float, covered: str
) -> None:
    stand = Stand(
        tmp_path,
        f"""
        def build(stage):
            root, game = stage.root, stage.root.child("game")
            enemies = game.child("enemies")
            enemies.set_timeout(9, print, name="boss")
            root.set_timeout(1, enemies.pause)
            root.set_timeout(5, enemies.resume)
            root.set_timeout({begin}, game.pause)
            root.set_timeout({end}, game.resume)
        """,
    )
    stand.run(8)

    found = [text for text in texts(stand.explain("boss")) if "Overlaps" in text]

    said = f"Overlaps counted once: {covered}."
    assert found == ([said] if covered else [])
    stand.session.close()


def test_that_a_long_pause_is_kept_of_any_number_of_changes(tmp_path: Path) -> None:
    stand = Stand(tmp_path, LONG_PAUSE)
    enemies = stand.clock("enemies")
    frame = Fraction(1, 60)
    pauses = [Fraction(1, 2), Fraction(20)] + [frame] * 2 * KEPT_STRETCHES
    for seconds in pauses:
        stand.session.submit(PauseClock(enemies))
        stand.run(seconds)
        stand.session.submit(ResumeClock(enemies))
        stand.run(frame)

    explanation = stand.explain("boss")

    assert reason_with(explanation, "20.0 s").text == "You paused “enemies” for 20.0 s."
    reason_with(explanation, f"There were {len(pauses) - 6:,} more changes")
    stand.session.close()


def test_that_a_pause_above_is_named_with_its_frame_and_who_did_it(stand: Stand) -> None:
    stand.run(4)

    explanation = stand.explain("boss")

    assert explanation.headline == "Its time stands still: the program paused game 1.00 s ago."
    pause = reason_with(explanation, "above its clock")
    assert pause.text == "The program paused “game”, above its clock."
    assert stand.kind_of(pause) == CLOCK_PAUSED
    assert pause.at_ns == 3 * SECOND
    assert stand.session.timeline.frames.frame(179).at_ns == 3 * SECOND
    assert "It fires 17.0 s after “game” is resumed." in texts(explanation)


def test_that_a_pause_by_a_command_is_yours(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(PauseClock(stand.clock("enemies")))
    stand.run(1)

    pause = reason_with(stand.explain("boss"), "paused")

    assert pause.text == "You paused “enemies”."
    assert stand.kind_of(pause) == CLOCK_PAUSED


def test_that_a_pause_at_the_instant_shown_was_just_now(stand: Stand) -> None:
    enemies = stand.clock("enemies")
    stand.run(1)
    stand.session.submit(PauseClock(enemies))
    stand.run(1)
    paused_ns = stand.session.timeline.clocks[enemies].paused_since_ns
    headline = "Its time stands still: you paused enemies just now."
    assert stand.explain("boss", paused_ns).headline == headline


def test_that_several_stopped_clocks_are_all_named(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(PauseClock(stand.clock("enemies")))
    stand.run(3)

    explanation = stand.explain("boss")

    assert explanation.headline == (
        "Its time stands still: you paused enemies 2.98 s ago; game above it stands still, too."
    )
    assert len([text for text in texts(explanation) if " paused " in text]) == 2


def test_that_a_rate_of_zero_that_came_during_a_pause_is_not_called_older(stand: Stand) -> None:
    stand.run(1)
    clock = stand.clock("ui")
    stand.session.submit(PauseClock(clock))
    stand.run(1)
    stand.session.submit(SetRate(clock, Fraction(0)))
    stand.run(1)
    stand.session.submit(ResumeClock(clock))
    stand.run(1)

    said = texts(stand.explain("leaves the level"))

    assert not [text for text in said if "since it was created" in text]
    assert any("“ui” has rate 0, and was also paused in frame 60" in t for t in said)


def test_that_a_rate_after_another_is_a_stretch_of_its_own_until_the_rate_is_1(
    stand: Stand,
) -> None:
    game = stand.clock("game")
    for rate in (Fraction(1, 2), Fraction(1, 4), Fraction(1)):
        stand.run(1)
        stand.session.submit(SetRate(game, rate))
    stand.run(1)

    told = [text for text in texts(stand.explain("boss")) if "slowed" in text]

    assert told == [
        "You slowed “game” to ×¼ for 1.00 s.",
        "You slowed “game” to ×½ for 1.00 s.",
    ]


def test_that_a_rate_of_zero_is_told_from_a_pause(stand: Stand) -> None:
    stand.run(1)

    made = stand.explain("never")
    stand.session.submit(SetRate(stand.clock("ui"), Fraction(0)))
    stand.run(1)
    later = stand.explain("leaves the level")

    assert made.headline == "Its time stands still: frozen has rate 0."
    assert "“frozen” has had rate 0 since it was created." in texts(made)
    assert "It cannot fire before “frozen” gets a rate above 0." in texts(made)
    change = reason_with(later, "You set")
    assert change.text == "You set the rate of “ui” to 0."
    assert stand.kind_of(change) == CLOCK_RATE


def test_that_a_slowed_clock_is_named_with_who_slowed_it(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(SetRate(stand.clock("game"), Fraction(1, 4)))
    stand.run(1)

    slowed = reason_with(stand.explain("boss"), "slowed")

    assert slowed.text == "You slowed “game” to ×¼."
    assert stand.kind_of(slowed) == CLOCK_RATE
    assert "At an effective rate of 0.125 that takes" in "\n".join(texts(stand.explain("boss")))


def test_that_a_timer_that_is_due_at_this_instant_is_said_to_be(
    tmp_path: Path,
) -> None:
    scene = """
        def build(stage):
            again = lambda: stage.root.set_timeout(0, print, name="at once")
            stage.root.set_timeout(9, again, name="first")
    """
    stand = Stand(tmp_path, scene)
    stand.run(1)
    stand.session.hold()
    stand.session.submit(FireTimer(stand.timers("first")[0]))
    stand.session.refresh()

    explanation = stand.explain("at once")
    assert explanation.headline == "It is due and fires with the next wake-up."
    assert not any("remain" in text for text in texts(explanation))


def test_that_a_held_session_is_said_with_the_event(stand: Stand) -> None:
    stand.run(1)
    stand.session.hold()
    stand.session.refresh()

    explanation = stand.explain("boss")

    assert explanation.headline.endswith("if rates stay as they are; the session is held.")
    assert stand.kind_of(reason_with(explanation, "The session is held")) == TRANSPORT


def test_that_a_delayed_first_call_is_told(stand: Stand) -> None:
    stand.run(Fraction(1, 2))

    delayed = reason_with(stand.explain("wave"), "interval")

    assert delayed.text.endswith("for 500 ms of “enemies”, not for its interval of 2.00 s.")


def test_that_an_interval_says_how_its_last_call_went(stand: Stand) -> None:
    stand.run(1)

    last = reason_with(stand.explain("tick"), "the last time")

    assert last.text == "It has fired 4 times, the last time in frame 59, on time."
    assert stand.kind_of(last) == TIMER_FIRED
    assert last.at_ns == SECOND


def test_that_an_explanation_of_the_past_knows_nothing_of_what_came_later(stand: Stand) -> None:
    stand.run(4)

    early = stand.explain("boss", 2 * SECOND)

    assert early.headline == ("Fires in 18.0 s, at 0:20.000, if rates stay as they are.")


# ------------------------------------------------------------------ timers that are gone


def test_that_a_timeout_that_has_fired_is_used_up(stand: Stand) -> None:
    stand.run(1)

    explanation = stand.explain("once")

    assert explanation.headline == "It has fired and is no longer pending."
    fired = explanation.reasons[0]
    assert fired.text == ("It fired at 0:00.500, in frame 29: a timeout fires only once.")
    assert stand.kind_of(fired) == TIMER_FIRED


def test_that_who_came_first_at_the_same_instant_is_told(stand: Stand) -> None:
    stand.run(Fraction(1, 2))

    first = reason_with(stand.explain("tick"), "At the same instant")

    assert first.text == (
        "At the same instant, 1 other timer fired before it, in scheduling order: “once”."
    )


def test_that_a_cleared_timer_names_the_line_that_cleared_it(stand: Stand) -> None:
    stand.run(2)

    explanation = stand.explain("doomed")

    assert explanation.headline == "It was cleared."
    cleared = explanation.reasons[0]
    assert cleared.text.startswith("It was cleared at scene.py:")
    assert cleared.text.endswith("lambda>, at 0:01.000 (frame 59).")
    assert stand.kind_of(cleared) == TIMER_CLEARED


def test_that_a_timer_cleared_by_a_command_names_the_command(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(ClearTimer(stand.timers("boss")[0]))
    stand.run(1)

    cleared = stand.explain("boss").reasons[0]

    assert "by command 1 (clear “boss”)" in cleared.text


def test_that_a_timer_whose_branch_was_removed_names_the_clock(stand: Stand) -> None:
    stand.run(3)

    explanation = stand.explain("in the level")

    assert explanation.headline == "It was removed with its branch."
    removed = explanation.reasons[0]
    assert removed.text == (
        "It no longer exists because “level”, above its clock, was removed by the program, at "
        "0:02.000 (frame 119)."
    )
    assert stand.kind_of(removed) == CLOCK_REMOVED


def test_that_a_timer_that_never_was_or_is_not_yet_is_said_to_be_so(stand: Stand) -> None:
    stand.run(1)
    history = stand.session.history

    assert explain(history, CallId(9_999), SECOND).headline == (
        "This session never had a timer of this number."
    )


def test_that_a_timer_that_is_set_later_says_when() -> None:
    log = EventLog()
    tree = ClockTree(log)
    tree.root.set_timeout(2, lambda: tree.root.set_timeout(1, int, name="later"))
    tree.run_to(5 * SECOND)
    number = next(event[2] for event in log.read(0).events if event[1] == TIMER_ADDED and event[0])

    explanation = explain(LogHistory(log), CallId(number), SECOND)

    assert explanation.subject == f"Timer “later” ({number})"
    assert explanation.headline == (
        "At 0:01.000 this timer does not exist yet: it is set at 0:02.000."
    )


def test_that_what_has_fallen_off_the_log_is_said_to_be_unknown() -> None:
    log = EventLog(100 * BYTES_PER_EVENT)
    tree = ClockTree(log)
    gone = tree.root.set_timeout(0.5, int)
    kept = tree.root.set_interval(0.01, int, name="kept")
    for step in range(1, 300):
        tree.run_to(step * 20 * MS)
        log.settle()
    history = LogHistory(log)

    assert "are no longer in the log" in explain(history, CallId(gone.id), tree.now_ns).headline
    explanation = explain(history, CallId(kept.id), tree.now_ns)
    assert "It has fired 598 times" in "\n".join(texts(explanation))


# ------------------------------------------------------------------ late, early, twice

BLOCKED = """
    from inspector.clocks import MissedTicks

    def build(stage):
        stage.root.set_timeout(1, lambda: stage.work(0.13), name="blocks")
        stage.root.set_interval(0.0625, lambda: None, name="burst")
        stage.root.set_interval(0.0625, lambda: None, missed="skip", name="skip")
        stage.root.set_timeout(1.01, lambda: None, name="late")
"""


def test_that_a_delay_that_a_frame_explains_is_explained_once(tmp_path: Path) -> None:
    scene = """
        def build(stage):
            draw = lambda _delta: stage.work(0.05) if 1.05 < stage.root.time < 1.2 else None
            stage.root.set_timeout(1, lambda: stage.work(0.09), name="over")
            stage.root.set_timeout(1.0995, lambda: None, name="late")
            stage.every_frame(draw, phase="draw", name="draw")
    """
    stand = Stand(tmp_path, scene)
    stand.run(1.5)

    _fired, late, running, origin = texts(stand.explain("late"))

    assert late == "It was called 40.5 ms late."
    assert running.startswith("Frame 60 was still running when it was due")
    assert origin.startswith("It was set at ")


def test_that_a_late_timer_blames_the_timer_that_blocked_everything(tmp_path: Path) -> None:
    stand = Stand(tmp_path, BLOCKED)
    stand.run(Fraction(113, 100))

    explanation = stand.explain("late")

    assert explanation.headline == "It has fired, 120 ms late, and is no longer pending."
    blamed = reason_with(explanation, "took")
    # What the machine takes for the calls themselves comes on top.
    before = r"The timers of frame 59 took 1[3-9]\d ms together; called before this one: "
    assert re.match(before, blamed.text)
    assert "“blocks”" in blamed.text
    assert "“blocks” is the likely cause: in frames without it, the others took" in blamed.text
    assert stand.kind_of(blamed) == TIMER_FIRED
    assert not any("host" in text for text in texts(explanation))
    stand.session.close()


@pytest.mark.parametrize(
    ("due_ns", "headline"),
    [
        (1_001_000_000, "It has fired, 1.00 ms late, and is no longer pending."),
        (1_001_000_001, "It has fired and is no longer pending."),
    ],
)
def test_that_a_timer_is_late_from_a_millisecond_on(
    tmp_path: Path, due_ns: int, headline: str
) -> None:
    stand = Stand(
        tmp_path,
        f"""
        def build(stage):
            stage.root.set_timeout(1, lambda: stage.work(0.002), name="blocks")
            stage.root.set_timeout_ns({due_ns}, lambda: None, name="late")
        """,
    )
    stand.run(1.5)

    assert stand.explain("late").headline == headline
    stand.session.close()


def test_that_late_ticks_that_were_left_out_are_counted(tmp_path: Path) -> None:
    stand = Stand(tmp_path, BLOCKED)
    stand.run(Fraction(114, 100))

    skipped = reason_with(stand.explain("skip"), "skipped")

    assert skipped.text == (
        "1 late tick was skipped, as its kind “interval (skip)” requires; 1 the last time."
    )
    stand.session.close()


def test_that_a_burst_is_told_to_catch_up(tmp_path: Path) -> None:
    stand = Stand(tmp_path, BLOCKED)
    stand.run(Fraction(114, 100))

    twice = reason_with(stand.explain("burst"), "It was called twice")

    assert twice.text.endswith("it caught up on missed ticks, as the policy “burst” does.")
    stand.session.close()


def test_that_a_frame_that_was_still_running_is_blamed_with_its_phase_and_callback(
    tmp_path: Path,
) -> None:
    stand = Stand(
        tmp_path,
        """
        from time import perf_counter_ns

        def build(stage):
            def slow(delta):
                if 0.99 < stage.root.time < 1.01:
                    end = perf_counter_ns() + 30_000_000
                    while perf_counter_ns() < end:
                        pass
                    stage.work(0.03)
            stage.every_frame(slow, name="slow one")
            stage.root.set_timeout(1.02, lambda: None, name="late")
        """,
    )
    stand.run(Fraction(106, 100))

    blamed = reason_with(stand.explain("late"), "was still running")

    assert blamed.frame is not None
    assert "Frame 59 was still running when it was due: its callbacks took" in blamed.text
    assert "of that in update, mainly “slow one” (" in blamed.text
    stand.session.close()


def test_that_a_call_is_not_said_to_be_most_of_virtual_work(tmp_path: Path) -> None:
    # The call is measured in real time, which comes to the virtual time of the work.
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            def slow(delta):
                if 0.99 < stage.root.time < 1.01:
                    stage.work(0.05)
            stage.every_frame(slow, name="slow one")
            stage.root.set_timeout(1.02, lambda: None, name="late")
        """,
    )
    stand.run(Fraction(108, 100))

    blamed = reason_with(stand.explain("late"), "was still running")

    assert " ms of that in update" in blamed.text
    assert "mainly" not in blamed.text
    stand.session.close()


def test_that_nobody_is_blamed_when_nothing_was_measured(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            stage.root.set_timeout(0.07, lambda: None, name="late")
        """,
    )
    run_frame_times(stand.session, [50 * MS] * 4)
    stand.session.refresh()

    explanation = stand.explain("late")

    assert explanation.headline == "It has fired, 30.0 ms late, and is no longer pending."
    assert reason_with(explanation, "not known").text == (
        "It is not known what kept the thread: the clocks were read 30.0 ms after the due "
        "instant; no measured callback delayed it."
    )
    stand.session.close()


def test_that_what_kept_the_thread_is_named_where_it_was_measured(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            stage.root.set_timeout(0.07, lambda: None, name="late")
        """,
    )
    shares = (0, 32 * MS, 2 * MS, 0, 16 * MS)
    stand.session._run.shares = KnownShares(played_frames([50 * MS] * 4, shares))
    run_frame_times(stand.session, [50 * MS] * 4)
    stand.session.refresh()

    assert reason_with(stand.explain("late"), "Since the frame before").text == (
        "The inspector kept the thread: the clocks were read 30.0 ms after the due instant; no "
        "measured callback delayed it. Since the frame before: inspector 32.0 ms, idle 16.0 ms, "
        "garbage collection 2.00 ms."
    )
    stand.session.close()


def played_frames(intervals_ns: list[int], shares: tuple[int, ...]) -> FrameHistory:
    frames = FrameHistory()
    for interval_ns in intervals_ns:
        frames.append(0, interval_ns, interval_ns, 0, 0, [0] * len(Phase), shares)
    return frames


def test_that_a_stall_that_was_cut_is_told(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            stage.root.set_timeout(0.07, lambda: None, name="late")
        """,
    )
    run_frame_times(stand.session, [50 * MS, 2 * SECOND, 50 * MS])
    stand.session.refresh()

    explanation = stand.explain("late")

    cut = reason_with(explanation, "max_delta")
    assert "were cut in frame 1, and session time did not pass" in cut.text
    stand.session.close()


def test_that_a_timer_fired_by_a_command_was_early(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(FireTimer(stand.timers("boss")[0]))
    stand.session.submit(FireTimer(stand.timers("tick")[0]))
    stand.run(Fraction(1, 10))

    once, repeating = stand.explain("boss"), stand.explain("tick")

    early = reason_with(once, "early")
    assert early.text.startswith("It was called 19.0 s early, by command 1 (fire “boss” now)")
    extra = reason_with(repeating, "early")
    assert "by command 2 (fire “tick” now). Its schedule is unchanged." in extra.text


def test_that_a_command_is_known_by_its_form_whatever_its_words(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(FireTimer, "sentence", lambda *_: "call it now")
    stand.run(1)
    stand.session.submit(FireTimer(stand.timers("boss")[0]))
    stand.run(Fraction(1, 10))

    assert "by command 1 (call it now)" in reason_with(stand.explain("boss"), "early").text


def test_that_time_since_an_early_call_is_counted_from_the_call_not_from_when_it_was_due(
    stand: Stand,
) -> None:
    stand.run(1)
    stand.session.submit(FireTimer(stand.timers("wave")[0]))
    stand.run(1)

    since = reason_with(stand.explain("wave"), "of session time has passed")
    assert since.text.startswith(
        "Since its last call, 983 ms of session time has passed, and 492 ms on"
    )
    assert since.at_ns > SECOND


def test_that_a_timer_fired_early_on_a_stopped_clock_was_early(stand: Stand) -> None:
    stand.run(1)
    stand.session.submit(FireTimer(stand.timers("never")[0]))
    stand.run(1)

    assert "by command 1 (fire “never” now)" in "\n".join(texts(stand.explain("never")))


def test_that_a_short_interval_fires_several_times_a_frame(tmp_path: Path) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.005, lambda: None, name="fast")
        """,
    )
    stand.run(1)

    assert reason_with(stand.explain("fast"), "It was called").text.endswith(
        "its interval of 5.00 ms local time fits into the frame more than once."
    )
    stand.session.close()


def test_that_a_callback_that_raised_and_what_it_paused_are_told(tmp_path: Path) -> None:
    scene = scene_file(
        tmp_path,
        """
        def build(stage):
            game = stage.root.child("game")
            game.set_interval(0.5, lambda: 1 / 0, name="fails")
            game.set_timeout(9, lambda: None, name="waits")
        """,
    )
    stand = Stand.__new__(Stand)
    stand.session = virtual_session(scene, failure_policy=FailurePolicy.PAUSE_BRANCH)
    stand.run(2)

    raised = reason_with(stand.explain("fails"), "raised")
    paused = reason_with(stand.explain("waits"), "was paused")

    assert raised.text == "Its callback raised: ZeroDivisionError: division by zero"
    assert stand.kind_of(raised) == CALLBACK_FAILED
    assert paused.text.endswith("right after “fails” failed.")
    stand.session.close()


# ------------------------------------------------------------------ in general


def test_that_the_past_of_a_call_is_read_on(stand: Stand) -> None:
    past = CallPast(CallId(stand.timers("tick")[0]))
    for _ in range(4):
        stand.run(Fraction(1, 2))
        timeline = stand.session.timeline
        again = explain(stand.session.history, past.id, timeline.at_ns)

        read_on = explain(
            stand.session.history, past.id, timeline.at_ns, timeline=timeline, past=past
        )

        assert read_on == again


def test_that_failures_are_counted_once_however_often_the_past_is_read_on(
    tmp_path: Path,
) -> None:
    stand = Stand(
        tmp_path,
        """
        def build(stage):
            stage.root.set_interval(0.1, lambda: 1 / 0, name="fails")
        """,
    )
    past = CallPast(CallId(stand.timers("fails")[0]))
    stand.run(1)
    history = stand.session.history
    for cursor in range(0, history.end, 7):
        past.read(history, cursor)
    past.read(history, history.end)

    raised = [event for event in history.events(0, history.end) if event[1] == CALLBACK_FAILED]
    assert past.failures == len(raised) == 10
    stand.session.close()


def test_that_the_past_of_a_call_is_known_at_any_earlier_place(stand: Stand) -> None:
    stand.run(4)
    history = stand.session.history
    whole = CallPast(CallId(stand.timers("boss")[0]))
    whole.read(history, history.end)

    for at_ns in (SECOND // 2, 2 * SECOND, 3 * SECOND, 4 * SECOND):
        timeline = history.state_at(at_ns)
        earlier = whole.as_of(history.cursor_at(at_ns))

        assert explain(history, whole.id, at_ns, timeline=timeline, past=earlier) == explain(
            history, whole.id, at_ns
        )
    assert whole.as_of(history.end) is whole


def test_that_the_past_of_a_call_is_read_again_where_its_events_are_too_many(
    stand: Stand, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand.run(4)
    history = stand.session.history
    tick = CallId(stand.timers("tick")[0])
    known = CallPast(tick)
    known.read(history, history.end)
    monkeypatch.setattr(call_past, "KEPT_EVENTS", len(known.firings))
    past = CallPast(tick)
    past.read(history, history.end)

    earlier = past.as_of(history.cursor_at(SECOND))

    assert (earlier.first, earlier.fired, known.as_of(earlier.cursor).first) == (-1, 0, 0)
    earlier.read(history, history.cursor_at(SECOND))
    assert (earlier.first, earlier.fired) == (0, 4)


def test_that_the_beginning_of_a_call_is_known_on_each_clock(stand: Stand) -> None:
    stand.run(1)
    history = stand.session.history
    past = CallPast(CallId(stand.timers("boss")[0]))
    assert (past.last_cursor, past.begun_ns(history, stand.clock("game"))) == (0, None)
    past.read(history, history.end)

    begun = [past.begun_ns(history, number) for number in (stand.clock("game"), 99) * 2]

    assert begun == [0, None] * 2
    assert past.as_of(history.end - 1)._begun == past._begun == (99, None)
    assert past.as_of(1)._begun is None


@pytest.mark.parametrize(
    ("late_ns", "next_ns", "is_out_of_turn"), [(0, NEVER, False), (-1, NEVER, True), (0, 7, True)]
)
def test_that_a_call_is_out_of_turn_if_it_is_early_or_leaves_its_due_time(
    late_ns: int, next_ns: int, is_out_of_turn: bool
) -> None:
    call = call_past.PastCall(0, 5, late_ns, next_ns, 7)
    assert call.is_out_of_turn == is_out_of_turn
    # What is early was called for the reading itself.
    assert call.read_ns == 5


COMMANDS = st.lists(
    st.tuples(
        st.sampled_from(["pause", "resume", "rate", "fire", "clear"]),
        st.integers(0, 7),
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(2), Fraction(1)]),
        st.integers(1, 40),
    ),
    max_size=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(COMMANDS)
def test_that_every_reason_of_random_sessions_leads_to_an_event_of_its_instant(
    tmp_path: Path, commands: list[tuple[str, int, Fraction, int]]
) -> None:
    stand = Stand(tmp_path)
    numbers = [event[2] for event in stand.session.log.read(0).events if event[1] == TIMER_ADDED]
    for what, number, rate, hundredths in commands:
        clocks = list(stand.session.timeline.clocks)
        clock_id, timer_id = clocks[number % len(clocks)], numbers[number % len(numbers)]
        commands_by_name: dict[str, Command] = {
            "pause": PauseClock(clock_id),
            "resume": ResumeClock(clock_id),
            "rate": SetRate(clock_id, rate),
            "fire": FireTimer(timer_id),
            "clear": ClearTimer(timer_id),
        }
        stand.session.submit(commands_by_name[what])
        stand.run(Fraction(hundredths, 10))
    timeline = stand.session.timeline

    for number in [*numbers, 10_000]:
        explanation = explain(stand.session.history, CallId(number), timeline.at_ns)

        assert explanation.headline
        for reason in explanation.reasons:
            if reason.cursor is not None:
                event = stand.session.log.slice(reason.cursor, reason.cursor + 1)[0]
                assert abs(event[0] - reason.at_ns) <= SECOND // 4, (reason, event)
        if number in timeline.timers:
            assert f"“{timeline.timers.row(number).label}”" in explanation.subject
        if "if rates stay" in explanation.headline:
            (at_ns, *_) = next_fires(timeline, number, NEVER, most=1)
            assert f", at {format_instant(at_ns)}, if rates stay" in explanation.headline
    stand.session.close()


# ------------------------------------------------------------------ damaged recordings


def test_that_a_timer_whose_clock_is_missing_is_told_to_wait_on_none(stand: Stand) -> None:
    stand.run(1)
    history = stand.session.history
    damaged = history.state_at(history.last_ns)
    damaged.clocks.pop(stand.clock("enemies"))

    explanation = explain(history, CallId(stand.timers("boss")[0]), SECOND, timeline=damaged)

    assert explanation.headline == "It waits on a clock that no longer exists."


def test_that_a_transition_whose_machine_is_missing_is_told_to_belong_to_none() -> None:
    log = EventLog()
    log.append((0, MEMBER_ADDED, 3, 0, log.intern("start")))
    log.append((0, MEMBER_ORIGIN, 3, 0, MemberKind.EDGE))

    explanation = explain(LogHistory(log), CallId(3, is_member=True), 0)

    assert explanation.headline == "Its machine no longer exists."
