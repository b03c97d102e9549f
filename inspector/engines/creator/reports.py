"""Reports of a component director: its phases, nodes and components."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, TypeVar

from inspector.clocks.callbacks import refuse_unfinished
from inspector.engines.creator.components import Component, LifeState
from inspector.engines.creator.destruction import Destroyable
from inspector.frames.reporting import Reporter, text_of
from inspector.vocabulary import Field, LifeCycle, MemberKind

if TYPE_CHECKING:
    from inspector.engines.creator.nodes import Node
    from inspector.engines.creator.versions import ComponentDialect

ArgumentT = TypeVar("ArgumentT")

_LIVES: Final = {
    LifeState.NEW: LifeCycle.NEW,
    LifeState.OFF: LifeCycle.DISABLED,
    LifeState.NOT_STARTED: LifeCycle.ENABLED,
    LifeState.RUNNING: LifeCycle.STARTED,
    LifeState.MARKED: LifeCycle.DESTROYING,
}


class PhaseMember:
    """A part of a director's frame."""

    def __init__(self, reporter: Reporter, name: str, above: int) -> None:
        self.number = reporter.add(self, MemberKind.PHASE, name, above)


class NodeControl:
    def __init__(self, node: Node) -> None:
        self.node = node
        self.number = self.above = 0
        self.life: LifeCycle | None = None
        self.is_off = False

    def pause(self) -> bool:
        """Deactivate it, as a program does; returns whether it was active."""
        was_active, self.node.active = self.node.active, False
        return was_active

    def resume(self) -> bool:
        was_active, self.node.active = self.node.active, True
        return not was_active


class ComponentControl:
    def __init__(self, component: Component) -> None:
        self.component = component
        self.number = 0
        self.life: LifeCycle | None = None
        self.is_off = False

    def pause(self) -> bool:
        """Disable it, as a program does; returns whether it was enabled."""
        was_enabled, self.component.enabled = self.component.enabled, False
        return was_enabled

    def resume(self) -> bool:
        was_enabled, self.component.enabled = self.component.enabled, True
        return not was_enabled


class CreatorReports:
    def __init__(self, reporter: Reporter, number: int, dialect: ComponentDialect) -> None:
        self._reporter = reporter
        self._number = number
        self._phases = {name: PhaseMember(reporter, name, number) for name in dialect.phases}
        reporter.set_text(number, Field.RULES, dialect.title)
        self._nodes: dict[int, NodeControl] = {}
        self._components: dict[int, ComponentControl] = {}

    def phase(self, name: str, run: Callable[[ArgumentT], object], argument: ArgumentT) -> None:
        began_ns = perf_counter_ns()
        try:
            run(argument)
        finally:
            self._reporter.call_ended(self._phases[name].number, began_ns)

    def call(self, component: Component, run: Callable[[Component], object]) -> None:
        began_ns = perf_counter_ns()
        known = self._components.get(id(component))
        number = 0 if known is None else known.number
        try:
            refuse_unfinished(run(component))
        finally:
            self._reporter.call_ended(number, began_ns)

    def node_placed(self, node: Node) -> None:
        """Report the parent of a node, and the node itself the first time."""
        above = self._nodes.get(id(node.parent)) if node.parent is not None else None
        above_number = self._number if above is None else above.number
        known = self._nodes.get(id(node))
        if known is None:
            if node.life.is_destroyed:
                return
            known = self._nodes[id(node)] = NodeControl(node)
            known.above = above_number
            name = text_of(node.name) or type(node).__name__
            known.number = self._reporter.add(known, MemberKind.NODE, name, above_number)
            self._reporter.introduce(node, known.number)
            self.node_changed(node)
        elif known.above != above_number:
            known.above = above_number
            self._reporter.move(known.number, above_number)

    def node_renamed(self, node: Node) -> None:
        known = self._nodes.get(id(node))
        if known is not None:
            self._reporter.set_text(known.number, Field.NAME, text_of(node.name))

    def node_changed(self, node: Node) -> None:
        known = self._nodes.get(id(node))
        if known is None:
            return
        if node.life.is_destroyed:
            self._reporter.remove(known.number)
            del self._nodes[id(node)]
            return
        if node.life.is_marked:
            life = LifeCycle.DESTROYING
        elif node.active_in_hierarchy:
            life = LifeCycle.STARTED
        else:
            life = LifeCycle.NEW if known.life in (None, LifeCycle.NEW) else LifeCycle.DISABLED
        self._report_state(known, life, is_off=not node.active)

    def component_changed(self, component: Component) -> None:
        """Report the changes of a component's life cycle, and the component the first time."""
        life = component.life
        known = self._components.get(id(component))
        if life.is_destroyed:
            if known is not None:
                self._reporter.remove(known.number)
                del self._components[id(component)]
            return
        if known is None:
            known = self._components[id(component)] = ComponentControl(component)
            above = None if life.node is None else self._nodes.get(id(life.node))
            above_number = self._number if above is None else above.number
            name = type(component).__name__
            known.number = self._reporter.add(known, MemberKind.COMPONENT, name, above_number)
            self._reporter.introduce(component, known.number)
            self._reporter.set(known.number, Field.ORDER, component.execution_order)
        self._report_state(
            known, _LIVES.get(component.state, LifeCycle.NEW), is_off=not life.is_enabled
        )

    def life_changed(self, subject: Destroyable) -> None:
        if isinstance(subject, Component):
            self.component_changed(subject)
        else:
            self.node_changed(subject)

    def _report_state(
        self, known: NodeControl | ComponentControl, life: LifeCycle, *, is_off: bool
    ) -> None:
        if known.is_off != is_off:
            known.is_off = is_off
            self._reporter.set_paused(known.number, paused=is_off)
        if known.life is not life:
            known.life = life
            self._reporter.set(known.number, Field.LIFE, life.value)


def component_name(thing: object) -> str:
    """Return a component's name among the targets of a scheduler; empty for other objects."""
    if not isinstance(thing, Component) or thing.life.node is None:
        return ""
    return f"{type(thing).__name__} of {text_of(thing.life.node.name)}"


def call_label(component: Component, method: str) -> str:
    """Return the label of a method call, such as ``Fox.update of den``."""
    node = component.life.node
    where = "" if node is None else f" of {text_of(node.name)}"
    return f"{type(component).__name__}.{method}{where}"


def report_component(component: Component) -> None:
    """Report the changes of a component's life cycle, if its director is reported."""
    director = component.life.director
    if director is not None and director.reports is not None:
        director.reports.component_changed(component)


def call_reported(component: Component, run: Callable[[Component], object]) -> None:
    """Call a life-cycle method; the call is reported if its director is."""
    director = component.life.director
    if director is None or director.reports is None:
        refuse_unfinished(run(component))
    else:
        director.reports.call(component, run)
