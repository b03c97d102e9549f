"""What is new about a timeline from one refresh to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.trace.timeline import Timeline


@dataclass(frozen=True, slots=True)
class RefreshInfo:
    """What is new since the refresh before.

    Attributes:
        events: How many events came.
        structure_changed: Clocks came, went or moved.
        timers_changed: Timers came, went or are due at another time.
        mapping_changed: Rates, pauses or parents changed.
        frames_added: How many frames ended.
        members_changed: Schedulers, components, machines or what is below came or went.
        member_values_changed: Something about one of them is different, or it was called.
    """

    events: int
    structure_changed: bool
    timers_changed: bool
    mapping_changed: bool
    frames_added: int
    members_changed: bool = False
    member_values_changed: bool = False


@dataclass(frozen=True, slots=True)
class Glance:
    """How far a timeline was when somebody looked."""

    structure: int = 0
    timers: int = 0
    mapping: int = 0
    members: int = 0
    member_values: int = 0
    frames_end: int = 0

    @classmethod
    def at(cls, timeline: Timeline) -> Glance:
        """Look at a timeline."""
        return cls(
            timeline.structure_version,
            timeline.timers_version,
            timeline.mapping_version,
            timeline.members.structure_version,
            timeline.members.values_version,
            timeline.frames.end,
        )

    def news_since(
        self, former: Glance, events: int, *, is_other: bool, is_other_log: bool
    ) -> RefreshInfo:
        """Return what is new since a former look.

        Args:
            former: The former look.
            events: How many events came between.
            is_other: Whether that was at another timeline: then everything is new.
            is_other_log: Whether the frames are others as well.
        """
        return RefreshInfo(
            events=events,
            structure_changed=is_other or self.structure != former.structure,
            timers_changed=is_other or self.timers != former.timers,
            mapping_changed=is_other or self.mapping != former.mapping,
            frames_added=max(0, self.frames_end - (0 if is_other_log else former.frames_end)),
            members_changed=is_other or self.members != former.members,
            member_values_changed=is_other or self.member_values != former.member_values,
        )
