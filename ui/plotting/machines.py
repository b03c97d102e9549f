"""Machines as they are drawn: which states there are, and their colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from msgspec import Struct
from PySide6.QtGui import QColor

from inspector.analysis.lanes.states import ANY, state_numbers
from inspector.events.members import MemberTable
from inspector.formats.arrangement import lane_layout as layout
from inspector.formats.drawing.state_colors import text_on
from inspector.vocabulary import Field, MemberKind

from ..kit.theme import Theme
from .sheet_painter import theme_colors


class Arrow(Struct, frozen=True):
    source: str  # The state they lead away from; ANY for any
    target: str  # The state they lead to; empty when that is decided when they are made
    names: tuple[str, ...]  # Their names


class MachineShape(Struct, frozen=True):
    states: tuple[str, ...]  # Every state that is known, the first one first
    arrows: tuple[Arrow, ...]  # Every transition, those of the same states together
    present: str  # The state it is in

    def possible(self) -> tuple[str, ...]:
        names = [name for arrow in self.arrows for name in arrow.names if self.is_possible(name)]
        return tuple(dict.fromkeys(names))

    def is_possible(self, name: str) -> bool:
        """Return whether a transition leads away from the present state; guards are not asked."""
        return any(
            name in arrow.names for arrow in self.arrows if arrow.source in (ANY, self.present)
        )


NO_SHAPE: Final = MachineShape((), (), "")


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
    """Return the colour of the n-th state of a machine; from the eighth on they are fainter."""
    return QColor(layout.state_color(number, theme_colors(theme)))


def text_color_on(color: QColor) -> QColor:
    """Return black or white, whichever can be read on a colour."""
    return QColor(text_on(color.red(), color.green(), color.blue()))
