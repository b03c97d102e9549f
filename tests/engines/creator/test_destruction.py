"""Cocos Creator 2.4's deferred destruction of nodes and components."""

from __future__ import annotations

import pytest

from inspector.engines.creator.components import LifeState
from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.nodes import Node
from tests.engines.creator.creator_world import (
    Probe,
    World,
    activate,
    boom,
    deactivate,
    only,
)


@pytest.fixture
def world() -> World:
    return World()


def test_that_destroying_disables_now_and_destroys_at_the_end_of_the_frame(
    world: World,
) -> None:
    probe = world.add("a")
    node = probe.node
    world.frame()

    assert world.during(probe.destroy) == ["a.disable"]
    assert (probe.is_valid(), probe.is_valid(strict=True)) == (True, False)
    assert probe.state is LifeState.MARKED
    assert world.frame() == ["a.destroy"]
    assert not probe.is_valid()
    assert node.components == []


def test_that_destroying_twice_is_destroying_once(world: World) -> None:
    probe = world.add("a")

    assert probe.destroy()
    assert not probe.destroy()
    world.frame()
    assert not probe.destroy()
    assert world.complaints == [LifeComplaint.DESTROYED_BEFORE]


def test_that_children_are_destroyed_first_then_components_in_order(world: World) -> None:
    node = world.director.node("top")
    world.add("a", node)
    world.add("b", node)
    child = world.director.node("child", node)
    world.add("c", child)

    assert world.during(node.destroy) == ["a.disable", "b.disable", "c.disable"]
    assert child.is_valid(strict=True)
    assert not node.destroy()
    assert world.frame() == ["c.destroy", "a.destroy", "b.destroy"]
    assert not child.is_valid()
    assert node.parent is None


def test_that_on_destroy_is_for_the_loaded_only(world: World) -> None:
    probe = world.add("a", world.director.node(active=False))
    assert probe.state is LifeState.NEW
    probe.destroy()

    assert world.frame() == []
    assert probe.life.is_destroyed


def test_that_what_is_destroyed_inside_the_flush_waits_for_the_next(world: World) -> None:
    first, second = world.add("a"), world.add("b")
    world.frame()
    first.destroy()
    world.hooks["a.destroy"] = second.destroy

    assert only(world.frame(), "destroy") == ["a.destroy"]
    assert len(world.director.destruction) == 1
    assert only(world.frame(), "destroy") == ["b.destroy"]


def test_that_a_marked_component_is_not_activated_again(world: World) -> None:
    probe = world.add("a")
    node = probe.node
    deactivate(node)
    probe.destroy()

    assert world.during(lambda: activate(node)) == []


def test_that_timers_go_with_the_real_destruction(world: World) -> None:
    probe = world.add("a")
    probe.schedule(probe.blink)
    probe.destroy()
    world.frame()

    assert world.director.scheduler.pending() == []


def test_that_a_component_disabled_in_on_enable_gets_its_on_disable_when_destroyed(
    world: World,
) -> None:
    probe = world.add("a", world.director.node(active=False))
    world.hooks["a.enable"] = probe.disable
    activate(probe.node)

    assert world.during(probe.destroy) == []
    assert "a.disable" in world.frame()


def test_that_a_new_child_of_a_marked_node_dies_with_it(world: World) -> None:
    node = world.director.node("top")
    node.destroy()
    child = world.director.node("child", node)
    assert child.is_valid(strict=True)

    world.frame()

    assert not child.is_valid()


def test_that_what_joins_a_node_inside_its_destruction_outlives_it(world: World) -> None:
    node = world.director.node("top")
    world.add("a", node)
    added: list[Probe | Node] = []

    def join() -> None:
        added.extend([world.add("b", node), world.director.node("child", node)])

    world.hooks["a.destroy"] = join
    node.destroy()
    world.frame()

    assert [subject.is_valid() for subject in added] == [True, True]


def test_that_leaving_a_node_inside_its_destruction_changes_no_activity(world: World) -> None:
    node = world.director.node("top")
    world.add("a", world.director.node("first", node))
    second = world.director.node("second", node)
    world.add("b", second)

    def leave() -> None:
        second.parent = world.director.scene

    world.hooks["a.destroy"] = leave
    node.destroy()

    calls = world.frame()

    assert calls == ["a.destroy", "b.destroy"]
    assert world.director.scene is not None
    assert world.director.scene.children == []


def test_that_the_children_of_a_node_can_be_destroyed_together(world: World) -> None:
    node = world.director.node("top")
    children = [world.director.node(name, node) for name in "ab"]

    node.destroy_all_children()
    world.frame()

    assert node.is_valid()
    assert not any(child.is_valid() for child in children)
    assert node.children == []


def test_that_what_was_destroyed_with_its_parent_is_passed_over_by_the_flush(
    world: World,
) -> None:
    node = world.director.node("top")
    child = world.director.node("child", node)
    world.add("a", child)
    node.destroy()
    child.destroy()

    assert world.frame() == ["a.destroy"]
    assert world.complaints == []


def test_that_an_exception_in_on_destroy_leaves_the_rest_for_the_next_flush(
    world: World,
) -> None:
    node = world.director.node("top")
    child = world.director.node("child", node)
    world.add("a", child)
    world.add("b", node)
    node.destroy()
    world.hooks["b.destroy"] = boom
    with pytest.raises(RuntimeError, match="boom"):
        world.frame()

    assert world.frame() == ["b.destroy"]
    assert not node.is_valid()
    # The child had been destroyed the first time, which the second one notices.
    assert world.complaints == [LifeComplaint.DESTROYED_BEFORE]
