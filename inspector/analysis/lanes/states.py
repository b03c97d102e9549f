"""The states of a machine, in the order in which they are coloured."""

from __future__ import annotations

from typing import Final

from inspector.events.members import MemberTable
from inspector.vocabulary import Field, MemberKind

#: The source of an edge that leads away from any state.
ANY: Final = "*"


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
