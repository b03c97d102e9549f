"""What the adapter of tkinter does with the classes of a stand-in, in a time that the test sets."""

# ruff: noqa: N815 - as tkinter has it

from __future__ import annotations

import gc
from collections.abc import Callable
from threading import Thread
from types import SimpleNamespace
from typing import Any, cast

import pytest

from inspector.probe.adapters.tkinter import TkinterAdapter
from inspector.probe.kinds import (
    FRAME_BEGAN,
    FRAME_ENDED,
    TIMER_ADDED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from tests.probe.adapters.played import Played
from tests.probe.adapters.tcl import Tcl

MS = 1_000_000


@pytest.fixture
def played() -> Played:
    return Played(500 * MS)


def tick() -> None: ...


class Library:
    """A module that looks like tkinter, and what its own functions have done.

    Attributes:
        done: What was left to the library.
        during: Called by each of its functions.
        Tk: Its class of windows.
    """

    def __init__(self, played: Played) -> None:
        self.done: list[tuple[object, ...]] = []
        self.during: Callable[[], None] = lambda: None
        done = self.done

        def noting(name: str) -> Callable[..., str]:
            def note(_self: object, *args: object) -> str:
                done.append((name, *args))
                self.during()
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
            mainloop=lambda n=0: noting("main")(None, n),
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
    first_tcl = first.tk
    first.destroy()
    early.destroy()

    assert clocks(played) == ["tkinter 2"]
    assert library.done == [("destroy",), ("destroy",)]
    assert first_tcl.files == {}


def test_that_the_clock_of_an_interpreter_that_nothing_refers_to_is_gone(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    library.Tk()
    gc.collect()

    assert clocks(played) == []


@pytest.mark.parametrize("is_elsewhere", [True, False])
@pytest.mark.parametrize("known", [None, tick])
def test_that_the_first_window_of_the_main_thread_answers_while_the_program_sleeps(
    played: Played, library: Library, known: Callable[[], None] | None, *, is_elsewhere: bool
) -> None:
    library.adapter.installed(library.module)
    played.program.keep_alive = known
    roots: list[object] = []
    if is_elsewhere:
        thread = Thread(target=lambda: roots.append(library.Tk()))
        thread.start()
        thread.join()
    else:
        roots.append(library.Tk())

    answers = None if is_elsewhere else library.adapter._keep_alive
    assert played.program.keep_alive == (known or answers)


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
    root._tclCommands = ["1tick"]
    root.after(30, tick)
    library.done.clear()
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
    (site,) = [event[3] for event in played.events if event[1] == TIMER_ORIGIN]
    assert f"{__file__}:" in played.program.texts[site]


def test_that_timers_are_cancelled_by_their_names_and_with_their_widgets(
    played: Played, library: Library
) -> None:
    early = library.Tk()
    library.adapter.installed(library.module)
    early.after_cancel("after#early")
    library.done.clear()
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
    sites = [event[3] for event in played.events if event[1] in {TIMER_ORIGIN, TIMER_CLEARED}]
    assert all(f"{__file__}:" in played.program.texts[site] for site in sites)


def test_that_a_call_of_a_widget_is_a_frame_but_not_within_another(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    call = library.CallWrapper(root, library.CallWrapper(root, tick))
    for frames in (1, 2):
        call()
        assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (frames, frames)
    # What is called while the program is held only answers.
    played.hold()
    call()
    assert played.count(FRAME_BEGAN) == 2
    played.resume()
    call()

    assert (played.count(FRAME_BEGAN), played.count(FRAME_ENDED)) == (3, 3)


LOOPS: dict[str, Callable[[Library, Any], object]] = {
    "mainloop": lambda library, _: library.module.mainloop(),
    "Misc.mainloop": lambda _, root: root.mainloop(),
    "wait_variable": lambda _, root: root.wait_variable(),
    "waitvar": lambda _, root: root.waitvar(),
    "wait_window": lambda _, root: root.wait_window(),
    "wait_visibility": lambda _, root: root.wait_visibility(),
    "dooneevent": lambda _, root: root.dooneevent(),
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_that_a_loop_within_a_call_ends_its_frame_and_begins_another_after_it(
    played: Played, library: Library, loop: Callable[[Library, Any], object]
) -> None:
    library.adapter.installed(library.module)
    root = library.module._default_root = library.Tk()
    hooks: Any = library.adapter.of(root)
    seen: list[tuple[int, int, bool]] = []

    def frames() -> None:
        counts = played.count(FRAME_BEGAN), played.count(FRAME_ENDED)
        seen.append((*counts, hooks.is_own_loop))

    def wait() -> None:
        hooks.is_own_loop = True
        frames()
        loop(library, root)
        frames()

    library.during = root.tk.during = frames
    library.CallWrapper(root, wait)()
    frames()
    assert seen == [(1, 0, True), (1, 1, False), (2, 1, True), (2, 2, True)]
    loop(library, root)

    # The program is not being called after a loop that it has not called in a frame.
    assert played.count(FRAME_BEGAN) == 2
    assert [flags for what, flags in root.tk.told if what == "event"] in ([], [0, 0])


def test_that_each_update_of_a_loop_of_the_programs_own_ends_a_frame(
    played: Played, library: Library
) -> None:
    library.adapter.installed(library.module)
    root = library.Tk()
    hooks: Any = library.adapter.of(root)
    seen = []

    def frames() -> None:
        counts = played.count(FRAME_BEGAN), played.count(FRAME_ENDED)
        seen.append((*counts, hooks.is_own_loop, hooks.is_updating))

    library.during = root.tk.during = frames
    library.CallWrapper(root, root.update)()
    # Within a call of another loop, it is none of the program's own.
    assert seen == [(2, 1, False, True)]
    for handle in (root.update, lambda: root.dooneevent(2), root.update):
        handle()
        frames()

    assert seen[1:] == [
        *((3, 2, True, True), (3, 2, True, False)),
        *((4, 3, True, True), (4, 3, True, False)),
        *((5, 4, True, True), (5, 4, True, False)),
    ]
    assert root.tk.told == [("event", 2)]


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
    rounds: list[bool] = []

    def wait(_clock: object, pump: Callable[[], None]) -> None:
        for _ in range(3):
            rounds.append(hooks.is_in_round)
            pump()

    hooks.tcl.during = lambda: rounds.append(hooks.is_in_round)
    monkeypatch.setattr(played.program, "wait_while_held", wait)
    root.update()
    # While a window answers, what is called is in no frame.
    assert rounds == [False, True] * 3
    assert hooks.tcl.told == [("update",)] * 3
    closing()
    assert hooks.is_closing
    root.update()

    assert library.done[-2:] == [("closed",), ("update",)]
    assert hooks.tcl.told == [("update",)] * 4
    assert not hooks.is_closing
    assert hooks.is_in_round
