"""A director of components driven by hand, and components that note every call."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from inspector.engines.creator.components import Component
from inspector.engines.creator.director import CreatorDirector
from inspector.engines.creator.versions import COMPONENTS_2_4

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.engines.cocos.scheduler import Complaint, Diagnostic
    from inspector.engines.creator.destruction import LifeComplaint, LifeDiagnostic
    from inspector.engines.creator.nodes import Node
    from inspector.engines.creator.versions import ComponentDialect, DirectorEvent

MS = 1000 / 64
FRAME = 1 / 64


class World:
    """A director, its clock, and what was called in order."""

    def __init__(
        self,
        dialect: ComponentDialect = COMPONENTS_2_4,
        *,
        is_debug: bool = False,
        first_component_number: int = 100,
    ) -> None:
        self.now_ms = 0.0
        self.director = CreatorDirector(
            lambda: self.now_ms,
            dialect=dialect,
            is_debug=is_debug,
            first_component_number=first_component_number,
        )
        self.director.on_diagnostic = self.diagnosed
        self.complaints: list[LifeComplaint | Complaint] = []
        self.calls: list[str] = []
        self.hooks: dict[str, Callable[[], object]] = {}

    def diagnosed(self, diagnostic: LifeDiagnostic | Diagnostic) -> None:
        self.complaints.append(diagnostic.complaint)

    def called(self, call: str) -> None:
        self.calls.append(call)
        hook = self.hooks.pop(call, None)
        if hook is not None:
            hook()

    def listen(self, *events: DirectorEvent) -> None:
        """Note the director's events, all of them if none is named."""
        for event in events or self.director.dialect.events:
            self.director.on(event, partial(self.heard, event))

    def heard(self, event: DirectorEvent, _: object) -> None:
        self.called(f"event.{event.value}")

    def add(self, name: str, node: Node | None = None, order: int = 0) -> Probe:
        place = node or self.director.node(f"node of {name}")
        return place.add_component(_PROBES[order](name, self))

    def frame(self, milliseconds: float = MS) -> list[str]:
        """Run a frame and return what was called in it."""
        self.calls.clear()
        self.now_ms += milliseconds
        self.director.main_loop(self.now_ms)
        return list(self.calls)

    def during(self, action: Callable[[], object]) -> list[str]:
        """Return what an action calls."""
        self.calls.clear()
        action()
        return list(self.calls)


class Probe(Component):
    """Notes each call as ``name.method``."""

    def __init__(self, name: str, world: World) -> None:
        self.name = name
        self.world = world
        self.elapsed: list[float] = []

    def on_load(self) -> None:
        self.world.called(f"{self.name}.load")

    def on_enable(self) -> None:
        self.world.called(f"{self.name}.enable")

    def start(self) -> None:
        self.world.called(f"{self.name}.start")

    def update(self, _: float) -> None:
        self.world.called(f"{self.name}.update")

    def late_update(self, _: float) -> None:
        self.world.called(f"{self.name}.late")

    def on_disable(self) -> None:
        self.world.called(f"{self.name}.disable")

    def on_destroy(self) -> None:
        self.world.called(f"{self.name}.destroy")

    def blink(self, elapsed: float) -> None:
        self.elapsed.append(elapsed)
        self.world.called(f"{self.name}.blink")

    def enable(self) -> None:
        self.enabled = True

    def disable(self) -> None:
        self.enabled = False


class EarlyProbe(Probe):
    execution_order = -1


class LateProbe(Probe):
    execution_order = 1


_PROBES = {-1: EarlyProbe, 0: Probe, 1: LateProbe}


class Updater(Component):
    """Has nothing but ``update``."""

    def __init__(self) -> None:
        self.deltas: list[float] = []

    def update(self, delta: float) -> None:
        self.deltas.append(delta)


class Starter(Component):
    """Has nothing but ``start``."""

    def __init__(self) -> None:
        self.starts = 0

    def start(self) -> None:
        self.starts += 1


def only(calls: list[str], *methods: str) -> list[str]:
    return [call for call in calls if call.split(".")[1] in methods]


def boom() -> None:
    message = "boom"
    raise RuntimeError(message)


def activate(node: Node) -> None:
    node.active = True


def deactivate(node: Node) -> None:
    node.active = False
