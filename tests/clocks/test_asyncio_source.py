"""The time source on an asyncio loop: on a played loop, and a few times on a real one."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any, cast

import pytest

from inspector.clocks import ClockTree, Transport
from inspector.clocks.sources.asyncio_source import AsyncioTimeSource

MS = 1_000_000
SECOND = 1_000_000_000


class PlayedHandle:
    """What a played loop gives out."""

    def __init__(self, at_s: float, callback: Callable[[], None]) -> None:
        self.at_s = at_s
        self.callback = callback
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class PlayedLoop:
    """A loop whose time moves when told; ``early_s`` is how much too early it calls."""

    def __init__(self) -> None:
        self.now_s = 1_000.0
        self.early_s = 0.0
        self.handles: list[PlayedHandle] = []

    def time(self) -> float:
        return self.now_s

    def call_at(self, at_s: float, callback: Callable[[], None]) -> PlayedHandle:
        handle = PlayedHandle(at_s, callback)
        self.handles.append(handle)
        return handle

    def pass_s(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while live := [h for h in self.live() if h.at_s - self.early_s <= end_s]:
            first = min(live, key=lambda handle: handle.at_s)
            self.handles.remove(first)
            self.now_s = max(self.now_s, first.at_s - self.early_s)
            first.callback()
            self.early_s = 0.0
        self.now_s = end_s

    def live(self) -> list[PlayedHandle]:
        return [handle for handle in self.handles if not handle.is_cancelled]

    def source(self) -> AsyncioTimeSource:
        return AsyncioTimeSource(cast("asyncio.AbstractEventLoop", self))


@pytest.fixture
def loop() -> PlayedLoop:
    return PlayedLoop()


def woken(source: AsyncioTimeSource) -> list[int]:
    """Return a list that takes the instant of every wake-up."""
    instants: list[int] = []
    source.attach(lambda: instants.append(source.now_ns()))
    return instants


def test_that_it_begins_at_zero(loop: PlayedLoop) -> None:
    source = loop.source()

    loop.pass_s(0.5)

    assert source.now_ns() == SECOND // 2


def test_that_it_wakes_once_at_or_just_after_the_instant_asked_for(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(3 * MS)

    loop.pass_s(1)

    assert [instant // 100 for instant in instants] == [3 * MS // 100]
    assert instants[0] >= 3 * MS


def test_that_it_wakes_again_when_asked_after_a_wake_up(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(3 * MS)
    loop.pass_s(1)
    source.set_wake(2 * SECOND)

    loop.pass_s(2)

    assert len(instants) == 2
    assert instants[1] >= 2 * SECOND


def test_that_an_early_call_wakes_no_client(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    loop.early_s = 0.001
    source.set_wake(3 * MS)

    loop.pass_s(1)

    assert source.wakes == 2
    assert len(instants) == 1
    assert instants[0] >= 3 * MS


def test_that_an_earlier_instant_is_armed_anew(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(8 * MS)
    source.set_wake(2 * MS)

    loop.pass_s(1)

    assert len(instants) == 1
    assert 2 * MS <= instants[0] < 3 * MS


def test_that_a_later_instant_leaves_the_call_as_it_is(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(2 * MS)
    source.set_wake(8 * MS)

    assert len(loop.handles) == 1
    loop.pass_s(1)
    assert source.wakes == 2
    assert [instant // MS for instant in instants] == [8]


def test_that_asking_for_nothing_leaves_nothing_in_the_loop(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(2 * MS)

    source.set_wake(None)

    assert loop.live() == []
    loop.pass_s(1)
    assert instants == []


def test_that_instants_asked_for_inside_a_wake_up_are_armed_once(loop: PlayedLoop) -> None:
    source = loop.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns() // MS)
        if len(instants) == 1:
            source.set_wake(9 * MS)
            source.set_wake(5 * MS)

    source.attach(wake)
    source.set_wake(0)
    loop.pass_s(0.001)

    assert len(loop.handles) == 1
    loop.pass_s(1)
    assert instants == [0, 5]


def test_that_what_a_wake_up_raises_does_not_stop_the_source(loop: PlayedLoop) -> None:
    source = loop.source()
    instants: list[int] = []

    def wake() -> None:
        instants.append(source.now_ns() // MS)
        source.set_wake(5 * MS)
        if len(instants) == 1:
            message = "on purpose"
            raise ValueError(message)
        source.set_wake(None)

    source.attach(wake)
    source.set_wake(MS)

    with pytest.raises(ValueError, match="on purpose"):
        loop.pass_s(1)
    loop.pass_s(1)

    assert instants == [1, 5]


def test_that_nothing_is_called_after_close(loop: PlayedLoop) -> None:
    source = loop.source()
    instants = woken(source)
    source.set_wake(MS)

    source.close()
    source.set_wake(2 * MS)

    assert loop.live() == []
    assert instants == []


def test_that_closing_inside_a_wake_up_arms_nothing(loop: PlayedLoop) -> None:
    source = loop.source()

    def wake() -> None:
        source.set_wake(5 * MS)
        source.close()
        source.set_wake(6 * MS)

    source.attach(wake)
    source.set_wake(MS)

    loop.pass_s(0.001001)

    assert source.wakes == 1
    assert loop.live() == []


def test_that_errors_are_measured_anew_when_a_wake_up_asks_for_it(loop: PlayedLoop) -> None:
    source = loop.source()
    source.attach(source.restart_measurement)
    source.set_wake(MS)

    loop.pass_s(0.01)

    assert source.wakes
    assert source.wake_errors is None


def test_that_the_error_is_measured_and_asking_late_is_none(loop: PlayedLoop) -> None:
    source = loop.source()
    woken(source)
    loop.pass_s(1)
    source.set_wake(0)

    loop.pass_s(0.001)

    assert source.wake_errors is not None
    assert source.wake_errors.max_ns < 1_000


@pytest.mark.parametrize(
    "use",
    [
        lambda source: source.set_wake(0),
        lambda source: source.attach(print),
        lambda source: source.close(),
    ],
)
def test_that_another_thread_is_told_whose_it_is(
    loop: PlayedLoop, use: Callable[[AsyncioTimeSource], None]
) -> None:
    source = loop.source()
    messages: list[str] = []

    def ask() -> None:
        with pytest.raises(RuntimeError) as caught:
            use(source)
        messages.append(str(caught.value))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert messages == [
        (
            "a time source belongs to the thread that made it; from another thread use "
            "loop.call_soon_threadsafe()"
        )
    ]


def test_that_without_a_running_loop_it_says_so() -> None:
    with pytest.raises(RuntimeError, match="no running event loop"):
        AsyncioTimeSource()


def test_that_a_real_loop_is_never_early() -> None:
    early_ns: list[int] = []

    async def run() -> None:
        source = AsyncioTimeSource()
        done = asyncio.Event()
        asked_ns = [0]

        def wake() -> None:
            early_ns.append(asked_ns[0] - source.now_ns())
            if len(early_ns) == 40:
                done.set()
                return
            asked_ns[0] = source.now_ns() + 317_123
            source.set_wake(asked_ns[0])

        source.attach(wake)
        source.set_wake(0)
        await done.wait()
        source.close()

    asyncio.run(run())

    assert max(early_ns) <= 0


def test_that_what_raises_on_a_real_loop_reaches_its_exception_handler() -> None:
    reports: list[dict[str, Any]] = []

    async def run() -> None:
        loop = asyncio.get_running_loop()
        source = AsyncioTimeSource(loop)
        done = asyncio.Event()
        fails = [True]

        def wake() -> None:
            if fails.pop():
                fails.append(False)
                source.set_wake(0)
                message = "on purpose"
                raise ValueError(message)
            done.set()

        loop.set_exception_handler(lambda _loop, context: reports.append(context))
        source.attach(wake)
        source.set_wake(0)
        await done.wait()

    asyncio.run(run())

    assert [str(report["exception"]) for report in reports] == ["on purpose"]


def test_that_a_clock_tree_runs_on_it() -> None:
    instants: list[int] = []

    async def run() -> None:
        source = AsyncioTimeSource()
        tree = ClockTree()
        transport = Transport(tree, source)
        done = asyncio.Event()
        tree.root.set_interval_ns(4 * MS, lambda: instants.append(tree.root.time_ns))
        tree.root.set_timeout_ns(18 * MS, done.set)
        transport.run()
        await done.wait()
        source.close()

    asyncio.run(run())

    # A busy machine returns late, and more may have been called by then.
    assert instants[:4] == [4 * MS, 8 * MS, 12 * MS, 16 * MS]


def test_that_importing_the_module_does_not_import_asyncio() -> None:
    program = (
        "import sys, inspector.clocks.sources.asyncio_source;"
        "sys.exit('asyncio was imported' if 'asyncio' in sys.modules else 0)"
    )

    subprocess.run([sys.executable, "-c", program], check=True)
