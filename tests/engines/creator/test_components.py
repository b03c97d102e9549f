"""Cocos Creator 2.4's components: start, update and timers, surprises included."""

from __future__ import annotations

import pytest

from inspector.engines.cocos.scheduler import Complaint
from inspector.engines.creator.components import Component, LifeState
from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.director import ComponentFailure
from tests.engines.creator.creator_world import (
    FRAME,
    Starter,
    Updater,
    World,
    boom,
    only,
)


@pytest.fixture
def world() -> World:
    return World()


# -------------------------------------------------------- start, update, lists


def test_that_who_is_added_in_a_start_is_started_and_updated_in_the_same_frame(
    world: World,
) -> None:
    node = world.add("a").node
    world.hooks["a.start"] = lambda: world.add("b", node)

    calls = only(world.frame(), "start", "update")

    assert calls == ["a.start", "b.start", "a.update", "b.update"]


@pytest.mark.parametrize("moment", ["a.update", "a.blink", "a.late"])
def test_that_who_is_added_later_is_started_after_late_update_and_updated_next(
    world: World, moment: str
) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()
    world.hooks[moment] = lambda: world.add("b", probe.node)

    assert world.frame()[-1] == "b.start"
    assert "b.update" in world.frame()


def test_that_who_is_added_in_a_last_start_is_started_in_the_same_round(world: World) -> None:
    node = world.add("a").node
    world.hooks["a.update"] = lambda: world.add("b", node)
    world.hooks["b.start"] = lambda: world.add("c", node)

    assert only(world.frame(), "start") == ["a.start", "b.start", "c.start"]


def test_that_a_list_already_walked_waits_for_the_next_round(world: World) -> None:
    node = world.add("a").node
    world.hooks["a.update"] = lambda: world.add("b", node)
    world.hooks["b.start"] = lambda: world.add("c", node, order=-1)

    assert only(world.frame(), "start") == ["a.start", "b.start"]
    assert only(world.frame(), "start") == ["c.start"]


def test_that_who_is_disabled_before_its_deferred_start_is_never_started(world: World) -> None:
    probe = world.add("a")
    others = [probe]

    def add_three() -> None:
        others.extend(world.add(name, probe.node) for name in "bcd")

    def disable_two() -> None:
        others[1].disable()
        others[2].disable()

    world.hooks["a.update"] = add_three
    world.hooks["a.late"] = disable_two

    assert only(world.frame(), "start") == ["a.start", "d.start"]
    assert others[1].state is LifeState.OFF


def test_that_start_is_called_once_in_a_life(world: World) -> None:
    probe = world.add("a")
    world.frame()
    probe.disable()
    probe.enable()

    assert world.frame() == ["a.update", "a.late"]


def test_that_who_is_disabled_by_an_earlier_start_is_not_started(world: World) -> None:
    first = world.add("a")
    second = world.add("b", first.node)
    world.hooks["a.start"] = second.disable

    assert only(world.frame(), "start") == ["a.start"]


def test_that_orders_sort_start_and_update(world: World) -> None:
    node = world.add("a").node
    world.add("b", node, order=1)
    world.add("c", node, order=-1)
    world.add("d", node)

    assert only(world.frame(), "start") == ["c.start", "a.start", "d.start", "b.start"]
    assert only(world.frame(), "update") == ["c.update", "a.update", "d.update", "b.update"]
    names = [probe.life.id for probe in world.director.phases.updates]
    assert names == ["Comp.102", "Comp.100", "Comp.103", "Comp.101"]


def test_that_ids_are_compared_as_texts_among_equal_orders() -> None:
    world = World(first_component_number=999)
    node = world.add("a", order=1).node
    world.add("b", node, order=1)

    assert only(world.frame(), "start", "update") == [
        "a.start",
        "b.start",
        "b.update",
        "a.update",
    ]


def test_that_disabling_itself_in_update_gives_its_place_to_the_last(world: World) -> None:
    node = world.director.node()
    probes = [world.add(name, node) for name in "abcd"]
    world.frame()
    world.hooks["b.update"] = probes[1].disable

    assert only(world.frame(), "update") == ["a.update", "b.update", "d.update", "c.update"]
    assert only(world.frame(), "update") == ["a.update", "d.update", "c.update"]


def test_that_disabling_an_earlier_one_updates_twice_and_misses_the_last(world: World) -> None:
    node = world.director.node()
    probes = [world.add(name, node) for name in "abcd"]
    world.frame()
    world.hooks["c.update"] = probes[0].disable

    assert only(world.frame(), "update") == ["a.update", "b.update", "c.update", "c.update"]


