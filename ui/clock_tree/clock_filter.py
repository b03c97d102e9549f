"""Which rows of the clock tree pass a filter, and what stands above them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..kit.texts.member_cells import is_member, member_of, node_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.timeline import Timeline


def matching_nodes(timeline: Timeline, words: Sequence[str]) -> frozenset[int]:
    """Return the nodes of clocks and members whose names contain every word."""

    def passes(name: str) -> bool:
        folded = name.casefold()
        return all(word in folded for word in words)

    found = {clock.id for clock in timeline.clocks.values() if passes(clock.name)}
    members = timeline.members
    shown = {number for clock_id in members.of_clock for number in members.under_clock(clock_id)}
    found.update(
        node_of(member.id)
        for member in members.by_id.values()
        if passes(member.name) and (member.parent_id or member.id in shown)
    )
    return frozenset(found)


def with_ancestors(timeline: Timeline, nodes: frozenset[int]) -> set[int]:
    """Return nodes with everything above them."""
    clocks, members = timeline.clocks, timeline.members.by_id
    kept: set[int] = set()
    for node in nodes:
        above = node
        while above and above not in kept:
            kept.add(above)
            if is_member(above):
                member = members[member_of(above)]
                above = node_of(member.parent_id) if member.parent_id else member.clock_id
            else:
                above = clocks[above].parent_id
    return kept
