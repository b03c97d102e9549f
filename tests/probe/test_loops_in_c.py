"""Where loops that wait in C are seen to wait."""

# ruff: noqa: ANN401 - stand-ins are no frames

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from inspector.probe import loops_in_c as module
from inspector.probe.loops_in_c import LoopsInC
from inspector.probe.stacks import Runner

MS = 1_000_000


def frame(name: str, place: int, outer: Any = None) -> Any:
    code = SimpleNamespace(co_name=name, co_names=(name,))
    return SimpleNamespace(f_code=code, f_lasti=place, f_back=outer)


class Seen:
    """The loop of a program, whose next timer is due at ``due_ms``."""

    due_ms: int | None = 50

    def __init__(self) -> None:
        program: Any = SimpleNamespace(
            first_due_ns=lambda _clock: None if self.due_ms is None else self.due_ms * MS
        )
        clock: Any = SimpleNamespace(local_ns=lambda: 100 * MS)
        self.loops = LoopsInC(program, clock)

    def idle(self, *frames: Any) -> list[bool]:
        return [self.loops.is_idle(each) for each in frames]


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Seen:
    monkeypatch.setattr(module, "called_names", lambda code, _place: frozenset((code.co_name,)))
    return Seen()


MAIN = frame("exec", 5)
CALLBACK = frame("ask", 3, MAIN)
DIALOG = frame("exec_", 7, CALLBACK)


def test_that_a_loop_that_is_seen_before_it_begins_waits_where_it_runs(seen: Seen) -> None:
    before = frame("setup", 1)

    assert seen.idle(before, MAIN, before, MAIN, CALLBACK) == [True, True, False, True, False]


def test_that_a_dialog_that_calls_what_is_due_is_a_loop(seen: Seen) -> None:
    assert seen.idle(MAIN, DIALOG) == [True, False]
    # It has called the timer.
    seen.due_ms = 80
    assert seen.idle(DIALOG) == [True]
    # What is due late then is not late because of it.
    assert seen.idle(DIALOG, frame("crunch", 2, DIALOG), DIALOG) == [True, False, True]
    assert seen.idle(CALLBACK, DIALOG, MAIN) == [False, False, True]


@pytest.mark.parametrize(("due_ms", "is_idle"), [(None, True), (91, True), (90, False)])
def test_that_nothing_waits_for_a_call_by_the_name_of_a_loop_while_nothing_is_due(
    seen: Seen, due_ms: int | None, *, is_idle: bool
) -> None:
    seen.due_ms = due_ms

    assert seen.idle(MAIN, DIALOG, DIALOG) == [True, is_idle, is_idle]


def test_that_a_stack_without_a_call_of_the_loop_tells_nothing(seen: Seen) -> None:
    runner = Runner()
    stack: Any = [(MAIN.f_code, 1)]
    assert not seen.loops.is_all(stack, runner)
    seen.idle(MAIN)
    assert not seen.loops.is_all([], runner)
    # What it called has only just been entered, or is over.
    assert seen.loops.is_all(stack, runner)
    runner.place = MAIN.f_code, 5
    assert seen.loops.is_all(stack, runner)
    runner.place = MAIN.f_code, 6
    assert not seen.loops.is_all(stack, runner)
    assert not seen.loops.is_all([*stack, (CALLBACK.f_code, 3)], runner)
