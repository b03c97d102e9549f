"""The cost of following the loops of asyncio, measured on a loop beside one without hooks."""

from __future__ import annotations

import sys
from functools import partial
from time import thread_time_ns

from ..cost import MEASURED_CALLS, took_ns
from ..kinds import FRAME_BEGAN, TIMER_ADDED, TIMER_ARMED, TIMER_CLEARED, TIMER_FIRED

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

#: The short waits of at least one task in this many are followed.
MOST_LEFT_OUT = 1_000
#: Sleeps by which their cost is measured: seconds, number of tasks and of rounds.
_SLEEP_S, _TASKS, _ROUNDS = 1e-4, 40, 8


def measured_costs(
    thin_out: Callable[[int], object], loop: Any, plain: Any, one_of: int
) -> dict[int, float]:
    """Return what the hooks of a loop add to one without, by the kind of the event.

    If one in ``one_of`` tasks is followed, the cost of the others is added to its events.
    """

    def callback(*_: object) -> None:
        pass

    def added_ns(use: Callable[[Any], Callable[[], object]]) -> float:
        return max(took_ns(use(loop)) - took_ns(use(plain)), 0.0)

    def setting(each: Any) -> Callable[[], object]:
        return partial(each.call_later, 1_000, callback)

    def using(name: str) -> Callable[[Any], Callable[[], object]]:
        def use(each: Any) -> Callable[[], object]:
            handles = iter([each.call_later(1_000, callback) for _ in range(MEASURED_CALLS)])
            return lambda: getattr(next(handles), name)()  # noqa: PLW0108 - another each time

        return use

    set_ns, run_ns, cancel_ns = (
        added_ns(setting),
        added_ns(using("_run")),
        added_ns(using("cancel")),
    )
    slept = [(_sleep_ns(loop), _sleep_ns(plain)) for _ in range(_ROUNDS)]
    # The quickest of each: what else runs on the machine only adds.
    sleep_ns, plain_ns = (min(each) for each in zip(*slept))
    armed_ns = max(sleep_ns - plain_ns - run_ns, 0.0)
    if one_of > 1:
        thin_out(MOST_LEFT_OUT)
        left_out_ns = min(_sleep_ns(loop) for _ in range(_ROUNDS))
        armed_ns += (one_of - 1) * max(left_out_ns - plain_ns, 0.0)
    turn_ns = added_ns(lambda each: partial(each._selector.select, 0))
    time_ns = added_ns(lambda each: each.time)
    return {
        # A new timer is added and armed; that of a task that sleeps again is only armed.
        TIMER_ADDED: max(set_ns - armed_ns, 0.0),
        TIMER_ARMED: armed_ns,
        TIMER_FIRED: run_ns,
        TIMER_CLEARED: cancel_ns,
        # A turn with a timer reads the time about three times.
        FRAME_BEGAN: turn_ns + 3 * time_ns,
    }


def _sleep_ns(loop: Any) -> float:
    """Return the processor time that a sleep takes where many tasks sleep again and again."""
    asyncio: Any = sys.modules["asyncio"]
    slept = 0

    async def sleeping() -> None:
        nonlocal slept
        while True:
            await asyncio.sleep(_SLEEP_S)
            slept += 1

    def turn(turns: int) -> float:
        before, began_ns = slept, thread_time_ns()
        for _ in range(turns):
            loop._run_once()
        return (thread_time_ns() - began_ns) / max(slept - before, 1)

    tasks = [loop.create_task(sleeping()) for _ in range(_TASKS)]
    # Running it would show it to the adapter of the program.
    asyncio.events._set_running_loop(loop)
    try:
        turn(6)
        return turn(10)
    finally:
        for task in tasks:
            task.cancel()
        # With nothing to do, it would wait for ever.
        loop.call_soon(turn, 0)
        turn(1)
        asyncio.events._set_running_loop(None)
