"""What the probe sees of loops that are busy for too long."""

from __future__ import annotations

import re
import subprocess
import sys
from os.path import sep
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from inspector.analysis.lateness.attribution import Cause, Culprit, attribute
from inspector.analysis.lateness.samples import SAMPLE_KINDS, Place, Samples
from inspector.vocabulary import COLLECTED
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import Receiver, attached

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.analysis.lateness.samples import Sample

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")

#: Computes, sleeps and searches in one turn, each until it is told to go on, the search for ever.
_BLOCKED = """
import asyncio, re, sys, threading, time
told = 0
def listen():
    global told
    for line in sys.stdin:
        told += 1
def crunch():
    while told < 1:
        pass
async def rebuild():
    await asyncio.sleep(0.01)
    crunch()
    while told < 2:
        time.sleep(0.1)
    while True:
        re.match("(a+)+b", "a" * 22)
threading.Thread(target=listen, daemon=True).start()
asyncio.run(rebuild())
"""

_HEALTHY = """
import asyncio
async def main():
    while True:
        await asyncio.sleep(0.01)
asyncio.run(main())
"""


def samples(receiver: Receiver) -> list[Sample]:
    found = Samples(receiver.texts)
    found.fold(receiver.events)
    return [each for mine in found.by_clock.values() for each in mine if each.is_look]


def is_asleep(sample: Sample) -> bool:
    return sample.stack[-1].endswith(" in time.sleep")


@on_linux
@pytest.mark.parametrize("version", VERSIONS)
def test_that_a_long_turn_is_sampled_with_its_task_its_stack_and_its_times(version: str) -> None:
    with attached(_BLOCKED, python=interpreter(version)) as (receiver, process):

        def seen_until(is_seen: Callable[[Sample], bool]) -> list[Sample]:
            """Let the program go on once it was seen so three times."""
            receiver.wait_for(lambda: sum(map(is_seen, samples(receiver))) >= 3)
            found = [each for each in samples(receiver) if is_seen(each)]
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
            return found

        computing = seen_until(lambda each: each.stack[-1].endswith(" in crunch"))
        sleeping = seen_until(is_asleep)
        # The interpreter is not free during a search: where it was is known from the moment after,
        # unless the machine was too busy to look then.
        receiver.listen(0.2)
    searching = [each for each in samples(receiver) if f"{sep}re" in each.stack[-1]]
    assert {each.name for each in samples(receiver)} == {"rebuild"}
    assert any(each.executed_ns for each in computing)
    assert not any(each.waits for each in computing)
    assert all(each.waits for each in sleeping)
    first = Place.of(computing[0].stack[-2])
    for further, seen in enumerate((computing, sleeping, searching)):
        place = Place(first.file, first.line + 2 * further, "rebuild", "async")
        assert all(Place.of(each.stack[-2]) == place for each in seen)


_CALLS = """
def ask(table, line, lock):
    table.get("k"); line.recv(1)
    table.get(1).join(lock.acquire())
    (table
        .get(1)
        .write(2))
    time.sleep(1)
    sleep(len(table))
"""


_ASK = f"""
import dis
from inspector.probe.stacks import called_names
code = compile({_CALLS!r}, "ask.py", "exec").co_consts[0]
for each in dis.get_instructions(code):
    if each.opname in {{"CALL", "CALL_KW", "CALL_FUNCTION", "CALL_METHOD"}}:
        print(*sorted(called_names(code, each.offset)))
"""


_ENTERS = """
import os, threading
from inspector.probe.stacks import stack_of, wait_of
class Shop:
    lock = threading.Lock()
    def sell(self):
        with open(os.devnull) as file, self.lock:
            return file
Shop.lock.acquire()
seller = threading.Thread(target=Shop().sell)
seller.start()
found = (False, "")
while not found[0]:
    stack, runner = stack_of(seller.ident, is_after=False)
    found = wait_of(runner) if stack and stack[-1][0].co_name == "sell" else (False, "")
print(found[1])
Shop.lock.release()
"""


@pytest.mark.parametrize("version", VERSIONS)
def test_that_a_with_statement_that_waits_is_named_after_its_lock(version: str) -> None:
    command = [interpreter(version), "-c", _ENTERS]
    assert subprocess.run(command, capture_output=True, check=True).stdout == b"lock.__enter__\n"


def called(python: str, *options: str) -> list[set[str]]:
    done = subprocess.run([python, *options, "-c", _ASK], capture_output=True, check=True)
    return [set(line.split()) for line in done.stdout.decode().splitlines()]