@pytest.mark.parametrize("order", [-1, 1])
def test_that_a_sorted_list_calls_every_component_exactly_once(world: World, order: int) -> None:
    node = world.director.node()
    probes = [world.add(name, node, order=order) for name in "abcd"]
    world.frame()
    world.hooks["c.update"] = probes[0].disable

    calls = only(world.frame(), "update")

    assert calls == ["a.update", "b.update", "c.update", "d.update"]


def test_that_an_exception_in_an_update_is_reported_and_the_others_run(world: World) -> None:
    failures: list[ComponentFailure] = []
    world.director.on_failure = failures.append
    node = world.director.node()
    probe = world.add("a", node)
    world.add("b", node)
    world.hooks |= {"a.start": boom, "a.update": boom, "a.late": boom}

    calls = world.frame()

    assert calls == ["a.start", "b.start", "a.update", "b.update", "a.late", "b.late"]
    assert [(f.component, f.method) for f in failures] == [
        (probe, "start"),
        (probe, "update"),
        (probe, "late_update"),
    ]


def test_that_a_start_that_raises_counts_as_started(world: World) -> None:
    world.director.on_failure = lambda _: None
    probe = world.add("a")
    world.hooks["a.start"] = boom
    world.frame()
    probe.disable()
    probe.enable()

    assert world.frame() == ["a.update", "a.late"]


def test_that_a_start_that_disables_itself_and_raises_is_repeated(world: World) -> None:
    world.director.on_failure = lambda _: None
    probe = world.add("a")

    def disable_and_raise() -> None:
        probe.disable()
        boom()

    world.hooks["a.start"] = disable_and_raise
    world.frame()
    probe.enable()

    assert world.frame() == ["a.start", "a.update", "a.late"]


def test_that_an_exception_in_a_timer_ends_the_frame_as_in_the_original(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()
    world.hooks["a.blink"] = boom

    with pytest.raises(RuntimeError, match="boom"):
        world.frame()

    assert world.calls == ["a.update", "a.blink"]
    assert world.frame() == ["a.update", "a.blink", "a.late"]


def test_that_a_component_has_only_the_phases_it_defines(world: World) -> None:
    node = world.director.node()
    updater = node.add_component(Updater())
    starter = node.add_component(Starter())
    node.add_component(Component())
    assert (updater.state, starter.state) == (LifeState.RUNNING, LifeState.NOT_STARTED)

    world.frame()
    updater.enabled = starter.enabled = False
    world.frame()

    assert (len(updater.deltas), starter.starts) == (1, 1)
    updater.destroy()
    world.frame()
    assert updater.state is LifeState.DESTROYED


def test_that_a_disabled_component_can_be_taken_out_of_lists_it_is_not_in(world: World) -> None:
    lists = world.director.phases

    for order in (-1, 0, 1):
        probe = world.add("a", order=order)
        lists.updates.remove(probe)
        probe.disable()

    assert list(lists.updates) == []


# ---------------------------------------------------------------------- timers


def test_that_timers_wait_while_the_component_is_disabled(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    world.frame()
    probe.disable()
    world.frame()
    assert probe.elapsed == []
    probe.enable()

    world.frame()

    assert probe.elapsed == [FRAME]


def test_that_the_first_timer_of_a_never_enabled_component_runs(world: World) -> None:
    probe = world.add("a", world.director.node(active=False))
    probe.schedule(probe.blink)
    world.frame()

    assert world.frame() == ["a.blink"]


def test_that_scheduling_once_without_delay_calls_in_the_second_frame(world: World) -> None:
    probe = world.add("a")
    probe.schedule_once(probe.blink)

    assert "a.blink" not in world.frame()
    assert "a.blink" in world.frame()
    assert "a.blink" not in world.frame()


def test_that_repeat_counts_calls_after_the_first(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink, 2 * FRAME, repeat=2, delay=FRAME)

    for _ in range(20):
        world.frame()

    assert probe.elapsed == [FRAME, 2 * FRAME, 2 * FRAME]


def test_that_timers_can_be_taken_back(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    assert probe.unschedule(probe.blink)
    assert not probe.unschedule(probe.blink)
    probe.schedule(probe.blink)
    probe.schedule(probe.blink, 1)
    probe.unschedule_all()

    for _ in range(3):
        world.frame()

    assert probe.elapsed == []
    assert world.complaints == [Complaint.RESCHEDULED]


def test_that_a_negative_interval_is_complained_of_and_counts_as_zero(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink, -1)
    world.frame()
    world.frame()

    assert world.complaints == [LifeComplaint.NEGATIVE_INTERVAL]
    assert probe.elapsed == [FRAME]
