"""Every sentence of an explanation with its instant, its event and its subject."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.analysis.evidence import Reason
from inspector.analysis.explain.call_past import CallPast
from inspector.analysis.explain.explain import explain
from inspector.calls.call import CallId
from inspector.clocks import ClockTree
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.vocabulary import (
    CALL_ENDED,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    PHASE_ENDED,
    SCENE,
    TRANSPORT,
    MemberKind,
    Mode,
    Phase,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.clocks import Timer

MS = 1_000_000


class Scene:
    """A clock tree whose events are kept, and frames that are told as if they were measured."""

    def __init__(self, *, is_running: bool = True) -> None:
        self.log = EventLog()
        self.tree = ClockTree(self.log)
        self.tree.keeps_call_sites = False
        self.root = self.tree.root
        self.index = -1
        self.add(SCENE, 0, self.log.intern("scene.py"), 0)
        if is_running:
            self.add(TRANSPORT, Mode.RUNNING, 0, 0)

    def add(self, kind: int, *numbers: int) -> None:
        subject, a, b = numbers
        self.log.append((self.tree.now_ns, kind, subject, a, b))

    def run_to(self, at_ms: float) -> None:
        """Pass each instant on the way, so that nothing is late."""
        self.tree.run_to(int(at_ms * MS))

    def wake(
        self,
        at_ms: int,
        took_ms: dict[Phase, float],
        calls: tuple[tuple[int, int, int], ...] = (),
        cut_ms: int = 0,
    ) -> None:
        """Read the source, call what is due by then, and run a frame with calls in its update."""
        self.tree.run_to(at_ms * MS, at_ms * MS)
        self.index += 1
        self.add(FRAME_BEGAN, 1, self.index, 16 * MS)
        if cut_ms:
            self.add(DELTA_CUT, 1, cut_ms * MS, 0)
        for phase, phase_ms in took_ms.items():
            if phase is Phase.UPDATE:
                for member, began_ms, call_ms in calls:
                    self.add(CALL_ENDED, member, began_ms * MS, call_ms * MS)
            self.add(PHASE_ENDED, phase, self.index, int(phase_ms * MS))
        self.add(FRAME_ENDED, 1, 16 * MS, int(sum(took_ms.values()) * MS))

    def told(self, call: Timer | CallId, at_ms: float | None = None) -> Iterator[str]:
        at_ns = self.tree.now_ns if at_ms is None else int(at_ms * MS)
        call_id = call if isinstance(call, CallId) else CallId(call.id)
        found = explain(LogHistory(self.log), call_id, at_ns)
        clock = f", clock {found.clock_id}" if found.clock_id else ""
        yield f"{found.subject}{clock}: {found.headline}{' (delayed)' if found.is_delayed else ''}"
        for reason in found.reasons:
            about = {
                "event": reason.cursor,
                "frame": reason.frame,
                "clock": reason.clock_id or None,
                "member": reason.member_id or None,
                "timer": reason.timer_id or None,
                "again": reason.again_ns or None,
                "number": reason.is_number or None,
            }
            named = [f"{name} {value}" for name, value in about.items() if value is not None]
            yield f"{reason.at_ns / MS:,.10g}: {reason.text} [{', '.join(named)}]"


def test_that_calls_that_are_gone_are_told_in_full() -> None:
    scene = Scene()
    tree, root, game = scene.tree, scene.root, scene.root.child("game")
    scene.run_to(1_000)
    late = game.set_timeout(1, print, "", name="late")
    tree.run_to(2_000 * MS, 2_001 * MS)
    almost = game.set_timeout(1, print, "", name="almost")
    beside = game.set_timeout(1, int, name="beside")
    tree.run_to(3_000 * MS, 3_001 * MS - 1)
    members = tree.members
    short = CallId(members.add(members, MemberKind.TARGET, "short", game), is_member=True)
    members.remove(short.number)
    above = members.add(short, MemberKind.TARGET, "above", game)
    below = CallId(members.add(above, MemberKind.UPDATE, "below", game, above), is_member=True)
    members.remove(above)
    doomed = game.set_interval(1, int, name="doomed")
    scene.run_to(4_000)
    again = root.set_timeout(1, int, name="doomed")
    stopped = root.child("stopped", 0)
    never = stopped.set_timeout(1, int, name="never")
    scene.run_to(4_001)
    root.fire_now(again)
    stopped.fire_now(never)
    stopped.remove()
    game.remove()

    assert [*scene.told(late)] == [
        "Timer “late” (1), clock 2: It has fired, 1.00 ms late, and is no longer pending.",
        "2,000: It fired at 0:02.000, in frame 0: a timeout fires only once. [event 9, frame 0]",
        "2,000: It was called 1.00 ms late. [event 9]",
        "1,000: It was set, for 1.00 s of “game”. [event 6, frame 0]",
    ]
    assert [*scene.told(almost)] == [
        "Timer “almost” (2), clock 2: It has fired and is no longer pending.",
        ("3,000: It fired at 0:03.000, in frame 0: a timeout fires only once. [event 16, frame 0]"),
        "3,000: It was called 1.00 ms late. [event 16]",
        "2,000: It was set, for 1.00 s of “game”. [event 10, frame 0]",
    ]
    assert [*scene.told(beside)] == [
        "Timer “beside” (3), clock 2: It has fired and is no longer pending.",
        ("3,000: It fired at 0:03.000, in frame 0: a timeout fires only once. [event 17, frame 0]"),
        "3,000: It was called 1.00 ms late. [event 17]",
        (
            "3,000: At the same instant, 1 other timer fired before it, in scheduling order: "
            "“almost”. [event 17]"
        ),
        "2,000: It was set, for 1.00 s of “game”. [event 13, frame 0]",
    ]
    assert [*scene.told(doomed)] == [
        "Timer “doomed” (4), clock 2: It was removed with its branch.",
        (
            "4,001: It no longer exists because “game” was removed by the program, at "
            "0:04.001 (frame 0). [event 41, frame 0]"
        ),
        "4,000: It has fired once, the last time in frame 0, on time. [event 29, frame 0]",
        "3,000: It was set, for 1.00 s of “game”. [event 26, frame 0]",
    ]
    assert [*scene.told(again)] == [
        "Timer “doomed” (6), clock 1: It has fired and is no longer pending.",
        ("4,001: It fired at 0:04.001, in frame 0: a timeout fires only once. [event 38, frame 0]"),
        "4,001: It was called 999 ms early, by the program (fire_now). [event 38]",
        "4,000: It was set, for 1.00 s of “root”. [event 30, frame 0]",
    ]
    assert [*scene.told(never)] == [
        "Timer “never” (7), clock 3: It has fired and is no longer pending.",
        ("4,001: It fired at 0:04.001, in frame 0: a timeout fires only once. [event 39, frame 0]"),
        "4,001: It was called 1.00 s early, by the program (fire_now). [event 39]",
        "4,000: It was set, for 1.00 s of “stopped”. [event 35, frame 0]",
        (
            "4,001: Since it was set, 1.00 ms of session time has passed, and 0 ns on "
            "“stopped”. [clock 3]"
        ),
    ]
    assert [*scene.told(late, 0)] == [
        "Timer “late” (1): At 0:00.000 this timer does not exist yet: it is set at 0:01.000.",
        "1,000: At 0:00.000 this timer does not exist yet: it is set at 0:01.000. [event 6]",
    ]
    assert [*scene.told(short, 0)] == [
        "Target “short” (1): At 0:00.000 this member does not exist yet: it is set at 0:03.000.",
        "3,000: At 0:00.000 this member does not exist yet: it is set at 0:03.000. [event 18]",
    ]
    assert [*scene.told(short)] == [
        "Target “short” (1), clock 2: It was removed by the program.",
        "3,000: It was removed by the program, at 0:03.000 (frame 0). [event 20, frame 0]",
    ]
    assert [*scene.told(below)] == [
        "Update “below” (3), clock 2: It was removed with “above”.",
        (
            "3,000: “above”, which it belonged to, was removed by the program, at 0:03.000 "
            "(frame 0). [event 25, frame 0]"
        ),
    ]
    assert [*scene.told(CallId(99))] == [
        "Timer 99: This session never had a timer of this number.",
        "4,001: This session never had a timer of this number. []",
    ]
    assert [*scene.told(CallId(99, is_member=True))] == [
        "Member 99: This session never had a member of this number.",
        "4,001: This session never had a member of this number. []",
    ]


def test_that_what_stops_and_slows_a_clock_is_told_in_full() -> None:
    scene = Scene()
    game, ui = scene.root.child("game"), scene.root.child("ui")
    enemies = game.child("enemies", "1/2")
    boss = enemies.set_timeout(60, int, name="boss")
    half = scene.root.child("half", "1/2")
    late = half.set_timeout(60, int, name="late")
    tick = enemies.set_interval(2, int, name="tick")
    quarter = scene.root.child("quarter")
    slow = quarter.set_timeout(1, int, name="slow")
    quarter.set_rate("1/4")
    scene.run_to(1_000)
    enemies.pause(cause=3)
    half.set_rate(1)
    scene.run_to(3_000)
    enemies.resume(cause=4)
    scene.run_to(4_000)
    game.pause()
    scene.run_to(4_500)
    enemies.set_rate(2)
    scene.run_to(6_000)
    game.resume()
    scene.run_to(7_000)
    enemies.set_rate(1, cause=9)
    scene.run_to(8_000)
    enemies.move_to(ui)
    scene.run_to(9_000)
    enemies.pause()
    scene.run_to(10_000)
    ui.set_rate(0, cause=2)
    scene.run_to(11_000)
    enemies.resume()
    scene.run_to(12_000)
    ui.set_rate("1/3")
    scene.run_to(13_000)
    scene.add(TRANSPORT, Mode.HELD, 0, 0)
    scene.run_to(14_000)

    assert [*scene.told(boss)] == [
        (
            "Timer “boss” (1), clock 4: Fires in 2:43.000, at 2:57.000, if rates stay as "
            "they are; the session is held. (delayed)"
        ),
        "0: It was set, for 60.0 s of “enemies”. [event 10, frame 0]",
        "1,000: Command 3 paused “enemies” for 2.00 s. [event 27, frame 0, clock 4]",
        "4,500: The program sped up “enemies” to ×2 for 2.50 s. [event 32, frame 0, clock 4]",
        "8,000: The program moved “enemies”. [event 37, frame 0, clock 4]",
        "9,000: The program paused “enemies” for 2.00 s. [event 38, frame 0, clock 4]",
        "10,000: Command 2 slowed “ui” to ×0 for 2.00 s. [event 39, frame 0, clock 3]",
        "12,000: The program slowed “ui” to ×1/3. [event 41, frame 0, clock 3]",
        "14,000: Overlaps counted once: 9.50 s. []",
        (
            "14,000: Since it was set, 14.0 s of session time has passed, and 5.67 s on "
            "“enemies”. [clock 4]"
        ),
        (
            "14,000: It is due at 01:00.000 in the time of “enemies”, which is at 00:05.666; "
            "54.3 s remain. [clock 4, number True]"
        ),
        "14,000: At an effective rate of 1/3 that takes 2:43.000 of session time. []",
        "13,000: The session is held: nothing is called until it is run or stepped. [event 42]",
    ]
    assert [*scene.told(tick)] == [
        (
            "Timer “tick” (3), clock 4: Fires in 1.00 s, at 0:15.000, if rates stay as they "
            "are; the session is held. (delayed)"
        ),
        "8,000: It has fired twice, the last time in frame 0, on time. [event 36, frame 0]",
        "8,000: The program moved “enemies”. [event 37, frame 0, clock 4]",
        "9,000: The program paused “enemies” for 2.00 s. [event 38, frame 0, clock 4]",
        "10,000: Command 2 slowed “ui” to ×0 for 2.00 s. [event 39, frame 0, clock 3]",
        "12,000: The program slowed “ui” to ×1/3. [event 41, frame 0, clock 3]",
        "14,000: Overlaps counted once: 5.00 s. []",
        (
            "14,000: Since its last call, 6.00 s of session time has passed, and 1.67 s on "
            "“enemies”. [clock 4]"
        ),
        (
            "14,000: It is due at 00:06.000 in the time of “enemies”, which is at 00:05.666; "
            "333 ms remain. [clock 4, number True]"
        ),
        "14,000: At an effective rate of 1/3 that takes 1.00 s of session time. []",
        "13,000: The session is held: nothing is called until it is run or stepped. [event 42]",
    ]
    assert [*scene.told(boss, 11_000)] == [
        "Timer “boss” (1), clock 4: Its time stands still: ui has rate 0.",
        (
            "10,000: Command 2 set the rate of “ui”, above its clock, to 0. [event 39, frame "
            "0, clock 3]"
        ),
        "11,000: It cannot fire before “ui” gets a rate above 0. []",
        (
            "11,000: It is due at 01:00.000 in the time of “enemies”, which is at 00:05.000; "
            "55.0 s remain. [clock 4, number True]"
        ),
        (
            "11,000: Since it was set, 11.0 s of session time has passed, and 5.00 s on "
            "“enemies”. [clock 4]"
        ),
        "9,000: The program paused “enemies” for 2.00 s. [event 38, frame 0, clock 4]",
        "8,000: The program moved “enemies”. [event 37, frame 0, clock 4]",
        "4,500: The program sped up “enemies” to ×2 for 2.50 s. [event 32, frame 0, clock 4]",
        "1,000: Command 3 paused “enemies” for 2.00 s. [event 27, frame 0, clock 4]",
        "0: It was set, for 60.0 s of “enemies”. [event 10, frame 0]",
    ]
    assert [*scene.told(boss, 9_000.5)] == [
        "Timer “boss” (1), clock 4: Its time stands still: the program paused enemies just now.",
        "9,000: The program paused “enemies”. [event 38, frame 0, clock 4]",
        "9,000.5: It fires 55.0 s after “enemies” is resumed. []",
        (
            "9,000.5: It is due at 01:00.000 in the time of “enemies”, which is at "
            "00:05.000; 55.0 s remain. [clock 4, number True]"
        ),
        (
            "9,000.5: Since it was set, 9.00 s of session time has passed, and 5.00 s on "
            "“enemies”. [clock 4]"
        ),
        "8,000: The program moved “enemies”. [event 37, frame 0, clock 4]",
        "4,500: The program sped up “enemies” to ×2 for 2.50 s. [event 32, frame 0, clock 4]",
        "1,000: Command 3 paused “enemies” for 2.00 s. [event 27, frame 0, clock 4]",
        "0: It was set, for 60.0 s of “enemies”. [event 10, frame 0]",
    ]
    assert [*scene.told(boss, 6_500)] == [
        (
            "Timer “boss” (1), clock 4: Fires in 29.0 s, at 0:35.500, if rates stay as they "
            "are. (delayed)"
        ),
        "0: It was set, for 60.0 s of “enemies”. [event 10, frame 0]",
        "1,000: Command 3 paused “enemies” for 2.00 s. [event 27, frame 0, clock 4]",
        "4,000: The program paused “game” for 2.00 s. [event 31, frame 0, clock 2]",
        "4,500: The program sped up “enemies” to ×2. [event 32, frame 0, clock 4]",
        "6,500: Overlaps counted once: 4.50 s. []",
        (
            "6,500: Since it was set, 6.50 s of session time has passed, and 2.00 s on "
            "“enemies”. [clock 4]"
        ),
        (
            "6,500: It is due at 01:00.000 in the time of “enemies”, which is at 00:02.000; "
            "58.0 s remain. [clock 4, number True]"
        ),
        "6,500: At an effective rate of 2 that takes 29.0 s of session time. []",
    ]
    assert [*scene.told(boss, 5_000)] == [
        "Timer “boss” (1), clock 4: Its time stands still: the program paused game 1.00 s ago.",
        "4,000: The program paused “game”, above its clock. [event 31, frame 0, clock 2]",
        "5,000: It fires 29.5 s after “game” is resumed. []",
        (
            "5,000: It is due at 01:00.000 in the time of “enemies”, which is at 00:01.000; "
            "59.0 s remain. [clock 4, number True]"
        ),
        (
            "5,000: Since it was set, 5.00 s of session time has passed, and 1.00 s on "
            "“enemies”. [clock 4]"
        ),
        "4,500: The program sped up “enemies” to ×2. [event 32, frame 0, clock 4]",
        "1,000: Command 3 paused “enemies” for 2.00 s. [event 27, frame 0, clock 4]",
        "0: It was set, for 60.0 s of “enemies”. [event 10, frame 0]",
    ]
    assert [*scene.told(late, 2_000)] == [
        (
            "Timer “late” (2), clock 5: Fires in 58.5 s, at 1:00.500, if rates stay as they "
            "are. (delayed)"
        ),
        "0: It was set, for 60.0 s of “half”. [event 15, frame 0]",
        "1,000: The program sped up “half” to ×1. [event 28, frame 0, clock 5]",
        (
            "2,000: Since it was set, 2.00 s of session time has passed, and 1.50 s on "
            "“half”. [clock 5]"
        ),
        (
            "2,000: It is due at 01:00.000 in the time of “half”, which is at 00:01.500; "
            "58.5 s remain. [clock 5, number True]"
        ),
    ]
    assert [*scene.told(slow, 2_000)] == [
        (
            "Timer “slow” (4), clock 6: Fires in 2.00 s, at 0:04.000, if rates stay as they "
            "are. (delayed)"
        ),
        "0: It was set, for 1.00 s of “quarter”. [event 23, frame 0]",
        "0: The program slowed “quarter” to ×¼. [event 26, frame 0, clock 6]",
        (
            "2,000: Since it was set, 2.00 s of session time has passed, and 500 ms on "
            "“quarter”. [clock 6]"
        ),
        (
            "2,000: It is due at 00:01.000 in the time of “quarter”, which is at 00:00.500; "
            "500 ms remain. [clock 6, number True]"
        ),
        "2,000: At an effective rate of 0.25 that takes 2.00 s of session time. []",
    ]
    assert next(scene.told(boss, 9_001)).endswith("the program paused enemies 1.00 ms ago.")


def test_that_a_scene_that_never_ran_is_held() -> None:
    scene = Scene(is_running=False)
    wave = scene.root.set_timeout(1, int, name="wave")

    assert [*scene.told(wave)] == [
        (
            "Timer “wave” (1), clock 1: Fires in 1.00 s, at 0:01.000, if rates stay as they "
            "are; the session is held."
        ),
        "0: It was set, for 1.00 s of “root”. [event 3, frame 0]",
        (
            "0: It is due at 00:01.000 in the time of “root”, which is at 00:00.000; 1.00 s "
            "remain. [clock 1, number True]"
        ),
        "0: The session is held: nothing is called until it is run or stepped. []",
    ]


def test_that_late_and_early_calls_are_told_in_full() -> None:
    scene = Scene()
    root, members = scene.root, scene.tree.members
    ai, enemies = (members.add(name, MemberKind.UPDATE, name, root) for name in ("ai", "enemies"))
    timers, update = Phase.TIMERS, Phase.UPDATE

    def timer(after_ms: int, name: str) -> Timer:
        return root.set_timeout_ns(after_ms * MS, int, name=name)

    scene.wake(0, {timers: 0, update: 1})
    for name in ("path", "sort", "path"):
        timer(5, name)
    scene.wake(10, {timers: 3, update: 3})
    timer(2, "sort")
    took_ms: dict[Phase, float] = {timers: 2, update: 24, Phase.LATE_UPDATE: 2}
    scene.wake(20, took_ms, calls=((ai, 0, 12), (enemies, 1, 22)))
    behind_frame = [timer(after_ms, f"in {after_ms} ms") for after_ms in (10, 25, 27, 28)]
    scene.wake(48, {timers: 0.5, update: 1})
    for after_ms, name in ((2, "path"), (2, "load")):
        timer(after_ms, name)
    scene.wake(60, {timers: 10, update: 1})
    behind_timers = [timer(after_ms, f"in {after_ms} ms") for after_ms in (3, 4, 6)]
    tied = [timer(7, f"tied {number}") for number in range(5)]
    scene.wake(76, {timers: 4, update: 1}, cut_ms=3)
    behind_many = timer(1, "behind many")
    scene.wake(81, {timers: 0, update: 0})

    assert [*scene.told(behind_frame[0])] == [
        "Timer “in 10 ms” (5), clock 1: It has fired, 18.0 ms late, and is no longer pending.",
        "30: It fired at 0:00.030, in frame 3: a timeout fires only once. [event 51, frame 3]",
        "30: It was called 18.0 ms late. [event 51, frame 3]",
        (
            "20: Frame 2 was still running when it was due: its callbacks took 26.0 ms, 24.0 "
            "ms of that in update, mainly “enemies” (22.0 ms). [event 32, frame 2]"
        ),
        "20: It was set, for 10.0 ms of “root”. [event 39, frame 2]",
    ]
    assert [*scene.told(behind_frame[1])] == [
        "Timer “in 25 ms” (6), clock 1: It has fired, 3.00 ms late, and is no longer pending.",
        "45: It fired at 0:00.045, in frame 3: a timeout fires only once. [event 52, frame 3]",
        "45: It was called 3.00 ms late. [event 52, frame 3]",
        (
            "20: Frame 2 was still running when it was due: its callbacks took 26.0 ms, 24.0 "
            "ms of that in update, mainly “enemies” (22.0 ms). [event 32, frame 2]"
        ),
        (
            "45: For the remaining 2.00 ms, it is not known what kept the thread. [event 52, "
            "frame 3]"
        ),
        "20: It was set, for 25.0 ms of “root”. [event 42, frame 2]",
    ]
    assert [*scene.told(behind_frame[2])] == [
        "Timer “in 27 ms” (7), clock 1: It has fired, 1.00 ms late, and is no longer pending.",
        "47: It fired at 0:00.047, in frame 3: a timeout fires only once. [event 53, frame 3]",
        "47: It was called 1.00 ms late. [event 53, frame 3]",
        (
            "47: It is not known what kept the thread: the clocks were read 1.00 ms after "
            "the due instant; no measured callback delayed it. [event 53, frame 3]"
        ),
        "20: It was set, for 27.0 ms of “root”. [event 45, frame 2]",
    ]
    assert [*scene.told(behind_frame[3])] == [
        "Timer “in 28 ms” (8), clock 1: It has fired and is no longer pending.",
        "48: It fired at 0:00.048, in frame 3: a timeout fires only once. [event 54, frame 3]",
        "48: It was called on time. [event 54]",
        "20: It was set, for 28.0 ms of “root”. [event 48, frame 2]",
    ]
    assert [*scene.told(behind_timers[0])] == [
        "Timer “in 3 ms” (11), clock 1: It has fired, 13.0 ms late, and is no longer pending.",
        "63: It fired at 0:00.063, in frame 5: a timeout fires only once. [event 95, frame 5]",
        "63: It was called 13.0 ms late. [event 95, frame 5]",
        (
            "60: The timers of frame 4 took 10.0 ms together; called before this one: “path” "
            "and “load”. “load” is the likely cause: in frames without it, the others took "
            "at most 3.00 ms. [event 66, frame 4]"
        ),
        (
            "76: The host stalled for longer than max_delta: 3.00 ms were cut in frame 5, "
            "and session time did not pass during them. [event 104, frame 5]"
        ),
        "60: It was set, for 3.00 ms of “root”. [event 71, frame 4]",
    ]
    assert [*scene.told(behind_timers[1])] == [
        "Timer “in 4 ms” (12), clock 1: It has fired, 12.0 ms late, and is no longer pending.",
        "64: It fired at 0:00.064, in frame 5: a timeout fires only once. [event 96, frame 5]",
        "64: It was called 12.0 ms late. [event 96, frame 5]",
        (
            "60: The timers of frame 4 took 10.0 ms together; called before this one: “path” "
            "and “load”. “load” is the likely cause: in frames without it, the others took "
            "at most 3.00 ms. [event 66, frame 4]"
        ),
        (
            "76: The host stalled for longer than max_delta: 3.00 ms were cut in frame 5, "
            "and session time did not pass during them. [event 104, frame 5]"
        ),
        "60: It was set, for 4.00 ms of “root”. [event 74, frame 4]",
    ]
    assert [*scene.told(behind_timers[2])] == [
        "Timer “in 6 ms” (13), clock 1: It has fired, 10.0 ms late, and is no longer pending.",
        "66: It fired at 0:00.066, in frame 5: a timeout fires only once. [event 97, frame 5]",
        "66: It was called 10.0 ms late. [event 97, frame 5]",
        (
            "60: The timers of frame 4 took 10.0 ms together; called before this one: “path” "
            "and “load”. “load” is the likely cause: in frames without it, the others took "
            "at most 3.00 ms. [event 66, frame 4]"
        ),
        (
            "76: The host stalled for longer than max_delta: 3.00 ms were cut in frame 5, "
            "and session time did not pass during them. [event 104, frame 5]"
        ),
        (
            "66: For the remaining 6.00 ms, it is not known what kept the thread. [event 97, "
            "frame 5]"
        ),
        "60: It was set, for 6.00 ms of “root”. [event 77, frame 4]",
    ]
    assert [*scene.told(tied[4])] == [
        "Timer “tied 4” (18), clock 1: It has fired, 9.00 ms late, and is no longer pending.",
        "67: It fired at 0:00.067, in frame 5: a timeout fires only once. [event 102, frame 5]",
        "67: It was called 9.00 ms late. [event 102, frame 5]",
        (
            "60: The timers of frame 4 took 10.0 ms together; called before this one: “path” "
            "and “load”. “load” is the likely cause: in frames without it, the others took "
            "at most 3.00 ms. [event 66, frame 4]"
        ),
        (
            "76: The host stalled for longer than max_delta: 3.00 ms were cut in frame 5, "
            "and session time did not pass during them. [event 104, frame 5]"
        ),
        (
            "67: For the remaining 6.00 ms, it is not known what kept the thread. [event "
            "102, frame 5]"
        ),
        (
            "67: At the same instant, 4 other timers fired before it, in scheduling order: "
            "“tied 0”, “tied 1”, “tied 2” and 1 more. [event 102]"
        ),
        "60: It was set, for 7.00 ms of “root”. [event 92, frame 4]",
    ]
    assert [*scene.told(behind_many)] == [
        (
            "Timer “behind many” (19), clock 1: It has fired, 4.00 ms late, and is no longer "
            "pending."
        ),
        "77: It fired at 0:00.077, in frame 6: a timeout fires only once. [event 111, frame 6]",
        "77: It was called 4.00 ms late. [event 111, frame 6]",
        (
            "76: The timers of frame 5 took 4.00 ms together; called before this one: “in 3 "
            "ms”, “in 4 ms”, “in 6 ms”, “tied 0” and 4 more. [event 102, frame 5]"
        ),
        "76: It was set, for 1.00 ms of “root”. [event 108, frame 5]",
    ]


def test_that_missed_and_early_calls_are_told_in_full() -> None:
    scene = Scene()
    root = scene.root
    tick = root.set_interval_ns(4 * MS, int, missed="skip", name="tick")
    scene.wake(5, {})
    scene.tree.jump_to(6 * MS)
    root.fire_now(tick)
    early = root.set_timeout_ns(9 * MS, int, name="early")
    scene.wake(8, {})
    root.fire_now(early)
    scene.wake(17, {})
    scene.wake(34, {})
    root.set_timeout_ns(MS, int, name="before it")
    behind_one = root.set_timeout_ns(2 * MS, int, name="behind one")
    odd, even = (root.set_interval_ns(15 * MS, int, name=name) for name in ("odd", "even"))
    scene.run_to(35)
    scene.wake(44, {Phase.TIMERS: 8})
    scene.tree.jump_to(52 * MS)
    root.fire_now(odd)
    root.fire_now(even)
    scene.tree.jump_to(54 * MS)

    assert [*scene.told(tick, 5)] == [
        "Timer “tick” (1), clock 1: Fires in 3.00 ms, at 0:00.008, if rates stay as they are.",
        "4: It has fired once, the last time in frame 0. [event 7, frame 0]",
        "4: It was called 1.00 ms late. [event 7, frame 0]",
        (
            "4: It is not known what kept the thread: the clocks were read 1.00 ms after the "
            "due instant; no measured callback delayed it. [event 7, frame 0]"
        ),
        (
            "5: It is due at 00:00.008 in the time of “root”, which is at 00:00.005; 3.00 ms "
            "remain. [clock 1, number True]"
        ),
    ]
    assert [*scene.told(tick, 7.5)] == [
        "Timer “tick” (1), clock 1: Fires in 500 µs, at 0:00.008, if rates stay as they are.",
        "6: It has fired twice, the last time in frame 1. [event 10, frame 1]",
        (
            "6: It was called 2.00 ms early, by the program (fire_now). Its schedule is "
            "unchanged. [event 10]"
        ),
        (
            "7.5: It is due at 00:00.008 in the time of “root”, which is at 00:00.007; 500 "
            "µs remain. [clock 1, number True]"
        ),
    ]
    assert [*scene.told(tick, 17)] == [
        "Timer “tick” (1), clock 1: Fires in 3.00 ms, at 0:00.020, if rates stay as they are.",
        "12: It has fired 4 times, the last time in frame 2. [event 19, frame 2]",
        "12: It was called 5.00 ms late. [event 19, frame 2]",
        (
            "12: It is not known what kept the thread: the clocks were read 5.00 ms after "
            "the due instant; no measured callback delayed it. [event 19, frame 2]"
        ),
        (
            "12: 1 late tick was skipped, as its kind “interval (skip)” requires; 1 the last "
            "time. [event 18]"
        ),
        (
            "17: It is due at 00:00.020 in the time of “root”, which is at 00:00.017; 3.00 "
            "ms remain. [clock 1, number True]"
        ),
    ]
    assert [*scene.told(tick, 34)] == [
        "Timer “tick” (1), clock 1: Fires in 2.00 ms, at 0:00.036, if rates stay as they are.",
        "20: It has fired 5 times, the last time in frame 3. [event 23, frame 3]",
        "20: It was called 14.0 ms late. [event 23, frame 3]",
        (
            "20: It is not known what kept the thread: the clocks were read 14.0 ms after "
            "the due instant; no measured callback delayed it. [event 23, frame 3]"
        ),
        (
            "20: 4 late ticks were skipped, as its kind “interval (skip)” requires; 3 the "
            "last time. [event 22]"
        ),
        (
            "34: It is due at 00:00.036 in the time of “root”, which is at 00:00.034; 2.00 "
            "ms remain. [clock 1, number True]"
        ),
    ]
    assert [*scene.told(early)] == [
        "Timer “early” (3), clock 1: It has fired and is no longer pending.",
        "8: It fired at 0:00.008, in frame 1: a timeout fires only once. [event 17, frame 1]",
        "8: It was called 7.00 ms early, by the program (fire_now). [event 17]",
        "6: It was set, for 9.00 ms of “root”. [event 11, frame 1]",
    ]
    assert [*scene.told(behind_one)] == [
        "Timer “behind one” (8), clock 1: It has fired, 8.00 ms late, and is no longer pending.",
        "36: It fired at 0:00.036, in frame 4: a timeout fires only once. [event 41, frame 4]",
        "36: It was called 8.00 ms late. [event 41, frame 4]",
        (
            "35: The timers of frame 4 took 8.00 ms together; called before this one: "
            "“before it”. [event 38, frame 4]"
        ),
        (
            "36: At the same instant, 1 other timer fired before it, in scheduling order: "
            "“tick”. [event 41]"
        ),
        "34: It was set, for 2.00 ms of “root”. [event 29, frame 3]",
    ]
    assert [*scene.told(even)] == [
        "Timer “even” (10), clock 1: It is due and fires with the next wake-up.",
        "52: It has fired once, the last time in frame 5. [event 46, frame 5]",
        (
            "52: It was called outside its schedule, by the program (fire_now). Its schedule "
            "is unchanged. [event 46]"
        ),
        "54: It is due and fires with the next wake-up. []",
    ]


def test_that_calls_before_all_that_was_read_are_counted() -> None:
    scene = Scene()
    timer = scene.root.set_interval_ns(MS, int, name="often")
    scene.run_to(3)
    call_id, history = CallId(timer.id), LogHistory(scene.log)
    scene.root.child("later")

    found = explain(history, call_id, scene.tree.now_ns, past=CallPast(call_id, 1))

    assert found.reasons[0] == Reason(
        "It has fired 3 times, before the oldest event in the log.", 0
    )


def test_that_all_calls_of_a_timer_in_a_frame_are_counted() -> None:
    scene = Scene()
    fast = scene.root.set_interval_ns(MS, int, name="fast")
    scene.wake(0, {})
    scene.wake(100, {})

    assert (
        "100: It was called 100 times in frame 1: it caught up on missed ticks, as the policy "
        "“burst” does. [event 108, frame 1]"
    ) in [*scene.told(fast)]
