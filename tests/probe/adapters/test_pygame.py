"""The adapter of pygame with a stand-in for the library, in a time that the test sets."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from threading import Thread
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from inspector.probe.adapters.pygame import PygameAdapter
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_BURST,
    LOOP_ASKED,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from inspector.probe.program import NAME, Program
from tests.probe.adapters.played import Played

MS = 1_000_000
EVENT = 32866


class NativeClock:
    """pygame's own clock."""


class StandIn(Played):
    """pygame, as far as the adapter touches it, with a probe in it.

    Attributes:
        posted: The events in pygame's queue.
        shown: How often the display was updated.
        pumped: How often events of the system were taken in.
        waited_ms: For how long pygame has waited for events.
        sdl_from_ns: Since when SDL counts.
    """

    def __init__(self, *, is_late: bool = False, **more: object) -> None:
        super().__init__()
        self.posted: list[Any] = []
        self.shown = self.pumped = self.sdl_from_ns = 0
        self.waited_ms: list[int] = []
        self.modes: list[object] = []
        self.surface: object = self
        self.time = SimpleNamespace(
            __name__="pygame.time",
            Clock=NativeClock,
            get_ticks=lambda: (self.now_ns - self.sdl_from_ns) // MS,
            wait=None,
            delay=None,
            set_timer=None,
        )
        self.display = SimpleNamespace(
            __name__="pygame.display",
            flip=self._show,
            update=self._show,
            get_init=lambda: is_late or self.now_ns > 0,
            get_surface=lambda: self.surface,
            set_mode=lambda *args, **named: self.modes.append((args, named)),
        )
        self.event = SimpleNamespace(
            __name__="pygame.event",
            get=self._taken,
            poll=self._taken,
            peek=lambda kind: kind in self.posted,
            pump=self._taken_in,
            wait=self._waited,
            post=self.posted.append,
            Event=int,
            event_name=lambda _kind: "UserEvent",
        )
        self.pygame: Any = SimpleNamespace(
            __name__="pygame",
            IS_CE=True,
            version=SimpleNamespace(ver="2.5"),
            get_init=lambda: is_late,
            error=RuntimeError,
            time=self.time,
            display=self.display,
            event=self.event,
            USEREVENT=EVENT,
            VIDEOEXPOSE=1,
            QUIT=2,
            OPENGL=4,
            NOEVENT=0,
        )
        vars(self.pygame).update(more)
        self.adapter = PygameAdapter(self.program)
        self.adapter.installed(cast("ModuleType", self.pygame))
        self.now_ns = 500 * MS

    def _show(self, *_rectangles: object) -> None:
        self.shown += 1

    def _taken_in(self) -> None:
        """Take in the events of the system."""
        self.pumped += 1

    def _taken(self) -> list[Any]:
        taken = list(self.posted)
        self.posted.clear()
        return taken

    def _waited(self, milliseconds: int = 0) -> SimpleNamespace:
        """Wait for an event, or for so long; 0: no limit."""
        assert self.posted or milliseconds, "nothing would end this"
        self.waited_ms.append(milliseconds)
        if not self.posted:
            self.now_ns += milliseconds * MS
        return SimpleNamespace(type=self.posted.pop(0) if self.posted else self.pygame.NOEVENT)


@pytest.fixture
def stand_in() -> StandIn:
    return StandIn()


