"""The program as adapters see it: frames, and what is due next."""

from __future__ import annotations

import socket
import sys
import threading
from collections import Counter
from functools import partial
from threading import Condition, RLock, Thread, current_thread
from typing import TYPE_CHECKING, Any, ClassVar, cast
from unittest.mock import MagicMock

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.events.timeline import Timeline
from inspector.probe import keyframe, link, starting
from inspector.probe import program as module
from inspector.probe import sampler as sampler_module
from inspector.probe.adapters import Adapter
from inspector.probe.adapters.asyncio import AsyncioAdapter
from inspector.probe.adapters.uvloop import UvloopAdapter
from inspector.probe.connection import Connection, LinkClosed
from inspector.probe.cost import CostMeter
from inspector.probe.kinds import RATE_DENOMINATOR as D
from inspector.probe.link import program_name
from inspector.probe.program import Program
from inspector.probe.requests import Requests
from inspector.probe.sampler import Sampler
from inspector.probe.stacks import Runner
from inspector.probe.starting import watch_threads
from inspector.probe.texts import Texts
from inspector.vocabulary import (
    CALLBACK_FAILED,
    CLOCK_PAUSED,
    FRAME_ENDED,
    SAMPLED,
    SAW_BETWEEN_TURNS,
    SampleForm,
    what_was_raised,
)
from tests.probe.frame_tiles import check_frames_tile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from inspector.probe.clocks import Clock
    from inspector.vocabulary import RawEvent

MS = 1_000_000


