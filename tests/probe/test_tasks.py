"""What the probe tells of the tasks of a program: who waits for whom, for what, since when."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from inspector.events.tasks import TaskState, task_tree
from inspector.vocabulary import TASKS_TOLD, TaskWait
from tests.interpreters import VERSIONS, interpreter
from tests.probe.adapters.libraries import python_with
from tests.probe.receiver import PROJECT, Receiver, attached

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.vocabulary import RawEvent

MS = 1_000_000

_SERVER = """
import asyncio, socket, sys, threading
go = threading.Event()
def work():
    go.wait()
async def sleeper():
    await asyncio.sleep(3600)
async def locked(lock):
    async with lock:
        pass
async def consumer(queue):
    await queue.get()
async def waiter(event):
    await event.wait()
async def reader():
    one, other = socket.socketpair()
    stream, _ = await asyncio.open_connection(sock=one)
    await stream.readline()
async def computing():
    await asyncio.get_running_loop().run_in_executor(None, work)
async def family():
    await asyncio.gather(sleeper(), reader())
async def shielding():
    await asyncio.shield(other())
async def other():
    await asyncio.sleep(3600)
async def main():
    lock, queue, event = asyncio.Lock(), asyncio.Queue(), asyncio.Event()
    await lock.acquire()
    parts = locked(lock), consumer(queue), waiter(event), computing(), family(), shielding()
    await asyncio.wait([asyncio.ensure_future(each) for each in parts])
def listen():
    sys.stdin.readline()
    go.set()
threading.Thread(target=listen, daemon=True).start()
asyncio.run(main())
"""


def told(receiver: Receiver) -> int:
    """How often the tasks have been told."""
    return sum(event[1] == TASKS_TOLD and event[3] > 0 for event in receiver.events)


def tasks(receiver: Receiver) -> dict[str, TaskState]:
    """The tasks that are known, by their names."""
    table = receiver.timeline().tasks
    return {receiver.texts[each.name]: each for each in table.by_id.values()}


def tree(receiver: Receiver) -> list[str]:
    """The tasks, indented below those that wait for them, and what they wait for."""
    table = receiver.timeline().tasks
    return [
        f"{'  ' * depth}{receiver.texts[task.name]}: {TaskWait(task.wait).text}"
        for task, depth in task_tree(table.by_id.values())
    ]


def all_wait(receiver: Receiver) -> bool:
    """Whether no task was seen before it came to its wait."""
    before = {TaskWait.READY, TaskWait.RUNNING}
    return before.isdisjoint(each.wait for each in receiver.timeline().tasks.by_id.values())


def watch(receiver: Receiver, is_there: Callable[[], bool], every_ms: int = 20) -> None:
    assert receiver.ask("Program.tasks", every_ns=every_ms * MS) == {}
    receiver.wait_for(lambda: told(receiver) and is_there())


@pytest.mark.parametrize("version", VERSIONS)
def test_that_who_waits_for_whom_is_a_tree_with_what_each_waits_for(version: str) -> None:
    with attached(_SERVER, python=interpreter(version)) as (receiver, _):
        watch(receiver, lambda: len(tasks(receiver)) == 10 and all_wait(receiver))
        found = tree(receiver)
        line = receiver.texts[tasks(receiver)["consumer"].line]
        what = receiver.texts[tasks(receiver)["consumer"].what]
    assert found[0] == "main: task"
    assert sorted(each for each in found[1:] if not each.startswith("    ")) == [
        "  computing: thread",
        "  consumer: queue",
        "  family: task",
        "  locked: lock",
        "  shielding: task",
        "  waiter: event",
    ]
    assert found[found.index("  shielding: task") + 1] == "    other: timer"
    below = found.index("  family: task")
    assert sorted(found[below + 1 : below + 3]) == ["    reader: socket", "    sleeper: timer"]
    assert line.endswith(" in consumer")
    assert what == "Queue.get"


_TRIO = """
import threading, trio
async def sleeper():
    await trio.sleep(3600)
async def locked(lock):
    async with lock:
        pass
async def consumer(channel):
    await channel.receive()
async def waiter(event):
    await event.wait()
async def reader():
    one, other = trio.socket.socketpair()
    await one.recv(1)
async def computing():
    await trio.to_thread.run_sync(threading.Event().wait, abandon_on_cancel=True)
async def family():
    async with trio.open_nursery() as nursery:
        nursery.start_soon(sleeper)
        nursery.start_soon(reader)
async def main():
    lock, event = trio.Lock(), trio.Event()
    send, receive = trio.open_memory_channel(0)
    await lock.acquire()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(locked, lock)
        nursery.start_soon(consumer, receive)
        nursery.start_soon(waiter, event)
        nursery.start_soon(computing)
        nursery.start_soon(family)