def test_that_what_an_instruction_calls_is_told_from_what_its_function_calls_elsewhere() -> None:
    names = ["get", "recv", "get", "acquire", "join", "get", "write", "sleep", "len", "sleep"]
    assert called(sys.executable) == [{name} for name in names]


@pytest.mark.parametrize("version", ["3.9", f"{sys.version_info[0]}.{sys.version_info[1]}"])
def test_that_without_columns_the_names_of_the_statement_count(version: str) -> None:
    sleep = called(interpreter(version), "-X", "no_debug_ranges")[7]
    assert sleep == {"sleep", "time"}


_COLLECTING = """
import asyncio, gc
kept = [[number] for number in range(60_000)]
def sweep():
    gc.collect()
async def main():
    while True:
        await asyncio.sleep(0.01)
        sweep()
        gc.collect
        more = [[number] for number in range(30_000)]
asyncio.run(main())
"""


@pytest.mark.parametrize("version", ["3.9", f"{sys.version_info[0]}.{sys.version_info[1]}"])
def test_that_a_collection_that_a_function_asks_for_is_told_with_its_line(version: str) -> None:
    with attached(_COLLECTING, python=interpreter(version)) as (receiver, _):
        receiver.wait_for(lambda: [e for e in receiver.events if e[1] == COLLECTED and e[4] >> 16])
        receiver.listen(0.2)

    lines = {event[4] >> 16 for event in receiver.events if event[1] == COLLECTED}
    sleeps = next(Place.of(text) for text in receiver.texts if re.search(r":\d+ in main", text))
    # 0 are those that Python has begun itself.
    assert lines - {0} == {sleeps.line - 3}


@pytest.mark.parametrize(
    "collect",
    [
        "_thread.start_new_thread(gc.collect, ())",
        "sys.modules.update(dis=None); gc.collect()",
    ],
)
def test_that_a_collection_whose_caller_cannot_be_told_is_told(collect: str) -> None:
    code = (
        "import _thread, gc, sys, time\n"
        "gc.disable()\n"
        "kept = [[number] for number in range(60_000)]\n"
        "while True:\n"
        f"    {collect}\n"
        "    time.sleep(0.02)\n"
    )
    with attached(code) as (receiver, process):
        receiver.wait_for(lambda: [event for event in receiver.events if event[1] == COLLECTED])
        process.kill()
        assert process.stderr is not None
        said = process.stderr.read()

    assert not said


@on_linux
def test_that_a_sleep_within_a_turn_is_a_blocking_call_with_its_line() -> None:
    with attached(_BLOCKED) as (receiver, process):
        receiver.wait_for(lambda: samples(receiver))
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        receiver.wait_for(lambda: sum(map(is_asleep, samples(receiver))) > 8)
    found = Samples(receiver.texts)
    found.fold(receiver.events)
    ((clock, mine),) = found.by_clock.items()
    sleeping = [each for each in mine if each.is_look and is_asleep(each)]
    computing = next(each for each in mine if each.is_look)
    place = Place.of(computing.stack[-2])

    lateness = attribute(found, [clock], 0, sleeping[0].at_ns, sleeping[-1].at_ns)

    assert lateness.main is not None
    assert (lateness.cause, lateness.main.culprit) == (
        Cause.BLOCKING_CALL,
        Culprit(structs.replace(place, line=place.line + 2), task="rebuild", what="time.sleep"),
    )


def test_that_a_program_whose_turns_are_short_is_not_sampled() -> None:
    with attached(_HEALTHY) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["sleep in main"] > 20)
    assert not samples(receiver)


@on_linux
def test_that_samples_of_which_events_are_missing_have_no_stack() -> None:
    with attached(_BLOCKED) as (receiver, process):
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        receiver.wait_for(lambda: len(samples(receiver)) > 12)
    events = [event for event in receiver.events if event[1] in SAMPLE_KINDS]
    whole, torn = Samples(receiver.texts), Samples(receiver.texts)
    whole.fold(events)
    place = len(events) // 2
    torn.fold([*events[:place], *events[place + 4 :]])
    (sampled,) = whole.by_clock
    known = {each.at_ns: each.stack for each in whole.by_clock[sampled]}
    assert all(each.stack in {(), known[each.at_ns]} for each in torn.by_clock[sampled])
    assert [each for each in torn.by_clock[sampled] if each.is_look and not each.stack]
