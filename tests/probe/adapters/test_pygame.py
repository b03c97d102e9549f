"""The adapter of pygame with a stand-in for the library, in a time that the test sets."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any, cast

import pytest

from inspector.probe.adapters.pygame import PygameAdapter
from inspector.probe.kinds import FRAME_BEGAN, FRAME_ENDED, LOOP_ASKED, TIMER_FIRED
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
    """

    def __init__(self, *, is_late: bool = False) -> None:
        super().__init__()
        self.posted: list[Any] = []
        self.shown = 0
        self.time = SimpleNamespace(
            __name__="pygame.time",
            Clock=NativeClock,
            get_ticks=lambda: self.now_ns // MS,
            wait=None,
            delay=None,
            set_timer=None,
        )
        self.display = SimpleNamespace(
            __name__="pygame.display",
            flip=self._show,
            update=self._show,
            get_init=lambda: is_late or self.now_ns > 0,
            get_surface=lambda: self,
            set_mode=lambda *_: self,
        )
        self.event = SimpleNamespace(
            __name__="pygame.event",
            get=self._taken,
            poll=self._taken,
            peek=lambda kind: kind in self.posted,
            pump=self._taken_in,
            wait=self._waited,
            post=self.posted.append,
            Event=lambda kind: kind,
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
        self.adapter = PygameAdapter(self.program)
        self.adapter.installed(cast("ModuleType", self.pygame))
        self.now_ns = 500 * MS

    def _show(self, *_rectangles: object) -> None:
        self.shown += 1

    def _taken_in(self) -> None:
        """Do what pygame does with the events of the system."""

    def _taken(self) -> list[Any]:
        taken = list(self.posted)
        self.posted.clear()
        return taken

    def _waited(self, milliseconds: int = 0) -> SimpleNamespace:
        """Wait for an event, or for so long; 0: no limit."""
        assert self.posted or milliseconds, "nothing would end this"
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


def test_that_all_of_a_frame_is_work_where_no_frame_rate_is_asked_for(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    stand_in.now_ns += 7 * MS

    assert (clock.tick(), clock.get_time(), clock.get_rawtime()) == (7, 7, 7)


def test_that_the_frame_rate_is_that_of_local_time(stand_in: StandIn) -> None:
    clock = stand_in.pygame.time.Clock()
    stand_in.set_rate(4 * D)
    for _ in range(30):
        clock.tick(50)

    assert clock.get_fps() == pytest.approx(50)


def test_that_ticks_go_on_from_where_they_were_held(stand_in: StandIn) -> None:
    get_ticks = stand_in.pygame.time.get_ticks
    assert get_ticks() == 500
    stand_in.hold()
    stand_in.now_ns += 10_000 * MS

    assert get_ticks() == 500
    stand_in.resume()
    stand_in.now_ns += 7 * MS
    assert get_ticks() == 507


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
    stand_in.now_ns += 100 * MS

    assert pygame.event.get() == [EVENT, EVENT]
    assert stand_in.program.timers == {}


def test_that_a_timer_that_is_pending_is_in_the_keyframe(stand_in: StandIn) -> None:
    stand_in.program.emit = None
    stand_in.pygame.time.set_timer(EVENT, 100)
    stand_in.attach()

    list(stand_in.adapter.keyframe(stand_in.adapter._clock))

    (timer,) = map(stand_in.program.pending, stand_in.program.timers)
    assert timer is not None
    assert timer.period_ns == 100 * MS
    stand_in.adapter.clear_timer(timer.clock, timer, 1)
    stand_in.now_ns += 200 * MS
    assert stand_in.pygame.event.get() == []


def test_that_a_timer_is_named_after_the_constant_that_the_program_has_for_its_event(
    stand_in: StandIn,
) -> None:
    settings = ModuleType("settings")
    settings.__file__ = "/game/settings.py"
    settings.__dict__["BOSS"] = EVENT + 2
    names = {"pygame": stand_in.pygame, "SPAWN": EVENT + 1, "settings": settings, "now": EVENT + 3}
    code = "\n".join(f"pygame.time.set_timer({EVENT} + {number}, 100)" for number in range(4))
    exec(compile(code, "/game/game.py", "exec"), names)  # noqa: S102 - the program

    named = [stand_in.program.texts[timer[NAME]] for timer in stand_in.program.timers.values()]
    assert named == ["UserEvent", "SPAWN", "BOSS", f"UserEvent {EVENT + 3}"]


@pytest.mark.parametrize("is_late", [False, True])
def test_that_parts_of_the_display_make_one_frame(is_late: bool) -> None:
    stand_in = StandIn(is_late=is_late)
    pygame = stand_in.pygame
    for _ in range(3):
        pygame.event.get()
        for _ in range(4):
            pygame.display.update((0, 0, 10, 10))

    assert stand_in.shown == 12
    assert stand_in.count(FRAME_ENDED) == 3
    assert stand_in.count(FRAME_BEGAN) == 3 + is_late


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

    busy_ms = [event[4] // MS for event in stand_in.events if event[1] == FRAME_ENDED]
    assert busy_ms[-3:] == [11, 11, 11]


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


@pytest.mark.parametrize(("reads_time", "frame_ms"), [(False, 40), (True, 10)])
def test_that_a_loop_is_slowed_down_once_by_its_work_or_by_the_time_it_reads(
    stand_in: StandIn, *, reads_time: bool, frame_ms: int
) -> None:
    pygame = stand_in.pygame
    stand_in.set_rate(D // 4)
    began_ns = stand_in.now_ns
    for _ in range(3):
        if reads_time:
            pygame.time.get_ticks()
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
    with pytest.raises(AssertionError, match="nothing would end this"):
        pygame.event.wait(0)
    for arguments in ((), (0,), (20,)):
        stand_in.posted.append(pygame.QUIT)
        assert pygame.event.wait(*arguments).type == pygame.QUIT
    assert stand_in.now_ns - began_ns == 80 * MS


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


def test_that_a_held_window_is_shown_again_when_it_was_covered(stand_in: StandIn) -> None:
    pygame = stand_in.pygame
    stand_in.asleep = stand_in.resume
    stand_in.posted.append(pygame.VIDEOEXPOSE)
    for flags, shown in ((0, 2), (pygame.OPENGL, 1)):
        pygame.display.set_mode((100, 100), flags)
        stand_in.shown = 0
        stand_in.hold()
        pygame.display.flip()

        assert stand_in.shown == shown


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


def test_that_a_clock_that_is_kept_elsewhere_is_told() -> None:
    kept = (NativeClock(),)
    game = Game()
    stand_in = StandIn(is_late=True)
    assert type(kept[0]) is NativeClock
    assert isinstance(game.clock, stand_in.pygame.time.Clock)
    assert "cannot be replaced" in stand_in.adapter.message


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
    for framerate in (30, 30, 30, 0, 60):
        game.pygame.event.get()
        game.pygame.display.flip()
        clock.tick(framerate)

    asked = [event[3] for event in game.events if event[1] == LOOP_ASKED]
    assert asked == [33_333_333, 0, 16_666_667]
