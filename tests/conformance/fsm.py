"""Replays the TypeScript state machine on ours; only translates, decides nothing."""

from __future__ import annotations

from typing import Any

from inspector.frames.state_machine import Edge, StateMachine, TransitionError
from tests.conformance.replay import Event, GoldenLine, Hooks


class _BoomError(Exception):
    """What a callback of a sequence raises."""


class StateMachineReplay:
    """One sequence of operations on a machine."""

    def __init__(self, line: GoldenLine) -> None:
        """Build the machine that the line describes."""
        self.events: list[Event] = []
        self._hooks = Hooks(line, self.perform)
        cfg = line.data["cfg"]
        transitions = {
            name: [self._edge(name, i, edge) for i, edge in enumerate(_listed(edges))]
            for name, edges in cfg["transitions"].items()
        }
        self._machine: StateMachine[Any, str] = StateMachine(cfg["init"], transitions)

    def perform(self, operation: list[Any]) -> None:
        """Perform one operation."""
        name, *args = operation
        machine = self._machine
        match name:
            case "go" if args[0] not in machine.names:
                self.events.append(["undef", args[0]])
            case "go":
                machine.go(args[0])
                self.events.append(["s", machine.state])
            case "can":
                self.events.append(["c", args[0], int(machine.can(args[0]))])
            case "is":
                self.events.append(["i", args[0], int(machine.state == args[0])])
            case "state":
                self.events.append(["s", machine.state])
            case "on":
                self._set_handler(args[0], is_set=bool(args[1]))
            case "throw":
                raise _BoomError
            case _:
                raise AssertionError(operation)

    def perform_at_top(self, operation: list[Any]) -> None:
        """Perform an operation that no callback performs; exceptions end there."""
        try:
            self.perform(operation)
        except _BoomError:
            self.events.append(["!", "boom"])

    def finish(self) -> list[Event]:
        """Add the closing event and return all."""
        machine = self._machine
        self.events.append(["Z", {"state": machine.state, "can": machine.possible()}])
        return self.events

    def _set_handler(self, handler: str, *, is_set: bool) -> None:
        machine = self._machine
        match handler:
            case "onBefore":
                machine.on_before = self._on_before if is_set else None
            case "onAfter":
                machine.on_after = self._on_after if is_set else None
            case "onError":
                machine.on_error = self._on_error if is_set else None

    def _on_before(self, old: object, new: object) -> None:
        self.events.append(["B", old, new])
        self._hooks.called("B")

    def _on_after(self, old: object, new: object) -> None:
        self.events.append(["A", old, new])
        self._hooks.called("A")

    def _on_error(self, code: TransitionError, reason: str) -> None:
        self.events.append(["X", int(code), reason])
        self._hooks.called("X")

    def _edge(self, name: str, number: int, data: dict[str, Any]) -> Edge[Any]:
        def on_transition(old: object, new: object) -> None:
            self.events.append(["E", name, number, old, new])
            self._hooks.called(f"E{name}.{number}")

        def target(current: object) -> object:
            self.events.append(["fn", name, number, current])
            return data["to"].get(str(current), data["to"].get("?"))

        to = target if isinstance(data["to"], dict) else data["to"]
        return Edge(data["from"], to, on_transition if data.get("cb") else None)


def replay_fsm(line: GoldenLine) -> list[Event]:
    """Replay a line."""
    replay = StateMachineReplay(line)
    for operation in line.data["ops"]:
        replay.perform_at_top(operation)
    return replay.finish()


def _listed(edges: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - as it stands in the file
    return edges if isinstance(edges, list) else [edges]
