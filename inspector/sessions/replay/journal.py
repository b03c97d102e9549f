"""The journal: everything from outside that a hosted scene has acted upon, in order.

A scene is deterministic, given the readings of its time source and the commands. So it does the
same again when the journal is replayed. The journal is small: one entry per wake-up, of about
three bytes in memory. It is separate from the log, which may lose its oldest events, but can be
made from a complete log. It has a limit of its own; beyond that it is given up as a whole, since
going back needs it from the beginning.
"""

from __future__ import annotations

import json
import sys
import zlib
from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Final, TypeVar

import numpy as np
from msgspec import Struct, convert, field, structs

from inspector.clocks.failures import FailurePolicy
from inspector.clocks.transport import DEFAULT_MAX_DELTA_NS
from inspector.commands.command import (
    UNREADABLE,
    BadCommand,
    Command,
    Prepared,
    command_from_values,
    usable,
)
from inspector.errors import InspectorError, UnreadableFileError
from inspector.events.blocks.packed_columns import pack, unpack
from inspector.events.conditions.breakpoint import BreakAction, Breakpoint
from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.events.log import EventLog
from inspector.exit_codes import ExitCode
from inspector.foreign.files import open_binary
from inspector.sessions.breakpoints.breakpoints import BreakpointHit
from inspector.vocabulary import COMMAND, COMMAND_CONTEXT, COMMAND_FORM, RawEvent, Reading

try:
    # The module behind hashlib, without OpenSSL, which takes 4 MB.
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_T = TypeVar("_T")

#: Codes of entries that are no readings.
COMMAND_ENTRY: Final = 100
HIT_ENTRY: Final = 101
REWIND_ENTRY: Final = 102

#: Most entries in the journal of a session: three days of 70 wake-ups a second,
#: in some 60 MB.
MOST_ENTRIES: Final = 20_000_000
#: Approximate size of a command in memory.
_MORE_BYTES: Final = 500

#: Control characters that JSON leaves unescaped, but that a log escapes in a way foreign to JSON.
_CONTROLS: Final = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}

_READINGS: Final = frozenset({Reading.ASKED, Reading.WOKEN})

#: Entries of a block; packing one takes less than a millisecond.
BLOCK: Final = 1_024
_COLUMNS: Final = 3
#: Most unpacked blocks that are cached, as a script is read at two places.
_KEPT: Final = 4
_LEVEL: Final = 6


class CommandPlace(IntEnum):
    """The point in a wake-up at which a command was applied."""

    AT_ONCE = 0
    BEFORE_FRAME = 1
    WAKE_END = 2
    BREAKPOINT = 3


class JournalError(InspectorError):
    """A recording lacks something needed to run the scene again."""

    exit_code = ExitCode.CANNOT_TELL


class Beginning(Struct, frozen=True):
    generation: int = 0  # How often the scene had been loaded before
    command_number: int = 0  # The last number that a command had before
    reload_number: int = 0  # The command that loaded the scene, 0 for none
    policy: FailurePolicy = FailurePolicy.CONTINUE  # What followed a failure
    runs: bool = True  # Whether session time was to pass at once
    # How late a wake-up might be before the rest was cut off.
    max_delta_ns: int = DEFAULT_MAX_DELTA_NS
    is_manual: bool = False  # Whether time was advanced by hand, passing every instant
    source_ns: int = 0  # The reading of the source, counted from the beginning of the session
    digest: str = ""  # Digest of the scene's file, to detect changes
    breakpoints: dict[int, Breakpoint] = field(default_factory=dict)
    next_breakpoint: int = 1  # The number of the next breakpoint

    def as_json(self) -> str:
        values = structs.asdict(self)
        values["policy"] = self.policy.value
        values["breakpoints"] = {str(n): b.as_values() for n, b in self.breakpoints.items()}
        return _as_json(values)

    @classmethod
    def from_json(cls, text: str) -> Beginning:
        try:
            values = json.loads(text)
            return _checked(values | {"breakpoints": _breakpoints_in(values)}, cls)
        except UNREADABLE as error:
            raise JournalError(f"The start of the scene cannot be read: {error}.") from error


class AppliedCommand(Struct, frozen=True):
    command: Command
    place: CommandPlace  # Where it was applied
    by: str = ""  # Its origin, empty for the user
    host_ms: int = 0  # When it was applied, in the host's own time
    refusal: str = ""  # For a command that went back in time: why that failed, or empty
    # For such a command: the breakpoints at that time.
    breakpoints: dict[int, Breakpoint] = field(default_factory=dict)
    next_breakpoint: int = 1  # And the number of the next breakpoint


class JournalEntry(Struct, frozen=True):
    code: int  # An inspector.vocabulary.Reading, or one of the codes above
    frame: int  # How many frames had begun
    value: int
    applied: AppliedCommand | None = None  # The command, if the entry is one
    hit: BreakpointHit | None = None  # The hit, if the entry is one of a breakpoint


