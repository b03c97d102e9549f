"""Cocos Creator's node activator: a branch becomes active or inactive."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, TypeVar

from inspector.engines.creator.component_lists import OneShotCalls
from inspector.engines.creator.components import Component, defines
from inspector.engines.creator.destruction import LifeComplaint
from inspector.engines.creator.reports import call_reported, report_component

if TYPE_CHECKING:
    from inspector.engines.creator.component_phases import ComponentPhases, Report
    from inspector.engines.creator.nodes import Node
    from inspector.engines.creator.versions import ComponentDialect

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class _Activation:
    """The calls of one activation of a branch: all ``on_load``, then all ``on_enable``."""

    loads: OneShotCalls = field(default_factory=OneShotCalls)
    enables: OneShotCalls = field(default_factory=OneShotCalls)


class Activator:
    """Activates and deactivates branches, also inside an activation or deactivation."""

    def __init__(
        self,
        phases: ComponentPhases,
        dialect: ComponentDialect,
        report: Report,
        complain: Callable[[LifeComplaint, object], None],
    ) -> None:
        """Start with no activation.

        ``report`` takes exceptions of ``on_load`` inside an activation, if the dialect catches
        them, and ``complain`` what the original would log. All others are raised to the caller.
        """
        self._phases = phases
        self._is_destroyed_activated = dialect.activates_destroyed
        self._report = report
        self._on_load_error = self._load_failed if dialect.catches_exceptions else None
        self._complain = complain
        self._running: list[_Activation] = []

    def clear(self) -> None:
        self._running = []

    def activate(self, node: Node) -> None:
        """Activate a branch: collect, call every ``on_load``, then every ``on_enable``.

        Quirk: after an uncaught exception the activation still counts as running.
        """
        activation = _Activation()
        self._running.append(activation)
        self._collect(node, activation)
        activation.loads.call_all(_load, self._on_load_error)
        activation.enables.call_all(self._enable_in_turn)
        self._running.pop()

    def deactivate(self, node: Node) -> None:
        """Deactivate a branch, and cancel the pending calls of running activations.

        Quirk: all of them drop inactive and disabled components.
        """
        self._deactivate(node)
        for activation in self._running:
            activation.loads.cancel_inactive(_load_again)
            activation.enables.cancel_inactive()

    def activate_component(
        self, component: Component, activation: _Activation | None = None
    ) -> None:
        """Load and enable a component now, or in its turn within an activation."""
        life = component.life
        if not (self._is_destroyed_activated or component.is_valid(strict=True)):
            return
        if not life.is_load_begun:
            life.is_load_begun = True
            if not defines(component, "on_load"):
                life.is_loaded = True
                report_component(component)
            elif activation is not None:
                activation.loads.add(component)
            else:
                _load(component)
        if component.may_run:
            self._phases.enable(component, None if activation is None else activation.enables)

    def disable_components(self, node: Node) -> None:
        """Disable the components on and below an active node; the nodes stay as they are."""
        for component in self._present(node.components, node):
            if component.enabled:
                self._phases.disable(component)
        for child in self._present(node.children, node):
            if child.active:
                self.disable_components(child)

    def end_component(self, component: Component) -> None:
        """Call the methods of a component that is being destroyed."""
        self._phases.disable(component)
        if component.life.is_loaded and defines(component, "on_destroy"):
            call_reported(component, methodcaller("on_destroy"))

    def _collect(self, node: Node, activation: _Activation) -> None:
        if node.is_deactivating:
            self._complain(LifeComplaint.REACTIVATED, node)
            return
        node.active_in_hierarchy = True
        node.report()
        for component in node.components:
            self.activate_component(component, activation)
        for child in node.children:
            if child.active:
                self._collect(child, activation)

    def _deactivate(self, node: Node) -> None:
        node.is_deactivating = True
        node.active_in_hierarchy = False
        node.report()
        for component in self._present(node.components, node):
            if component.enabled:
                self._phases.disable(component)
                if node.active_in_hierarchy:
                    # ``on_disable`` has activated the node again, as it can once a deactivation
                    # of the same node inside this one has ended.
                    node.is_deactivating = False
                    return
        for child in self._present(node.children, node):
            if child.active_in_hierarchy:
                self._deactivate(child)
                if node.active_in_hierarchy:
                    node.is_deactivating = False
                    return
        node.is_deactivating = False

    def _present(self, items: list[ItemT], node: Node) -> Iterator[ItemT]:
        """Yield the items present now, without later additions.

        If some are removed meanwhile, the original crashes at the end; here the iteration ends.
        """
        for index in range(len(items)):
            if index >= len(items):
                self._complain(LifeComplaint.CHILDREN_CHANGED, node)
                return
            yield items[index]

    def _enable_in_turn(self, component: Component) -> None:
        if component.enabled:
            self._phases.call_on_enable(component)

    def _load_failed(
        self, component: Component, error: BaseException, at_cursor: Component | None
    ) -> None:
        self._report(component, "on_load", error)
        # No component leaves the list at or before the cursor, so the one there is still the one
        # that failed.
        assert at_cursor is component
        component.life.is_loaded = True
        report_component(component)


def _load(component: Component) -> None:
    call_reported(component, methodcaller("on_load"))
    component.life.is_loaded = True
    report_component(component)


def _load_again(component: Component) -> None:
    component.life.is_load_begun = False
