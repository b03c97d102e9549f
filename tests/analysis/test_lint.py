"""Findings about timers: every one is found, and no others."""

from fractions import Fraction
from pathlib import Path

from inspector.analysis.lint.call_rules import LEAK_TIMERS
from inspector.analysis.lint.findings import (
    BEAT,
    BLOCKING,
    DRIFT,
    FAILS,
    HERD,
    LEAK,
    NEVER_FIRED,
    PACE,
    SKIPPED_TICKS,
    STORM,
    SUB_FRAME,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.rules import findings
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.sessions.scene import built_in_scenes
from inspector.testing import pass_seconds, scene_file, virtual_session
from inspector.timebase import NS_PER_SECOND as SECOND
from inspector.vocabulary import (
    CLOCK_ADDED,
    CLOCK_ANCHORED,
    RATE_DENOMINATOR,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
    TimerKind,
)


def lint(folder: Path, body: str, seconds: float | Fraction = 20) -> list[Finding]:
    """Run the body of a scene and return what looks wrong with it."""
    source = "def build(stage):\n" + "\n".join(f"    {line}" for line in body.strip().split("\n"))
    session = virtual_session(scene_file(folder, source))
    pass_seconds(session, seconds)
    found = findings(session.history)
    for finding in found:
        if finding.cursor is not None:
            (event,) = session.history.events(finding.cursor, finding.cursor + 1)
            assert event[0] == finding.at_ns
    session.close()
    return found


def only(found: list[Finding], kind: FindingKind) -> Finding:
    assert [finding.kind for finding in found] == [kind], found
    return found[0]


def test_that_a_sound_scene_has_no_findings(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
game = stage.root.child("game")
game.set_interval(0.1, lambda: None, name="tick")
game.set_interval(1, lambda: None, name="second")
game.set_timeout(3, game.pause, name="menu")
stage.root.set_timeout(5, game.resume, name="close")
def rearm():
    game.set_timeout(0.5, rearm, name="re-armed")
rearm()
""",
    )


def test_that_callbacks_that_raise_are_found_by_name_with_what_they_raised(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
game = stage.root.child("game")
calls = []
def fetch():
    calls.append(None)
    if len(calls) % 3 == 0:
        raise RuntimeError(f"call {len(calls)}")
game.set_interval(1, fetch, name="fetch")
game.set_timeout(4, lambda: {}["castle"], name="load")
steps = iter(range(-59, 10**6))
stage.every_frame(lambda delta: 1 / next(steps), name="solve")
""",
    )

    assert {finding.kind for finding in found} == {FAILS}
    assert [finding.text for finding in found] == [
        "“solve” failed once with ZeroDivisionError: division by zero.",
        "“fetch” failed 6 times, at first with RuntimeError: call 3. It is a timer of “game”.",
        "“load” failed once with KeyError: 'castle'. It is a timer of “game”.",
    ]
    assert [(finding.at_ns, finding.frame) for finding in found] == [
        (1 * SECOND, 59),
        (3 * SECOND, 179),
        (4 * SECOND, 239),
    ]
    assert [finding.subject > 0 for finding in found] == [False, True, True]


def test_that_what_is_wrong_with_a_scene_and_what_ends_in_a_full_stop_is_one_sentence(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.py").write_text("x = 1\n")
    session = virtual_session(tmp_path / "empty.py")
    (scene,) = findings(session.history)
    session.close()
    (stop,) = lint(
        tmp_path,
        """
def halt():
    raise RuntimeError("The reactor is hot.")
stage.root.set_timeout(1, halt, name="halt")
""",
    )

    assert scene.text.startswith("empty.py has no function build(stage). Define one")
    assert not scene.text.endswith("..")
    assert "RuntimeError: The reactor is hot. It is" in stop.text


def test_that_repeating_timers_that_are_never_cleared_are_a_leak(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
def spawn():
    stage.root.set_interval(3, lambda: None, name="forgotten")
stage.root.set_interval(0.25, spawn, name="spawn")
""",
    )

    leak = only(found, LEAK)
    assert leak.text == (
        "80 timers “forgotten”, set at scene.py:3 in build.<locals>.spawn, wait on “root”, and "
        "their number grows: 20, 40, 60, 80 after each quarter of the time; none of them is ever "
        "cleared."
    )


def test_that_one_shots_that_pile_up_on_a_paused_clock_are_a_leak(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
game = stage.root.child("game")
game.pause()
def toast():
    game.set_timeout(1, lambda: None, name="toast fades")
stage.root.set_interval(0.5, toast, name="toast")
""",
        40,
    )

    leak = next(finding for finding in found if finding.kind is LEAK)
    assert leak.text.endswith("their clock has been stopped for 40.0 s.")
    assert {finding.kind for finding in found} == {LEAK, NEVER_FIRED}


def test_that_a_timer_that_is_armed_again_for_each_call_is_one_and_no_leak() -> None:
    """As the calls of Twisted's LoopingCall are told."""
    log = EventLog()
    root, tick = (log.intern(text) for text in ("root", "tick"))
    log.append((0, CLOCK_ADDED, 1, 0, root))
    log.append((0, TIMER_ADDED, 1, 1, tick))
    log.append((0, TIMER_ORIGIN, 1, tick, TimerKind.INTERVAL_SKIP))
    log.append((0, TIMER_ARMED, 1, SECOND, SECOND))
    for second in range(1, 2 * LEAK_TIMERS):
        at_ns, next_ns = second * SECOND, (second + 1) * SECOND
        log.append((at_ns, TIMER_FIRED, 1, 0, next_ns))
        log.append((at_ns, TIMER_ARMED, 1, next_ns, SECOND))

    assert not findings(LogHistory(log))


def test_that_timers_that_are_cleared_again_are_no_leak(tmp_path: Path) -> None:
    assert LEAK_TIMERS < 40
    assert not lint(
        tmp_path,
        """
alive = []
def spawn():
    alive.append(stage.root.set_interval(3, lambda: None, name="enemy"))
    if len(alive) > 40:
        stage.root.clear(alive.pop(0))
stage.root.set_interval(0.25, spawn, name="spawn")
""",
        30,
    )


def test_that_a_timer_that_waits_in_vain_is_found_once_for_its_clock(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
game = stage.root.child("game")
game.pause()
game.set_timeout(1, lambda: None, name="boss")
game.child("inner").set_timeout(1, lambda: None, name="other")
""",
        31,
    )

    finding = only(found, NEVER_FIRED)
    assert finding.text == (
        "2 timers have waited for 31.0 s without ever firing: “game” has been paused since "
        "0:00.000, before the first of them was set."
    )


def test_that_what_waits_in_vain_is_blamed_on_what_has_stopped_it_all_along(
    tmp_path: Path,
) -> None:
    found = lint(
        tmp_path,
        """
level = stage.root.child("level")
game = level.child("game")
level.pause()
game.set_timeout(1, lambda: None, name="boss")
stage.root.set_timeout(1, game.pause, name="menu")
""",
        31,
    )

    finding = only(found, NEVER_FIRED)
    assert finding.text == (
        "“boss” has waited for 31.0 s without ever firing: “level” has been paused since "
        "0:00.000, before it was set."
    )


def test_that_a_timer_that_was_set_before_the_pause_only_waits(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
game = stage.root.child("game")
game.set_timeout(5, lambda: None, name="boss")
stage.root.set_timeout(1, game.pause, name="menu")
""",
        60,
    )


def test_that_a_storm_names_the_frame_and_how_often(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
def again(count):
    if count:
        stage.root.set_timeout(0, again, count - 1, name="again")
stage.root.set_timeout(1, again, 50, name="begin")
""",
        3,
    )

    storm = only(found, STORM)
    assert storm.text.startswith("“again” on “root” fired 50 times in frame 59.")
    assert storm.frame == 59


def test_that_a_herd_comes_with_a_stagger(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
herd = stage.root.child("herd")
for number in range(60):
    herd.set_interval(3, lambda: None, name="sheep")
""",
    )

    herd = only(found, HERD)
    assert herd.text == (
        "60 timers of “herd” fired together in frame 179: “sheep”. 60 of them repeat every "
        "3.00 s: first delays 50.0 ms apart would spread them evenly."
    )


def test_that_one_shots_that_are_due_together_are_a_herd_and_no_storm(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
for number in range(60):
    stage.root.set_timeout(2, lambda: None, name="lamp")
""",
        3,
    )

    assert only(found, HERD).text.endswith(
        "Delays 16.7 ms apart would spread them over as many frames."
    )


def test_that_timers_that_are_spread_are_no_herd(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
herd = stage.root.child("herd")
for number in range(60):
    herd.set_interval(3, lambda: None, delay=number * 0.05, name="sheep")
""",
    )


def test_that_an_interval_shorter_than_a_frame_is_found(tmp_path: Path) -> None:
    finding = only(
        lint(tmp_path, 'stage.root.set_interval(0.004, lambda: None, name="fast")', 3),
        SUB_FRAME,
    )

    assert finding.text == (
        "“fast” repeats every 4.00 ms, which is shorter than a frame (16.7 ms): it fires 4.17 "
        "times per frame, back to back."
    )


def test_that_an_interval_that_beats_against_the_frames_shows_its_pattern(tmp_path: Path) -> None:
    finding = only(
        lint(tmp_path, 'stage.root.set_interval(0.02, lambda: None, name="physics")', 5),
        BEAT,
    )

    assert finding.text == (
        "“physics” repeats every 20.0 ms, which is 1.2 frames: its ticks are 1-1-1-1-2 frames "
        "apart. An interval of 16.7 ms or 33.3 ms would be even."
    )


def test_that_intervals_of_whole_frames_or_many_frames_do_not_beat(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
from fractions import Fraction
for interval in (Fraction(1, 60), Fraction(1, 30), 0.1, 0.35, 1):
    stage.root.set_interval(interval, lambda: None, name=f"even {interval}")
""",
    )


def test_that_a_chain_that_is_set_again_by_frames_drifts(tmp_path: Path) -> None:
    found = lint(
        tmp_path,
        """
waits = []
def frame(delta):
    if waits:
        waits.clear()
        stage.root.set_timeout(0.11, waits.append, 1, name="re-armed")
stage.every_frame(frame)
waits.append(1)
""",
    )

    drift = only(found, DRIFT)
    assert drift.text.startswith(
        "“re-armed” reschedules itself 110 ms ahead, but fires every 117 ms: each time it is set "
        "slightly after it was due, 171 times so far, which has cost "
    ), drift.text


def test_that_a_chain_of_long_waits_is_no_interval(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
ui = stage.root.child("ui")
ui.set_interval(5, lambda: ui.set_timeout(1, lambda: None, name="close"), name="open")
""",
        120,
    )


def test_that_one_shots_that_take_turns_with_others_are_no_interval(tmp_path: Path) -> None:
    assert not lint(
        tmp_path,
        """
def dusk():
    stage.root.set_timeout(0.3, dawn, name="dawn")
def dawn():
    stage.root.set_timeout(0.7, dusk, name="dusk")
dawn()
""",
        60,
    )


#: Until what is wrong with a scene can be seen; 12 where it is not listed.
_SECONDS = {
    "01_small_game": 24,
    "02_thousand_timers": 4,
    "03_drift_and_late": 6,
    "08_components": 21,
    "11_component_versions": 6,
}


def test_that_the_drift_scene_is_found_guilty_of_what_it_shows_and_the_others_are_not() -> None:
    said = {}
    for scene in built_in_scenes():
        session = virtual_session(scene.path)
        pass_seconds(session, _SECONDS.get(scene.path.stem, 12))
        said[scene.path.stem] = {finding.kind for finding in findings(session.history)}
        session.close()

    drift_and_late = {DRIFT, SKIPPED_TICKS, BLOCKING}
    assert said.pop("03_drift_and_late") == drift_and_late
    # A screen of 240 Hz on frames of 60 Hz, and a timer that counts its refreshes.
    fast_screen = {SUB_FRAME, PACE, DRIFT}
    assert said.pop("09_fast_screen") == fast_screen
    assert said.pop("05_failing_callback") == {FAILS}
    # Cocos Creator counts from the frame in which a timer was called.
    assert said.pop("07_schedulers") == {DRIFT}
    assert said.pop("08_components") == {DRIFT}
    # It saves on a slow disk.
    assert said.pop("01_small_game") == {BLOCKING}
    assert not {name: found for name, found in said.items() if found}


def test_that_a_stretch_can_be_looked_at_by_itself(tmp_path: Path) -> None:
    session = virtual_session(
        scene_file(
            tmp_path,
            """
            def build(stage):
                stage.root.set_interval(0.004, lambda: None, name="fast")
            """,
        )
    )
    pass_seconds(session, 4)
    history = session.history

    assert len(findings(history, history.cursor_at(2_000_000_000))) == 1
    assert findings(history, history.end) == []
    assert findings(history, 0, 1) == []
    session.close()


def test_that_a_repeating_timer_without_interval_does_not_end_the_check() -> None:
    log = EventLog()
    root, tick = log.intern("root"), log.intern("tick")
    log.append((0, CLOCK_ADDED, 1, 0, root))
    log.append((0, TIMER_ADDED, 1, 1, tick))
    log.append((0, TIMER_ORIGIN, 1, tick, TimerKind.INTERVAL_DELAY))
    log.append((0, TIMER_ARMED, 1, SECOND, 0))
    log.append((2 * SECOND, TIMER_FIRED, 1, SECOND, 5 * SECOND))

    assert DRIFT not in {finding.kind for finding in findings(LogHistory(log))}


def test_that_a_call_that_is_another_timer_each_time_drifts_once() -> None:
    log = EventLog()
    tick, at_ns = log.intern("tick"), 0
    log.append((0, CLOCK_ADDED, 1, 0, log.intern("loop")))
    log.append((0, CLOCK_ANCHORED, 1, 0, RATE_DENOMINATOR))
    for timer in range(1, 6):
        log.append((at_ns, TIMER_ADDED, timer, 1, tick))
        log.append((at_ns, TIMER_ORIGIN, timer, 0, TimerKind.INTERVAL_DELAY))
        for late_ms in (0, 200 + timer):
            log.append((at_ns, TIMER_ARMED, timer, at_ns + 100_000_000, 100_000_000))
            at_ns += 100_000_000 + late_ms * 1_000_000
            due_ns = at_ns + 100_000_000
            log.append((at_ns, TIMER_FIRED, timer, late_ms * 1_000_000, due_ns))
        log.append((at_ns, TIMER_CLEARED, timer, 0, 0))
    drifts = [each for each in findings(LogHistory(log)) if each.kind is DRIFT]
    assert len(drifts) == 1
    assert "205 ms behind" in drifts[0].text
