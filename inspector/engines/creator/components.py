"""Components as in Cocos Creator: their states, and what they can schedule.

A component is a class that defines those of these methods that it needs::

    class Enemy(Component):
        execution_order = -1

        def on_load(self) -> None: ...      # once, when its node is first activated
        def on_enable(self) -> None: ...    # each time it becomes enabled and active
        def start(self) -> None: ...        # once, before its first update
        def update(self, delta: float) -> None: ...
        def late_update(self, delta: float) -> None: ...
        def on_disable(self) -> None: ...
        def on_destroy(self) -> None: ...   # only if it was loaded

A method that a class does not define has no effect: without ``update`` it is in no update list.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final, Self

from inspector.clocks.callbacks import checked_callable
from inspector.engines.creator.destruction import DestructionState, LifeComplaint

if TYPE_CHECKING:
    from inspector.engines.creator.director import CreatorDirector
    from inspector.engines.creator.nodes import Node
    from inspector.frames.scheduling import Callback


class LifeState(Enum):
    """State of a component's life cycle."""

    DETACHED = "on no node"
    NEW = "not loaded yet"
    OFF = "loaded, but disabled or on an inactive node"
    NOT_STARTED = "waits for its start"
    RUNNING = "running"
    MARKED = "will be destroyed"
    DESTROYED = "destroyed"


@dataclass(slots=True)
class ComponentState(DestructionState):
    """The life cycle of a component; the engine changes it, others only read it."""

    director: CreatorDirector | None = None  # Runs its frames; None before it is added to a node
    node: Node | None = None  # Its node; None before it is added and after its destruction
    number: int = 0  # Increases in the order in which components are added
    is_enabled: bool = True  # Its own flag
    is_load_begun: bool = False  # on_load was called, or waits for its turn in an activation
    is_loaded: bool = False  # on_load was called or is not defined
    is_on: bool = False  # on_enable was called and on_disable not since
    is_started: bool = False  # start was called

    @property
    def id(self) -> str:
        """Decides the order among equal execution orders."""
        return f"Comp.{self.number}"


class Component:
    """The base class of components; :meth:`Node.add_component` adds one to a node."""

    execution_order: ClassVar[int] = 0  # Of the class: smaller comes first
    life: ComponentState

    def __new__(cls, *_args: object, **_fields: object) -> Self:
        """Set up ``life`` here, so that a subclass need not call ``super().__init__()``."""
        component = super().__new__(cls)
        component.life = ComponentState()
        return component

    def __repr__(self) -> str:
        node = self.life.node
        where = "" if node is None else f" of {node.name!r}"
        return f"<{type(self).__name__}{where}, {self.state.value}>"

    @property
    def node(self) -> Node:
        """The node it is on; a ``RuntimeError`` without one, or if it was destroyed."""
        node = self.life.node
        if node is None:
            raise RuntimeError(f"{self!r} is on no node")
        return node

    @property
    def director(self) -> CreatorDirector:
        """The director that runs its frames; a ``RuntimeError`` if it was on no node yet."""
        director = self.life.director
        if director is None:
            raise RuntimeError(f"{self!r} has no director")
        return director

    @property
    def state(self) -> LifeState:
        """State of its life cycle."""
        life = self.life
        if life.is_destroyed:
            return LifeState.DESTROYED
        if life.is_marked:
            return LifeState.MARKED
        if life.is_on:
            has_start_ahead = not life.is_started and defines(self, "start")
            return LifeState.NOT_STARTED if has_start_ahead else LifeState.RUNNING
        if life.node is None:
            return LifeState.DETACHED
        return LifeState.OFF if life.is_loaded else LifeState.NEW

    @property
    def enabled(self) -> bool:
        """Its own flag; setting it calls ``on_enable`` or ``on_disable`` at once.

        Quirk: reset inside its own ``on_enable`` only the flag changes: the component is not
        "on" yet, so nothing is undone, and it is started and updated.
        """
        return self.life.is_enabled

    @enabled.setter
    def enabled(self, enabled: bool) -> None:
        life = self.life
        if life.is_enabled == enabled:
            return
        life.is_enabled = enabled
        if life.director is not None and life.director.reports is not None:
            life.director.reports.component_changed(self)
        node = life.node
        if node is not None and node.active_in_hierarchy:
            phases = self.director.phases
            if enabled:
                phases.enable(self)
            else:
                phases.disable(self)

    @property
    def enabled_in_hierarchy(self) -> bool:
        """Whether it is enabled and its node and all nodes above are active.

        Quirk: in Creator 1.x whether it is "on": after ``on_enable`` and before the end of
        ``on_disable``.
        """
        life = self.life
        if life.director is not None and life.director.dialect.enabled_in_hierarchy_means_on:
            return life.is_on
        return self.may_run

    @property
    def may_run(self) -> bool:
        """Whether its own flag and its node let it run; internal."""
        life = self.life
        return life.is_enabled and life.node is not None and life.node.active_in_hierarchy

    def is_valid(self, *, strict: bool = False) -> bool:
        """Return whether it is not destroyed, or with ``strict`` not even marked."""
        life = self.life
        return not (life.is_destroyed or (strict and life.is_marked))

    def destroy(self) -> bool:
        """Disable now, and destroy at the end of the frame; returns whether that is new."""
        if not self.director.destruction.mark(self):
            return False
        if self.may_run:
            self.director.phases.disable(self)
        return True

    def end(self) -> None:
        """Destroy it for real; internal."""
        self.unschedule_all()
        node = self.node
        self.director.activator.end_component(self)
        node.forget(self)
        self.life.node = None

    def schedule(
        self,
        callback: Callback,
        interval: float = 0.0,
        *,
        repeat: int | None = None,
        delay: float = 0.0,
    ) -> None:
        """Call ``callback(elapsed)`` every ``interval`` seconds of the scheduler, or frame for 0.

        Quirk: timers wait while the component is disabled, but the first timer of a component
        without timers runs at once even if it is disabled or was never enabled: the scheduler
        remembers no pause for a target without timers.

        ``repeat`` are the calls after the first, without limit for ``None``; the delay takes the
        place of the first interval.
        """
        if interval < 0:
            self.director.complain(LifeComplaint.NEGATIVE_INTERVAL, self)
        scheduler = self.director.scheduler
        paused = scheduler.is_target_paused(self)
        scheduler.schedule(
            callback, interval, target=self, repeat=repeat, delay=delay, paused=paused
        )

    def schedule_once(self, callback: Callback, delay: float = 0.0) -> None:
        """Call ``callback(elapsed)`` once.

        Quirk: without a delay it is called in the second frame from now, because the first
        frame only arms a timer.
        """
        self.schedule(callback, repeat=0, delay=delay)

    def unschedule(self, callback: Callback) -> bool:
        """Unschedule a timer; returns whether it existed."""
        return self.director.scheduler.unschedule(callback, self)

    def unschedule_all(self) -> None:
        """Unschedule all timers."""
        self.director.scheduler.unschedule_target(self)


_LIFE_METHODS: Final = (
    "on_load",
    "on_enable",
    "start",
    "update",
    "late_update",
    "on_disable",
    "on_destroy",
)


def check_methods(component: Component) -> None:
    """Refuse async and generator functions, which nothing would run."""
    for method in _LIFE_METHODS:
        if defines(component, method):
            checked_callable(getattr(component, method))


def defines(component: Component, method: str) -> bool:
    """Return whether a component has a life-cycle method."""
    # Not by getattr() on the component, whose __getattr__ is slow.
    own = component.__dict__
    found = own[method] if method in own else getattr(type(component), method, None)
    return callable(found)