class Played:
    """A program in time that the test passes, with an inspector."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**15
        monkeypatch.setattr(module, "monotonic_ns", lambda: self.now_ns)
        self.program = Program("played", lambda: self.now_ns)
        self.events: list[RawEvent] = []
        self.program.attach(self.events.append, self.events.extend)
        self.loop = self.program.clock("loop")

    def pass_ms(self, ms: int) -> None:
        self.now_ns += ms * MS

    def frame(self, busy_ms: int) -> None:
        self.program.frame_began(self.loop)
        self.pass_ms(busy_ms)
        self.program.frame_ended(self.loop)

    @property
    def frames(self) -> list[tuple[int, int]]:
        """Interval and busy time of each frame in milliseconds."""
        found = [(a, b) for _, kind, _, a, b in self.events if kind == FRAME_ENDED]
        assert not any(a % MS or b % MS for a, b in found)
        return [(a // MS, b // MS) for a, b in found]


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    return Played(monkeypatch)


def test_that_the_frame_after_a_hold_is_not_longer_by_it(played: Played) -> None:
    program = played.program
    played.frame(2)
    played.pass_ms(14)
    played.frame(2)
    played.pass_ms(4)
    program.pause(program.own_clock)
    played.pass_ms(5_000)
    program.resume(program.own_clock)
    played.pass_ms(10)
    played.frame(2)
    played.pass_ms(14)
    played.frame(2)
    assert played.frames == [(0, 2), (16, 2), (16, 2), (16, 2)]


def test_that_a_frame_that_begins_behind_the_end_of_a_step_is_as_long_as_its_work(
    played: Played,
) -> None:
    program, own = played.program, played.program.own_clock
    played.frame(2)
    played.pass_ms(8)
    program.pause(own)
    played.pass_ms(1_000)
    program.clocks.step_to(own, own.local_ns() + 4 * MS)
    played.pass_ms(7)
    # Nobody has settled the pause yet, which began 3 ms ago.
    played.frame(5)
    program.clocks.settle(own)
    played.pass_ms(1_000)
    program.resume(own)
    played.pass_ms(6)
    played.frame(2)
    assert played.frames == [(0, 2), (14, 5), (11, 2)]
    assert check_frames_tile(Timeline(program.texts), played.events) == 2


def test_that_a_frame_is_as_long_as_the_work_and_the_wait_before_it(played: Played) -> None:
    for busy_ms, wait_ms in ((2, 14), (227, 1), (3, 13)):
        played.frame(busy_ms)
        played.pass_ms(wait_ms)
    played.frame(2)
    assert played.frames == [(0, 2), (16, 227), (228, 3), (16, 2)]


def test_that_the_length_of_the_first_frame_an_inspector_sees_is_not_known(
    played: Played,
) -> None:
    played.frame(2)
    played.program.detach()
    played.pass_ms(60_000)
    played.program.attach(played.events.append, played.events.extend)
    played.frame(3)
    assert played.frames[-1] == (0, 3)


_Change = st.sampled_from(["pause", "resume", "half", "stop", "plain", "pause loop", "resume loop"])
_Steps = st.lists(st.sampled_from(["begin", "end", "begin", "end"]) | st.integers(0, 40) | _Change)


@given(steps=_Steps)
def test_that_frames_tile_the_time(steps: list[str | int]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        played = Played(patched)
        program = played.program
        for step in steps:
            clock = played.loop if "loop" in str(step) else program.own_clock
            match step:
                case int():
                    played.pass_ms(step)
                case "begin":
                    program.frame_began(played.loop)
                case "end":
                    program.frame_ended(played.loop)
                case "pause" | "pause loop":
                    program.pause(clock)
                case "resume" | "resume loop":
                    program.resume(clock)
                case _:
                    rates = {"half": D // 2, "stop": 0, "plain": D}
                    program.clocks.set_rate(clock, rates[step])

        check_frames_tile(Timeline(program.texts), played.events)


def test_that_a_loop_that_answers_while_it_is_held_is_busy_with_that(played: Played) -> None:
    played.frame(2)
    played.program.pause(played.loop)
    played.pass_ms(100)
    played.frame(3)
    played.frame(4)
    played.program.resume(played.loop)
    played.frame(5)
    assert [busy for _, busy in played.frames] == [2, 3, 4, 5]


def test_that_a_frame_that_is_held_in_its_middle_is_as_busy_as_it_was(played: Played) -> None:
    program = played.program
    played.frame(1)
    program.frame_began(played.loop)
    played.pass_ms(3)
    program.pause(played.loop)
    played.pass_ms(700)
    program.resume(played.loop)
    played.pass_ms(4)
    program.frame_ended(played.loop)
    played.pass_ms(9)
    played.frame(1)
    assert played.frames == [(0, 1), (1, 7), (16, 1)]


def test_that_a_timer_that_is_overdue_is_next_if_there_is_no_other(played: Played) -> None:
    program = played.program
    at_ns = played.loop.local_ns()
    program.pending_timer(played.loop, "late", 0, at_ns - 5 * MS)
    program.pause(program.own_clock)
    assert program.next_due_ns() == program.own_clock.local_ns() + 1
    program.pending_timer(played.loop, "next", 0, at_ns + 30 * MS)
    assert program.next_due_ns() == at_ns + 30 * MS


def test_that_a_program_is_held_at_the_end_of_a_turn_that_takes_too_long(played: Played) -> None:
    program = played.program
    Requests(program, "step").apply("Program.hold_after", {"turn_ns": 20 * MS, "cause": 7})
    played.frame(20)
    assert not program.own_clock.is_paused

    played.frame(21)

    (pause,) = [event for event in played.events if event[1] == CLOCK_PAUSED]
    assert pause[0] == played.now_ns
    assert (pause[2], pause[3]) == (program.own_clock.number, 7)
    program.release()
    played.frame(21)
    assert not program.own_clock.is_paused


def test_that_what_a_frame_calls_is_next_by_a_frame(played: Played) -> None:
    program = played.program
    adapter = Adapter(program)
    drawn = program.clock("drawn", adapter=adapter)
    program.pending_timer(drawn, "update", 0, drawn.local_ns() - MS)
    program.pending_timer(drawn, "purge", 0, drawn.local_ns() + 900 * MS)
    program.pause(program.own_clock)

    step_ends = []
    for adapter.calls_in_frames in (True, False):
        Requests(program, "step").apply("Program.step", {"to": "next_timer"})
        step_ends.append(program.clocks.step_ends_ns)
        program.pause(program.own_clock)

    assert step_ends[0] is None
    assert step_ends[1] is not None


def test_that_a_timer_on_a_paused_branch_is_never_next(played: Played) -> None:
    program = played.program
    program.pending_timer(played.loop, "late", 0, played.loop.local_ns() - MS)
    program.pause(played.loop)
    assert program.next_due_ns() is None


def test_that_a_thread_that_does_not_answer_is_not_asked_at_once_again(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent(Adapter):
        def call_soon(self, _clock: Clock, call: Callable[[], None]) -> None:
            calls.append(call)

        def keyframe(self, _clock: Clock) -> Iterator[None]:
            yield

    calls: list[Callable[[], None]] = []
    monkeypatch.setattr(keyframe, "monotonic_ns", lambda: played.now_ns)
    played.program.clock("window", adapter=Silent(played.program))
    made = keyframe.Keyframe(played.program, is_first=True)
    made.go_on()
    was_stuck = [made.is_stuck]
    played.pass_ms(51)
    was_stuck.append(made.is_stuck)
    calls.pop()()
    was_stuck.append(made.is_stuck)
    assert was_stuck == [False, True, False]
    assert made.is_complete


@pytest.mark.parametrize("reads_anywhere", [True, False])
def test_that_a_busy_thread_delays_only_timers_that_nothing_else_can_read(
    played: Played, monkeypatch: pytest.MonkeyPatch, *, reads_anywhere: bool
) -> None:
    class Watched(Adapter):
        def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
            if clock is busy:
                calls.append(call)
            else:
                call()

        def keyframe(self, clock: Clock) -> Iterator[None]:
            described.append(clock.name)
            yield

    calls: list[Callable[[], None]] = []
    described: list[str] = []
    Watched.reads_anywhere = reads_anywhere
    monkeypatch.setattr(keyframe, "monotonic_ns", lambda: played.now_ns)
    adapter = Watched(played.program)
    busy = played.program.clock("busy", adapter=adapter)
    played.program.clock("idle", adapter=adapter)
    made = keyframe.Keyframe(played.program, is_first=True)

    asked_ns = played.now_ns
    made.go_on()
    assert described == ["idle"]
    assert made.busy == []
    played.pass_ms(251)
    is_busy = [(busy.number, current_thread().name, asked_ns)]
    assert made.busy == is_busy
    made.go_on()

    assert made.is_complete is reads_anywhere
    assert made.busy == ([] if reads_anywhere else is_busy)
    # Once its thread comes to it, everything is described once.
    calls.pop()()
    assert made.is_complete
    assert described == ["idle", "busy"]


def test_that_a_thread_found_busy_is_not_waited_for_with_every_slice(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Blocked(Adapter):
        reads_anywhere = True

        def call_soon(self, _clock: Clock, call: Callable[[], None]) -> None:
            calls.append(call)

        def keyframe(self, _clock: Clock) -> Iterator[None]:
            for _ in range(3):
                played.pass_ms(3)
                yield

        def was_read_elsewhere(self, clock: Clock) -> None:
            told.append(clock.name)

    calls: list[Callable[[], None]] = []
    told: list[str] = []
    monkeypatch.setattr(keyframe, "monotonic_ns", lambda: played.now_ns)
    played.program.clock("blocked", adapter=Blocked(played.program))
    made = keyframe.Keyframe(played.program, is_first=True)
    made.go_on()
    played.pass_ms(251)
    for _ in range(3):
        assert told == []
        made.go_on()
    made.go_on()
    assert made.is_complete
    assert made.slices == 4
    assert len(calls) == 1
    assert told == ["blocked"]


def test_that_a_machine_that_was_suspended_is_not_taken_for_a_silent_inspector(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether its clock counts the suspension, as on some systems, or not."""
    monkeypatch.setattr(link, "monotonic_ns", lambda: played.now_ns)
    own, other = socket.socketpair()
    with own, other:
        attachment = link.Attachment(played.program, Connection(own), "full", [])
        attachment.turn(has_news=False)
        played.pass_ms(3_600_000)
        attachment.turn(has_news=False)
        for _ in range(19):
            played.pass_ms(100)
            attachment.turn(has_news=False)
        played.pass_ms(200)
        with pytest.raises(LinkClosed, match="did not answer"):
            attachment.turn(has_news=False)