trio.run(main)
"""


def test_that_tasks_of_trio_are_below_the_nursery_that_waits_for_them() -> None:
    with attached(_TRIO, python=python_with("trio")) as (receiver, _):
        watch(
            receiver,
            lambda: sum("__main__" in name for name in tasks(receiver)) == 8 and all_wait(receiver),
        )
        found = [each.replace("__main__.", "") for each in tree(receiver) if "__main__" in each]
    assert found[0].strip() == "main: task"
    inner = found[0].index("main") + 2
    assert sorted(each.strip() for each in found if each.startswith(" " * inner)) == [
        "computing: thread",
        "consumer: queue",
        "family: task",
        "locked: lock",
        "reader: socket",
        "sleeper: timer",
        "waiter: event",
    ]
    below = found.index(" " * inner + "family: task")
    names = {each.strip() for each in found[below + 1 : below + 3]}
    assert names == {"reader: socket", "sleeper: timer"}


def test_that_tasks_of_uvloop_are_those_of_asyncio() -> None:
    code = _SERVER.replace("asyncio.run", "import uvloop; uvloop.install(); asyncio.run")
    with attached(code, python=python_with("uvloop")) as (receiver, _):
        watch(receiver, lambda: len(tasks(receiver)) == 10 and all_wait(receiver))
        found = tree(receiver)
        is_exact = tasks(receiver)["sleeper"].is_since_exact
    assert found[0] == "main: task"
    assert {"  computing: thread", "  locked: lock", "    sleeper: timer"} <= set(found)
    assert is_exact


_BLOCKED = """
import asyncio, time
async def poll():
    while True:
        await asyncio.sleep(0.05)
async def rebuild():
    await asyncio.sleep(0.3)
    time.sleep(3600)
async def main():
    await asyncio.gather(poll(), rebuild())
asyncio.run(main())
"""


def test_that_a_sleep_that_is_over_waits_for_the_loop_that_is_blocked() -> None:
    with attached(_BLOCKED) as (receiver, _):
        watch(
            receiver,
            lambda: (
                tree(receiver)[1:]
                in (
                    ["  poll: ready", "  rebuild: running"],
                    ["  rebuild: running", "  poll: ready"],
                )
            ),
        )


_CHANGING = """
import asyncio, sys, threading
async def short():
    await asyncio.sleep(0.2)
async def child(gate):
    await gate.wait()
async def main():
    gate, loop = asyncio.Event(), asyncio.get_running_loop()
    def listen():
        sys.stdin.readline()
        loop.call_soon_threadsafe(gate.set)
    threading.Thread(target=listen, daemon=True).start()
    first = asyncio.ensure_future(child(gate))
    while not gate.is_set():
        await asyncio.create_task(short())
    print("create_task" in vars(loop), flush=True)
    await asyncio.sleep(3600)
asyncio.run(main())
"""


def test_that_tasks_that_come_and_end_are_told_with_where_they_were_created() -> None:
    with attached(_CHANGING) as (receiver, process):

        def short() -> TaskState | None:
            found = tasks(receiver).get("short")
            return found if found is not None and found.created else None

        watch(receiver, lambda: short() is not None)
        first = short()
        receiver.wait_for(lambda: (now := short()) is not None and now != first)
        # The one before has ended: there are never two.
        assert [receiver.texts[each.name] for each in known(receiver)].count("short") == 1
        assert receiver.ask("Program.tasks", every_ns=0) == {}
        receiver.wait_for(lambda: any(event[1:4:2] == (TASKS_TOLD, 0) for event in news(receiver)))
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        # Nothing is left in the program.
        assert process.stdout.readline() == "False\n"
        assert known(receiver) == []
    assert first is not None
    assert receiver.texts[first.created].endswith(" in main")
    assert receiver.texts[first.defined].endswith(" in short")
    assert first.wait == TaskWait.TIMER
    assert first.is_since_exact


def test_that_tasks_are_told_while_the_program_is_held() -> None:
    with attached(_SERVER) as (receiver, _):
        watch(receiver, lambda: len(tasks(receiver)) == 10)
        receiver.ask("Clock.pause", clock=1)
        receiver.wait_until_held()
        before, at_ns = told(receiver), receiver.events[-1][0]
        receiver.wait_for(lambda: told(receiver) > before + 3)
        assert receiver.events[-1][0] > at_ns + 40 * MS


def news(receiver: Receiver) -> list[RawEvent]:
    """The events after those that told tasks last."""
    last = max(i for i, each in enumerate(receiver.events) if each[1] == TASKS_TOLD and each[3])
    return receiver.events[last:]


def known(receiver: Receiver) -> list[TaskState]:
    return list(receiver.timeline().tasks.by_id.values())


_READ = """
import asyncio, sys, time
from inspector.probe.program import Program
from inspector.probe.adapters.asyncio import AsyncioAdapter
from inspector.probe import tasks
async def one():
    await asyncio.sleep(3600)
async def main():
    jobs = [asyncio.ensure_future(one()) for _ in range(4_000)]
    await asyncio.sleep(0)
    program = Program("many")
    adapter = program.adapters["asyncio"] = AsyncioAdapter(program)
    adapter.installed(asyncio.base_events)
    adapter.state = "active"
    adapter.found(asyncio.get_running_loop())
    told = []
    program.attach(told.append, told.extend)
    reporter = tasks.TaskReporter(program)
    reporter.ask(1)
    spent = []
    while not any(event[1] == tasks.TASKS_TOLD and event[3] for event in told):
        reporter._next_ns = 0
        began_ns = time.thread_time_ns()
        reporter.turn()
        spent.append(time.thread_time_ns() - began_ns)
    print(len(spent), sorted(spent)[len(spent) * 95 // 100], told[-1][3])
    for job in jobs:
        job.cancel()
asyncio.run(main())
"""


def test_that_thousands_of_tasks_are_told_in_slices_of_four_milliseconds() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _READ], capture_output=True, check=True, text=True, cwd=PROJECT
    )
    slices, long_ns, count = map(int, done.stdout.split())
    assert count == 4_001
    assert slices > 10
    # Of processor time; the longest may have collected the garbage of all these tasks.
    assert long_ns < 4 * MS
