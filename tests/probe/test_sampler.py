"""What the probe sees of loops that are busy for too long."""

from __future__ import annotations

import sys
from os.path import sep
from typing import TYPE_CHECKING

import pytest

from inspector.analysis.lateness.samples import SAMPLE_KINDS, Samples
from inspector.probe.kinds import TIMER_FIRED
from tests.interpreters import VERSIONS, interpreter
from tests.probe.receiver import Receiver, attached

if TYPE_CHECKING:
    from inspector.analysis.lateness.samples import Sample

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")

_BLOCKED = """
import asyncio, re, time
def crunch(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
async def rebuild():
    await asyncio.sleep(0.3)
    crunch(0.2)
    time.sleep(0.15)
    re.match("(a+)+b", "a" * 22)
    await asyncio.sleep(30)
async def main():
    await asyncio.gather(rebuild(), asyncio.sleep(0.31))
asyncio.run(main())
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
    found.take(receiver.events)
    return [each for mine in found.by_clock.values() for each in mine if each.is_look]


def of_function(seen: list[Sample], name: str) -> list[Sample]:
    return [each for each in seen if any(place.endswith(f" in {name}") for place in each.stack)]


@on_linux
@pytest.mark.parametrize("version", VERSIONS)
def test_that_a_long_turn_is_sampled_with_its_task_its_stack_and_its_times(version: str) -> None:
    with attached(_BLOCKED, python=interpreter(version)) as (receiver, _):
        receiver.wait_for(
            lambda: [e for e in receiver.events if e[1] == TIMER_FIRED and e[3] > 300_000_000]
        )
        receiver.listen(0.2)
    seen = samples(receiver)
    assert {each.name for each in seen} == {"rebuild"}
    computing = of_function(seen, "crunch")
    assert computing
    assert any(each.executed_ns for each in computing)
    sleeping = [each for each in seen if each.stack[-1].endswith(" in time.sleep")]
    assert all(each.waits for each in sleeping)
    # The interpreter was not free during the search: where it was is known from the moment after,
    # unless the machine was too busy to look then.
    searching = [each for each in seen if f"{sep}re" in each.stack[-1]]
    assert all(each.stack[-2].endswith(" in rebuild") for each in searching)


def test_that_a_program_whose_turns_are_short_is_not_sampled() -> None:
    with attached(_HEALTHY) as (receiver, _):
        receiver.wait_for(lambda: receiver.firings()["sleep in main"] > 20)
    assert not samples(receiver)


@on_linux
def test_that_samples_of_which_events_are_missing_have_no_stack() -> None:
    with attached(_BLOCKED) as (receiver, _):
        receiver.wait_for(lambda: len(samples(receiver)) > 12)
    events = [event for event in receiver.events if event[1] in SAMPLE_KINDS]
    whole, torn = Samples(receiver.texts), Samples(receiver.texts)
    whole.take(events)
    place = len(events) // 2
    torn.take([*events[:place], *events[place + 4 :]])
    (sampled,) = whole.by_clock
    known = {each.at_ns: each.stack for each in whole.by_clock[sampled]}
    assert all(each.stack in {(), known[each.at_ns]} for each in torn.by_clock[sampled])
    assert [each for each in torn.by_clock[sampled] if each.is_look and not each.stack]
