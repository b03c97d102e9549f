"""The inspector's own clocks in a program that drives them by a time source of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from time import monotonic
from types import ModuleType, SimpleNamespace
from typing import cast

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.probe.adapters.clock_tree import ClockTreeAdapter
from inspector.probe.program import Program
from inspector.vocabulary import CLOCK_PAUSED, CLOCK_RATE, TIMER_ADDED
from tests.probe.receiver import PATIENCE_S, TOKEN, Receiver, attached, inlet, program

_TREE = """
from inspector import ClockTree, Transport
def spawn(): pass
tree = ClockTree()
transport = Transport(tree, source)
transport.run()
enemies = tree.root.child("enemies", rate="1/2")
enemies.set_interval(0.01, spawn, name="spawn")
enemies.set_timeout(1000, spawn, name="boss")
"""
_SOURCES = {
    "system": f"""
from inspector import SystemTimeSource
source = SystemTimeSource()
{_TREE}
source.run()
""",
    "asyncio": f"""
import asyncio
from inspector import AsyncioTimeSource
loop = asyncio.new_event_loop()
source = AsyncioTimeSource(loop)
{_TREE}
loop.run_forever()
""",
    "qt": f"""
from PySide6.QtCore import QCoreApplication
from inspector.window_loader import load_ui
application = QCoreApplication([])
source = load_ui("session.qt_time_source").QtTimeSource()
{_TREE}
application.exec()
""",
}
_PARENTS = {"system": "Python time", "asyncio": "asyncio loop", "qt": "PySide6"}


@pytest.fixture(scope="module", autouse=True)
def _in_project() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(Path(__file__).parents[2])
        yield


@pytest.fixture(scope="module", params=_SOURCES)
def driven(request: pytest.FixtureRequest) -> Iterator[tuple[str, Receiver]]:
    """Return what drives a tree, and a receiver that is attached to its program."""
    with attached(_SOURCES[request.param]) as (receiver, _):
        receiver.wait_for(lambda: _fired(receiver) > 5)
        yield request.param, receiver


def _fired(receiver: Receiver) -> int:
    return receiver.firings()["spawn"]


def test_that_what_is_asked_of_a_tree_that_has_gone_is_done_at_once() -> None:
    program = Program("played")
    done: list[str] = []

    ClockTreeAdapter(program).call_soon(program.own_clock, lambda: done.append("asked"))

    assert done == ["asked"]


def test_that_what_is_asked_of_a_tree_is_done_when_it_runs() -> None:
    class Watched(Transport):
        """Has the hook, which other tests are to be without."""

    program = Program("played")
    program.attach(lambda _event: None, lambda _events: None)
    adapter = ClockTreeAdapter(program)
    adapter.installed(cast("ModuleType", SimpleNamespace(Transport=Watched)))
    source = ManualTimeSource()
    tree = ClockTree()
    Watched(tree, source).run()
    adapter.attached()
    *_, own = [each for each in program.clocks.by_number.values() if each.adapter is adapter]
    done: list[str] = []

    adapter.call_soon(own, lambda: done.append("asked"))
    assert done == []
    source.advance(1)
    assert done == ["asked"]


def test_that_the_clocks_and_timers_of_a_tree_are_seen_below_what_its_source_reads(
    driven: tuple[str, Receiver],
) -> None:
    source, receiver = driven
    clocks, parents = receiver.clocks(), receiver.parents()
    assert parents[clocks["enemies"]] == clocks["root"]
    assert parents[clocks["root"]] == clocks["clock tree"]
    assert parents[clocks["clock tree"]] == clocks[_PARENTS[source]]
    assert set(receiver.timer_names().values()) >= {"spawn", "boss"}
    timeline = receiver.timeline()
    enemies = timeline.clocks[clocks["enemies"]]
    assert enemies.rate_n * 2 == timeline.clocks[clocks["root"]].rate_n
    # A tick of 10 ms of its own time each; the source was read a little before.
    assert abs(_fired(receiver) - timeline.local_ns(clocks["enemies"]) // 10_000_000) <= 1


def test_that_a_held_program_holds_its_tree_and_lets_it_go_on_where_it_was(
    driven: tuple[str, Receiver],
) -> None:
    _, receiver = driven
    own = min(receiver.clocks().values())
    receiver.ask("Clock.pause", clock=own, cause=1)
    receiver.wait_until_held()
    receiver.listen(0.05)
    held = _fired(receiver)
    receiver.listen(0.3)
    assert _fired(receiver) == held
    receiver.ask("Clock.resume", clock=own, cause=2)
    receiver.wait_for(lambda: _fired(receiver) > held)
    timeline = receiver.timeline()
    enemies = receiver.clocks()["enemies"]
    assert _fired(receiver) <= timeline.local_ns(enemies) // 10_000_000 + 1


def test_that_a_clock_of_a_tree_follows_the_inspector_and_then_its_program_again() -> None:
    code = _SOURCES["asyncio"].replace(
        "loop.run_forever()",
        "import sys\n"
        "def tell(): print(enemies.rate, enemies.is_paused, flush=True)\n"
        "loop.add_reader(0, lambda: (sys.stdin.readline(), tell()))\n"
        "loop.run_forever()",
    )
    with attached(code) as (receiver, process):
        receiver.wait_for(lambda: _fired(receiver) > 5)
        enemies = receiver.clocks()["enemies"]
        receiver.ask("Clock.rate", clock=enemies, rate_n=720_720_000 * 4, cause=1)
        receiver.ask("Clock.pause", clock=enemies, cause=2)
        receiver.listen(0.2)
        kinds = {(kind, a) for _, kind, subject, a, _ in receiver.events if subject == enemies}
        assert {(CLOCK_RATE, 720_720_000 * 4), (CLOCK_PAUSED, 2)} <= kinds
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.readline() == "4 True\n"
        receiver.close()
        # It hears of the closed connection soon, and posts what was before.
        told, ends_s = "", monotonic() + PATIENCE_S
        while told != "1/2 False\n" and monotonic() < ends_s:
            process.stdin.write("\n")
            process.stdin.flush()
            told = process.stdout.readline()
        assert told == "1/2 False\n"


def test_that_the_timers_of_a_tree_whose_thread_is_blocked_are_known() -> None:
    code = """
