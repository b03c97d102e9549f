"""Cocos Creator's director: the main loop around components, timers and destruction.

The differences between versions are rules of the
:class:`~inspector.engines.creator.versions.ComponentDialect`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from inspector.clocks.callbacks import checked_callable, refuse_unfinished
from inspector.clocks.clock import Clock
from inspector.clocks.failures import raise_interrupt
from inspector.engines.cocos.scheduler import Diagnostic, DialectScheduler
from inspector.engines.creator.activation import Activator
from inspector.engines.creator.component_phases import ComponentPhases
from inspector.engines.creator.components import Component
from inspector.engines.creator.destruction import DestructionQueue, LifeComplaint, LifeDiagnostic
from inspector.engines.creator.nodes import Node, Scene
from inspector.engines.creator.rendering_scenes import RenderingScene, RenderingStack
from inspector.engines.creator.reports import CreatorReports, call_label, component_name
from inspector.engines.creator.versions import (
    COMPONENTS_2_4,
    BackwardTime,
    ComponentDialect,
    DirectorEvent,
)
from inspector.frames.reporting import Reporter, milliseconds_of
from inspector.vocabulary import MemberKind

__all__ = ["ComponentFailure", "CreatorDirector", "DirectorEvent"]

ArgumentT = TypeVar("ArgumentT")

logger = logging.getLogger(__name__)

#: In a debug build, a delta above this many seconds ...
_DEBUG_LONGEST_DELTA: Final = 1.0
#: ... is replaced by this one.
_DEBUG_DELTA: Final = 1 / 60


@dataclass(frozen=True, slots=True)
class ComponentFailure:
    """An exception that was caught and reported."""

    component: Component
    method: str
    error: BaseException


@dataclass(slots=True)
class _Listener:
    call: Callable[[Any], object]
    is_once: bool
    is_active: bool = True


class CreatorDirector:
    """Runs frames over a scene, with the original's order and its delta.

    One frame: before update, start, update, timers, late update, in Creator 2.4 the starts of
    components enabled meanwhile, after update, destruction; then, also while paused, before draw,
    draw, after draw. In Creator 1.x the next rendering scene, before visit, visit, after visit and
    draw replace before draw and draw.

    Exceptions of timers, listeners and of ``on_enable``, ``on_disable`` and ``on_destroy`` leave
    :meth:`main_loop`, as in the original; in Creator 1.x and 2.0 all do.
    """

    def __init__(  # noqa: PLR0913 - every one of them is a user's choice
        self,
        now_ms: Callable[[], float] | None = None,
        *,
        dialect: ComponentDialect | None = None,
        is_debug: bool = False,
        first_component_number: int = 100,
        clock: Clock | None = None,
        name: str = "",
    ) -> None:
        """Start now, with an empty scene.

        ``now_ms`` returns milliseconds from any origin, for deltas; by default it is the clock's
        time. A debug build differs, see the attributes. The original numbers its components from a
        random number below 999 on.
        """
        dialect = COMPONENTS_2_4 if dialect is None else dialect
        if not isinstance(dialect, ComponentDialect):
            message = f"needs a component dialect, such as COMPONENTS_2_4, not {dialect!r}"  # type: ignore[unreachable]
            raise TypeError(message)
        self._now_ms = now_ms = milliseconds_of(now_ms, clock)
        self.dialect = dialect  # The rules it follows
        self.clock = clock  # The clock it hangs under, ``None`` for none
        self.name = name or "director"
        self._reporter = Reporter(clock, component_name)
        # Its number in events; 0 without a clock or while nothing records
        self.number = self._reporter.add(self, MemberKind.COMPONENT_DIRECTOR, self.name)
        # Reports what happens; ``None`` while nothing records
        self.reports = CreatorReports(self._reporter, self.number, dialect) if self.number else None
        self.is_debug = is_debug  # Behave as a debug build: a delta above 1 s becomes 1/60 s
        # Called with the delta where Creator 1.x visits the rendering scene
        self.on_visit: Callable[[float], object] | None = None
        # Called with the delta where the original renders
        self.on_draw: Callable[[float], object] | None = None
        # Called with every :class:`ComponentFailure`. If ``None``, they are reported to the clock
        # like failures of any callback; without a clock they are logged.
        self.on_failure: Callable[[ComponentFailure], object] | None = None
        # Called with what the original logs; logged if ``None``
        self.on_diagnostic: Callable[[LifeDiagnostic | Diagnostic], object] | None = None
        # The components' timers; its time scale does not affect ``update``
        self.scheduler = DialectScheduler(
            dialect.scheduler, self._diagnosed, reporter=self._reporter, above=self.number
        )
        # The components to start and update, in order
        self.phases = ComponentPhases(self.scheduler, dialect, self._failed)
        # Activates and deactivates nodes
        self.activator = Activator(self.phases, dialect, self._failed, self.complain)
        on_change = None if self.reports is None else self.reports.life_changed
        # Objects marked for destruction
        self.destruction = DestructionQueue(self.complain, on_change)
        self.delta = 0.0  # Seconds between this frame and the previous one
        self.total_frames = 0  # Number of completed frames, including paused ones
        # Frames only draw: no events around updates, no components, no timers and no destruction
        self.is_paused = False
        self.is_ended = False  # Nothing runs until another scene does
        self._is_end_wanted = False
        self._last_ms = now_ms()
        self._is_next_delta_zero = False
        self._next_component = first_component_number
        self._listeners: dict[DirectorEvent, list[_Listener]] = {e: [] for e in DirectorEvent}
        # The rendering scenes of Creator 1.x; empty in later versions
        self.rendering = RenderingStack()
        self.scene: Scene | None = Scene(self, "scene")  # The running scene; an empty one at first
        self.activator.activate(self.scene)
        self._launch_rendering(self.scene)

    def __repr__(self) -> str:
        state = ", ended" if self.is_ended else ", paused" if self.is_paused else ""
        return f"<CreatorDirector of {self.scene!r}, {self.total_frames} frames{state}>"

    def node(self, name: str = "", parent: Node | None = None, *, active: bool = True) -> Node:
        """Make a node under another, or under the scene."""
        return Node(self, name, parent=self.scene if parent is None else parent, active=active)

    # ------------------------------------------------------------------ frames

    def main_loop(self, now_ms: float | None = None) -> None:
        """Run one frame at an instant.

        Without it or with 0, and always in Creator 1.x and 2.0, the director's clock is read.
        """
        if self._is_end_wanted:
            self._purge()
        if self.is_ended:
            return
        self._update_delta(now_ms)
        # The delta is read each time: a resume during the frame sets it to 0.
        if not self.is_paused:
            self._emit(DirectorEvent.BEFORE_UPDATE, self.delta)
            self._run_phase("start", self.phases.start_phase, None)
            self._run_phase("update", self.phases.update_phase, self.delta)
            self._run_phase("timers", self.scheduler.update, self.delta)
            self._run_phase("late update", self.phases.late_update_phase, self.delta)
            self._emit(DirectorEvent.AFTER_UPDATE, self.delta)
            self._run_phase("destroy", self.destruction.flush, None)
        if self.dialect.has_visit:
            self._visit()
        else:
            self._emit(DirectorEvent.BEFORE_DRAW, self.delta)
        self._run_optional("draw", self.on_draw)
        if self.dialect.counts_frame_before_after_draw:
            self.total_frames += 1
            self._emit(DirectorEvent.AFTER_DRAW, self.delta)
        else:
            self._emit(DirectorEvent.AFTER_DRAW, self.delta)
            self.total_frames += 1

    def _visit(self) -> None:
        self.rendering.switch()
        self._emit(DirectorEvent.BEFORE_VISIT, self.delta)
        self._run_optional("visit", self.on_visit)
        self._emit(DirectorEvent.AFTER_VISIT, self.delta)

    def run_frame(self, _delta: float = 0.0) -> None:
        """Run one frame, unless the clock stands still or was removed.

        Can be a callback of a director: ``director.on("update", creator.run_frame)``.
        """
        clock = self.clock
        if clock is None or not (clock.is_effectively_paused or clock.is_removed):
            self.main_loop()

    def _run_phase(
        self, name: str, run: Callable[[ArgumentT], object], argument: ArgumentT
    ) -> None:
        if self.reports is None:
            run(argument)
        else:
            self.reports.phase(name, run, argument)

    def _run_optional(self, name: str, run: Callable[[float], object] | None) -> None:
        if run is not None:
            self._run_phase(name, run, self.delta)

    # -------------------------------------------------------------------- time

    def _update_delta(self, stamp_ms: float | None) -> None:
        now_ms = (self.dialect.reads_stamp and stamp_ms) or self._now_ms()
        delta = (now_ms - self._last_ms) / 1000
        if delta < 0:
            now_ms, delta = self._go_back(now_ms, delta)
        if self._is_next_delta_zero:
            self._is_next_delta_zero = False
            delta = 0.0
        if self.is_debug and delta > _DEBUG_LONGEST_DELTA:
            delta = _DEBUG_DELTA
        self.delta = delta
        self._last_ms = now_ms

    def _go_back(self, now_ms: float, delta: float) -> tuple[float, float]:
        """Return the time and delta of a frame whose time is before that of the last one."""
        if self.dialect.backward_time is BackwardTime.CLOCK:
            now_ms = self._now_ms()
            delta = (now_ms - self._last_ms) / 1000
            if delta < 0:
                self.complain(LifeComplaint.ENDLESS_DELTA, self)
                delta = 0.0
        elif self.dialect.backward_time is BackwardTime.ZERO:
            # The next delta still counts from the earlier time.
            delta = 0.0
        return now_ms, delta

    def reset_delta(self) -> None:
        """Count the next delta from now, as the original does when it is shown again."""
        self._last_ms = self._now_ms()

    def _restart_loop(self) -> None:
        """Let frames run again; in Creator 1.x the first of them has a delta of 0."""
        self.is_ended = False
        self._is_next_delta_zero = self.dialect.first_delta_is_zero

    def pause(self) -> bool:
        """Only draw after the current frame; returns whether anything changed."""
        if self.is_paused:
            return False
        if not self.is_ended:
            self._restart_loop()
        self.is_paused = True
        self._reporter.set_paused(self.number, paused=True)
        return True

    def resume(self) -> bool:
        """Resume; no time is lost and none caught up. Returns whether anything changed."""
        if not self.is_paused:
            return False
        if not self.is_ended:
            self._restart_loop()
        self.reset_delta()
        self.delta = 0.0
        self.is_paused = False
        self._reporter.set_paused(self.number, paused=False)
        return True

    # ---------------------------------------------------------------- listeners

    def on(self, event: DirectorEvent, callback: Callable[[Any], object]) -> None:
        """Call ``callback`` with the delta or the scene each time, in the order of adding."""
        listener = _Listener(_checked(callback), is_once=False)
        self._listeners[self.dialect.event(event)].append(listener)

    def once(self, event: DirectorEvent, callback: Callable[[Any], object]) -> None:
        """Call ``callback`` the next time only."""
        listener = _Listener(_checked(callback), is_once=True)
        self._listeners[self.dialect.event(event)].append(listener)

    def off(self, event: DirectorEvent, callback: Callable[[Any], object]) -> bool:
        """Stop calling a callback at once; returns whether it was registered."""
        found = self.dialect.event(event)
        for listener in self._listeners[found]:
            if listener.call == callback:
                self._remove(found, listener)
                return True
        return False

    def _remove(self, event: DirectorEvent, listener: _Listener) -> None:
        listener.is_active = False
        self._listeners[event] = [other for other in self._listeners[event] if other.is_active]

    def _emit(self, event: DirectorEvent, argument: float | Scene) -> None:
        for listener in list(self._listeners[event]):
            if listener.is_active:
                if listener.is_once:
                    self._remove(event, listener)
                refuse_unfinished(listener.call(argument))

    # ------------------------------------------------------------------- scenes

    def run_scene(self, scene: Scene) -> None:
        """Run another scene, from the next ``launches_at`` of the dialect on."""
        self.once(self.dialect.launches_at, lambda _: self.run_scene_immediate(scene))

    def run_scene_immediate(self, scene: Scene) -> None:
        """Run another scene now; the old one is destroyed first, with everything marked."""
        old = self.scene
        if old is not None and old.is_valid():
            old.destroy()
        self.scene = None
        self.destruction.flush()
        self._emit(DirectorEvent.BEFORE_SCENE_LAUNCH, scene)
        self.scene = scene
        self.activator.activate(scene)
        if self.dialect.has_visit:
            self._launch_rendering(scene)
        elif self.is_ended or self.dialect.launch_restarts_time:
            self.is_ended = False
            self.reset_delta()
        self._emit(DirectorEvent.AFTER_SCENE_LAUNCH, scene)

    def _launch_rendering(self, scene: Scene) -> None:
        if not self.dialect.has_visit:
            return
        if self.rendering.running is None:
            self.rendering.push(scene.rendering)
            self._restart_loop()
        else:
            self.rendering.replace(scene.rendering)
        self.rendering.switch()

    def push_rendering(self, scene: RenderingScene) -> None:
        """Draw a scene from this frame's visit on, and keep the current one, in Creator 1.x."""
        self._check_rendering()
        self.rendering.push(scene)

    def pop_rendering(self) -> None:
        """Draw the scene below from this frame's visit on, in Creator 1.x; without one, end."""
        self._check_rendering()
        if not self.rendering.pop():
            self.end()

    def _check_rendering(self) -> None:
        if not self.dialect.has_visit:
            raise TypeError(f"{self.dialect.title} has no rendering scenes; Creator 1.x has")

    def end(self) -> None:
        """Stop: the next frame drops everything scheduled, and nothing else runs in it."""
        self._is_end_wanted = True

    def _purge(self) -> None:
        self._is_end_wanted = False
        self.is_ended = True
        self.scheduler.unschedule_all()
        self.phases.clear()
        self.activator.clear()
        if not self.dialect.end_destroys_scene:
            self.rendering.clear()
            return
        if self.scene is not None and self.scene.is_valid():
            self.scene.destroy()
        self.scene = None

    # ------------------------------------------------------------ for the parts

    def next_component_number(self) -> int:
        """Return the number of a new component."""
        number = self._next_component
        self._next_component += 1
        return number

    def complain(self, complaint: LifeComplaint, subject: object) -> None:
        """Report what the original would log."""
        if self.on_diagnostic is not None:
            self.on_diagnostic(LifeDiagnostic(complaint, subject))
        else:
            logger.warning("%s (%r)", complaint.text, subject)

    def _diagnosed(self, diagnostic: Diagnostic) -> None:
        if self.on_diagnostic is not None:
            self.on_diagnostic(diagnostic)
        else:
            logger.debug("%s (%r)", diagnostic.complaint.value, diagnostic.target)

    def _failed(self, component: Component, method: str, error: BaseException) -> None:
        label = call_label(component, method)
        if self.on_failure is not None:
            self.on_failure(ComponentFailure(component, method, error))
        elif self.clock is not None:
            self.clock.tree.report_failure(self.clock, 0, label, error)
        else:
            raise_interrupt(error)
            logger.error("callback %s failed", label, exc_info=error)


def _checked(callback: Callable[[Any], object]) -> Callable[[Any], object]:
    checked_callable(callback)
    return callback
