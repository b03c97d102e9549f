"""How a program takes the adapters of its libraries, and what it lets go of when it is forked."""

from __future__ import annotations

from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from inspector.probe import program as module
from inspector.probe.adapters import Adapter
from inspector.probe.kinds import CLOCK_ADDED
from inspector.probe.program import Program
from tests.probe.adapters.played import Played

MS = 1_000_000
LIBRARY = ModuleType("lib")


class Noting(Adapter):
    """An adapter that notes what is asked of it."""

    library = "Lib"
    hides: tuple[str, ...] = ("hidden",)

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.asked: list[object] = []
        self.error: BaseException | None = None

    def installed(self, module: ModuleType) -> None:
        self.asked.append(module)
        if self.error is not None:
            raise self.error

    def attached(self) -> None:
        self.asked.append(("attached", self.program.emit is None))

    def released(self) -> None:
        self.asked.append("released")

    def forked(self) -> None:
        self.asked.append("forked")


@pytest.fixture
def played() -> Played:
    return Played(10**15)


def entry(adapter: Adapter, name: str = "lib", *modules: str) -> Any:  # noqa: ANN401 - an entry
    return SimpleNamespace(name=name, modules=modules or (name,), load=lambda _program: adapter)


def described(program: Program, name: str) -> dict[str, str]:
    (found,) = (each for each in program.described_adapters() if each["name"] == name)
    return found