import os, threading
from inspector import ClockTree, SystemTimeSource, Transport
def beat(): pass
def after(): pass
def block():
    tree.root.set_timeout(0.01, after, name="after")
    threading.Thread(target=start, daemon=True).start()
    os.read(0, 1)
tree = ClockTree()
source = SystemTimeSource()
transport = Transport(tree, source)
tree.root.set_timeout(0.01, block, name="block")
tree.root.set_timeout(3600, beat, name="boss")
enemies = tree.root.child("enemies", rate="1/2")
enemies.set_interval(1800, beat, name="spawn")
transport.run()
source.run()
"""
    with inlet() as opened:
        start = f"def start(): timeline_probe.start({opened.address!r}, {TOKEN!r})\n"
        with program(start + code) as process, closing(opened.accepted()) as receiver:
            receiver.wait_until_complete()
            assert sorted(receiver.timer_names().values()) == ["after", "boss", "spawn"]
            assert process.stdin is not None
            process.stdin.write("x")
            process.stdin.flush()
            receiver.wait_for(lambda: receiver.firings()["after"] == 1)
            added = [receiver.texts[each[4]] for each in receiver.events if each[1] == TIMER_ADDED]
            assert Counter(added) >= Counter(["after", "boss", "spawn"])
            assert added.count("boss") == added.count("spawn") == 1


def test_that_a_tree_that_runs_already_is_described_with_its_timers() -> None:
    with inlet() as opened:
        start = f"timeline_probe.start({opened.address!r}, {TOKEN!r})"
        code = _SOURCES["asyncio"].replace(
            "loop.run_forever()",
            f"import threading\nloop.call_later(0.1, lambda: threading.Thread("
            f"target=lambda: {start}).start())\nloop.run_forever()",
        )
        with program(code) as _:
            receiver = opened.accepted()
            try:
                receiver.wait_until_complete()
                assert set(receiver.timer_names().values()) >= {"spawn", "boss"}
                clocks = receiver.clocks()
                timeline = receiver.timeline()
                assert timeline.local_ns(clocks["enemies"]) > 0
            finally:
                receiver.close()