class Journal:
    """Everything from outside in one run of a scene."""

    def __init__(self, beginning: Beginning, most_entries: int = sys.maxsize) -> None:
        """Begin with nothing.

        With more than ``most_entries`` it is given up. The limit is a number, not a size, so that a
        replay gives up at the same place.
        """
        self.beginning = beginning
        self.is_given_up = False  # Whether all entries were dropped because there were too many
        self._most_entries = most_entries
        self._entries = PackedEntries()
        self._more: dict[int, AppliedCommand | BreakpointHit] = {}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def size_bytes(self) -> int:
        """Approximate memory that it takes."""
        return self._entries.size_bytes + len(self._more) * _MORE_BYTES

    def note(
        self, code: int, frame: int, value: int, more: AppliedCommand | BreakpointHit | None = None
    ) -> None:
        """Add an entry; the arguments are the attributes of :class:`JournalEntry`."""
        if self.is_given_up:
            return
        if more is not None:
            self._more[len(self)] = more
        self._entries.append((code, frame, value))
        if len(self) > self._most_entries:
            self.is_given_up = True
            self._entries.clear()
            self._more.clear()

    def entry(self, index: int) -> JournalEntry:
        code, frame, value = self._entries[index]
        more = self._more.get(index)
        applied = more if isinstance(more, AppliedCommand) else None
        return JournalEntry(
            code, frame, value, applied, None if applied is not None else _as_hit(more)
        )

    def code_and_value(self, index: int) -> tuple[int, int]:
        """Return the code and value of an entry, counted from 0, without making an object."""
        code, _, value = self._entries[index]
        return code, value

    @classmethod
    def from_events(cls, events: Iterable[RawEvent], strings: Sequence[str]) -> Journal:
        """Return the journal of a scene from its complete log."""
        reader = _JournalReader(strings)
        step_of = handlers_of(reader).get
        for at_ns, kind, subject, a, b in events:
            if (step := step_of(kind)) is not None:
                step(at_ns, subject, a, b)
        journal = reader.journal
        if journal is None:
            raise JournalError(
                "The start of the scene is missing: an older version made the recording, or its "
                "beginning is lost. It cannot be replayed."
            )
        return journal


class _JournalReader:
    def __init__(self, strings: Sequence[str]) -> None:
        self.journal: Journal | None = None
        self._strings = strings
        self._frame = 0
        self._command = BadCommand("", "")
        self._by, self._host_ms = "", 0

    def _on_frame_began(self, _at_ns: int, _director: int, index: int, _delta_ns: int) -> None:
        self._frame = index + 1

    def _on_command(self, _at_ns: int, _number: int, text: int, refusal: int) -> None:
        self._command = BadCommand(self._strings[text], self._strings[refusal])

    def _on_command_context(self, _at_ns: int, _clock_id: int, host_ms: int, by: int) -> None:
        self._host_ms, self._by = host_ms, self._strings[by]

    def _on_command_form(self, _at_ns: int, number: int, form: int, place: int) -> None:
        text = self._strings[form]
        if not number:
            self.journal = Journal(Beginning.from_json(text))
        elif self.journal is not None:
            applied, is_rewind = _applied(text, place, self._by, self._host_ms, self._command)
            code = REWIND_ENTRY if is_rewind else COMMAND_ENTRY
            self.journal.note(code, self._frame, number, applied)

    def _on_reading(self, _at_ns: int, reading: int, value: int, frame: int) -> None:
        if self.journal is not None:
            self.journal.note(reading, frame, value)

    def _on_breakpoint_hit(self, at_ns: int, number: int, text: int, frame: int) -> None:
        if self.journal is not None:
            texts = 0, self._strings[text]
            hit = BreakpointHit(number, BreakAction.HOLD, at_ns, 0, frame, *texts)
            self.journal.note(HIT_ENTRY, self._frame, number, hit)


def events_to_run_again(history: History) -> Sequence[RawEvent]:
    """Return all events of a scene since it was built.

    Raises:
        JournalError: Some of them are missing.
    """
    if history.first:
        raise JournalError(
            f"The first {history.first:,} events are lost; a scene can only be replayed from "
            "its start."
        )
    if not history.has_all_events:
        raise JournalError(
            "The recording is damaged: some events are missing, so it cannot be replayed or "
            "verified."
        )
    return history.events(0, history.end)


class Script:
    """A journal that is being replayed: its next entry, and the next reading of the source."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.is_over = False
        self._next = 0
        self._next_reading = 0
        # The last entry that was read, because each is needed several times a frame.
        self._head: tuple[int, JournalEntry | None] = (-1, None)

    def head(self) -> JournalEntry | None:
        """Return the next entry that the scene does not ask for itself; ``None`` at the end."""
        journal = self.journal
        while not self.is_over and self._next < len(journal):
            if self._head[0] != self._next:
                self._head = self._next, journal.entry(self._next)
            entry = self._head[1]
            if entry is None or entry.code != Reading.ASKED:
                return entry
            self._next += 1
        return None

    def advance(self) -> None:
        self._next += 1

    def reading_ns(self) -> int | None:
        """Return the next reading of the source; ``None`` at the end."""
        journal = self.journal
        while not self.is_over and self._next_reading < len(journal):
            code, value = journal.code_and_value(self._next_reading)
            self._next_reading += 1
            if code in _READINGS:
                return value
        return None


def file_digest(path: Path) -> str:
    """Return a digest of a file's content, empty if it cannot be read."""
    try:
        with open_binary(path) as file:
            return blake2b(file.read(), digest_size=16).hexdigest()
    except (OSError, UnreadableFileError):
        return ""