def test_that_adapters_wait_for_the_modules_of_their_libraries(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = played.program
    watched: dict[str, Any] = {}
    seen, installed = Noting(program), Noting(program)
    program._entries = [entry(seen, "seen", "seen.core", "seen.more")]
    monkeypatch.setattr(module, "installed_entries", lambda: [entry(installed, "wx", "wx.core")])
    monkeypatch.setattr(module, "when_imported", watched.__setitem__)
    unseen = [("wx", "wxPython", "not seen"), ("gi.loop", "GLib", "not seen, either")]
    monkeypatch.setattr(module, "UNSEEN", unseen)
    program.watch_imports()

    # A package brings an adapter for what would not be seen.
    assert list(watched) == ["seen.core", "seen.more", "wx.core", "gi.loop"]
    assert [described(program, name)["state"] for name in ("seen", "wx")] == ["waiting"] * 2
    watched["wx.core"](LIBRARY)
    watched["seen.more"](LIBRARY)
    watched["seen.core"](LIBRARY)
    watched["gi.loop"](LIBRARY)
    assert installed.asked[0] == seen.asked[0] == LIBRARY
    assert len(seen.asked) == 2
    assert described(program, "GLib") == {
        "name": "GLib",
        "library": "GLib",
        "version": "",
        "state": "failed",
        "message": "not seen, either",
    }


@pytest.mark.parametrize("is_attached", [True, False])
def test_that_an_adapter_is_active_once_its_hooks_are_in(
    played: Played, monkeypatch: pytest.MonkeyPatch, *, is_attached: bool
) -> None:
    program = played.program
    if not is_attached:
        program.detach()
    changes = program.changes
    monkeypatch.setattr(module, "version_of", lambda _module: "1.2")
    adapter, other = Noting(program), Noting(program)
    program._install(entry(adapter), LIBRARY)
    program._install(entry(other), LIBRARY)
    versioned = Noting(program)
    versioned.version = "9"
    program._install(entry(versioned, "versioned"), LIBRARY)

    assert adapter.asked == [LIBRARY, *[("attached", False)] * is_attached]
    assert other.asked == []
    assert "hidden" in program._hidden
    assert program.changes == changes + 2
    assert described(program, "lib") == {
        "name": "lib",
        "library": "Lib",
        "version": "1.2",
        "state": "active",
        "message": "",
    }
    assert described(program, "versioned")["version"] == "9"
    adapter.library = ""
    assert described(program, "lib")["library"] == "lib"


@pytest.mark.parametrize("error", [LookupError("no such hook"), SystemExit("leave")])
def test_that_an_adapter_that_does_not_fit_fails_and_nothing_else(
    played: Played, error: BaseException
) -> None:
    program = played.program
    changes = program.changes
    adapter = Noting(program)
    adapter.error = error
    program._install(entry(adapter), LIBRARY)

    found = described(program, "lib")
    assert (found["state"], program.changes) == ("failed", changes + 2)
    assert str(error) in found["message"]
    assert program.guarded(adapter, pytest.fail, "it is not called any more") is None


def test_that_what_an_adapter_raises_is_the_last_that_is_asked_of_it(played: Played) -> None:
    adapter = Noting(played.program)
    assert played.program.guarded(adapter, divmod, 7, 2) == (3, 1)
    assert played.program.guarded(adapter, divmod, 7, 0) is None
    assert adapter.state == "failed"
    assert "ZeroDivisionError" in adapter.message


# ------------------------------------------------------------------------------------- attachments


def test_that_an_inspector_that_comes_is_told_of_the_clocks_as_they_are(played: Played) -> None:
    program = played.program
    program.detach()
    adapter = Noting(program)
    program.adapters["lib"] = adapter
    loop = program.clock("loop")
    frames = program.frames(loop)
    frames.ended_ns = 5
    timer = program.timer(loop, "tick", 0, 7)
    played.events.clear()
    played.attach()

    # While an adapter prepares, nothing is reported yet.
    assert adapter.asked == [("attached", True)]
    assert frames.ended_ns == 0
    assert (program.timers, program._objects) == ({}, {})
    assert program.pending(timer.number) is None
    added = [event[2] for event in played.events if event[1] == CLOCK_ADDED]
    assert added == [program.own_clock.number, loop.number]
    assert program.emit is not None
    assert program.clocks.emit is program.emit


def test_that_an_inspector_that_goes_leaves_nothing_behind(played: Played) -> None:
    program = played.program
    adapter = Noting(program)
    program.adapters["lib"] = adapter
    loop = program.clock("loop")
    program.timer(loop, "tick", 0, 7)
    program.hold_after_turn(5, 6)
    program._frames_left = 3
    played.hold()
    played.events.clear()
    program.detach()
    program.extend(((0, 0, 0, 0, 0),))

    assert played.events == []
    assert (program.emit, program.clocks.emit) == (None, None)
    assert (program.timers, program._objects) == ({}, {})
    assert not program.own_clock.is_held
    assert adapter.asked == ["released"]
    assert (program._longest_turn_ns, program._frames_left) == (0, 0)


def test_that_a_child_has_locks_of_its_own(played: Played) -> None:
    program = played.program
    adapter = Noting(program)
    program.adapters["lib"] = adapter
    before = program._text_lock, program.clocks.lock, program._woken
    program.forked()

    after = program._text_lock, program.clocks.lock, program._woken
    assert not any(a is b for a, b in zip(before, after, strict=True))
    assert adapter.asked == ["released", "forked"]
    assert program.emit is None


# ----------------------------------------------------------------------------------------- waiting


def test_that_a_loop_that_is_held_pumps_until_it_goes_on(
    played: Played, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, own = played.program, played.program.own_clock
    pumped: list[int] = []
    waits_s: list[float | None] = []

    def wait(_woken: object, seconds: float | None) -> None:
        waits_s.append(seconds)
        if seconds is None:
            played.resume()

    monkeypatch.setattr(module, "_wait", wait)

    def pump() -> None:
        pumped.append(1)
        if len(pumped) == 3:
            played.resume()

    program.wait_while_held(own, pump)
    assert pumped == []
    played.hold()
    program.wait_while_held(own, pump)
    # The third has let it go on.
    assert (len(pumped), waits_s) == (3, [0.01, 0.01])
    played.hold()
    program.wait_while_held(own)
    assert waits_s == [0.01, 0.01, None]
    # In virtual time only waits are held.
    played.hold()
    program.waits = SimpleNamespace()  # type: ignore[assignment]
    program.wait_while_held(own, pump)
    assert len(pumped) == 3


class Sleeping:
    """A program whose waits pass the time that they last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_ns = 10**15
        self.program = Program("sleeps", lambda: self.now_ns)
        self.waits_s: list[float | None] = []
        monkeypatch.setattr(module, "_wait", self._wait)

    def _wait(self, _woken: object, seconds: float | None) -> None:
        self.waits_s.append(seconds)
        assert len(self.waits_s) < 9
        if self.program.own_clock.is_held:
            if len(self.waits_s) > 2:
                self.program.resume(self.program.own_clock)
        else:
            assert seconds is not None
            self.now_ns += round(seconds * 1e9)


@pytest.mark.parametrize("has_pump", [True, False])
def test_that_a_thread_sleeps_by_its_clock_and_keeps_its_window_alive(
    monkeypatch: pytest.MonkeyPatch, *, has_pump: bool
) -> None:
    sleeping = Sleeping(monkeypatch)
    program, own = sleeping.program, sleeping.program.own_clock
    pumped: list[int] = []
    program.keep_alive = (lambda: pumped.append(1)) if has_pump else None
    local_ns = own.local_ns()
    program.sleep_until(own, local_ns)
    assert sleeping.waits_s == []
    program.sleep_until(own, local_ns + 5 * MS)
    assert sleeping.waits_s == [0.005]
    program.pause(own)
    program.sleep_until(own, local_ns + 7 * MS)

    held_s = module.PUMP_S if has_pump else None
    assert sleeping.waits_s == [0.005, held_s, held_s, 0.002]
    assert len(pumped) == (2 if has_pump else 0)
    # A pump of its own is used in its place.
    program.pause(own)
    own_pumped: list[int] = []
    sleeping.waits_s[:] = [None]
    program.sleep_until(own, local_ns + 8 * MS, lambda: own_pumped.append(1))
    assert len(own_pumped) == 2
    assert len(pumped) == (2 if has_pump else 0)


def test_that_a_sleep_in_virtual_time_goes_on_in_the_machines_where_that_ends(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sleeping = Sleeping(monkeypatch)
    program, own = sleeping.program, sleeping.program.own_clock
    due_ns = own.local_ns() + 5 * MS
    asked: list[int] = []
    answers = [True]

    def sleep(_clock: object, local_ns: int) -> bool:
        asked.append(local_ns - due_ns)
        if not answers[0]:
            program.waits = None
        return answers[0]

    waits: Any = SimpleNamespace(spares_me=False, rounding_ns=3, sleep=sleep)
    program.waits = waits
    program.sleep_until(own, due_ns)
    assert (asked, sleeping.waits_s) == ([3], [])
    waits.spares_me = True
    program.sleep_until(own, due_ns)
    assert (asked, sleeping.waits_s) == ([3], [0.005])
    waits.spares_me = False
    # Something has woken it, which was no reason to go on.
    woken = [False, True]
    waits.sleep = lambda *_: woken.pop(0)
    program.sleep_until(own, due_ns + 2 * MS)
    assert (woken, sleeping.waits_s) == ([], [0.005])
    waits.sleep, answers[0] = sleep, False
    program.sleep_until(own, due_ns + 2 * MS)
    assert len(asked) == 2
    assert sleeping.waits_s == [0.005, 0.002]


def test_that_pauses_and_resumes_of_the_program_end_its_steps(played: Played) -> None:
    program, own = played.program, played.program.own_clock
    loop = program.clock("loop")
    for change in (program.pause, program.resume):
        played.hold()
        program.clocks.step_to(own, own.local_ns() + 5)
        program._frames_left = 2
        change(loop)
        assert (program._frames_left, program.clocks.step_ends_ns is None) == (2, False)
        change(own)
        assert (program._frames_left, program.clocks.step_ends_ns) == (0, None)


def test_that_changes_of_the_programs_clock_are_counted_and_told_to_adapters_below(
    played: Played,
) -> None:
    program = played.program
    changed: list[str] = []
    adapter = Noting(program)
    adapter.changed = lambda clock: changed.append(clock.name)  # type: ignore[method-assign]
    loop = program.clock("loop", adapter=adapter)
    program.clock("plain")
    woken: list[int] = []
    program._woken = SimpleNamespace(  # type: ignore[assignment]
        notify_all=lambda: woken.append(program.holds)
    )
    holds = program.holds
    program.pause(loop)
    assert (program.holds, changed) == (holds, ["loop"])
    played.hold()
    played.set_rate(5)
    assert (program.holds, changed) == (holds + 2, ["loop"] * 3)
    # All that sleep by a clock look again.
    assert woken == [holds, holds + 1, holds + 2]


def test_that_a_timer_that_has_fired_is_not_kept(played: Played) -> None:
    program = played.program
    timer = program.timer(program.clock("loop"), "tick", 0, 5)
    timer.fired(0)

    assert (program.timers, program._objects) == ({}, {})
