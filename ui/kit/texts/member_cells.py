"""The cells of schedulers, components and machines in the clock tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt

from inspector.display_text import one_line
from inspector.timebase import format_instant
from inspector.vocabulary import Field, Life, MemberKind, rate_text

from ..table import roles
from ..table.roles import Role
from .member_texts import CALLS, member_standing, next_call_text
from .standing import StandingKind

if TYPE_CHECKING:
    from inspector.events.members import MemberState
    from inspector.events.timeline import Timeline

#: Nodes of the tree from this number on are members; below it they are clocks.
_FIRST_MEMBER: Final = 1 << 40

#: What moves, unless the transport stops it.
LIVELY: Final = (StandingKind.RUNNING, StandingKind.HELD)


def node_of(member_id: int) -> int:
    """Return the node of a member."""
    return _FIRST_MEMBER + member_id


def member_of(node: int) -> int:
    """Return the member of a node."""
    return node - _FIRST_MEMBER


def is_member(node: int) -> bool:
    """Whether a node is a member and not a clock."""
    return node >= _FIRST_MEMBER


class MemberCells:
    """Texts and raw values by column; counts are taken again only when members come or go."""

    def __init__(self) -> None:
        """Begin with nothing counted."""
        self._counts: dict[int, int] = {}
        self._counted_at: tuple[int, int] = (0, -1)

    def data(  # noqa: PLR0911 - one question a role
        self, member: MemberState, column: str, role: int, timeline: Timeline
    ) -> object:
        """Return what a cell says in a role."""
        if role == roles.DISPLAY:
            return one_line(self.text(member, column, timeline))
        if role == roles.EDIT:
            return self.text(member, column, timeline)
        if role == roles.TOOL_TIP:
            return self._tool_tip(member, column, timeline)
        if role == roles.ACCESSIBLE_TEXT:
            text = self.text(member, column, timeline)
            return f"{column.lower().replace('_', ' ')}: {text}"
        if role == roles.CHECK_STATE and column == "NAME":
            is_paused = self.is_paused(member)
            return Qt.CheckState.Unchecked if is_paused else Qt.CheckState.Checked
        if role == Role.ID:
            return member.id
        return None

    @staticmethod
    def is_paused(member: MemberState) -> bool:
        """Whether resuming this very member is what would change it."""
        return member.is_paused or member.fields.get(Field.LIFE) == Life.DISABLED

    @staticmethod
    def is_lively(member: MemberState, timeline: Timeline) -> bool:
        """Whether nothing but the transport stops it."""
        return member_standing(timeline, member).kind in LIVELY

    def order(self, number: int, timeline: Timeline) -> list[int]:
        """Return what hangs under a member; targets in the order of their update callbacks."""
        members = timeline.members
        member = members.by_id.get(number)
        if member is None:
            return []
        if member.kind is not MemberKind.SCHEDULER:
            return member.children
        called = dict.fromkeys(update.parent_id for update in members.updates_of(number))
        own = set(member.children)
        first = [target for target in called if target in own]
        return [*first, *(target for target in member.children if target not in called)]

    def text(  # noqa: PLR0911 - one line a column
        self, member: MemberState, column: str, timeline: Timeline
    ) -> str:
        """Return what a cell says, as it is."""
        fields = member.fields
        match column:
            case "NAME":
                return member.name or member.kind.text
            case "LOCAL_TIME" if Field.TIME in fields:
                return format_instant(fields[Field.TIME])
            case "RATE" if Field.RATE in fields:
                return rate_text(fields[Field.RATE])
            case "STATE":
                return member_standing(timeline, member).text
            case "PENDING":
                count = self._calls_below(member, timeline)
                return f"{count:,}" if count else ""
            case "NEXT_DUE":
                return next_call_text(timeline, member)
            case _:
                return ""

    @staticmethod
    def _tool_tip(member: MemberState, column: str, timeline: Timeline) -> str | None:
        standing = member_standing(timeline, member).text
        if column == "NAME":
            path = " / ".join(above.name for above in reversed(timeline.members.path(member.id)))
            return f"{member.kind.text} {path}\n{standing}"
        return standing if column == "STATE" else None

    def _calls_below(self, member: MemberState, timeline: Timeline) -> int:
        if member.kind in CALLS or not member.children:
            return 0
        key = id(timeline), timeline.members.structure_version
        if key != self._counted_at:
            self._counted_at = key
            self._counts.clear()
        count = self._counts.get(member.id)
        if count is None:
            branch = timeline.members.branch(member.id)
            count = self._counts[member.id] = sum(below.kind in CALLS for below in branch)
        return count
