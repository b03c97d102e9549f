"""Replays Cocos Creator's life cycle on our director; only translates, decides nothing."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from inspector.engines.creator.components import Component
from inspector.engines.creator.destruction import LifeDiagnostic
from inspector.engines.creator.director import ComponentFailure, CreatorDirector
from inspector.engines.creator.nodes import Node, Scene
from inspector.engines.creator.rendering_scenes import RenderingScene, SceneMessage
from inspector.engines.creator.versions import ComponentDialect, DirectorEvent
from tests.conformance.replay import Event, GoldenLine, Hooks
from tests.conformance.schedulers import CREATOR_CODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from inspector.engines.cocos.scheduler import Diagnostic

#: Letters of the recordings for the methods of a component.
_METHODS = {
    "L": "on_load",
    "E": "on_enable",
    "S": "start",
    "U": "update",
    "V": "late_update",
    "D": "on_disable",
    "X": "on_destroy",
}

#: Directors' events with their numbers in the recordings.
_EVENTS = {
    DirectorEvent.BEFORE_UPDATE: 0,
    DirectorEvent.AFTER_UPDATE: 1,
    DirectorEvent.BEFORE_DRAW: 2,
    DirectorEvent.AFTER_DRAW: 3,
    DirectorEvent.BEFORE_VISIT: 4,
    DirectorEvent.AFTER_VISIT: 5,
    DirectorEvent.BEFORE_SCENE_LAUNCH: 6,
    DirectorEvent.AFTER_SCENE_LAUNCH: 7,
}

#: What rendering scenes are told, with its number in the recordings.
_MESSAGES = {
    SceneMessage.ENTER: 1,
    SceneMessage.EXIT: 2,
    SceneMessage.CLEANUP: 3,
    SceneMessage.ENTER_FINISHED: 4,
    SceneMessage.EXIT_BEGUN: 5,
}

#: Parents: the running scene, nothing, and from here downwards the scenes by number.
_SCENE, _NOWHERE, _SCENES = -1, -2, -10

_FOREVER = -1

#: Ids of components may be compared as texts; all of these have as many digits.
_FIRST_COMPONENT = 100_001


class _BoomError(Exception):
    """What a callback raises when the recording says so."""


class _Recorded(Component):
    """A component that notes every call."""

    def __init__(self, number: int, note: Callable[..., None]) -> None:
        self.number = number
        self.note = note


def _noting(letter: str) -> Callable[..., None]:
    def method(self: _Recorded, *arguments: float) -> None:
        self.note("L", self.number, letter, *arguments, key=f"{self.number}.{letter}")

    return method


class LifecycleReplay:
    """One sequence of operations on a director."""

    def __init__(self, line: GoldenLine, dialect: ComponentDialect) -> None:
        """Begin with an empty scene, at time 0."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        self._now_ms = 0.0
        cfg = line.data["cfg"]
        self._classes = [
            type(
                "Recorded",
                (_Recorded,),
                {
                    "execution_order": described["o"],
                    **{_METHODS[letter]: _noting(letter) for letter in described["m"]},
                },
            )
            for described in cfg["classes"]
        ]
        self._director = CreatorDirector(
            lambda: self._now_ms,
            dialect=dialect,
            is_debug=cfg["debug"],
            first_component_number=_FIRST_COMPONENT,
        )
        self._director.on_failure = self._failed
        self._director.on_diagnostic = self._diagnosed
        for event in dialect.events:
            self._director.on(event, partial(self._director_event, _EVENTS[event]))
        scene = self._director.scene
        assert scene is not None
        self._scenes: dict[int, Scene] = {0: self._heard(0, scene)}
        self._launched = {0}
        self._rendering: dict[int, RenderingScene] = {}
        self._nodes: dict[int, Node] = {}
        self._components: dict[int, Component] = {}
        self._timers: dict[tuple[int, int], Callable[[float], None]] = {}
        self._frames = 0

    def perform_outermost(self, operation: list[Any]) -> None:
        """Perform an operation that is inside no callback; note what it raises."""
        try:
            self.perform(operation)
        except _BoomError as error:
            self.events.append(["E", str(error)])

    def perform(self, operation: list[Any]) -> None:  # noqa: C901, PLR0912 - one case each
        """Perform one operation, unless its subject does not exist."""
        name, *args = operation
        match name:
            case "frame":
                self._now_ms = args[-1]
                self.events.append(["F", self._frames])
                self._frames += 1
                self._director.main_loop(args[0])
            case "dpause":
                self._director.pause()
            case "dresume":
                self._now_ms = args[0]
                self._director.resume()
            case "now" | "show":
                self._now_ms = args[0]
                if name == "show":
                    self._director.reset_delta()
            case "scene" | "run" | "runNow" | "end" | "push" | "pop":
                self._on_scenes(name, args)
            case "scale":
                self._director.scheduler.time_scale = args[0]
            case "throw":
                message = "boom"
                raise _BoomError(message)
            case "v":
                self._note_validity("v", args[0], self._components.get(args[0]))
            case "vn":
                self._note_validity("vn", args[0], self._nodes.get(args[0]))
            case "node" | "add" | "active" | "parent" | "destroyN":
                self._on_nodes(name, args)
            case _:
                component = self._components.get(args[0])
                if component is not None and component.is_valid():
                    self._on_component(name, component, args)

    def _on_scenes(self, name: str, args: list[int]) -> None:
        director = self._director
        match name:
            case "scene" if args[0] not in self._scenes:
                made = Scene(director, f"scene {args[0]}")
                self._scenes[args[0]] = self._heard(args[0], made)
            case "run" | "runNow":
                self._launch(name, args[0])
            case "end":
                director.end()
            case "push":
                pushed = self._rendering.setdefault(args[0], RenderingScene(f"scene {args[0]}"))
                pushed.on_message = partial(self._scene_message, args[0])
                director.push_rendering(pushed)
            case "pop" if len(director.rendering.scenes) > 1:
                director.pop_rendering()

    def _launch(self, name: str, number: int) -> None:
        scene = self._scenes.get(number)
        if scene is None or not scene.is_valid() or number in self._launched:
            return
        self._launched.add(number)
        if name == "run":
            self._director.run_scene(scene)
        else:
            self._director.run_scene_immediate(scene)

    def _heard(self, number: int, scene: Scene) -> Scene:
        scene.rendering.on_message = partial(self._scene_message, number)
        return scene

    def _scene_message(self, number: int, message: SceneMessage) -> None:
        self.events.append(["sg", number, _MESSAGES[message]])

    def _on_nodes(self, name: str, args: list[Any]) -> None:
        if name == "node":
            self._add_node(*args)
            return
        node = self._nodes.get(args[0])
        if node is None or not node.is_valid():
            return
        match name:
            case "add":
                _, number, kind = args
                if number not in self._components:
                    component = self._classes[kind](number, self._note)
                    self._components[number] = component
                    node.add_component(component)
            case "active":
                node.active = bool(args[1])
            case "parent":
                self._move(node, args[1])
            case "destroyN":
                node.destroy()

    def _on_component(self, name: str, component: Component, args: list[Any]) -> None:
        match name:
            case "enabled":
                component.enabled = bool(args[1])
            case "destroyC":
                component.destroy()
            case "csched":
                _, callback, interval, repeat, delay = args
                component.schedule(
                    self._timer(args[0], callback),
                    interval,
                    repeat=None if repeat == _FOREVER else repeat,
                    delay=delay,
                )
            case "conce":
                component.schedule_once(self._timer(args[0], args[1]), args[2])
            case "cunsched":
                component.unschedule(self._timer(args[0], args[1]))
            case "cunschedAll":
                component.unschedule_all()
            case "h":
                self.events.append(["h", args[0], int(component.enabled_in_hierarchy)])
            case _:
                raise AssertionError(name)

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        components = [
            [number, int(component.enabled), int(component.enabled_in_hierarchy)]
            for number, component in sorted(self._components.items())
            if component.is_valid()
        ]
        nodes = [
            [number, int(node.active), int(node.active_in_hierarchy)]
            for number, node in sorted(self._nodes.items())
            if node.is_valid()
        ]
        director = self._director
        state = {"frames": director.total_frames, "dt": director.delta}
        self.events.append(["Z", {**state, "comps": components, "nodes": nodes}])
        return self.events

    def _add_node(self, number: int, parent: int, active: int) -> None:
        if number in self._nodes or not self._is_place(parent):
            return
        node = Node(self._director, str(number), active=bool(active))
        self._nodes[number] = node
        node.parent = self._place(parent)

    def _move(self, node: Node, number: int) -> None:
        if not self._is_place(number):
            return
        parent = self._place(number)
        if parent is None or parent not in node.walk():
            node.parent = parent

    def _is_place(self, number: int) -> bool:
        place = self._place(number)
        return number == _NOWHERE or (place is not None and place.is_valid())

    def _place(self, number: int) -> Node | None:
        if number == _SCENE:
            return self._director.scene
        return self._nodes.get(number) or self._scenes.get(_SCENES - number)

    def _timer(self, component: int, number: int) -> Callable[[float], None]:
        def called(elapsed: float) -> None:
            self._note("T", component, number, elapsed, key=f"{component}.t{number}")

        return self._timers.setdefault((component, number), called)

    def _note(self, *event: object, key: str) -> None:
        self.events.append(list(event))
        self._hooks.called(key)

    def _director_event(self, number: int, _: object) -> None:
        self._note("e", number, key=f"E{number}")

    def _note_validity(self, name: str, number: int, subject: Node | Component | None) -> None:
        answers = [-1, -1]
        if subject is not None:
            answers = [int(subject.is_valid()), int(subject.is_valid(strict=True))]
        self.events.append([name, number, *answers])

    def _failed(self, failure: ComponentFailure) -> None:
        self.events.append(["D", "throw", str(failure.error)])

    def _diagnosed(self, diagnostic: LifeDiagnostic | Diagnostic) -> None:
        if isinstance(diagnostic, LifeDiagnostic):
            self.events.append(["D", diagnostic.complaint.code])
        else:
            self.events.append(["D", CREATOR_CODES[diagnostic.complaint]])


def replay_lifecycle(dialect: ComponentDialect) -> Callable[[GoldenLine], list[Event]]:
    """Return what replays a line by the rules of a version."""

    def replay_line(line: GoldenLine) -> list[Event]:
        replay = LifecycleReplay(line, dialect)
        for operation in line.data["ops"]:
            replay.perform_outermost(operation)
        return replay.finish()

    return replay_line