def command_form(applied: AppliedCommand, *, is_rewind: bool = False) -> str:
    values = applied.command.as_values()
    if is_rewind:
        found = {str(number): each.as_values() for number, each in applied.breakpoints.items()}
        values |= {"breakpoints": found, "next_breakpoint": applied.next_breakpoint}
    return _as_json(values)


def command_events(
    log: EventLog, number: int, ready: Prepared, applied: AppliedCommand, *, is_rewind: bool = False
) -> tuple[tuple[int, int, int, int], ...]:
    """Return a command and its outcome as events without an instant."""
    form = command_form(applied, is_rewind=is_rewind)
    return (
        (COMMAND, number, log.intern(ready.text), log.intern(ready.refusal)),
        (COMMAND_CONTEXT, ready.clock_id, applied.host_ms, log.intern(applied.by)),
        (COMMAND_FORM, number, log.intern(form), applied.place),
    )


def _as_json(values: dict[str, Any]) -> str:
    """Return values as JSON that a log stores unchanged."""
    return json.dumps(values, ensure_ascii=False).translate(_CONTROLS)


def _applied(
    form: str, at: int, by: str, host_ms: int, bad: BadCommand
) -> tuple[AppliedCommand, bool]:
    try:
        place = CommandPlace(at)
        values = json.loads(form)
        if "is_bad" in values:
            former = structs.replace(bad, name=str(values.get("command", "")))
            return AppliedCommand(former, place, by, host_ms), False
        command = usable(command_from_values(values))
        is_rewind = "breakpoints" in values
        breakpoints = _breakpoints_in(values) if is_rewind else {}
        next_number = _checked(values.get("next_breakpoint", 1), int) if is_rewind else 1
    except UNREADABLE as error:
        raise JournalError(f"A command cannot be read ({form[:80]}): {error}.") from error
    refusal = bad.refusal if is_rewind else ""
    applied = AppliedCommand(command, place, by, host_ms, refusal, breakpoints, next_number)
    return applied, is_rewind


def _checked(values: object, kind: type[_T]) -> _T:
    return convert(values, kind)


def _breakpoints_in(values: dict[str, Any]) -> dict[int, Breakpoint]:
    found = values.get("breakpoints", {})
    return {int(number): Breakpoint.from_values(each) for number, each in found.items()}


def _as_hit(more: AppliedCommand | BreakpointHit | None) -> BreakpointHit | None:
    return more if isinstance(more, BreakpointHit) else None


class PackedEntries:
    """Triples of whole numbers below 2⁶³ in little memory: a day of readings takes some 20 MB.

    The newest entries are kept as they are. As soon as there are enough, they become a block of
    differences from entry to entry, compressed. Entries are read back exactly as they were put in.
    """

    __slots__ = ("_blocks", "_packed_bytes", "_tail", "_unpacked")

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._tail = array("q")
        self._packed_bytes = 0
        self._unpacked: dict[int, array[int]] = {}

    def __len__(self) -> int:
        return len(self._blocks) * BLOCK + len(self._tail) // _COLUMNS

    @property
    def size_bytes(self) -> int:
        """Memory that they take, without the cache of unpacked blocks."""
        return self._packed_bytes + len(self._tail) * self._tail.itemsize

    def append(self, entry: tuple[int, int, int]) -> None:
        self._tail.extend(entry)
        if len(self._tail) >= BLOCK * _COLUMNS:
            block = _packed(self._tail)
            self._blocks.append(block)
            self._packed_bytes += len(block)
            self._tail = array("q")

    def clear(self) -> None:
        self._blocks.clear()
        self._unpacked.clear()
        self._tail = array("q")
        self._packed_bytes = 0

    def __getitem__(self, index: int) -> tuple[int, int, int]:
        block, place = divmod(index, BLOCK)
        numbers = self._tail if block >= len(self._blocks) else self._of_block(block)
        place *= _COLUMNS
        return numbers[place], numbers[place + 1], numbers[place + 2]

    def _of_block(self, block: int) -> array[int]:
        found = self._unpacked.get(block)
        if found is None:
            while len(self._unpacked) >= _KEPT:
                del self._unpacked[next(iter(self._unpacked))]
            found = self._unpacked[block] = _unpacked(self._blocks[block])
        return found


def _packed(numbers: array[int]) -> bytes:
    columns = np.frombuffer(numbers, dtype=np.int64).reshape(-1, _COLUMNS).T
    return zlib.compress(pack(np.diff(columns, axis=1, prepend=0)), _LEVEL)


def _unpacked(block: bytes) -> array[int]:
    columns = np.cumsum(unpack(zlib.decompress(block), _COLUMNS, BLOCK), axis=1)
    return array("q", columns.T.tobytes())
