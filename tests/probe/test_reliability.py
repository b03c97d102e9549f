"""Floods, slow readers, forks, stopped processes, lost sockets: nothing is lost without a word."""

from __future__ import annotations

import os
import select
import signal
import socket
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from inspector.probe import link, sink, wire
from inspector.probe.kinds import (
    CLOCK_ADDED,
    CLOCK_PAUSED,
    MARK,
    TIMER_ADDED,
    TIMER_ARMED,
)
from inspector.probe.program import Program
from inspector.probe.sink import WINDOW_EVENTS, Sink
from tests.interpreters import interpreter
from tests.probe.receiver import (
    PATIENCE_S,
    TOKEN,
    Receiver,
    attached,
    dialled,
    inlet,
    program,
    unpacked_events,
)
from tests.probe.served import served
from tests.probe.test_asyncio import TICK, TICKS, own_clock, wait_for_ticks

if TYPE_CHECKING:
    from inspector.vocabulary import RawEvent

FLOOD = """
import sys, time
sys.stdin.readline()
program = timeline_probe.starting._program
emit = program.emit
for number in range(400_000):
    emit((time.monotonic_ns(), 49, 1, 0, number))
print("flooded", flush=True)
sys.stdin.readline()
"""


def marks_and_losses(receiver: Receiver) -> tuple[list[int], int]:
    numbers = [event[4] for event in receiver.events if event[1] == MARK]
    lost = sum(said["counts"].get(str(MARK), 0) for said in receiver.said("Events.lost"))
    return numbers, lost


def wait_for_all_marks(receiver: Receiver) -> None:
    def are_all_there() -> bool:
        numbers, lost = marks_and_losses(receiver)
        return len(numbers) + lost == 400_000

    while not are_all_there():
        receiver.listen(0.5)


def test_that_of_a_flood_every_event_arrives_or_is_counted() -> None:
    with attached(FLOOD) as (receiver, process):
        receiver.wait_until_complete()
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()

        assert process.stdout is not None
        wait_for_all_marks(receiver)

        numbers, _ = marks_and_losses(receiver)
        assert numbers == sorted(numbers)
        instants = [event[0] for event in receiver.events]
        assert instants == sorted(instants)


def test_that_a_slow_reader_never_blocks_the_program() -> None:
    with attached(FLOOD) as (receiver, process):
        receiver.wait_until_complete()
        receiver.reads = False
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        before_kb = peak_kb(process.pid)

        assert process.stdout.readline() == "flooded\n"

        assert peak_kb(process.pid) - before_kb < 50_000
        receiver.reads = True
        wait_for_keyframe_after_loss(receiver)
        wait_for_all_marks(receiver)
        assert marks_and_losses(receiver)[1] > 0


def test_that_an_idle_program_says_that_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "PING_NS", 1_000_000)
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.wait_for(lambda: receiver.heard_pings > 1)
        receiver.close()


@pytest.mark.parametrize("has_poll", [True, False])
@pytest.mark.skipif(not hasattr(select, "poll"), reason="has none to take away")
def test_that_what_is_ready_is_found_without_a_poll_of_the_system(
    monkeypatch: pytest.MonkeyPatch, *, has_poll: bool
) -> None:
    if not has_poll:
        monkeypatch.delattr(select, "poll")
    near, far = socket.socketpair()
    with near, far:
        waiting = link._Waiting()
        found = [waiting.wait([near], [far], -1), waiting.wait([near], [], 0)]
        far.send(b"a")
        found.append(waiting.wait([near], [near], 10))

    assert [set(each) for each in found] == [{far}, set(), {near}]


def wait_for_keyframe_after_loss(receiver: Receiver) -> None:
    def is_there() -> bool:
        methods = [each.get("method") for each in receiver.messages]
        if "Events.lost" not in methods:
            return False
        last = len(methods) - methods[::-1].index("Events.lost")
        return {"state": "complete"} in [each.get("params") for each in receiver.messages[last:]]

    receiver.wait_for(is_there)


def peak_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def test_that_what_waits_without_a_link_thread_is_bounded() -> None:
    waiting = Sink([""])

    for number in range(100_500):
        waiting.emit((number, MARK, 0, 0, 0))
    waiting.extend(((1, TIMER_ADDED, 1, 1, 0), (1, TIMER_ARMED, 1, 0, 0)))

    assert waiting.dropped == 502
    assert waiting.lost == {MARK: 500, TIMER_ADDED: 1, TIMER_ARMED: 1}


