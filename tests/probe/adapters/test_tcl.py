"""What the adapter of tkinter has a stand-in for Tcl do, in a time that the test sets."""

# ruff: noqa: ANN401, N815 - as tkinter has it

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest

from inspector.probe.adapters.tkinter import TclHooks, TkinterAdapter
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    INTERVAL_DELAY,
    NEVER,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    return Played(500 * MS)


class Tcl:
    """An interpreter of Tcl with files.

    Attributes:
        pending: The names and scripts of what it is going to call.
        told: What it was told to do.
    """

    def __init__(self) -> None:
        self.pending: dict[str, str] = {}
        self.told: list[tuple[object, ...]] = []

    def createfilehandler(self, *_: object) -> None: ...

    deletefilehandler = createfilehandler

    def call(self, _command: str, what: object = "update", *words: str) -> Any:
        if what == "info":
            return [self.pending[words[0]]] if words else list(self.pending)
        self.told.append((what, *words))
        return f"after#again{len(self.told)}"

    def splitlist(self, found: list[str]) -> list[str]:
        return found

    def quit(self) -> None:
        self.told.append(("quit",))


class Widget:
    def __init__(self, tcl: Tcl) -> None:
        self._tcl = tcl

    def deletecommand(self, script: str) -> None:
        self._tcl.told.append(("delete", script))


@pytest.fixture
def tcl() -> Tcl:
    return Tcl()


@pytest.fixture
def hooks(played: Played, tcl: Tcl) -> Iterator[Any]:
    adapter = TkinterAdapter(played.program)
    called: list[Callable[..., None]] = []

    def after(_widget: object, _ms: object, func: Callable[..., None], *_: object) -> str:
        called.append(func)
        tcl.pending[f"after#{len(called)}"] = f"{len(called)}tick"
        return f"after#{len(called)}"

    adapter.after = after
    adapter.after_cancel = lambda _widget, name: tcl.told.append(("cancelled", name))
    found: Any = TclHooks(adapter, tcl, played.program.clock("tkinter", adapter=adapter))
    adapter._interpreters[id(tcl)] = found
    found.called = called
    yield found
    found.close()


def tick() -> None: ...


def test_that_a_timer_of_tkinter_that_is_set_after_its_call_does_not_set_itself_again(
    played: Played, hooks: Any
) -> None:
    def tick() -> None: ...

    hooks.set(None, 20, tick, ())
    played.now_ns += 20 * MS
    hooks.called[0]()
    hooks.set(None, 20, tick, ())

    assert played.count(TIMER_ADDED) == 2
    (timer,) = hooks.timers.values()
    assert timer.period_ns == 0


@pytest.mark.parametrize(("is_own_loop", "began", "ended"), [(False, 0, 0), (True, 1, 2)])
def test_that_a_call_of_tkinter_is_a_frame_where_its_loop_was_not_seen_to_begin(
    played: Played, hooks: Any, began: int, ended: int, *, is_own_loop: bool
) -> None:
    hooks.begin_round()
    hooks.is_own_loop = is_own_loop
    played.events.clear()
    hooks.set(None, 20, lambda: None, ())
    played.now_ns += 20 * MS
    hooks.called[0]()

    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (began, ended)


def test_that_timers_of_tkinter_from_before_the_inspector_came_are_counted(
    hooks: Any, tcl: Tcl
) -> None:
    tcl.pending = {"after#8": "140tick", "after#9": "140tock", "after#7": "::tk::blink"}
    list(hooks.adapter.keyframe(hooks.clock))
    hooks._woken()

    assert hooks.adapter.message.endswith("once they are set again: 2 of them")


def events(played: Played, kind: int) -> list[tuple[int, int]]:
    """The last two numbers of each event of a kind."""
    return [each[3:] for each in played.events if each[1] == kind]


