"""What a component director says of itself while its clock's tree is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.engines.creator.components import Component, LifeState
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.nodes import Node, Scene
from inspector.engines.creator.versions import COMPONENTS_1_10
from inspector.events.members import MemberTable
from inspector.frames.scheduler.controls import Pausable
from inspector.vocabulary import EventKind, Field, LifeCycle, MemberKind
from tests.frames.recorded import MS, Recorded


class Walker(Component):
    """Defines everything, and runs an action in each call."""

    def __init__(self, act: Callable[[Component, str], object] | None = None) -> None:
        self.act = act

    def _called(self, method: str) -> None:
        if self.act is not None:
            self.act(self, method)

    def on_load(self) -> None:
        self._called("on_load")

    def on_enable(self) -> None:
        self._called("on_enable")

    def start(self) -> None:
        self._called("start")

    def update(self, _delta: float) -> None:
        self._called("update")

    def late_update(self, _delta: float) -> None:
        self._called("late_update")

    def on_disable(self) -> None:
        self._called("on_disable")

    def on_destroy(self) -> None:
        self._called("on_destroy")


class Early(Walker):
    """Comes before others."""

    execution_order = -5

    def blink(self, _elapsed: float) -> None:
        """Do nothing."""


class Bare(Component):
    """Defines nothing."""


@pytest.fixture
def recorded() -> Recorded:
    return Recorded()


@pytest.fixture
def director(recorded: Recorded) -> CreatorDirector:
    made = CreatorDirector(clock=recorded.clock, name="wood")
    made.on_failure = lambda _: None
    return made


def frame(recorded: Recorded, director: CreatorDirector) -> None:
    recorded.tree.run_to(recorded.tree.now_ns + 16 * MS)
    director.run_frame()


def test_that_a_director_shows_phases_scheduler_nodes_and_components(
    recorded: Recorded, director: CreatorDirector
) -> None:
    herd = director.node("herd")
    fox = director.node("fox", herd)
    early = fox.add_component(Early())
    early.schedule(early.blink, 1)

    assert recorded.tree_text() == [
        "component director: wood",
        "  phase: start",
        "  phase: update",
        "  phase: timers",
        "  phase: late update",
        "  phase: destroy",
        "  phase: draw",
        "  scheduler: Cocos Creator 2.4",
        "    target: Early of fox",
        "      frame timer: Early.blink",
        "  node: scene",
        "    node: herd",
        "      node: fox",
        "        component: Early",
    ]
    assert recorded.called("Early").fields[Field.ORDER] == -5


def test_that_a_director_is_reported_with_its_rules_and_its_own_phases(recorded: Recorded) -> None:
    CreatorDirector(clock=recorded.clock, dialect=COMPONENTS_1_10, name="wood")

    assert recorded.text("wood", Field.RULES) == "Cocos Creator 1.10"
    assert recorded.text("Cocos Creator 1.10", Field.RULES) == "Cocos Creator 1.10"
    assert recorded.tree_text() == [
        "component director: wood",
        "  phase: start",
        "  phase: update",
        "  phase: timers",
        "  phase: late update",
        "  phase: destroy",
        "  phase: visit",
        "  phase: draw",
        "  scheduler: Cocos Creator 1.10",
        "  node: scene",
    ]


def test_that_a_component_goes_through_its_life(
    recorded: Recorded, director: CreatorDirector
) -> None:
    node = director.node("fox", active=False)
    walker = node.add_component(Walker())
    lives = []

    def look() -> None:
        fox, component = recorded.called("fox"), recorded.called("Walker")
        lives.append((LifeCycle(fox.fields[Field.LIFE]), LifeCycle(component.fields[Field.LIFE])))

    look()
    node.active = True
    look()
    frame(recorded, director)
    look()
    walker.enabled = False
    look()
    node.active = False
    look()
    walker.destroy()
    look()

    assert lives == [
        (LifeCycle.NEW, LifeCycle.NEW),
        (LifeCycle.STARTED, LifeCycle.ENABLED),
        (LifeCycle.STARTED, LifeCycle.STARTED),
        (LifeCycle.STARTED, LifeCycle.DISABLED),
        (LifeCycle.DISABLED, LifeCycle.DISABLED),
        (LifeCycle.DISABLED, LifeCycle.DESTROYING),
    ]
    frame(recorded, director)
    assert recorded.names(MemberKind.COMPONENT) == []
    assert recorded.called("fox").children == []


def test_that_destroyed_nodes_are_gone_with_the_end_of_the_frame(
    recorded: Recorded, director: CreatorDirector
) -> None:
    herd = director.node("herd")
    director.node("fox", herd).add_component(Walker())

    herd.destroy()

    assert recorded.called("herd").fields[Field.LIFE] == LifeCycle.DESTROYING
    frame(recorded, director)
    assert recorded.names(MemberKind.NODE) == ["scene"]
    assert recorded.names(MemberKind.COMPONENT) == []


def test_that_a_node_moves_and_is_renamed(recorded: Recorded, director: CreatorDirector) -> None:
    one, other = director.node("one"), director.node("other")
    fox = Node(director, "fox")
    assert recorded.called("fox").parent_id == director.number

    fox.parent = one
    fox.parent = other
    fox.name = "old fox"

    assert recorded.called("old fox").parent_id == recorded.called("other").id
    assert recorded.called("one").children == []
    fox.parent = None
    assert recorded.called("old fox").parent_id == director.number


def test_that_a_destroyed_node_that_is_placed_again_stays_gone(
    recorded: Recorded, director: CreatorDirector
) -> None:
    fox, herd = director.node("fox"), director.node("herd")
    fox.destroy()
    frame(recorded, director)

    fox.parent = herd
    fox.name = "ghost"

    assert recorded.names(MemberKind.NODE) == ["scene", "herd"]


def test_that_phases_and_calls_are_counted_also_when_they_raise(
    recorded: Recorded, director: CreatorDirector
) -> None:
    def fail(_: Component, method: str) -> None:
        if method == "update":
            raise ValueError(method)

    director.node("fox").add_component(Walker(fail))
    frame(recorded, director)
    frame(recorded, director)

    # on_load, on_enable, start, and twice update and late_update
    assert recorded.called("Walker").calls == 7
    assert recorded.called("update").calls == 2
    assert recorded.called("draw").calls == 0
    director.on_draw = lambda _: None
    director.pause()
    frame(recorded, director)
    assert recorded.called("draw").calls == 1
    assert recorded.called("update").calls == 2


def test_that_an_exception_that_leaves_the_frame_is_reported_with_its_phase(
    recorded: Recorded, director: CreatorDirector
) -> None:
    def fail(_: float) -> None:
        message = "on purpose"
        raise ValueError(message)

    director.node("fox").add_component(Bare()).schedule(fail, 0.01)
    frame(recorded, director)

    with pytest.raises(ValueError, match="on purpose"):
        frame(recorded, director)

    assert recorded.called("timers").calls == 2


def test_that_director_nodes_and_components_can_be_paused_by_number(
    recorded: Recorded, director: CreatorDirector
) -> None:
    node = director.node("fox")
    walker = node.add_component(Walker())
    frame(recorded, director)
    is_on: dict[str, Callable[[], bool]] = {
        "wood": lambda: not director.is_paused,
        "fox": lambda: node.active,
        "Walker": lambda: walker.enabled,
    }

    for name, flag in is_on.items():
        owner = recorded.tree.members.find(recorded.called(name).id)
        assert isinstance(owner, Pausable)
        assert (owner.pause(), owner.pause(), flag()) == (True, False, False)
        assert recorded.called(name).is_paused
        assert (owner.resume(), owner.resume(), flag()) == (True, False, True)
        assert not recorded.called(name).is_paused


def test_that_a_director_stands_still_with_its_clock(
    recorded: Recorded, director: CreatorDirector
) -> None:
    recorded.clock.pause()
    frame(recorded, director)
    assert director.total_frames == 0

    recorded.clock.resume()
    frame(recorded, director)
    recorded.clock.remove()
    frame(recorded, director)
    director.node("late").add_component(Walker())

    assert director.total_frames == 1
    assert len(recorded.members) == 0


def test_that_another_scene_takes_the_place_of_the_first(
    recorded: Recorded, director: CreatorDirector
) -> None:
    director.node("fox")

    director.run_scene_immediate(Scene(director, "cave"))
    director.node("bat")

    assert recorded.names(MemberKind.NODE) == ["cave", "bat"]


def test_that_a_director_needs_some_time() -> None:
    with pytest.raises(ValueError, match="needs a clock"):
        CreatorDirector()


# -------------------------------------------------------------- random lives

_LIVES = {
    LifeState.NEW: LifeCycle.NEW,
    LifeState.OFF: LifeCycle.DISABLED,
    LifeState.NOT_STARTED: LifeCycle.ENABLED,
    LifeState.RUNNING: LifeCycle.STARTED,
    LifeState.MARKED: LifeCycle.DESTROYING,
}

which = st.integers(0, 7)
acts = st.one_of(
    st.tuples(st.just("node"), which, st.booleans()),
    st.tuples(st.just("component"), which, st.sampled_from([Walker, Early, Bare])),
    st.tuples(st.just("active"), which),
    st.tuples(st.just("active"), which),
    st.tuples(st.just("enabled"), which),
    st.tuples(st.just("move"), which, st.none() | which),
    st.tuples(st.just("destroy node"), which),
    st.tuples(st.just("destroy component"), which),
    st.tuples(st.just("timer"), which),
    st.tuples(st.just("pause"), st.booleans()),
)


class Life24:
    """A director with random nodes and components."""

    def __init__(self, inside: dict[tuple[str, int], list[tuple[Any, ...]]]) -> None:
        self.recorded = Recorded()
        self.director = CreatorDirector(clock=self.recorded.clock)
        self.director.on_failure = lambda _: None
        self.director.on_diagnostic = lambda _: None
        self.nodes: list[Node] = []
        self.components: list[Component] = []
        # Only the reports remember it for long; here it is noted between operations.
        self.was_active: set[int] = set()
        self._inside = inside
        self._seen: dict[str, int] = {}

    def act(self, _: Component, method: str) -> None:
        number = self._seen.get(method, 0)
        self._seen[method] = number + 1
        for operation in self._inside.get((method, number), []):
            self.perform(operation)

    def try_to_perform(self, operation: tuple[Any, ...]) -> None:
        try:
            self.perform(operation)
        except Exception:  # noqa: BLE001 - refused, or crashes as in the original
            return

    def perform(self, operation: tuple[Any, ...]) -> None:  # noqa: C901
        match operation:
            case ["frame"]:
                frame(self.recorded, self.director)
            case ["node", above, active]:
                parent = self.nodes[above % len(self.nodes)] if self.nodes else None
                node = self.director.node(f"node {len(self.nodes)}", parent, active=active)
                self.nodes.append(node)
            case ["component", _, kind] if self.nodes:
                made = Bare() if kind is Bare else kind(self.act)
                self.components.append(made)
                self.pick(self.nodes, operation[1]).add_component(made)
            case ["active", number] if self.nodes:
                node = self.pick(self.nodes, number)
                node.active = not node.active
            case ["enabled", number] if self.components:
                component = self.pick(self.components, number)
                component.enabled = not component.enabled
            case ["move", number, above] if self.nodes:
                parent = None if above is None else self.pick(self.nodes, above)
                self.pick(self.nodes, number).parent = parent
            case ["destroy node", number] if self.nodes:
                self.pick(self.nodes, number).destroy()
            case ["destroy component", number] if self.components:
                self.pick(self.components, number).destroy()
            case ["timer", number] if self.components:
                self.pick(self.components, number).schedule(lambda _: None, 0.02)
            case ["pause", paused]:
                self.director.pause() if paused else self.director.resume()

    @staticmethod
    def pick(items: list[Any], number: int) -> Any:  # noqa: ANN401 - of either list
        return items[number % len(items)]

    def fold(self, members: MemberTable) -> tuple[dict[str, Any], bool]:
        found: dict[str, object] = {}
        owners = {**self._numbers(), 0: "nothing"}
        for number, name in self._numbers().items():
            member = members.by_id.get(number)
            if member is not None:
                life = LifeCycle(member.fields[Field.LIFE])
                above = "director" if member.parent_id == self.director.number else ""
                found[name] = (life, member.is_paused, above or owners.get(member.parent_id))
        return found, members.by_id[self.director.number].is_paused

    def _numbers(self) -> dict[int, str]:
        """Return what was given which number, from the engine's side."""
        reports = self.director.reports
        assert reports is not None
        numbers: dict[int, str] = {}
        for number, node in enumerate([self.director.scene, *self.nodes]):
            node_known = reports._nodes.get(id(node))
            if node_known is not None:
                numbers[node_known.number] = f"node {number}"
        for number, component in enumerate(self.components):
            known = reports._components.get(id(component))
            if known is not None:
                numbers[known.number] = f"component {number}"
        return numbers

    def facts(self) -> tuple[dict[str, Any], bool]:
        found: dict[str, object] = {}
        names: dict[int, str] = {}
        scene = self.director.scene
        for number, node in enumerate([scene, *self.nodes]):
            if node is not None:
                names[id(node)] = f"node {number}"
        for number, node in enumerate([scene, *self.nodes]):
            if node is None or node.life.is_destroyed:
                continue
            if node.life.is_marked:
                life = LifeCycle.DESTROYING
            elif node.active_in_hierarchy:
                life = LifeCycle.STARTED
            else:
                life = LifeCycle.DISABLED if id(node) in self.was_active else LifeCycle.NEW
            if node.active_in_hierarchy:
                self.was_active.add(id(node))
            above = "director" if node.parent is None else names[id(node.parent)]
            found[f"node {number}"] = (life, not node.active, above)
        for number, component in enumerate(self.components):
            if component.life.node is not None and not component.life.is_destroyed:
                above = names[id(component.life.node)]
                life = _LIVES[component.state]
                found[f"component {number}"] = (life, not component.enabled, above)
        return found, self.director.is_paused


def without_news(facts: tuple[dict[str, Any], bool]) -> object:
    """Take "new" of a node for "disabled": only the reports remember which it was."""
    found, is_paused = facts

    def known(name: str, life: LifeCycle) -> LifeCycle:
        return LifeCycle.DISABLED if name.startswith("node") and life is LifeCycle.NEW else life

    return {name: (known(name, life), *rest) for name, (life, *rest) in found.items()}, is_paused


@given(
    operations=st.lists(st.one_of(acts, acts, st.tuples(st.just("frame"))), max_size=40),
    inside=st.dictionaries(
        st.tuples(
            st.sampled_from(["on_load", "on_enable", "start", "update", "on_disable"]),
            st.integers(0, 3),
        ),
        st.lists(acts, min_size=1, max_size=2),
        max_size=4,
    ),
)
def test_that_the_fold_knows_every_life(
    operations: list[tuple[Any, ...]], inside: dict[tuple[str, int], list[tuple[Any, ...]]]
) -> None:
    world = Life24(inside)

    for operation in operations:
        world.try_to_perform(operation)
        assert without_news(world.fold(world.recorded.members)) == without_news(world.facts())

    assert world.recorded.of_kind(EventKind.MEMBER_ADDED)
