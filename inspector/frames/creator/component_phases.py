"""Cocos Creator's component scheduler: who is started and updated in a frame, and when."""

from __future__ import annotations

from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

from inspector.frames.creator.component_lists import OneShotCalls, StandingCalls
from inspector.frames.creator.components import defines
from inspector.frames.creator.reports import call_reported, report_component
from inspector.frames.creator.versions import Newcomers

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.frames.cocos.scheduler import DialectScheduler
    from inspector.frames.creator.component_lists import OnError
    from inspector.frames.creator.components import Component
    from inspector.frames.creator.versions import ComponentDialect

    #: Told about an exception that was kept from going further: whose, in which method.
    Report = Callable[[Component, str, BaseException], None]


class ComponentPhases:
    """The lists of components that a frame goes through, and who may join them when.

    Attributes:
        starts: Who is to be started.
        updates: Who is updated.
        late_updates: Who is updated late.
    """

    def __init__(
        self, scheduler: DialectScheduler, dialect: ComponentDialect, report: Report
    ) -> None:
        """Begin with nobody.

        Args:
            scheduler: Where the components' timers are.
            dialect: Whose rules it follows.
            report: Takes the exceptions of ``start``, ``update`` and ``late_update``, if the
                dialect catches them; else they go through.
        """
        self._scheduler = scheduler
        self._waits_for_next_frame = dialect.newcomers is Newcomers.NEXT_FRAME
        self._compares_ids_as_text = dialect.compares_ids_as_text
        self._catches = dialect.catches_exceptions
        self._report = report
        self.clear()

    def clear(self) -> None:
        """Forget everybody."""
        self.starts = OneShotCalls()
        self.updates = StandingCalls(compares_ids_as_text=self._compares_ids_as_text)
        self.late_updates = StandingCalls(compares_ids_as_text=self._compares_ids_as_text)
        self._deferred: list[Component] = []
        self._is_in_frame = False

    # --------------------------------------------------------------- enabling

    def enable(self, component: Component, enables: OneShotCalls | None = None) -> None:
        """Let a component run, unless it does.

        Args:
            component: Enabled, on an active node.
            enables: The activation whose turn to call ``on_enable`` it awaits; ``None`` to
                call it now.
        """
        if component.life.is_on:
            return
        if not defines(component, "on_enable"):
            self.turn_on(component)
        elif enables is not None:
            enables.add(component)
        else:
            self.call_on_enable(component)

    def call_on_enable(self, component: Component) -> None:
        """Call ``on_enable``; the component runs if its node is still active after that.

        Quirk: its ``enabled`` is not looked at again.
        """
        call_reported(component, methodcaller("on_enable"))
        node = component.life.node
        if node is not None and node.active_in_hierarchy:
            self.turn_on(component)

    def turn_on(self, component: Component) -> None:
        """Put a component into the lists, or let it wait until the dialect lets it in."""
        self._scheduler.resume_target(component)
        component.life.is_on = True
        report_component(component)
        if self._is_in_frame:
            self._deferred.append(component)
        else:
            self._join(component)

    def disable(self, component: Component) -> None:
        """Let a component run no more, if it does."""
        if not component.life.is_on:
            return
        if defines(component, "on_disable"):
            call_reported(component, methodcaller("on_disable"))
        self._scheduler.pause_target(component)
        component.life.is_on = False
        report_component(component)
        for index, deferred in enumerate(self._deferred):
            if deferred is component:
                last = self._deferred.pop()
                if last is not component:
                    self._deferred[index] = last
                return
        if defines(component, "start") and not component.life.is_started:
            self.starts.remove(component)
        if defines(component, "update"):
            self.updates.remove(component)
        if defines(component, "late_update"):
            self.late_updates.remove(component)

    def _join(self, component: Component) -> None:
        if defines(component, "start") and not component.life.is_started:
            self.starts.add(component)
        if defines(component, "update"):
            self.updates.add(component)
        if defines(component, "late_update"):
            self.late_updates.add(component)

    # ----------------------------------------------------------------- phases

    def start_phase(self, _: None = None) -> None:
        """Start who waits for it; in Creator 2.4 also those who became enabled by that."""
        self._is_in_frame = True
        if self._waits_for_next_frame:
            self._join_deferred()
            self._start_all()
        else:
            self._start_all()
            self._start_deferred()

    def update_phase(self, delta: float) -> None:
        """Call every ``update``."""
        call = self._reported(methodcaller("update", delta))
        self.updates.call_all(call, self._reporting("update"))

    def late_update_phase(self, delta: float) -> None:
        """Call every ``late_update``; Creator 2.4 then starts who became enabled meanwhile."""
        call = self._reported(methodcaller("late_update", delta))
        self.late_updates.call_all(call, self._reporting("late_update"))
        self._is_in_frame = False
        if not self._waits_for_next_frame:
            self._start_deferred()

    def _start_deferred(self) -> None:
        if self._deferred:
            self._join_deferred()
            self._start_all()

    def _join_deferred(self) -> None:
        deferred, self._deferred = self._deferred, []
        for component in deferred:
            self._join(component)

    def _start_all(self) -> None:
        """Start everybody in the list.

        Quirk: where exceptions are not caught, the list stays as it is after one, so that
        all of it is started again in the next frame.
        """
        self.starts.call_all(_start, self._start_failed if self._catches else None)

    def _start_failed(
        self, component: Component, error: BaseException, standing: Component | None
    ) -> None:
        self._report(component, "start", error)
        # Quirk: it is whoever stands at the cursor that counts as started. That is somebody
        # else if the component disabled itself before it raised; where nobody stands, the
        # original crashes.
        if standing is not None:
            standing.life.is_started = True
            report_component(standing)

    def _reported(self, call: Callable[[Component], object]) -> Callable[[Component], object]:
        """Return what reports each call, if this director is reported."""
        return partial(call_reported, run=call) if self._scheduler.number else call

    def _reporting(self, method: str) -> OnError | None:
        if not self._catches:
            return None

        def report(component: Component, error: BaseException, _: Component | None) -> None:
            self._report(component, method, error)

        return report


def _start(component: Component) -> None:
    call_reported(component, methodcaller("start"))
    component.life.is_started = True
    report_component(component)