def test_that_a_timer_is_set_again_for_what_is_left_at_another_rate(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    hooks.set(None, 20, tick, ())
    played.now_ns += 5 * MS
    played.set_rate(D * 2 // 5)
    hooks._woken()
    hooks._woken()

    # 15 ms are 37.5 there: not before it is due, and only once.
    assert tcl.told == [("cancel", "after#1"), (38, "1tick")]


def test_that_a_timer_that_is_set_while_time_is_slower_waits_longer(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    played.set_rate(D // 2)
    hooks.set(None, 20, tick, ())
    hooks.set(None, "idle", tick, ())

    # What is called once nothing else is to be done keeps its turn.
    assert tcl.told == [("cancel", "after#1"), (40, "1tick")]


def test_that_timers_wait_while_their_program_is_held(played: Played, hooks: Any, tcl: Tcl) -> None:
    hooks.set(None, 20, tick, ())
    hooks.set(None, "idle", tick, ())
    played.hold()
    hooks._woken()
    assert tcl.told == [("cancel", "after#1")]
    played.now_ns += 100 * MS
    played.resume()
    hooks._woken()

    assert tcl.told[1:] == [(20, "1tick")]


def test_that_an_idle_call_that_sets_itself_again_waits_while_its_program_is_held(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    def idle() -> None:
        hooks.set(None, "idle", idle, ())

    hooks.set(None, "idle", idle, ())
    played.hold()
    hooks.called[0]()
    assert tcl.told == [("cancel", "after#2")]
    played.resume()
    hooks._woken()

    assert tcl.told[1:] == [("idle", "2tick")]


@pytest.mark.parametrize(("left_ns", "is_early"), [(1_000_001, True), (1_000_000, False)])
def test_that_a_call_that_is_too_early_by_its_clock_waits_on(
    played: Played, hooks: Any, left_ns: int, *, is_early: bool
) -> None:
    calls: list[str] = []
    played.set_rate(D // 2)
    hooks.set(None, 20, calls.append, ("called",))
    played.now_ns += 40 * MS - left_ns
    hooks.called[0]("called")

    assert calls == [] if is_early else ["called"]
    assert list(hooks.timers) == (["after#1"] if is_early else [])
    assert played.count(TIMER_FIRED) == (not is_early)


def test_that_an_interval_says_when_it_is_due_again_and_how_late_it_was(
    played: Played, hooks: Any
) -> None:
    def again() -> None:
        played.now_ns += 3 * MS
        hooks.set(None, 20, again, ())

    hooks.set(None, 20, again, ())
    begun_ns = hooks.clock.local_ns()
    for late_ms in (1, 2):
        played.now_ns += (20 + late_ms) * MS
        hooks.called[-1]()

    first, second = events(played, TIMER_FIRED)
    assert first == (MS, NEVER)
    # Unless it sets itself again, it would be cleared.
    assert second == (2 * MS, begun_ns + 66 * MS)
    assert [a - begun_ns for a, _ in events(played, TIMER_ARMED)] == [20 * MS, 44 * MS, 69 * MS]
    # Its first call was that of a timeout.
    assert played.count(TIMER_ADDED) == 2
    assert played.count(TIMER_CLEARED) == 0


def test_that_an_interval_that_no_longer_sets_itself_is_cleared(played: Played, hooks: Any) -> None:
    turns = [True, False]

    def again() -> None:
        if turns.pop(0):
            hooks.set(None, 20, again, ())

    hooks.set(None, 20, again, ())
    for _ in range(2):
        played.now_ns += 20 * MS
        hooks.called[-1]()

    assert played.count(TIMER_CLEARED) == 1
    assert hooks.timers == {}


def test_that_a_timer_that_was_set_before_the_inspector_came_has_its_kind(
    played: Played, hooks: Any
) -> None:
    hooks.set(None, 20, tick, ())
    for period_ns in (0, 20 * MS):
        (timer,) = hooks.timers.values()
        hooks.adapter.released()
        timer.period_ns = period_ns
        list(hooks.adapter.keyframe(hooks.clock))
        hooks._woken()

    kinds = [kind for _site, kind in events(played, TIMER_ORIGIN)]
    assert kinds == [TIMEOUT, TIMEOUT, INTERVAL_DELAY]


def test_that_a_timer_is_cancelled_by_the_program_and_from_outside(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    widget = Widget(tcl)
    for _ in range(2):
        hooks.set(widget, 20, tick, ())
    first, second = hooks.timers.values()
    hooks.adapter.clear_timer(hooks.clock, first.shown, 7)
    hooks._woken()
    assert tcl.told == [("cancelled", "after#1")]
    assert events(played, TIMER_CLEARED) == [(0, 7)]
    played.hold()
    hooks._woken()
    hooks.timers.pop("after#2").cancel()

    # Tcl no longer knows when, but still what.
    assert tcl.told[1:] == [("cancel", "after#2"), ("delete", "2tick")]
    assert second.shown.number
    assert played.count(TIMER_CLEARED) == 2


def test_that_what_a_failed_adapter_has_kept_waiting_is_called(
    played: Played, hooks: Any, tcl: Tcl
) -> None:
    hooks.set(None, 20, tick, ())
    played.hold()
    hooks._woken()
    hooks.adapter.fail("its version is not known")
    hooks._woken()

    assert tcl.told[-1] == (0, "1tick")


def test_that_a_loop_is_ended_on_its_own_thread(played: Played, hooks: Any, tcl: Tcl) -> None:
    assert hooks.adapter.end_loop(hooks.clock)
    assert tcl.told == []
    hooks._woken()

    assert tcl.told == [("quit",)]
    assert not hooks.adapter.end_loop(played.program.own_clock)


def test_that_a_turn_has_all_windows_do_what_is_to_be_done(hooks: Any, tcl: Tcl) -> None:
    assert hooks.adapter.turn() is None
    hooks.thread += 1
    hooks.adapter.turn()

    assert tcl.told == [("update",)]


def test_that_a_process_that_was_forked_has_no_loop_of_tcl(hooks: Any) -> None:
    hooks.adapter.forked()

    assert hooks.clock.is_removed
    assert hooks.adapter.capabilities(hooks.clock) == {}
    assert not hooks.adapter.end_loop(hooks.clock)


def test_that_a_sleep_is_a_timer_and_one_that_is_broken_off_is_cleared(
    played: Played, hooks: Any
) -> None:
    begun_ns = hooks.clock.local_ns()
    hooks.sleep(20)
    assert hooks.clock.local_ns() - begun_ns == 20 * MS
    assert events(played, TIMER_FIRED) == [(0, NEVER)]

    def interrupt() -> None:
        raise KeyboardInterrupt

    played.asleep = interrupt
    hooks.is_own_loop, hooks.pump = True, lambda: None
    played.hold()
    with pytest.raises(KeyboardInterrupt):
        hooks.sleep(20)

    assert played.count(TIMER_CLEARED) == 1


class Library:
    """A module that looks like tkinter, and what its own functions have done.

    Attributes:
        done: What was left to the library.
        Tk: Its class of windows.
    """

    def __init__(self, played: Played) -> None:
        self.done: list[tuple[object, ...]] = []
        done = self.done

        def noting(name: str) -> Callable[..., str]:
            def note(_self: object, *args: object) -> str:
                done.append((name, *args))
                return f"after#{len(done)}"

            return note

        class Misc:
            _tclCommands = None
            tk: Any

        for name in (
            *("after", "after_cancel", "after_idle", "deletecommand", "destroy", "mainloop"),
            *("wait_variable", "wait_window", "wait_visibility", "update"),
        ):
            setattr(Misc, name, noting(name))

        class Wm:
            wm_protocol = noting("protocol")

        class Tk(Misc, Wm):
            def __init__(self) -> None:
                self.tk = Tcl()

            def destroy(self) -> None:
                super().destroy()  # type: ignore[misc]
                del self.tk

        class CallWrapper:
            def __init__(self, widget: object, func: Callable[[], None]) -> None:
                self.widget, self.func = widget, func

            def __call__(self, *args: object) -> None:
                self.func(*args)

        self.Misc: Any = Misc
        self.Tk: Any = Tk
        self.CallWrapper: Any = CallWrapper
        self.module: Any = SimpleNamespace(
            TkVersion=8.6,
            TclError=RuntimeError,
            Misc=Misc,
            Tk=Tk,
            Wm=Wm,
            CallWrapper=CallWrapper,
            mainloop=lambda n=0: done.append(("main", n)),
            _default_root=None,
            __spec__=SimpleNamespace(_initializing=True),
        )
        self.adapter: Any = TkinterAdapter(played.program)


@pytest.fixture
def library(played: Played) -> Library:
    return Library(played)


def clocks(played: Played) -> list[str]:
    return [each.name for each in played.program.clocks.by_number.values()][1:]


def test_that_each_interpreter_has_a_clock_until_it_is_destroyed(
    played: Played, library: Library
) -> None:
    early = library.Tk()
    library.adapter.installed(library.module)
    assert clocks(played) == []
    first, _second = library.Tk(), library.Tk()
    assert clocks(played) == ["tkinter", "tkinter 2"]
    first.destroy()
    early.destroy()

    assert clocks(played) == ["tkinter 2"]
    assert library.done == [("destroy",), ("destroy",)]


def test_that_windows_from_before_the_probe_are_found(played: Played, library: Library) -> None:
    early = library.Tk()
    library.module.__spec__ = None
    library.adapter.installed(library.module)

    assert library.adapter.version == "8.6"
    assert clocks(played) == ["tkinter"]
    library.adapter._found(early)
    assert clocks(played) == ["tkinter"]


def test_that_a_library_without_an_inspector_does_what_it_always_does(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    played.program.emit = None
    root.after(20, tick, "x")
    root.after(20)
    root.after_cancel("after#9")
    root.update()
    root.mainloop(1)
    library.CallWrapper(root, tick)()
    root.destroy()

    names = ["after", "after", "after_cancel", "update", "mainloop", "destroy"]
    assert [name for name, *_ in library.done] == names
    assert library.done[:2] == [("after", 20, tick, "x"), ("after", 20, None)]


def test_that_a_wait_without_a_function_is_a_sleep_by_the_clock(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    begun_ns = played.now_ns
    root.after(1)
    assert played.now_ns - begun_ns == MS
    assert library.done == []
    for ms in (0, -1, "idle"):
        root.after(ms)
    library.adapter.of(root).thread += 1
    root.after(1)

    # What is over at once, or on another thread, is Tcl's.
    assert library.done == [("after", 0), ("after", -1), ("after", "idle"), ("after", 1)]
    assert played.count(TIMER_FIRED) == 1


def test_that_timers_are_cancelled_by_their_names_and_with_their_widgets(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root, child = library.Tk(), library.Misc()
    child.tk, child._tclCommands = root.tk, ["1tick"]
    names = [widget.after(20, tick) for widget in (root, root, child)]
    assert played.count(TIMER_ADDED) == 3
    root.after_cancel(names[0])
    root.after_cancel("after#unknown")
    assert played.count(TIMER_CLEARED) == 1
    child.destroy()

    assert played.count(TIMER_CLEARED) == 2
    hooks: Any = library.adapter.of(root)
    assert list(hooks.timers) == [names[1]]
    cancelled = [args for name, *args in library.done if name == "after_cancel"]
    assert cancelled == [[names[0]], ["after#unknown"], [names[2]]]


def test_that_a_call_of_a_widget_is_a_frame_but_not_within_another(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    call = library.CallWrapper(root, library.CallWrapper(root, tick))
    call()

    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (1, 1)


def test_that_a_loop_within_a_call_ends_its_frame_and_begins_another_after_it(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    seen: list[tuple[int, int]] = []

    def frames(*_: object) -> None:
        seen.append((played.count(FRAME_BEGAN), played.count(FRAME_ENDED)))

    def wait() -> None:
        frames()
        library.adapter.of(root).run_loop(frames)
        frames()

    library.CallWrapper(root, wait)()
    frames()

    assert seen == [(1, 0), (1, 1), (2, 1), (2, 2)]


def test_that_each_update_of_a_loop_of_the_programs_own_ends_a_frame(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    seen = []
    for _ in range(3):
        root.update()
        seen.append((played.count(FRAME_BEGAN), played.count(FRAME_ENDED)))

    assert seen == [(1, 0), (2, 1), (3, 2)]
    hooks: Any = library.adapter.of(root)
    assert (hooks.is_own_loop, hooks.is_updating) == (True, False)


def test_that_a_held_loop_of_the_programs_own_goes_on_to_be_closed(
    played: Played, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    hooks: Any = library.adapter.of(root)
    root.wm_protocol("WM_DELETE_WINDOW", lambda: library.done.append(("closed",)))
    root.wm_protocol("WM_TAKE_FOCUS", tick)
    root.wm_protocol("WM_DELETE_WINDOW", "")
    (_, _, closing), *others = cast("list[Any]", library.done)
    assert others == [("protocol", "WM_TAKE_FOCUS", tick), ("protocol", "WM_DELETE_WINDOW", "")]
    played.hold()
    monkeypatch.setattr(played.program, "wait_while_held", lambda _clock, pump: pump())
    root.update()
    assert hooks.tcl.told == [("update",)]
    closing()
    root.update()

    assert library.done[-2:] == [("closed",), ("update",)]
    assert not hooks.is_closing
    assert hooks.is_in_round
