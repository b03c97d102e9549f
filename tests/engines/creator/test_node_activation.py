"""Cocos Creator 2.4's node activation, its surprises included."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from inspector.engines.creator.components import Component, LifeState
from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.nodes import Node
from tests.engines.creator.creator_world import (
    EarlyProbe,
    Probe,
    Updater,
    World,
    activate,
    boom,
    deactivate,
    only,
)


@pytest.fixture
def world() -> World:
    return World()


# ------------------------------------------------------------------ activation


def test_that_a_component_is_loaded_and_enabled_before_add_component_returns(
    world: World,
) -> None:
    assert world.during(lambda: world.add("a")) == ["a.load", "a.enable"]


def test_that_nothing_is_called_on_an_inactive_node(world: World) -> None:
    node = world.director.node(active=False)

    assert world.during(lambda: world.add("a", node)) == []
    assert world.frame() == []


def _branch(world: World) -> Node:
    """An inactive node with one component, and two children, one of them inactive."""
    top = world.director.node("top", active=False)
    world.add("a", top)
    world.add("b", world.director.node("middle", top))
    world.add("c", world.director.node("off", top, active=False))
    world.add("d", top, order=-1)
    return top


def test_that_a_branch_is_loaded_before_it_is_enabled_by_execution_order(world: World) -> None:
    top = _branch(world)

    calls = world.during(lambda: activate(top))

    assert calls == ["d.load", "a.load", "b.load", "d.enable", "a.enable", "b.enable"]


def test_that_parents_are_disabled_before_their_children(world: World) -> None:
    top = _branch(world)
    activate(top)

    assert world.during(lambda: deactivate(top)) == ["a.disable", "d.disable", "b.disable"]


def test_that_a_disabled_component_is_loaded_but_not_enabled(world: World) -> None:
    node = world.director.node()
    probe = Probe("a", world)
    probe.enabled = False
    world.during(lambda: node.add_component(probe))

    assert world.calls == ["a.load"]
    assert world.during(lambda: deactivate(node)) == []
    assert probe.state is LifeState.OFF


def test_that_on_load_is_called_once_in_a_life(world: World) -> None:
    top = _branch(world)
    activate(top)
    deactivate(top)

    assert world.during(lambda: activate(top)) == ["d.enable", "a.enable", "b.enable"]


def test_that_setting_the_flag_it_has_changes_nothing(world: World) -> None:
    probe = world.add("a")

    assert world.during(lambda: activate(probe.node)) == []
    assert world.during(probe.enable) == []


def test_that_the_flag_of_a_node_under_an_inactive_one_is_only_a_flag(world: World) -> None:
    top = _branch(world)
    child = top.children[1]

    assert world.during(lambda: activate(child)) == []
    assert (child.active, child.active_in_hierarchy) == (True, False)


def test_that_deactivating_in_on_load_cancels_the_rest_until_the_next_activation(
    world: World,
) -> None:
    node = world.director.node(active=False)
    world.add("a", node)
    world.add("b", node)
    world.hooks["a.load"] = lambda: deactivate(node)

    assert world.during(lambda: activate(node)) == ["a.load"]
    assert world.during(lambda: activate(node)) == ["b.load", "a.enable", "b.enable"]


def test_that_deactivating_in_on_enable_leaves_the_component_off(world: World) -> None:
    node = world.director.node(active=False)
    first = world.add("a", node)
    world.add("b", node)
    world.hooks["a.enable"] = lambda: deactivate(node)

    assert only(world.during(lambda: activate(node)), "enable", "disable") == ["a.enable"]
    assert first.state is LifeState.OFF


def test_that_disabling_a_sibling_in_on_load_spares_it_its_on_enable(world: World) -> None:
    node = world.director.node(active=False)
    world.add("a", node)
    sibling = world.add("b", node)
    world.hooks["a.load"] = sibling.disable

    assert only(world.during(lambda: activate(node)), "enable") == ["a.enable"]


def test_that_cancelling_also_drops_who_is_merely_disabled(world: World) -> None:
    node = world.director.node(active=False)
    other = world.director.node("other")
    world.add("a", node)
    sibling = world.add("b", node)
    world.add("c", node)

    def disable_anddeactivate_another() -> None:
        sibling.disable()
        deactivate(other)

    world.hooks["a.load"] = disable_anddeactivate_another

    assert only(world.during(lambda: activate(node)), "load") == ["a.load", "c.load"]
    assert world.during(sibling.enable) == ["b.enable"]
    assert sibling.state is LifeState.NOT_STARTED


def test_that_a_node_cannot_be_activated_inside_its_own_deactivation(world: World) -> None:
    node = world.add("a").node
    world.add("b", node)
    world.hooks["a.disable"] = lambda: activate(node)

    assert world.during(lambda: deactivate(node)) == ["a.disable", "b.disable"]
    assert world.complaints == [LifeComplaint.REACTIVATED]
    assert (node.active, node.active_in_hierarchy) == (True, False)


def _toggle_twice(node: Node) -> None:
    """Refused first; the second deactivation ends, after which activating is possible."""
    activate(node)
    deactivate(node)
    activate(node)


def test_that_a_deactivation_inside_a_deactivation_opens_the_node_again(world: World) -> None:
    node = world.add("a").node
    world.add("b", node)
    world.hooks["a.disable"] = lambda: _toggle_twice(node)

    calls = world.during(lambda: deactivate(node))

    # The first one is still "on" when it is disabled again and when it is enabled.
    assert calls == ["a.disable", "a.disable", "b.disable", "a.enable", "b.enable"]
    assert node.active_in_hierarchy
    assert not node.is_deactivating


def test_that_the_same_holds_when_a_child_opens_it(world: World) -> None:
    node = world.director.node("top")
    world.add("a", world.director.node("first", node))
    world.add("b", world.director.node("second", node))
    world.hooks["a.disable"] = lambda: _toggle_twice(node)

    world.during(lambda: deactivate(node))

    assert node.active_in_hierarchy
    assert not node.is_deactivating


def test_that_taking_children_away_in_a_deactivation_ends_the_walk(world: World) -> None:
    node = world.director.node("top")
    first, second = (world.director.node(name, node) for name in ("first", "second"))
    world.add("a", first)
    world.add("b", second)

    def leave() -> None:
        second.parent = None

    world.hooks["a.disable"] = leave

    assert world.during(lambda: deactivate(node)) == ["a.disable", "b.disable"]
    assert world.complaints == [LifeComplaint.CHILDREN_CHANGED]


def test_that_a_debug_build_complains_of_moves_inside_a_deactivation() -> None:
    world = World(is_debug=True)
    node = world.director.node("top")
    child = world.director.node("child", node)
    world.add("a", node)

    def leave() -> None:
        child.parent = None

    world.hooks["a.disable"] = leave
    deactivate(node)

    assert world.complaints == [LifeComplaint.PARENT_DEACTIVATING]


def test_that_activating_a_child_in_the_parents_on_load_runs_it_at_once(world: World) -> None:
    top = _branch(world)
    child = top.children[1]
    world.hooks["a.load"] = lambda: activate(child)

    calls = world.during(lambda: activate(top))

    assert calls.index("c.enable") < calls.index("a.enable")


def test_that_an_exception_in_on_load_is_reported_and_the_rest_goes_on(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    node = world.director.node(active=False)
    probe = world.add("a", node)
    world.add("b", node)
    world.hooks["a.load"] = boom

    calls = world.during(lambda: activate(node))

    assert calls == ["a.load", "b.load", "a.enable", "b.enable"]
    assert probe.life.is_loaded
    assert "boom" in caplog.text


def test_that_an_exception_in_on_enable_goes_through_to_who_activates(world: World) -> None:
    node = world.director.node(active=False)
    world.add("a", node)
    world.add("b", node)
    world.hooks["a.enable"] = boom

    with pytest.raises(RuntimeError, match="boom"):
        activate(node)

    assert world.calls == ["a.load", "b.load", "a.enable"]


def test_that_disabling_itself_in_on_enable_is_ineffective(world: World) -> None:
    node = world.director.node(active=False)
    probe = world.add("a", node)
    world.hooks["a.enable"] = probe.disable
    activate(node)

    assert not probe.enabled
    assert probe.state is LifeState.NOT_STARTED
    assert world.frame() == ["a.start", "a.update", "a.late"]
    assert world.during(probe.enable) == []


# ----------------------------------------------------------------------- nodes


def test_that_detaching_disables_and_attaching_enables(world: World) -> None:
    probe = world.add("a")
    node = probe.node

    def move(parent: Node | None) -> None:
        node.parent = parent

    assert world.during(lambda: move(None)) == ["a.disable"]
    assert world.during(lambda: move(world.director.scene)) == ["a.enable"]
    assert world.during(lambda: move(world.director.scene)) == []
    assert world.during(lambda: move(world.director.node("other"))) == []
    assert world.during(lambda: move(world.director.node("off", active=False))) == ["a.disable"]


def test_that_a_node_cannot_hang_inside_itself(world: World) -> None:
    node = world.director.node("top")
    child = world.director.node("child", node)

    with pytest.raises(ValueError, match="below it"):
        node.parent = child


def test_that_a_destroyed_node_takes_neither_children_nor_components(world: World) -> None:
    node = world.director.node("top")
    node.destroy()
    world.frame()

    with pytest.raises(RuntimeError, match="cannot have children"):
        world.director.node("child", node)
    with pytest.raises(RuntimeError, match="cannot have components"):
        world.add("a", node)


def test_that_a_component_is_added_once(world: World) -> None:
    probe = world.add("a")

    with pytest.raises(ValueError, match="once"):
        world.director.node().add_component(probe)


def test_that_a_branch_is_walked_depth_first(world: World) -> None:
    top = _branch(world)
    world.director.node("deep", top.children[0])

    assert [node.name for node in top.walk()] == ["top", "middle", "deep", "off"]


def test_that_components_are_found_by_class(world: World) -> None:
    probe = world.add("a")
    updater = probe.node.add_component(Updater())

    assert probe.node.component(Updater) is updater
    assert probe.node.component(EarlyProbe) is None


def test_that_a_component_on_no_node_says_so() -> None:
    updater = Updater()

    assert updater.state is LifeState.DETACHED
    assert not updater.enabled_in_hierarchy
    updater.enabled = False
    with pytest.raises(RuntimeError, match="no node"):
        _ = updater.node
    with pytest.raises(RuntimeError, match="no director"):
        _ = updater.director


def test_that_components_that_equal_each_other_are_told_apart(world: World) -> None:
    @dataclass
    class Health(Component):
        points: int = 3

        def update(self, _: float) -> None:
            world.called(f"health.{self.points}")

    node = world.director.node()
    first, second = node.add_component(Health()), node.add_component(Health())
    second.enabled = False
    first.points = 4
    assert world.frame() == ["health.4"]
    first.points = 3
    second.destroy()
    world.frame()

    assert node.components[0] is first
    assert len(node.components) == 1
