"""Cocos Creator's component scheduler: which components start and update in a frame, and when."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import TYPE_CHECKING

from inspector.engines.creator.component_lists import FrameCalls, OneShotCalls
from inspector.engines.creator.components import Component, defines
from inspector.engines.creator.reports import call_reported, report_component
from inspector.engines.creator.versions import ComponentDialect, Newcomers

if TYPE_CHECKING:
    from inspector.engines.cocos.scheduler import DialectScheduler
    from inspector.engines.creator.component_lists import OnError

    #: Called with a caught exception: the component, its method and the exception.
    Report = Callable[[Component, str, BaseException], None]


class ComponentPhases:
    """The lists of components that a frame iterates over, and when components join them."""

    def __init__(
        self, scheduler: DialectScheduler, dialect: ComponentDialect, report: Report
    ) -> None:
        """Start with none.

        ``report`` takes exceptions of ``start``, ``update`` and ``late_update`` if the dialect
        catches them; otherwise they are raised.
        """
        self._scheduler = scheduler
        self._waits_for_next_frame = dialect.newcomers is Newcomers.NEXT_FRAME
        self._compares_ids_as_text = dialect.compares_ids_as_text
        self._catches = dialect.catches_exceptions
        self._report = report
        self.clear()

    def clear(self) -> None:
        self.starts = OneShotCalls()
        self.updates = FrameCalls(compares_ids_as_text=self._compares_ids_as_text)
        self.late_updates = FrameCalls(compares_ids_as_text=self._compares_ids_as_text)
        self._deferred: list[Component] = []
        self._is_in_frame = False

    def enable(self, component: Component, enables: OneShotCalls | None = None) -> None:
        """Enable a component of an active node; an activation calls its ``on_enable`` later."""
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

        Quirk: its ``enabled`` is not checked again.
        """
        call_reported(component, methodcaller("on_enable"))
        node = component.life.node
        if node is not None and node.active_in_hierarchy:
            self.turn_on(component)

    def turn_on(self, component: Component) -> None:
        """Add a component to the lists, or defer that as the dialect says."""
        self._scheduler.resume_target(component)
        component.life.is_on = True
        report_component(component)
        if self._is_in_frame:
            self._deferred.append(component)
        else:
            self._join(component)

    def disable(self, component: Component) -> None:
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

    def start_phase(self, _: None = None) -> None:
        """Start waiting components; in Creator 2.4 also those that get enabled meanwhile."""
        self._is_in_frame = True
        if self._waits_for_next_frame:
            self._join_deferred()
            self._start_all()
        else:
            self._start_all()
            self._start_deferred()

    def update_phase(self, delta: float) -> None:
        call = self._reported(methodcaller("update", delta))
        self.updates.call_all(call, self._reporting("update"))

    def late_update_phase(self, delta: float) -> None:
        """Call every ``late_update``; Creator 2.4 then starts those enabled meanwhile."""
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
        """Start every component in the list.

        Quirk: in dialects that do not catch exceptions, the list is not emptied after one, so all
        its components are started again in the next frame.
        """
        self.starts.call_all(_start, self._start_failed if self._catches else None)

    def _start_failed(
        self, component: Component, error: BaseException, at_cursor: Component | None
    ) -> None:
        self._report(component, "start", error)
        # Quirk: the component at the cursor counts as started. It is another one if the component
        # disabled itself before it raised; if there is none, the original crashes.
        if at_cursor is not None:
            at_cursor.life.is_started = True
            report_component(at_cursor)

    def _reported(self, call: Callable[[Component], object]) -> Callable[[Component], object]:
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
