"""What was changed from outside, in the order in which it happened, and what came of it.

The commands and the breakpoint hits of a timeline, as panels list them, plots mark them
and exports carry them. Read from what the timeline says alone, so that a recording tells
the same as the session it was made of.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from inspector.commands.command import command_in
from inspector.commands.transport import Hold, Run
from inspector.commands.undoing import Undo

if TYPE_CHECKING:
    from inspector.commands.command import Command
    from inspector.events.states import BreakHit, CommandRecord
    from inspector.events.timeline import Timeline


@dataclass(frozen=True, slots=True)
class Intervention:
    """A command that was carried out or refused, or a breakpoint that was hit.

    Attributes:
        number: Number of the command, or of the breakpoint.
        is_hit: Whether it is a breakpoint that was hit.
        at_ns: Session time.
        frame: Index of the frame it came before or was in; of a hit, the one that caused it.
        text: What was asked for, or what happened, in words.
        refusal: Why the command was refused, empty if it was not.
        by: Who: ``you`` or a breakpoint.
        clock_id: The clock it is about, 0 for none.
        clock_name: The clock whose local time is known: that one, or the root.
        local_ns: Its local time, ``None`` if it is not known.
        host_ms: When it was in the host's own time, milliseconds since 1970; 0 if not known.
        undone_by: Number of the command that has undone it, 0 while it is in force.
        command: The command itself, ``None`` if it is not known or none.
    """

    number: int
    is_hit: bool
    at_ns: int
    frame: int
    text: str
    refusal: str
    by: str
    clock_id: int = 0
    clock_name: str = ""
    local_ns: int | None = None
    host_ms: int = 0
    undone_by: int = 0
    command: Command | None = None

    @property
    def undoes(self) -> int:
        """Which command it was to undo, 0 for none."""
        return self.command.number if isinstance(self.command, Undo) else 0

    @property
    def label(self) -> str:
        """Its number as lists and pictures write it: ``3``, or ``b1`` for a breakpoint."""
        return f"b{self.number}" if self.is_hit else str(self.number)

    @property
    def outcome(self) -> str:
        """What came of it, in words."""
        if self.is_hit:
            return f"hit in frame {self.frame:,}"
        if self.refusal:
            return f"refused: {self.refusal}"
        return f"undone by {self.undone_by}" if self.undone_by else "done"


class InterventionList:
    """The interventions of a timeline, taken over as it grows.

    Attributes:
        entries: All so far, in order; one that is undone is replaced in its place.
    """

    def __init__(self, timeline: Timeline) -> None:
        """Begin empty; :meth:`take_new` takes over what the timeline holds."""
        self.entries: list[Intervention] = []
        self._timeline = timeline
        self._commands_seen = 0
        self._hits_seen = 0
        self._targets: dict[int, int] = {}
        self._rows: dict[int, int] = {}

    def take_new(self) -> frozenset[int]:
        """Take over what is new.

        Returns:
            The places in :attr:`entries`, before the new ones, of which something else
            came: they were undone, or what undid them was.
        """
        timeline = self._timeline
        commands = timeline.commands[self._commands_seen :]
        hits = timeline.hits[self._hits_seen :]
        if not commands and not hits:
            return frozenset()
        self._commands_seen += len(commands)
        self._hits_seen += len(hits)
        news = [self._command(each) for each in commands] + [_hit(each) for each in hits]
        # A hit is in a frame; a command comes before the frame that it counts for.
        news.sort(key=lambda each: (each.at_ns, each.frame, each.is_hit))
        first = len(self.entries)
        changed: set[int] = set()
        for row, entry in enumerate(news, first):
            self.entries.append(entry)
            if not entry.is_hit:
                self._rows[entry.number] = row
        for entry in news:
            if entry.undoes and not entry.refusal:
                self._targets[entry.number] = entry.undoes
                changed.update(self._undo(entry.undoes, entry.number))
        return frozenset(row for row in changed if row < first)

    def _command(self, record: CommandRecord) -> Intervention:
        timeline = self._timeline
        clock = timeline.clocks.get(record.clock_id or timeline.root_id or 0)
        return Intervention(
            number=record.number,
            is_hit=False,
            at_ns=record.at_ns,
            frame=record.frame,
            text=record.text,
            refusal=record.refusal,
            by=record.by or "you",
            clock_id=record.clock_id,
            clock_name="" if clock is None else clock.name,
            # Without the host's time nothing but the command itself was noted.
            local_ns=record.local_ns if record.host_ms else None,
            host_ms=record.host_ms,
            command=command_in(record.form),
        )

    def _undo(self, number: int, by: int) -> set[int]:
        """Note that a command was undone; undoing an undoing puts its target in force again."""
        changed = set()
        is_undone = True
        while number:
            row = self._rows.get(number)
            if row is not None:
                undone_by = by if is_undone else 0
                self.entries[row] = replace(self.entries[row], undone_by=undone_by)
                changed.add(row)
            by = number
            number = self._targets.get(number, 0)
            is_undone = not is_undone
        return changed


def _hit(record: BreakHit) -> Intervention:
    return Intervention(
        number=record.number,
        is_hit=True,
        at_ns=record.at_ns,
        frame=record.frame,
        text=record.text,
        refusal="",
        by=f"breakpoint {record.number}",
    )


def interventions_between(
    timeline: Timeline, start: int = 0, stop: int | None = None
) -> tuple[Intervention, ...]:
    """Return what was changed from outside before or in some frames.

    That the session was let run at its beginning changed nothing, and is left out.

    Args:
        timeline: The session.
        start: The first frame.
        stop: The frame behind the last, none for all that follow. What came after the
            newest frame belongs to that.
    """
    found = InterventionList(timeline)
    found.take_new()
    end = timeline.frames.end
    behind = end + 1 if stop is None or stop >= end else stop
    return tuple(
        each
        for each in found.entries
        if start <= each.frame < behind and not (isinstance(each.command, Run) and not each.at_ns)
    )


def held_host_ms(timeline: Timeline, at_ns: int) -> int:
    """Return how long a scene was held on command, in the host's milliseconds.

    Args:
        timeline: The session.
        at_ns: Session time at which it was held.

    Returns:
        0 when that is not known: it is still held, or nothing asked for it.
    """
    began_ms = 0
    for record in timeline.commands:
        if record.refusal or record.at_ns < at_ns:
            continue
        command = command_in(record.form)
        if isinstance(command, Hold) and record.at_ns == at_ns and not began_ms:
            began_ms = record.host_ms
        elif isinstance(command, Run) and began_ms and record.host_ms:
            return record.host_ms - began_ms
    return 0
