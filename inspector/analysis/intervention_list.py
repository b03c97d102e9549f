"""Interventions: the commands and breakpoint hits of a session, in order, with their outcome.

Panels, plots and exports show them. They are read from the timeline alone, so that a recording
shows the same as its session did.
"""

from __future__ import annotations

from msgspec import Struct, structs

from inspector.commands.command import Command, command_in
from inspector.commands.scene import Undo
from inspector.commands.transport import Hold, Run
from inspector.events.states import BreakHit, CommandRecord
from inspector.events.timeline import Timeline


class Intervention(Struct, frozen=True):
    """A command that was carried out or refused, or a breakpoint that was hit."""

    number: int  # Number of the command, or of the breakpoint
    is_hit: bool
    at_ns: int
    frame: int  # Index of the frame after a command; of the frame with a hit
    text: str
    refusal: str
    by: str  # Its origin: you or a breakpoint
    clock_id: int = 0
    clock_name: str = ""  # The clock of local_ns: the clock of the command, or the root
    local_ns: int | None = None  # Local time of that clock, None if unknown
    host_ms: int = 0  # The host's own time, milliseconds since 1970; 0 if unknown
    undone_by: int = 0  # Number of the command that undid it, 0 while it is in force
    command: Command | None = None  # The command itself, None for a hit or if unknown

    @property
    def undoes(self) -> int:
        return self.command.number if isinstance(self.command, Undo) else 0

    @property
    def label(self) -> str:
        """Its number in lists and pictures: ``3``, or ``b1`` for a breakpoint."""
        return f"b{self.number}" if self.is_hit else str(self.number)

    @property
    def outcome(self) -> str:
        if self.is_hit:
            return f"hit in frame {self.frame:,}"
        if self.refusal:
            return f"refused: {self.refusal}"
        return f"undone by {self.undone_by}" if self.undone_by else "done"


class InterventionList:
    def __init__(self, timeline: Timeline) -> None:
        # All interventions, in order; undoing an intervention replaces its entry
        self.entries: list[Intervention] = []
        self._timeline = timeline
        self._commands_seen = 0
        self._hits_seen = 0
        self._targets: dict[int, int] = {}
        self._rows: dict[int, int] = {}

    def add_new(self) -> frozenset[int]:
        """Add new entries; return the places in :attr:`entries` of older ones undone or redone."""
        timeline = self._timeline
        commands = timeline.commands[self._commands_seen :]
        hits = timeline.hits[self._hits_seen :]
        if not commands and not hits:
            return frozenset()
        self._commands_seen += len(commands)
        self._hits_seen += len(hits)
        news = [self._command(each) for each in commands] + [_hit(each) for each in hits]
        # At the same instant, a command comes before its frame, and a hit is in the frame.
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
            # If the host's time is missing, so is the local time.
            local_ns=record.local_ns if record.host_ms else None,
            host_ms=record.host_ms,
            command=command_in(record.form),
        )

    def _undo(self, number: int, by: int) -> set[int]:
        """Mark a command as undone; undoing an undo puts its target in force again."""
        changed = set()
        is_undone = True
        while number:
            row = self._rows.get(number)
            if row is not None:
                undone_by = by if is_undone else 0
                self.entries[row] = structs.replace(self.entries[row], undone_by=undone_by)
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


def interventions_of(timeline: Timeline) -> tuple[Intervention, ...]:
    """Return the interventions, without the run command at the beginning of a session."""
    found = InterventionList(timeline)
    found.add_new()
    end = timeline.frames.end
    return tuple(
        each
        for each in found.entries
        if each.frame <= end and (each.at_ns or not isinstance(each.command, Run))
    )


def held_host_ms(timeline: Timeline, at_ns: int) -> int:
    """Return for how many milliseconds of real time a command held a scene; 0 if unknown."""
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
