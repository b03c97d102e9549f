"""Machines as they are drawn: which states there are, and their colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from PySide6.QtGui import QColor

from inspector.events.members import MemberTable
from inspector.vocabulary import Field, MemberKind

from ..kit.theme import ColorRole, Theme, mixed

#: The source of an edge that leads away from any state.
ANY: Final = "*"
#: Those of the phases, in an order in which neighbours differ in lightness.
_STATES: Final = (
    *("#1e69e1", "#d2e12d", "#5a3c5a", "#87d2b4"),
    *("#87871e", "#ffa5ff", "#2d4b1e"),
)
_FAINTER: Final = 0.55
_DARK_BELOW: Final = 140


@dataclass(frozen=True, slots=True)
class Arrow:
    """All transitions from one state to another.

    Attributes:
        source: The state they lead away from; :data:`ANY` for any.
        target: The state they lead to; empty when that is decided when they are made.
        names: Their names.
    """

    source: str
    target: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class MachineShape:
    """The states and transitions of a machine.

    Attributes:
        states: Every state that is known, the first one first.
        arrows: Every transition, those of the same states together.
        present: The state it is in.
    """

    states: tuple[str, ...]
    arrows: tuple[Arrow, ...]
    present: str

    def possible(self) -> tuple[str, ...]:
        """Return the names of the transitions that lead away from the present state."""
        names = [name for arrow in self.arrows for name in arrow.names if self.is_possible(name)]
        return tuple(dict.fromkeys(names))

    def is_possible(self, name: str) -> bool:
        """Return whether a transition leads away from the present state; guards are not asked."""
        return any(
            name in arrow.names for arrow in self.arrows if arrow.source in (ANY, self.present)
        )


NO_SHAPE: Final = MachineShape((), (), "")


def state_numbers(members: MemberTable, machine_id: int) -> list[int]:
    """Return the states of a machine (sid), in the order in which they are coloured.

    States to which edges lead come in the order of the edges, others as they were entered.
    """
    machine = members.by_id.get(machine_id)
    history = members.histories.get(machine_id)
    found: dict[int, None] = {}
    if history is not None and len(history):
        found[history.state[0]] = None
    edges = [] if machine is None else [members.by_id[number] for number in machine.children]
    for edge in edges:
        if edge.kind is MemberKind.EDGE:
            for name in (Field.SOURCE, Field.TARGET):
                number = edge.fields.get(name, 0)
                if number and members.field_text(edge.id, name) != ANY:
                    found[number] = None
    if history is not None:
        # A machine has few states, however often it enters them.
        for number in dict.fromkeys(history.state):
            found[number] = None
    return list(found)


def shape_of(members: MemberTable, machine_id: int, strings: Sequence[str]) -> MachineShape:
    """Return the shape of a machine; an empty one when there is no such machine."""
    machine = members.by_id.get(machine_id)
    if machine is None or machine.kind is not MemberKind.MACHINE:
        return NO_SHAPE
    names: dict[tuple[str, str], dict[str, None]] = {}
    for number in machine.children:
        edge = members.by_id[number]
        if edge.kind is MemberKind.EDGE:
            ends = (
                members.field_text(number, Field.SOURCE),
                members.field_text(number, Field.TARGET),
            )
            names.setdefault(ends, {})[edge.name] = None
    states = tuple(strings[number] for number in state_numbers(members, machine_id))
    arrows = tuple(Arrow(*ends, tuple(found)) for ends, found in names.items())
    return MachineShape(states, arrows, members.field_text(machine_id, Field.STATE))


def state_color(number: int, theme: Theme) -> QColor:
    """Return the colour of the n-th state of a machine; from the ninth on they are fainter."""
    color = QColor(_STATES[number % len(_STATES)])
    if number >= len(_STATES):
        return mixed(color, theme.color(ColorRole.BACKGROUND), _FAINTER)
    return color


def text_color_on(color: QColor) -> QColor:
    """Return black or white, whichever can be read on a colour."""
    gray = 0.299 * color.red() + 0.587 * color.green() + 0.114 * color.blue()
    return QColor("#ffffff") if gray < _DARK_BELOW else QColor("#14171a")
