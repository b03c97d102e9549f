"""What becomes of a loop of asyncio when it is followed, in time that the test sets."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from inspector.probe.adapters.asyncio import AsyncioAdapter, LoopHooks
from inspector.probe.kinds import RATE_DENOMINATOR as D
from tests.probe.adapters.played import Played

MS = 1_000_000


class OwnLoop(asyncio.SelectorEventLoop):
    """A loop with a time of its own."""

    def time(self) -> float:
        return 7.0


@pytest.fixture
def played() -> Played:
    found = Played(10**15)
    found.now_ns += 5 * MS
    return found


def followed(played: Played, loop: Any) -> tuple[AsyncioAdapter, LoopHooks]:  # noqa: ANN401
    adapter = AsyncioAdapter(played.program)
    base: Any = sys.modules["asyncio.base_events"]
    adapter.learn(base)
    hooks = LoopHooks(adapter, loop, "loop")
    adapter._loops[loop] = hooks
    adapter._by_clock[hooks.clock.number] = hooks
    return adapter, hooks


@pytest.fixture(params=[asyncio.SelectorEventLoop, OwnLoop])
def loop(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[asyncio.SelectorEventLoop]:
    found = request.param()
    with monkeypatch.context() as patch:
        # What the machine's time is.
        patch.setattr(time, "monotonic", lambda: 7.0)
        yield found
    found.close()


def test_that_timers_from_before_keep_what_is_left_of_them(
    played: Played, loop: asyncio.SelectorEventLoop
) -> None:
    handles = [loop.call_later(delay_s, print) for delay_s in (1, 10)]
    _, hooks = followed(played, loop)
    for _ in range(2):
        hooks.install()

    assert [handle.when() - loop.time() for handle in handles] == [1, 10]
    list(hooks.described())
    dues_ns = sorted(due_ns for *_, due_ns, _ in played.program.timers.values())
    assert dues_ns == pytest.approx([1_005 * MS, 10_005 * MS], abs=MS)


def test_that_a_loop_reads_local_time_unless_it_has_its_own(
    played: Played, loop: asyncio.SelectorEventLoop
) -> None:
    adapter, hooks = followed(played, loop)
    hooks.install()
    is_own = isinstance(loop, OwnLoop)
    played.set_rate(D // 2)
    played.now_ns += 10 * MS
    expected_s = 7.0 if is_own else 10**6 + 0.01

    assert loop.time() == pytest.approx(expected_s, abs=1e-9)
    refused = adapter.capabilities(hooks.clock)
    assert set(refused.values()) == (
        {"This event loop has a time of its own."} if is_own else set()
    )
    assert set(refused) == ({"pause", "rate", "step_timer", "step_time"} if is_own else set())
    assert adapter.capabilities(played.program.own_clock) == {}


def test_that_a_loop_that_is_closed_has_no_clock(
    played: Played, loop: asyncio.SelectorEventLoop
) -> None:
    adapter, hooks = followed(played, loop)
    hooks.install()
    for _ in range(2):
        adapter.closed(loop)

    assert hooks.clock.is_removed
    assert adapter.task_loops() == []
    assert list(adapter.keyframe(hooks.clock)) == []
    assert adapter.running_task(hooks.clock) is None
    called: list[str] = []
    adapter.call_soon(hooks.clock, lambda: called.append("at once"))
    assert called == ["at once"]