def test_that_events_stop_at_the_window_and_go_on_when_they_are_acknowledged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert WINDOW_EVENTS * wire.BYTES_PER_EVENT <= wire.WINDOW_BYTES
    window = 5 * wire.MAX_EVENTS // 2
    monkeypatch.setattr(sink, "WINDOW_EVENTS", window)
    waiting = Sink([""])
    sent = 0
    while not waiting.is_lossy:
        for number in range(1_500):
            waiting.emit((number, MARK, 0, 0, 0))
        sent += sum(map(len, waiting.taken()[1]))
        assert waiting.sent <= window

    assert waiting.sent == window
    assert sent <= window * wire.BYTES_PER_EVENT + 5 * (window // wire.MAX_EVENTS + 10)
    assert waiting.loss_to_report() is None
    waiting.acknowledge(10**9)
    lost = waiting.loss_to_report()
    assert lost is not None
    assert lost[str(MARK)] + waiting.sent == 1_500 * -(-window // 1_500)
    assert not waiting.is_lossy


def test_that_instants_never_decrease_though_threads_are_late() -> None:
    waiting = Sink([""])
    frames = []
    for batch in ([5, 9, 7], [6, 10], [3]):
        for at_ns in batch:
            waiting.emit((at_ns, MARK, 0, 0, 0))
        frames += waiting.taken()[1]

    events: list[RawEvent] = []
    for frame in frames:
        events += unpacked_events(frame[5:])
    assert [event[0] for event in events] == [5, 7, 9, 9, 10, 10]


def test_that_texts_go_before_the_events_that_use_them() -> None:
    inside = Program("x")
    waiting = Sink(inside.texts)
    inside.attach(waiting.emit, waiting.extend)
    inside.mark("é" * 100_000)

    messages, frames = waiting.taken()

    assert [each["params"]["first"] for each in messages] == [1]
    assert messages[0]["params"]["texts"][0] == "x"
    assert len(messages[0]["params"]["texts"][1].encode()) <= 512
    assert frames


def test_that_after_a_loss_pending_timers_are_described_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sink, "WINDOW_EVENTS", 2_000)
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.wait_until_complete()
        receiver.acknowledges = False
        inside = opened.program
        clock = inside.clock("loop")
        kept = [inside.timer(clock, "kept", 0, 10**18 + number) for number in range(300)]
        for _ in range(5):
            for _ in range(300):
                inside.timer(clock, "gone", 0, 10**18).cleared()
            receiver.listen(0.05)
        receiver.acknowledges = True
        receiver.acknowledge()

        wait_for_keyframe_after_loss(receiver)

        begun = [
            each["events_before"]
            for each in receiver.messages
            if each.get("params") == {"state": "begun"}
        ]
        described = [event[2] for event in receiver.events[begun[-1] :] if event[1] == TIMER_ADDED]
        assert described == [timer.number for timer in kept]
        receiver.close()


def test_that_children_dial_by_themselves_and_the_parent_goes_on() -> None:
    code = """
import asyncio, os, threading, time
for _ in range(4):
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
async def ticking():
    while True:
        await asyncio.sleep(0.02)
children = []
for _ in range(3):
    pid = os.fork()
    if pid == 0:
        asyncio.run(ticking())
asyncio.run(ticking())
"""
    with inlet() as opened, program(code, opened.address) as process:
        links = [opened.accepted() for _ in range(4)]
        try:
            parent = next(each for each in links if each.hello["pid"] == process.pid)
            children = [each for each in links if each is not parent]
            for each in links:
                while each.firings()["sleep in ticking"] < 3:
                    each.turn()

            assert len({each.hello["pid"] for each in links}) == 4
            assert {each.hello["parent_pid"] for each in children} == {process.pid}
            parent.ask("Clock.pause", clock=own_clock(parent))
            parent.listen(0.1)
            before = children[0].firings()["sleep in ticking"]
            children[0].wait_for(lambda: children[0].firings()["sleep in ticking"] > before + 3)
        finally:
            for each in links:
                os.kill(each.hello["pid"], signal.SIGKILL)
                each.close()


@pytest.mark.parametrize("version", ["3.12", "3.14"])
def test_that_a_fork_warns_of_no_thread_of_the_probe(version: str) -> None:
    code = """
import os, warnings
warnings.simplefilter("error")
for _ in range(6):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
print("forked", flush=True)
"""
    with inlet() as opened, program(code, opened.address, python=interpreter(version)) as process:
        for _ in range(7):
            opened.accepted()
        assert process.stdout is not None
        assert process.stdout.readline() == "forked\n"
        opened.hang_up()


def test_that_a_program_goes_on_when_the_socket_is_removed() -> None:
    with inlet() as opened, program(TICKS, opened.address) as process:
        receiver = opened.accepted()
        opened._path.unlink()

        wait_for_ticks(receiver, 5)
        assert process.poll() is None
        receiver.close()


def test_that_a_program_that_was_stopped_is_not_taken_for_a_silent_inspector() -> None:
    with attached(TICKS, silence_s=2) as (receiver, process):
        wait_for_ticks(receiver)
        receiver.ask("Clock.pause", clock=own_clock(receiver))
        os.kill(process.pid, signal.SIGSTOP)
        until = time.monotonic() + 2.6
        while time.monotonic() < until:
            receiver.turn(0.05)

        os.kill(process.pid, signal.SIGCONT)

        receiver.listen(0.5)
        assert receiver.ask("Program.grant") == {"grant": "full"}
        assert receiver.timeline().clocks[own_clock(receiver)].paused


def test_that_a_killed_program_closes_the_link() -> None:
    with attached(TICKS) as (receiver, process):
        wait_for_ticks(receiver)
        process.kill()

        receiver.wait_for(lambda: receiver.is_closed)


def test_that_a_program_that_ends_says_so_and_loses_nothing() -> None:
    code = """
import timeline_probe
for number in range(5000):
    timeline_probe.mark(f"number {number % 10}")
"""
    with attached(code) as (receiver, _):
        receiver.wait_for(lambda: receiver.is_closed)

        assert receiver.said("Link.bye") == [{"reason": "the program has ended"}]
        assert Counter(event[1] for event in receiver.events)[MARK] == 5000


def test_that_a_program_without_an_inspector_runs_as_ever() -> None:
    with program("print('ran', flush=True)", "unix:/nowhere/at/all") as process:
        out, errors = process.communicate(timeout=30)

    assert out == "ran\n"
    assert errors.startswith("timeline probe: not attached: unix:/nowhere/at/all: No such file")


def test_that_release_lets_everything_go_on_and_the_link_stays() -> None:
    with attached(TICKS) as (receiver, _):
        wait_for_ticks(receiver)
        receiver.ask("Clock.rate", clock=receiver.clocks()["asyncio loop"], rate_n=0)
        receiver.ask("Clock.pause", clock=own_clock(receiver))

        receiver.ask("Link.release")

        wait_for_ticks(receiver)
        assert all(clock.n == 720_720_000 for clock in receiver.timeline().clocks.values())


def test_that_a_program_held_from_the_start_fires_nothing_until_it_is_resumed() -> None:
    with attached(TICKS, options=", hold=True") as (receiver, _):
        receiver.wait_for(lambda: TICK in receiver.timer_names().values())
        receiver.listen(0.2)

        assert receiver.firings()[TICK] == 0
        kinds = [event[1] for event in receiver.events[:4]]
        assert kinds[0] == CLOCK_ADDED
        assert CLOCK_PAUSED in kinds
        receiver.ask("Clock.resume", clock=own_clock(receiver))
        wait_for_ticks(receiver)


def test_that_many_timers_are_described_in_slices(tmp_path: Path) -> None:
    code = f"""
import asyncio
server = timeline_probe.serve("unix:{tmp_path}/socket", token={TOKEN!r})
async def main():
    loop = asyncio.get_running_loop()
    for number in range(8_000):
        loop.call_later(1000 + number, print)
    print("set", flush=True)
    while True:
        await asyncio.sleep(0.001)
asyncio.run(main())
"""
    with program(code) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "set\n"
        receiver = dialled(f"unix:{tmp_path}/socket")
        receiver.wait_until_complete()

        assert sum(name == "print" for name in receiver.timer_names().values()) == 8_000
        states = [each["state"] for each in receiver.said("Events.keyframe")]
        assert states[0] == "begun"
        assert states[-1] == "complete"
        assert states.count("partial") > 2
        receiver.close()


def test_that_a_program_that_closes_what_it_does_not_know_is_left_alone(tmp_path: Path) -> None:
    code = f"""
import os, threading, time
calls = []
threading.setprofile(lambda *call: calls.append(call))
server = timeline_probe.serve("unix:{tmp_path}/socket", token={TOKEN!r})
os.closerange(3, 256)
time.sleep(0.2)
# A thread that finds its sockets closed at every turn calls thousands of functions.
print(0 < len(calls) < 200, flush=True)
"""
    with program(code) as process:
        assert process.communicate(timeout=PATIENCE_S) == ("True\n", "")


def test_that_marks_and_frames_of_a_plain_loop_are_seen_held_and_stepped() -> None:
    code = """
import sys, timeline_probe
count = 0
while True:
    timeline_probe.frame()
    count += 1
    if count % 3 == 0:
        timeline_probe.mark(f"third")
    for _ in range(2000):
        pass
"""
    with attached(code) as (receiver, _):
        receiver.wait_for(lambda: len(receiver.timeline().frames) > 5)
        top = own_clock(receiver)
        receiver.ask("Clock.pause", clock=top)
        receiver.listen(0.2)
        before = len(receiver.timeline().frames)
        receiver.listen(0.2)

        assert len(receiver.timeline().frames) == before
        told = len(receiver.said("Program.held"))
        receiver.ask("Program.step", frames=3)
        receiver.wait_until_held(told)
        receiver.listen(0.1)
        assert len(receiver.timeline().frames) == before + 3
        assert receiver.ask("Clock.rate", clock=receiver.clocks()["loop"], rate_n=1)["code"] == 5
        assert {mark.text for mark in receiver.timeline().marks} == {"third"}


def test_that_nothing_is_printed_by_a_thread_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("this is a fault")

    monkeypatch.setattr(link.Attachment, "_send_updates", failing)
    with served() as opened:
        receiver = dialled(opened.address)
        receiver.wait_for(lambda: receiver.is_closed)

        assert "this is a fault" in receiver.said("Link.bye")[0]["reason"]
        assert opened.program.emit is None


def test_that_a_probe_that_begins_again_is_not_woken_by_what_has_stopped_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with served() as opened:
        opened.link.stop()
        monkeypatch.setattr(opened.link, "_run", lambda: None)
        opened.link.start()

        assert select.select([opened.link._woken], [], [], 0)[0] == []