def test_that_the_hooks_of_a_library_are_measured_once_it_is_ready(played: Played) -> None:
    class Late(Adapter):
        answers: ClassVar = [{}, {FRAME_ENDED: 1_000_000.0}]

        def costs(self) -> dict[int, float]:
            return self.answers.pop(0)

    program = played.program
    program.adapters["late"] = Late(program)
    meter = CostMeter(program)
    meter.spent_ns(Counter())
    assert FRAME_ENDED not in meter.by_kind
    assert meter.spent_ns(Counter({FRAME_ENDED: 100})) >= 100_000_000
    meter.spent_ns(Counter())


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("python game.py level.json", "game.py"),
        ("python -u -X dev -W error --check-hash-based-pycs never src/game.py", "game.py"),
        ("python -m game.main run", "game.main"),
        ("python -Im game", "game"),
        ("python -m", "python"),
        ("python -c pass game.py", "python -c"),
        ("python -c", "python -c"),
        ("python -c from\xa0multiprocessing.spawn", "child of multiprocessing"),
        ("python src/", "src/"),
        ("python -i", "python"),
        ("python", "python"),
        ("", "python"),
    ],
)
def test_that_a_program_is_called_as_its_script_or_module(
    line: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = [word.replace("\xa0", " ") for word in line.split(" ") if word]
    monkeypatch.setattr(sys, "orig_argv", words)

    assert program_name() == name


def test_that_the_cost_is_not_negative_on_the_thread_that_follows_a_fork(played: Played) -> None:
    meter = CostMeter(played.program)
    meter.spent_ns(Counter())
    spent_ns = []

    thread = Thread(target=lambda: spent_ns.append(meter.spent_ns(Counter())))
    thread.start()
    thread.join()

    assert spent_ns[0] > 0


def test_that_the_probe_ends_in_silence_where_threads_have_other_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Made first: making a thread registers the one that makes it, by its number.
    thread = link._ProbeThread()
    monkeypatch.setattr(threading, "get_ident", lambda: -1)

    thread._delete()


def test_that_what_ends_a_thread_is_a_failure(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetch() -> None:
        raise LookupError("no such castle")

    reported: list[str] = []
    report = lambda args: reported.append(args.thread.name)  # noqa: E731
    monkeypatch.setattr(threading, "excepthook", report)
    watch_threads(played.program)
    for target in (fetch, sys.exit):
        thread = Thread(target=target, name="fetcher")
        thread.start()
        thread.join()

    (failure,) = [event for event in played.events if event[1] == CALLBACK_FAILED]
    name, trace = (played.program.texts[number] for number in failure[3:])
    assert (name, what_was_raised(trace)) == ("fetcher", "LookupError: no such castle")
    assert "in fetch" in trace
    # The program's own hook is told as well.
    assert reported == ["fetcher", "fetcher"]


def test_that_asyncio_is_not_measured_while_it_may_be_loading(played: Played) -> None:
    assert AsyncioAdapter(played.program).costs() == {}


def test_that_a_loop_of_uvloop_is_idle_that_has_a_timer_and_does_not_run(played: Played) -> None:
    class Loop:
        def __init__(self, *, is_running: bool, has_timer: bool) -> None:
            self.is_running = lambda: is_running
            self.clock = played.program.clock("loop")
            if has_timer:
                played.program.timer(self.clock, "timer", 0, 5 * MS)

    loops = [
        Loop(is_running=is_running, has_timer=has_timer)
        for is_running in (False, True)
        for has_timer in (False, True)
    ]
    adapter = UvloopAdapter(played.program)
    adapter._loops.update((each, cast("Any", each)) for each in loops)

    assert adapter.idle_loops() == [loops[1]]


def test_that_the_end_of_a_loop_that_nobody_could_look_at_is_told(played: Played) -> None:
    sampler = Sampler(played.program, lambda: played.now_ns)
    played.frame(1)
    sampler.sample()
    sampler.wait_ns(10 * MS)
    played.pass_ms(500)
    # The last turn of a loop that is closed within has no end.
    played.program.frame_began(played.loop)
    played.program.remove_clock(played.loop)
    played.pass_ms(10)
    sampler.sample_last()
    (told,) = [event for event in played.events if event[1] == SAMPLED]
    _, _, subject, covers_ns, form = told
    assert (subject, covers_ns) == (played.loop.number, 510 * MS)
    assert SampleForm.of(form).flags & SAW_BETWEEN_TURNS
    sampler.end()


def test_that_another_thread_is_told_with_what_it_is_at_unless_it_waits(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    sampler = Sampler(played.program, lambda: played.now_ns)
    begun: list[bool] = []
    end = threading.Event()

    def crunch() -> None:
        begun.append(True)
        while begun:
            any(False for _ in range(99))

    cruncher = Thread(target=crunch, name="cruncher")
    waiter = Thread(target=end.wait, name="waiter")
    cruncher.start()
    waiter.start()
    while not begun:
        pass
    told = [played.program.texts[sampler._place_of(each.ident or 0)] for each in (cruncher, waiter)]
    with monkeypatch.context() as patch:
        hooked = Runner()
        hooked.probe_call = "sleep"
        patch.setattr(sampler_module, "stack_of", lambda *_, **__: ([(crunch.__code__, 1)], hooked))
        told.append(played.program.texts[sampler._place_of(cruncher.ident or 0)])
    begun.clear()
    end.set()
    cruncher.join()
    waiter.join()
    sampler.end()

    assert told[0].startswith("cruncher: ")
    assert told[0].endswith("crunch")
    assert told[1:] == ["waiter: ", "cruncher: "]


def test_that_a_turn_is_looked_at_less_often_the_longer_it_lasts(played: Played) -> None:
    sampler = Sampler(played.program, lambda: played.now_ns)
    played.frame(1)
    sampler.sample()
    assert sampler.wait_ns(50 * MS) == 50 * MS
    played.pass_ms(1)
    played.program.frame_began(played.loop)
    waits_ms = []
    for _ in range(120):
        sampler.sample()
        wait_ns = sampler.wait_ns(50 * MS)
        waits_ms.append(wait_ns // MS)
        played.now_ns += wait_ns
    assert list(dict.fromkeys(waits_ms)) == [50, 5, 10, 20]
    assert played.now_ns - 10**15 > 1_000 * MS
    sampler.end()


def test_that_a_child_that_was_forked_can_be_held(played: Played) -> None:
    program = played.program
    program.forked()
    program.attach(played.events.append, played.events.extend)

    program.pause(program.own_clock)

    assert program.own_clock.is_held


def test_that_a_loop_that_is_held_is_not_looked_at(played: Played) -> None:
    sampler = Sampler(played.program, lambda: played.now_ns)
    sampler.sample()

    def looked(times: int) -> int:
        before = len(played.events)
        for _ in range(times):
            played.pass_ms(15)
            sampler.sample()
        return sum(event[1] == SAMPLED for event in played.events[before:])

    played.program.frame_began(played.loop)
    assert looked(4)
    played.program.pause(played.program.own_clock)
    assert not looked(4)
    sampler.end()


def test_that_finding_out_what_is_loaded_takes_no_time_of_a_held_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    held = []
    monkeypatch.setattr(starting, "_program", None)
    for name in ("use", "watch_threads", "atexit"):
        monkeypatch.setattr(starting, name, MagicMock())
    watch = "watch_imports"
    monkeypatch.setattr(Program, watch, lambda program: held.append(program.own_clock.is_held))

    starting._the_program(hold=True)

    assert held == [True]


#: Code of an installed package, which calls what it is given.
PACKAGE = compile("def call(function): return function()", "/x/site-packages/timers.py", "exec")


def test_that_a_call_site_is_the_line_of_the_program_that_has_called_a_package() -> None:
    texts, package = Texts(), dict[str, Any]()
    exec(PACKAGE, package)  # noqa: S102 - so that it has the path of a package

    site = package["call"](lambda: package["call"](partial(texts.call_site, 0)))

    assert texts.texts[site].startswith(f"{__file__}:")
    assert "lambda" in texts.texts[site]


def test_that_a_call_site_is_in_a_package_where_only_packages_are_on_the_way() -> None:
    texts, package, sites = Texts(), dict[str, Any](), list[int]()
    exec(PACKAGE, package)  # noqa: S102 - so that it has the path of a package

    thread = Thread(target=package["call"], args=[lambda: sites.append(texts.call_site(1))])
    thread.start()
    thread.join()

    assert texts.texts[sites[0]].startswith("/x/site-packages/timers.py:1 in call")


def test_that_the_beginning_of_a_process_is_no_call_site() -> None:
    texts, sites = Texts(), list[int]()
    spawned = {"site": partial(texts.call_site, 0), "keep": sites.append}
    # What the command line of a child does, as far as it can be seen.
    command = compile("import multiprocessing.spawn; keep(site())", "<string>", "exec")

    thread = Thread(target=partial(exec, command, spawned))
    thread.start()
    thread.join()

    assert [texts.texts[site] for site in sites] == [""]


def test_that_the_beginning_of_a_thread_is_no_call_site() -> None:
    texts, sites = Texts(), list[int]()

    thread = Thread(target=lambda: sites.append(texts.call_site(1)))
    thread.start()
    thread.join()

    assert [texts.texts[site] for site in sites] == [""]


class Animation:
    """As matplotlib's, which calls a function of the program by way of its own."""

    def __init__(self, func: Callable[[], None]) -> None:
        self._func = partial(func)

    def _step(self) -> None: ...


class FigureTimer:
    """As the timer of a window of matplotlib."""

    def __init__(self, *called: Callable[[], None]) -> None:
        self.callbacks: list[tuple[Any, ...]] = [(each, (), {}) for each in called]

    def _on_timer(self) -> None: ...


def redraw() -> None: ...


def test_that_what_a_timer_of_matplotlib_calls_is_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    animated, plain = FigureTimer(Animation(redraw)._step), FigureTimer(redraw)
    empty = FigureTimer()

    assert module.name_of(animated._on_timer) == "FigureTimer._on_timer"
    monkeypatch.setattr(FigureTimer, "__module__", "matplotlib.backends.backend_x")
    assert module.name_of(animated._on_timer) == module.name_of(plain._on_timer) == "redraw"
    assert module.name_of(empty._on_timer) == "FigureTimer._on_timer"


def test_that_a_library_that_replaces_locks_in_variables_does_not_find_those_of_clocks() -> None:
    program = Program("game")
    kinds = (type(RLock()), Condition)
    assert isinstance(program.clocks.lock, kinds)
    assert not [
        each
        for of in (program, program.clocks)
        for each in vars(of).values()
        if isinstance(each, kinds)
    ]
