"""What the probe repeats of a tree of clocks, in a time that the test sets."""

from __future__ import annotations

import gc
from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.clocks import ClockTree, ManualTimeSource, Transport
from inspector.probe.adapters.clock_tree import ClockTreeAdapter
from inspector.probe.clocks import Clock
from inspector.probe.kinds import (
    MARK,
    NEVER,
    TICKS_MISSED,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from inspector.probe.kinds import RATE_DENOMINATOR as D
from inspector.probe.program import CLOCK, DUE, NAME, PERIOD
from tests.probe.adapters.played import Played

MS = 1_000_000


def spawn() -> None: ...


class AsyncioTimeSource(ManualTimeSource):
    """One whose loop is known once it runs."""


class Trees(Played):
    """A program with a tree, and a probe in it."""

    def __init__(self, source: ManualTimeSource) -> None:
        super().__init__(400 * MS)
        self.now_ns += 100 * MS

        class Watched(Transport):
            """Has the hook, which other tests are to be without."""

        module: Any = SimpleNamespace(Transport=Watched)
        self.module = module
        self.adapter = ClockTreeAdapter(self.program)
        self.adapter.installed(module)
        self.source = source
        self.tree = ClockTree()
        self.root = self.tree.root
        self.transport: Any = Watched(self.tree, self.source)
        self.transport.run()
        self.events.clear()

    def advance(self, ms: int) -> None:
        self.now_ns += ms * MS
        self.source.advance_ns(ms * MS)

    def mirrored(self, name: str) -> Clock:
        (found,) = [each for each in self.program.clocks.by_number.values() if each.name == name]
        return found

    def told(self, kind: int) -> list[tuple[int, int, int]]:
        return [event[2:] for event in self.events if event[1] == kind]

    def check(self) -> None:
        """Check that the probe shows the tree as it is."""
        names = [clock.name for clock in self.root.walk()]
        known = self.program.clocks.by_number.values()
        assert sorted(each.name for each in known if each.adapter is self.adapter) == sorted(
            ["clock tree", *names]
        )
        (mirror,) = self.adapter._mirrors.values()
        assert self.mirrored("clock tree").local_ns() == self.tree.reached_ns
        assert self.program.clocks.emit is not None
        for own in self.root.walk():
            clock = self.mirrored(own.name)
            above = "clock tree" if own is self.root else own.parent.name  # type: ignore[union-attr]
            assert clock.parent is self.mirrored(above)
            assert self.adapter._mirror_of(clock) == (mirror, own)
            assert (clock.is_paused, Fraction(clock.rate_n, D)) == (own.is_paused, own.rate)
            assert abs(clock.local_ns() - own.local_at(self.tree.reached_ns)) <= 1
            texts, timers = self.program.texts, self.program.timers.values()
            shown = {
                (texts[each[NAME]], each[DUE], each[PERIOD])
                for each in timers
                if each[CLOCK] == clock.number
            }
            assert shown == {
                (timer.label, timer.due_ns, timer.interval_ns) for timer in own.pending()
            }


@pytest.fixture
def trees() -> Trees:
    return Trees(ManualTimeSource())


def _set(trees: Trees) -> None:
    enemies = trees.root.child("enemies", rate="1/2")
    enemies.set_interval(0.01, spawn, name="spawn")
    enemies.set_timeout(0.02, spawn, name="boss")
    trees.root.set_timeout(0.1, spawn)


def _change(trees: Trees) -> None:
    (enemies,) = trees.root.children
    enemies.pause()
    trees.advance(5)
    trees.check()
    enemies.set_rate(3)
    enemies.resume()


def _grow(trees: Trees) -> None:
    (enemies,) = trees.root.children
    bullets = enemies.child("bullets", rate="1/3", epoch=0)
    trees.advance(5)
    bullets.set_timeout(0.5, spawn, name="hit")
    trees.root.clear(trees.root.pending()[-1], 7)


def _hold(trees: Trees) -> None:
    trees.transport.hold()
    trees.now_ns += 20 * MS
    trees.check()
    trees.transport.run()


def _move(trees: Trees) -> None:
    (enemies,) = trees.root.children
    (bullets,) = enemies.children
    # Older than the clock above it from here on.
    enemies.move_to(trees.root.child("game", rate="1/5"))
    trees.check()
    bullets.move_to(trees.root)
    trees.advance(3)
    trees.check()
    bullets.move_to(enemies)


def _remove(trees: Trees) -> None:
    (game,) = trees.root.children
    game.children[0].children[0].remove()


STEPS: tuple[Callable[[Trees], None], ...] = (_set, _change, _grow, _hold, _move, _remove)


@pytest.mark.parametrize("come_after", range(len(STEPS) + 1))
def test_that_a_tree_is_shown_as_it_is_whenever_an_inspector_comes(
    trees: Trees, come_after: int
) -> None:
    trees.advance(7)
    for number, step in enumerate([*STEPS, lambda _: None]):
        if number == come_after:
            trees.adapter.attached()
            for clock in list(trees.program.clocks.by_number.values()):
                list(trees.adapter.keyframe(clock))
        if number >= come_after:
            trees.check()
            step(trees)
            trees.check()
            trees.advance(13)
            trees.check()
        else:
            trees.check = lambda: None  # type: ignore[method-assign]
            step(trees)
            del trees.check
            trees.advance(13)
    trees.adapter.released()
    assert len(trees.program.clocks.by_number) == 1
    trees.advance(10)
    unseen = trees.module.Transport(ClockTree(), ManualTimeSource())
    assert len(trees.program.clocks.by_number) == 1
    del unseen
    gc.collect()

    # Another begins anew.
    trees.adapter.attached()
    for clock in list(trees.program.clocks.by_number.values()):
        list(trees.adapter.keyframe(clock))
    trees.check()


def test_that_the_calls_of_a_tree_are_told_with_their_places(trees: Trees) -> None:
    trees.adapter.attached()
    beat = trees.root.set_interval(0.01, spawn, name="beat")
    trees.root.set_timeout(0.015, spawn, name="once")
    trees.advance(20)
    due_ns = 30 * MS
    assert trees.told(TIMER_FIRED) == [(1, 0, 20 * MS), (2, 0, NEVER), (1, 0, due_ns)]
    trees.root.clear(beat, 7)
    # Of timers that are not known, nothing is told.
    record: Any = trees.tree.record
    for kind in (TIMER_CLEARED, TICKS_MISSED, TIMER_FIRED):
        record((0, kind, 99, 3, 0))
    trees.root.set_interval(0.01, spawn)
    (number,) = [each.id for each in trees.root.pending()]
    record((0, TICKS_MISSED, number, 4, 0))
    record((0, TIMER_ARMED, number, 77, 10 * MS))
    assert trees.program.due_ns(3) == 77
    assert list(next(iter(trees.adapter._mirrors.values()))._timers) == [number]
    record((0, MARK, 0, trees.tree.intern("boss fight"), 0))

    assert [(n, cause) for n, _, cause in trees.told(TIMER_CLEARED)] == [(1, 7)]
    places = [site for _, site, _ in trees.told(TIMER_ORIGIN)]
    assert all("test_clock_tree_mirrors.py:" in trees.program.texts[each] for each in places)
    assert [trees.program.texts[name] for *_, name in trees.told(TIMER_ADDED)] == [
        *("beat", "once", "spawn")
    ]
    assert [(n, ticks) for n, ticks, _ in trees.told(TICKS_MISSED)] == [(3, 4)]
    assert [trees.program.texts[text] for _, text, _ in trees.told(MARK)] == ["boss fight"]
    assert trees.adapter.state == "waiting"
    assert not vars(next(iter(trees.adapter._mirrors.values())))["_added"]


class Sink:
    """What the program itself has its tree report to."""

    def __init__(self) -> None:
        self.strings = [""]
        self.events: list[object] = []
        self.append = self.events.append

    def intern(self, text: str) -> int:
        self.strings.append(text)
        return len(self.strings) - 1


@pytest.mark.parametrize("source", [ManualTimeSource(), AsyncioTimeSource()])
def test_that_a_program_hears_of_its_tree_as_ever(source: ManualTimeSource) -> None:
    trees, sink = Trees(source), Sink()
    trees.tree._sink = sink
    trees.tree.record_to(sink.append)
    trees.adapter.attached()
    trees.root.set_timeout(0.01, spawn, name="once")
    trees.advance(10)
    kinds = [event[1] for event in sink.events]  # type: ignore[index]
    assert kinds.count(TIMER_ADDED) == kinds.count(TIMER_FIRED) == 1
    trees.root.set_timeout(0.01, spawn, name="twice")
    trees.check()
    trees.adapter.released()

    assert trees.tree.record == sink.append
    assert trees.tree._sink is sink
    assert not trees.tree.keeps_call_sites
    trees.adapter.released()
    assert trees.tree.record == sink.append


def test_that_a_tree_of_a_loop_is_shown_once_that_runs() -> None:
    trees = Trees(AsyncioTimeSource())
    trees.adapter.attached()
    trees.root.set_interval(0.01, spawn, name="beat")
    trees.root.set_timeout(0.05, spawn, name="later")
    assert len(trees.program.clocks.by_number) == 1
    trees.program.adapters["asyncio"] = adapter = ClockTreeAdapter(trees.program)
    loop = trees.program.clock("asyncio loop", adapter=adapter)
    trees.advance(10)
    trees.check()

    assert trees.mirrored("clock tree").parent is loop
    # What was called then is told, too.
    assert len(trees.told(TIMER_FIRED)) == 1
    trees.adapter.released()
    assert trees.tree.record is None


@pytest.mark.parametrize(
    ("name", "library", "is_found"),
    [
        ("SystemTimeSource", "python_time", True),
        ("SystemTimeSource", "asyncio", False),
        ("QtTimeSource", "qt", True),
        ("QtTimeSource", "python_time", False),
        ("AsyncioTimeSource", "uvloop", True),
        ("AsyncioTimeSource", "asyncio", True),
    ],
)
def test_that_a_tree_stands_below_the_clock_that_its_source_reads(
    name: str, library: str, *, is_found: bool
) -> None:
    trees = Trees(type(name, (ManualTimeSource,), {})())
    trees.program.clock("other", adapter=trees.adapter)
    trees.program.adapters[library] = adapter = ClockTreeAdapter(trees.program)
    clock = trees.program.clock("library", adapter=adapter)
    trees.adapter.attached()

    parent = trees.mirrored("clock tree").parent
    assert parent is (clock if is_found else trees.program.own_clock)


def test_that_a_clock_follows_the_inspector_until_that_goes(trees: Trees) -> None:
    enemies = trees.root.child("enemies", rate="1/2")
    trees.adapter.attached()
    clock, clocks = trees.mirrored("enemies"), trees.program.clocks
    clocks.set_rate(clock, 4 * D)
    clocks.pause(clock)
    assert enemies.rate == Fraction(1, 2)
    # It is changed on its own thread.
    trees.advance(1)
    assert (enemies.rate, enemies.is_paused) == (Fraction(4), True)
    trees.check()
    clocks.resume(clock)
    trees.advance(1)
    assert (enemies.rate, enemies.is_paused) == (Fraction(4), False)
    clocks.pause(clock)
    trees.advance(1)
    trees.adapter.released()
    trees.advance(1)
    assert (enemies.rate, enemies.is_paused) == (Fraction(1, 2), False)
    # What the program does itself stays as it is.
    trees.adapter.attached()
    enemies.pause()
    trees.adapter.released()
    trees.advance(1)
    assert enemies.is_paused
    assert not trees.adapter._mirror_of(clock)


def test_that_only_a_clock_of_a_tree_has_its_own_pauses(trees: Trees) -> None:
    # A tree is repeated once, however often it is found.
    for _ in range(2):
        trees.adapter.attached()
    top, root = trees.mirrored("clock tree"), trees.mirrored("root")

    assert trees.adapter.capabilities(root).keys() == {"clear_timer"}
    assert trees.adapter.capabilities(top).keys() == {"clear_timer", "pause", "rate"}
    assert list(trees.adapter.keyframe(top)) == []
    trees.adapter.was_read_elsewhere(top)
    trees.adapter.changed(top)


def test_that_timers_that_were_taken_out_are_described_again_on_their_thread(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    trees.root.set_timeout(0.05, spawn, name="late")
    trees.adapter.attached()
    root = trees.mirrored("root")
    tries: list[object] = []

    def changing() -> list[Any]:
        tries.append(1)
        raise RuntimeError

    with monkeypatch.context() as patch:
        patch.setattr(type(trees.root.queue), "timers", lambda _: changing())
        assert list(trees.adapter.keyframe(root)) == []
    assert len(tries) == 20
    trees.adapter.was_read_elsewhere(root)
    assert trees.told(TIMER_ADDED) == []
    trees.advance(1)
    trees.check()
    for _ in range(2):
        assert list(trees.adapter.keyframe(root)) == [None]
    assert len(trees.told(TIMER_ADDED)) == 1


def test_that_trees_are_found_that_were_there_before_and_forgotten_with_their_transports(
    trees: Trees, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = [trees.module.Transport(ClockTree(), ManualTimeSource())]
    adapter = ClockTreeAdapter(trees.program)
    monkeypatch.setattr(gc, "get_objects", lambda: [*kept, None])
    module: Any = SimpleNamespace(Transport=type("Plain", (Transport,), {}))
    adapter.installed(module)
    assert adapter._mirrors == {}
    module = SimpleNamespace(Transport=trees.module.Transport)
    adapter.installed(module)
    assert len(adapter._mirrors) == 1
    adapter.attached()
    assert len(trees.program.clocks.by_number) == 3
    # One that is made while an inspector is there is shown at once.
    second = trees.module.Transport(ClockTree(), ManualTimeSource())
    assert len(adapter._mirrors) == 2
    assert len(trees.program.clocks.by_number) == 5
    del second, kept[0]
    gc.collect()

    assert adapter._mirrors == {}
    assert len(trees.program.clocks.by_number) == 1