def test_that_a_tick_sleeps_for_the_rest_of_a_frame_in_local_time(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    stand_in.now_ns += 5 * MS
    assert clock.tick(50) == 20
    assert clock.get_rawtime() == 5
    stand_in.set_rate(D // 2)
    began_ns = stand_in.now_ns

    passed = [clock.tick(50) for _ in range(3)]

    assert passed == [20, 20, 20]
    assert stand_in.now_ns - began_ns == 3 * 40 * MS
    assert clock.tick(1000) == 1


def test_that_all_of_a_frame_is_work_where_no_frame_rate_is_asked_for(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    assert (clock.get_time(), clock.get_rawtime(), clock.get_fps()) == (0, 0, 0)
    stand_in.now_ns += 7 * MS

    assert (clock.tick(), clock.get_time(), clock.get_rawtime()) == (7, 7, 7)


def test_that_the_frame_rate_is_that_of_local_time(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    stand_in.set_rate(4 * D)
    for _ in range(10):
        clock.tick(50)
    assert clock.get_fps() == 0
    clock.tick(50)

    # Pygame works it out from ten ticks after the first.
    assert clock.get_fps() == pytest.approx(50)
    assert repr(clock) == "<Clock(fps=50.00)>"
    assert type(clock).__module__ == "pygame.time"


def test_that_ticks_go_on_from_where_they_were_held(stand_in: StandIn) -> None:
    get_ticks = stand_in.pygame.time.get_ticks
    assert get_ticks() == 500
    stand_in.hold()
    stand_in.now_ns += 10_000 * MS

    assert get_ticks() == 500
    stand_in.resume()
    stand_in.now_ns += 7 * MS
    assert get_ticks() == 507
    # SDL begins to count again after pygame.quit, and before pygame.init it does not.
    stand_in.sdl_from_ns = stand_in.now_ns - 10 * MS
    assert get_ticks() == 10
    stand_in.now_ns += 7 * MS
    assert get_ticks() == 17
    stand_in.sdl_from_ns = stand_in.now_ns
    assert get_ticks() == 0


def test_that_a_timer_posts_as_often_as_local_time_demands_and_bursts_nothing(
    stand_in: StandIn,
) -> None:
    pygame = stand_in.pygame
    pygame.time.set_timer(EVENT, 100)
    stand_in.now_ns += 250 * MS
    assert pygame.event.get() == [EVENT, EVENT]
    stand_in.hold()
    stand_in.now_ns += 10_000 * MS
    assert pygame.event.get() == []
    stand_in.resume()
    assert pygame.event.get() == []
    stand_in.now_ns += 50 * MS

    assert pygame.event.get() == [EVENT]
    assert stand_in.count(TIMER_FIRED) == 3


def test_that_a_timer_ends_after_its_loops_and_with_an_interval_of_zero(stand_in: StandIn) -> None:
    pygame = stand_in.pygame
    pygame.time.set_timer(EVENT, 10, loops=2)
    pygame.time.set_timer(EVENT + 1, 10)
    pygame.time.set_timer(EVENT + 1, 0)
    pygame.time.set_timer(SimpleNamespace(type=EVENT + 2), 1, once=1)
    told = [(event[2], event[3]) for event in stand_in.events if event[1] == TIMER_CLEARED]
    (_, site), *others = told
    assert [number for number, _ in told] == [2]
    assert others == []
    sites = [event[3] for event in stand_in.events if event[1] == TIMER_ORIGIN]
    assert all(f"{__file__}:" in stand_in.program.texts[each] for each in (site, *sites))
    kinds = [event[4] for event in stand_in.events if event[1] == TIMER_ORIGIN]
    assert kinds == [INTERVAL_BURST, INTERVAL_BURST, TIMEOUT]
    stand_in.now_ns += 100 * MS

    assert pygame.event.get() == [EVENT, EVENT, SimpleNamespace(type=EVENT + 2)]
    assert stand_in.program.timers == {}
    fired = [event[2:] for event in stand_in.events if event[1] == TIMER_FIRED]
    periods = [event[4] / MS for event in stand_in.events if event[1] == TIMER_ARMED]
    assert periods == [10, 10, 0]
    assert (pygame.event.get(), stand_in.adapter._next_due_ns) == ([], None)
    assert fired == [(1, 90 * MS, 520 * MS), (1, 80 * MS, NEVER), (3, 99 * MS, NEVER)]


def test_that_a_timer_goes_on_when_the_queue_is_full(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    def post(_event: object) -> None:
        raise RuntimeError

    stand_in.pygame.time.set_timer(EVENT, 100)
    monkeypatch.setattr(stand_in.event, "post", post)
    stand_in.now_ns += 250 * MS
    stand_in.pygame.event.get()

    assert stand_in.count(TIMER_FIRED) == 2
    assert stand_in.adapter.state == "waiting"


def test_that_a_timer_that_is_pending_is_in_the_keyframe(stand_in: StandIn) -> None:
    stand_in.program.emit = None
    stand_in.pygame.time.set_timer(EVENT, 100)
    stand_in.attach()

    for _ in range(2):
        assert list(stand_in.adapter.keyframe(stand_in.adapter._clock)) == [None]
    (origin,) = [event for event in stand_in.events if event[1] == TIMER_ORIGIN]
    assert origin[3] == 0

    (timer,) = map(stand_in.program.pending, stand_in.program.timers)
    assert timer is not None
    assert timer.period_ns == 100 * MS
    stand_in.adapter.clear_timer(timer.clock, timer, 1)
    assert [event[4] for event in stand_in.events if event[1] == TIMER_CLEARED] == [1]
    assert stand_in.adapter._next_due_ns is None
    stand_in.now_ns += 200 * MS
    assert stand_in.pygame.event.get() == []
    # Another inspector is told of it anew.
    stand_in.pygame.time.set_timer(EVENT, 100)
    stand_in.adapter.released()
    list(stand_in.adapter.keyframe(stand_in.adapter._clock))
    assert stand_in.count(TIMER_ADDED) == 3


def test_that_a_timer_is_named_after_the_constant_that_the_program_has_for_its_event(
    stand_in: StandIn,
) -> None:
    settings = ModuleType("settings")
    settings.__file__ = "/game/settings.py"
    settings.__dict__["BOSS"] = EVENT + 2
    names = {"pygame": stand_in.pygame, "SPAWN": EVENT + 1, "settings": settings, "now": EVENT + 3}
    names["KEY"] = EVENT - 1
    lines = [f"pygame.time.set_timer({EVENT} + {number}, 100)" for number in (0, 1, 2, 3, -1)]
    code = "\n".join([*lines, f"OWN = {EVENT}", f"pygame.time.set_timer({EVENT}, 50)"])
    exec(compile(code, "/game/game.py", "exec"), names)  # noqa: S102 - the program

    named = [stand_in.program.texts[timer[NAME]] for timer in stand_in.program.timers.values()]
    # The last is set again, and has the name that it was set with first.
    assert named == ["SPAWN", "BOSS", f"UserEvent {EVENT + 3}", "UserEvent", "UserEvent"]
    stand_in.adapter._names.clear()
    exec(compile(lines[0], "/game/game.py", "exec"), names)  # noqa: S102 - the program
    *_, timer = stand_in.program.timers.values()
    assert stand_in.program.texts[timer[NAME]] == "OWN"


@pytest.mark.parametrize("is_late", [False, True])
def test_that_parts_of_the_display_make_one_frame(is_late: bool) -> None:
    stand_in = StandIn(is_late=is_late)
    pygame = stand_in.pygame
    for read in (pygame.event.get, pygame.event.peek, lambda _: pygame.event.wait(1)):
        read(*[0] * (read is not pygame.event.get))
        for _ in range(4):
            pygame.display.update((0, 0, 10, 10))

    assert stand_in.shown == 12
    assert stand_in.count(FRAME_ENDED) == 3
    assert stand_in.count(FRAME_BEGAN) == 3 + is_late
    pygame.display.update()
    assert stand_in.count(FRAME_ENDED) == 4


def test_that_parts_of_the_display_make_one_frame_where_its_tick_ends_it(
    stand_in: StandIn,
) -> None:
    clock = stand_in.pygame.time.Clock()
    for _ in range(4):
        stand_in.pygame.event.get()
        for _ in range(3):
            stand_in.pygame.display.update((0, 0, 10, 10))
            stand_in.now_ns += MS
        stand_in.now_ns += 5 * MS
        clock.tick(50)

    busy_ms = [event[4] // MS for event in stand_in.events if event[1] == FRAME_ENDED]
    assert busy_ms[1:] == [8, 8, 8]


def test_that_a_loop_without_a_display_has_frames_by_its_ticks(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    for _ in range(3):
        clock.tick(50)

    assert stand_in.count(FRAME_ENDED) == 3


def test_that_what_a_loop_does_between_showing_a_frame_and_its_tick_is_work_of_the_frame(
    stand_in: StandIn,
) -> None:
    clock = stand_in.pygame.time.Clock()
    for _ in range(4):
        clock.tick(50)
        stand_in.now_ns += 2 * MS
        stand_in.pygame.display.flip()
        stand_in.now_ns += 9 * MS
    clock.tick(50)

    # The first frame that is shown ends then: that the loop asks its clock afterwards is not known.
    busy_ms = [event[4] // MS for event in stand_in.events if event[1] == FRAME_ENDED]
    assert busy_ms == [0, 2, 11, 11, 11]


def test_that_a_loop_that_no_longer_asks_its_clock_has_frames_by_what_it_shows(
    stand_in: StandIn,
) -> None:
    clock = stand_in.pygame.time.Clock()
    for _ in range(3):
        stand_in.pygame.display.flip()
        clock.tick(50)
    before = stand_in.count(FRAME_ENDED)
    for _ in range(5):
        stand_in.pygame.event.get()
        stand_in.pygame.display.flip()

    assert (before, stand_in.count(FRAME_ENDED)) == (3, 7)


READS: dict[str, tuple[Callable[[Any], object], int]] = {
    "none": (lambda _: None, 40),
    "get_ticks": (lambda pygame: pygame.time.get_ticks(), 10),
    "wait": (lambda pygame: pygame.time.wait(10), 50),
    "delay": (lambda pygame: pygame.time.delay(1), 14),
    "wait for an event": (lambda pygame: pygame.event.wait(10), 50),
}


@pytest.mark.parametrize(("read", "frame_ms"), READS.values(), ids=READS)
def test_that_a_loop_is_slowed_down_once_by_its_work_or_by_the_time_it_reads(
    stand_in: StandIn, read: Callable[[Any], object], frame_ms: int
) -> None:
    pygame = stand_in.pygame
    stand_in.set_rate(D // 4)
    began_ns = stand_in.now_ns
    for _ in range(3):
        read(pygame)
        pygame.event.get()
        stand_in.now_ns += 10 * MS
        pygame.display.flip()

    assert stand_in.now_ns - began_ns == 3 * frame_ms * MS


def test_that_it_is_waited_for_an_event_as_long_as_local_time_says(stand_in: StandIn) -> None:
    pygame = stand_in.pygame
    stand_in.set_rate(D // 4)
    began_ns = stand_in.now_ns

    assert pygame.event.wait(20).type == pygame.NOEVENT
    assert stand_in.now_ns - began_ns == 80 * MS
    assert stand_in.waited_ms == [50, 30]
    assert stand_in.count(FRAME_BEGAN) == 1
    for arguments in ((0,), ()):
        with pytest.raises(AssertionError, match="nothing would end this"):
            pygame.event.wait(*arguments)
    for arguments in ((), (0,), (20,)):
        stand_in.posted.append(pygame.QUIT)
        assert pygame.event.wait(*arguments).type == pygame.QUIT
    assert stand_in.now_ns - began_ns == 80 * MS
    pygame.event.wait(1)
    assert stand_in.now_ns - began_ns == 84 * MS
    # A timer ends a wait, too.
    pygame.time.set_timer(EVENT, 20)
    assert pygame.event.wait().type == EVENT
    assert stand_in.now_ns - began_ns == 164 * MS


def test_that_a_wait_returns_how_long_it_was(stand_in: StandIn) -> None:
    wait = stand_in.pygame.time.wait
    stand_in.set_rate(D // 2)
    began_ns = stand_in.now_ns

    assert [wait(ms) for ms in (10, 1.9, 0, -5)] == [10, 1, 0, 0]
    assert stand_in.now_ns - began_ns == 22 * MS
    assert stand_in.count(FRAME_BEGAN) == 1


def test_that_virtual_time_passes_only_where_a_program_waits(stand_in: StandIn) -> None:
    pygame = stand_in.pygame
    stand_in.program.waits = SimpleNamespace()  # type: ignore[assignment]
    slept_ms: list[float] = []

    def sleep_until(_clock: object, local_ns: int, _pump: object) -> None:
        slept_ms.append(local_ns / MS)
        stand_in.now_ns = max(stand_in.now_ns, local_ns)

    stand_in.program.sleep_until = sleep_until  # type: ignore[assignment, method-assign]
    assert pygame.event.wait(20).type == pygame.NOEVENT
    assert (stand_in.waited_ms, slept_ms) == ([1], [520])
    pygame.time.set_timer(EVENT, 30)
    assert pygame.event.wait(100).type == EVENT
    assert (stand_in.waited_ms, slept_ms) == ([1, 1, 1], [520, 550])
    stand_in.posted.append(pygame.QUIT)
    assert pygame.event.wait(20).type == pygame.QUIT
    stand_in.hold()
    stand_in.now_ns += 10 * MS
    pygame.display.flip()

    assert slept_ms == [520, 550]


def test_that_a_held_frame_waits_until_the_window_is_asked_to_close(stand_in: StandIn) -> None:
    pygame = stand_in.pygame
    pumped = []

    def close_the_window() -> None:
        pumped.append(stand_in.shown)
        if len(pumped) == 3:
            stand_in.posted.append(pygame.QUIT)

    stand_in.asleep = close_the_window
    stand_in.hold()
    pygame.display.flip()

    assert pumped == [1, 1, 1]
    assert pygame.event.get() == [pygame.QUIT]
    assert stand_in.pumped == 4


@pytest.mark.parametrize(
    ("args", "named", "after_ms", "shown"),
    [
        ((0,), {}, 300, 2),
        ((3,), {}, 300, 2),
        ((), {}, 251, 2),
        ((), {}, 250, 1),
        ((4,), {}, 300, 1),
        ((7, 32), {}, 300, 1),
        ((), {"flags": 4}, 300, 1),
        ((), {"flags": 3}, 300, 2),
    ],
)
def test_that_a_held_window_is_shown_again_when_it_was_covered(
    stand_in: StandIn, args: tuple[int, ...], named: dict[str, int], after_ms: int, shown: int
) -> None:
    pygame = stand_in.pygame
    stand_in.asleep = stand_in.resume
    stand_in.posted.append(pygame.VIDEOEXPOSE)
    stand_in.hold()
    pygame.display.flip()
    assert stand_in.shown == 2
    stand_in.now_ns = stand_in.adapter._shown_again_ns + after_ms * MS
    pygame.display.set_mode((100, 100), *args, **named)
    stand_in.shown = 0
    stand_in.hold()
    pygame.display.flip()

    assert stand_in.modes == [(((100, 100), *args), named)]
    # Not too often, and not what another library may draw.
    assert stand_in.shown == shown


def test_that_a_window_that_is_not_there_is_not_shown_again(stand_in: StandIn) -> None:
    stand_in.posted.append(stand_in.pygame.VIDEOEXPOSE)
    stand_in.surface = None
    stand_in.adapter._keep_alive()
    assert (stand_in.pumped, stand_in.shown) == (1, 0)
    thread = Thread(target=stand_in.adapter._keep_alive)
    thread.start()
    thread.join()
    stand_in.now_ns = 0
    stand_in.adapter._keep_alive()

    assert stand_in.pumped == 1


def test_that_showing_a_window_of_its_own_ends_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    class Window:
        flips = 0

        def flip(self) -> None:
            self.flips += 1

    places = {
        name: SimpleNamespace(Window=kind)
        for name, kind in (("pygame.own", Window), ("other", Window), ("pygame.else", StandIn))
    }
    for name, module in places.items():
        monkeypatch.setitem(sys.modules, name, cast("ModuleType", module))
    stand_in = StandIn(Window=Window)
    window: Any = places["pygame.own"].Window()
    window.flip()

    assert isinstance(window, Window)
    assert type(window).__module__ == Window.__module__
    assert (window.flips, stand_in.count(FRAME_ENDED)) == (1, 1)
    assert (places["other"].Window, places["pygame.else"].Window) == (Window, StandIn)


@pytest.mark.parametrize(("is_ce", "library"), [(1, "pygame-ce"), (0, "pygame"), (None, "pygame")])
def test_that_the_library_is_named_as_it_is(is_ce: int | None, library: str) -> None:
    stand_in = StandIn()
    if is_ce is None:
        del stand_in.pygame.IS_CE
    else:
        stand_in.pygame.IS_CE = is_ce
    stand_in.adapter = PygameAdapter(stand_in.program)
    stand_in.adapter.installed(stand_in.pygame)

    assert (stand_in.adapter.library, stand_in.adapter.version) == (library, "2.5")
    assert stand_in.adapter._clock.name == library
    names = [getattr(stand_in.event, name).__name__ for name in ("get", "poll", "pump")]
    assert names == ["_taken", "_taken", "_taken_in"]
    assert stand_in.event.pump.__doc__ == "Take in the events of the system."


@pytest.mark.parametrize("has_display", [True, False])
@pytest.mark.parametrize("is_init", [True, False])
def test_that_a_program_that_has_begun_may_have_a_clock(
    *, is_init: bool, has_display: bool
) -> None:
    display = SimpleNamespace(**vars(StandIn().display))
    display.get_init = lambda: has_display
    stand_in = StandIn(get_init=lambda: is_init, display=display)

    assert stand_in.adapter._is_late is (is_init or has_display)


def test_that_the_usual_work_of_a_frame_is_that_of_the_last_eight_or_so(
    stand_in: StandIn,
) -> None:
    usual = stand_in.adapter._usual_work_ns
    assert [usual(each) for each in (800, 1_600, 100)] == [800, 1_600, 800]
    stand_in.set_rate(D // 2)

    assert [usual(each) for each in (5_000, 100)] == [5_000, 800]


def test_that_a_program_with_a_clock_of_pygame_is_slowed_down_by_its_frames() -> None:
    stand_in = StandIn(is_late=True)
    pygame, ticked_ns = stand_in.pygame, stand_in.now_ns
    instants = []
    for number in range(60):
        if number == 30:
            stand_in.set_rate(D // 4)
        pygame.event.get()
        stand_in.now_ns += 2 * MS
        pygame.display.flip()
        instants.append(stand_in.now_ns)
        # pygame's own clock waits for the rest of 16 ms, if there is any.
        ticked_ns = stand_in.now_ns = max(stand_in.now_ns, ticked_ns + 16 * MS)

    assert instants[29] - instants[19] == 10 * 16 * MS
    assert instants[59] - instants[49] == pytest.approx(10 * 64 * MS, rel=0.05)
    assert "not sped up" in stand_in.adapter.message


class Game:
    def __init__(self) -> None:
        self.clock = NativeClock()


def test_that_clocks_are_replaced_where_a_running_program_keeps_them() -> None:
    game, listed, named = Game(), [NativeClock()], {"clock": NativeClock()}
    same = game.clock
    in_cell = NativeClock()

    def clock_in_cell() -> object:
        return in_cell

    del same
    stand_in = StandIn(is_late=True)
    kind = stand_in.pygame.time.Clock
    assert kind is not NativeClock
    for found in (game.clock, listed[0], named["clock"], clock_in_cell()):
        assert isinstance(found, kind)
    assert stand_in.adapter.message == ""


def test_that_the_only_clock_of_a_program_is_replaced() -> None:
    # Those of other tests may wait for their collection.
    gc.collect()
    game = Game()
    stand_in = StandIn(is_late=True)

    assert isinstance(game.clock, stand_in.pygame.time.Clock)
    assert stand_in.adapter.message == ""


def test_that_a_clock_that_is_kept_elsewhere_is_told() -> None:
    kept = (NativeClock(),)
    game = Game()
    stand_in = StandIn(is_late=True)
    assert type(kept[0]) is NativeClock
    assert isinstance(game.clock, stand_in.pygame.time.Clock)
    assert "cannot be replaced" in stand_in.adapter.message


def test_that_a_clock_in_a_variable_of_a_function_that_runs_is_replaced_where_python_can() -> None:
    gc.collect()

    game = Game()

    def run() -> tuple[StandIn, object]:
        clock: object = NativeClock()
        return StandIn(is_late=True), clock

    stand_in, clock = run()
    is_replaced = isinstance(clock, stand_in.pygame.time.Clock)

    assert isinstance(game.clock, stand_in.pygame.time.Clock)
    assert is_replaced is (sys.version_info >= (3, 13))
    assert bool(stand_in.adapter.message) is not is_replaced


def test_that_the_window_stays_alive_while_a_sleep_of_python_is_held(stand_in: StandIn) -> None:
    program, pump = stand_in.program, stand_in.program.keep_alive
    pumps = []

    def pump_twice() -> None:
        assert pump is not None
        pumps.append(pump())
        stand_in.posted.append(stand_in.pygame.QUIT)
        if len(pumps) == 2:
            stand_in.now_ns += MS
            stand_in.resume()
            stand_in.now_ns += MS

    program.keep_alive = pump_twice
    stand_in.posted.append(stand_in.pygame.VIDEOEXPOSE)
    stand_in.hold()
    Program.sleep_until(program, program.own_clock, program.own_clock.local_ns() + 1)

    assert stand_in.shown == 1


def test_that_the_frame_rate_that_a_loop_asks_for_is_told_once() -> None:
    game = StandIn()
    clock = game.pygame.time.Clock()
    for framerate in (30, 30, 30, 0, 60, 0.5):
        game.pygame.event.get()
        game.pygame.display.flip()
        clock.tick(framerate)

    asked = [event[3] for event in game.events if event[1] == LOOP_ASKED]
    assert asked == [33_333_333, 0, 16_666_667, 2_000_000_000]
