"""Writing the file of a recording, block by block, with a keyframe at intervals."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final
from zlib import crc32

import numpy as np
from msgspec import Struct

from inspector.errors import RecordingWriteError
from inspector.events.annotations import AnnotationChange
from inspector.events.blocks.packed_columns import EVENT_COLUMNS, Block, fill_block, pack
from inspector.events.blocks.quick_fold import fold_block
from inspector.events.recording.annotations import write_annotations
from inspector.events.recording.keyframes import Grown, news_text, state_text, timer_block
from inspector.events.recording.layout import (
    APPLICATION_ID,
    CHUNK_EVENTS,
    SCHEMA,
    SCHEMA_VERSION,
    version_values,
)
from inspector.events.recording.live_files import begin_writing, end_writing, is_same_file
from inspector.events.recording.pictures import PictureBlocks
from inspector.events.recording.writing.frame_rows import WrittenFrames
from inspector.events.recording.writing.tables import PlainTables
from inspector.events.schema import COMMAND_CONTEXTS, COMMANDS
from inspector.events.timeline import Timeline
from inspector.vocabulary import Numbers, RawEvent

#: Kinds whose details may follow in the next block: no keyframe may come between.
_BEFORE_DETAILS: Final = COMMANDS | COMMAND_CONTEXTS
#: Events between keyframes, at least and at most: a large state is stored less often.
KEYFRAME_EVERY: Final = 131_072
KEYFRAME_AT_MOST: Final = 4 * KEYFRAME_EVERY
#: Approximate bytes per event, to weigh keyframes against.
_BYTES_PER_EVENT: Final = 16
#: Events added at once, which fit into a processor's cache.
ADDED_AT_ONCE: Final = 4 * CHUNK_EVENTS
#: Events folded at once; with as many, most are superseded and need not be folded.
_FOLDED_AT_ONCE: Final = 16 * CHUNK_EVENTS
#: Large pages are cheaper to write, but each table takes at least one.
_PAGE_BYTES: Final = 16_384
#: Up to 4 MB, and about one second of events, stay in the WAL while recording.
_CHECKPOINT_PAGES: Final = 256
#: Space reserved on the disk for moving the WAL into the file when the disk is full.
_SPARE_BYTES: Final = _CHECKPOINT_PAGES * _PAGE_BYTES + 1_048_576


class RecordingInfo(Struct, frozen=True):
    scene_path: str = ""
    scene_digest: str = ""  # Digest of its text, to detect changes
    title: str = ""
    tool_version: str = ""
    frame_rate: str = ""  # Target frames per second, as "60" or "60000/1001"
    source: str = ""  # The time source of the frames


def reserve(path: Path) -> None:
    """Create an empty file, so that no other program takes its name."""
    try:
        with path.open("xb"):
            pass
    except FileExistsError:
        raise RecordingWriteError(f"{path} exists. Choose another name.") from None
    except OSError as error:
        raise RecordingWriteError(f"{path} cannot be written: {error.strerror or error}.") from None


class RecordingFile:
    def __init__(
        self,
        path: Path,
        about: RecordingInfo,
        timeline: Timeline,
        cursor: int,
        *,
        is_reserved: bool = False,
    ) -> None:
        if not is_reserved:
            reserve(path)
        self.path = path
        self.strings: list[str] = []
        self._timeline = timeline
        self._cursor = cursor
        self._stored_strings = 0
        self._tables = PlainTables(self.strings)
        self._grown = Grown()
        # First the events that are written but not folded, then those that are new.
        self._block = np.empty((EVENT_COLUMNS, _FOLDED_AT_ONCE), np.int64)
        self._unfolded = self._fresh = 0
        self._spare = _spare_space(path.parent)
        self._live = begin_writing(path)
        self._connection = sqlite3.connect(path, isolation_level=None)
        self.pictures = PictureBlocks(self._connection)
        self._frames = WrittenFrames(self._connection)
        connection = self._connection
        try:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA cache_size = -16000")
            # In one transaction, so that a file that is cut short here is just empty.
            connection.executescript(
                f"BEGIN; PRAGMA application_id = {APPLICATION_ID}; "
                f"PRAGMA user_version = {SCHEMA_VERSION}; {SCHEMA} COMMIT;"
            )
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
            connection.execute("BEGIN")
            started = datetime.now(UTC).isoformat(timespec="milliseconds")
            self._write_meta(
                version_values(about.tool_version)
                | {
                    "scene_path": about.scene_path,
                    "scene_digest": about.scene_digest,
                    "title": about.title,
                    "frame_rate": about.frame_rate,
                    "source": about.source,
                    "started_at": started,
                    "first_cursor": cursor,
                    "first_frame": timeline.frames.first,
                    "first_ns": timeline.at_ns if cursor else 0,
                }
            )
            self._begin_from(timeline, cursor)
            if not cursor:
                # From here on the file is a recording, even if the program dies. One that starts in
                # the middle of a session also needs its texts, which are added later.
                self.commit()
        except BaseException:
            self._close()
            raise

    def _begin_from(self, timeline: Timeline, cursor: int) -> None:
        self._tables.begin(timeline)
        self._frames.begin(timeline, cursor)
        self._unfolded = 0
        self._since_keyframe = 0
        self._frames_folded = timeline.frames.end
        self._is_after_command = False
        self._keyframe_bytes = self._write_keyframe()

    def _write_meta(self, values: dict[str, str | int]) -> None:
        text = "INSERT OR REPLACE INTO meta VALUES (?, ?)"
        rows = [
            (name, _storable(value) if isinstance(value, str) else value)
            for name, value in values.items()
        ]
        self._connection.executemany(text, rows)

    def add_strings(self, texts: Sequence[str]) -> None:
        self.strings.extend(map(_storable, texts))

    def add(self, events: Sequence[RawEvent]) -> None:
        self.add_numbers(list(chain.from_iterable(events)))

    def add_numbers(self, numbers: Numbers) -> None:
        """Add the next events, five numbers each.

        They are written as soon as they are ``ADDED_AT_ONCE``, or by :meth:`commit`.
        """
        count = len(numbers) // EVENT_COLUMNS
        first = 0
        while first < count:
            place = self._unfolded + self._fresh
            some = min(count - first, ADDED_AT_ONCE - self._fresh)
            fill_block(self._block[:, place : place + some], numbers, first)
            first += some
            self._fresh += some
            if self._fresh == ADDED_AT_ONCE:
                self._add_fresh()

    def _add_fresh(self) -> None:
        count, self._fresh = self._fresh, 0
        if not count:
            return
        block = self._block[:, self._unfolded : self._unfolded + count]
        for start in range(0, count, CHUNK_EVENTS):
            self._add_chunk(block[:, start : start + CHUNK_EVENTS], self._cursor + start)
        self._add_block(block)

    def _add_chunk(self, block: Block, cursor: int) -> None:
        data = pack(block)
        first_ns, last_ns = int(block[0, 0]), int(block[0, -1])
        values = (cursor, block.shape[1], first_ns, last_ns, crc32(data), data)
        self._connection.execute("INSERT INTO chunks VALUES (?,?,?,?,?,?)", values)

    def _add_block(self, block: Block) -> None:
        count = block.shape[1]
        self._tables.add(block, self._cursor)
        self._frames.add(block, self._cursor)
        self._cursor += count
        self._unfolded += count
        self._is_after_command = int(block[1, -1]) in _BEFORE_DETAILS
        self._since_keyframe += count
        is_due = self._since_keyframe >= self._keyframe_every and not self._is_after_command
        if is_due or self._unfolded + ADDED_AT_ONCE > _FOLDED_AT_ONCE:
            self._fold()
        if is_due:
            self._keyframe_bytes = self._write_keyframe()

    @property
    def _keyframe_every(self) -> int:
        wanted = 2 * self._keyframe_bytes // _BYTES_PER_EVENT
        return min(max(KEYFRAME_EVERY, wanted), KEYFRAME_AT_MOST)

    def _fold(self) -> None:
        fold_block(self._timeline, self._block[:, : self._unfolded], self._frames_folded)
        self._unfolded = 0
        self._frames_folded = self._frames.end

    def _write_keyframe(self) -> int:
        timeline = self._timeline
        self._since_keyframe = 0
        state = state_text(timeline, self._frames.end, self._frames.ends_of_loops)
        news = news_text(timeline, self._grown)
        timers = pack(timer_block(timeline)) if len(timeline.timers) else b""
        crc = crc32(timers, crc32(news.encode(), crc32(state.encode())))
        count = len(timeline.timers)
        self._connection.execute(
            "INSERT OR REPLACE INTO keyframes VALUES (?,?,?,?,?,?,?)",
            (self._cursor, timeline.at_ns, crc, state, news, count, timers),
        )
        return len(state) + len(timers)

    def skip_to(self, timeline: Timeline, cursor: int) -> int:
        """Continue after a gap in the given state; returns the number of missing events."""
        self._add_fresh()
        lost = cursor - self._cursor
        self._timeline, self._cursor = timeline, cursor
        self._write_meta({"lost_events": lost + self._lost_before()})
        self._begin_from(timeline, cursor)
        return lost

    def _lost_before(self) -> int:
        found = self._connection.execute("SELECT value FROM meta WHERE name='lost_events'")
        row = found.fetchone()
        return 0 if row is None else int(row[0])

    def annotate(self, changes: Sequence[AnnotationChange]) -> None:
        write_annotations(self._connection, changes)

    def commit(self) -> None:
        self._add_fresh()
        self.pictures.flush()
        strings = self.strings
        new = list(enumerate(strings[self._stored_strings :], self._stored_strings))
        self._connection.executemany("INSERT INTO strings VALUES (?, ?)", new)
        self._tables.flush(self._connection)
        self._connection.execute("COMMIT")
        self._connection.execute("BEGIN")
        self._stored_strings = len(strings)
        if not is_same_file(self.path, self._live):
            # SQLite would leave the last commits in a WAL beside the old name.
            self._connection.execute("COMMIT")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._close()
            if not self.path.exists():
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            raise RecordingWriteError(
                f"{self.path} was moved, removed or replaced while it was written; "
                "nothing more is recorded. Record again."
            )

    def finish(self) -> None:
        """Write the rest, and leave a single file.

        Raises:
            RecordingWriteError: The file no longer exists.
            sqlite3.Error: The file cannot be written.
        """
        self._add_fresh()
        # A keyframe at this cursor must not be replaced: only it has the additions before it.
        if self._since_keyframe and not self._is_after_command:
            self._fold()
            self._write_keyframe()
        ended = datetime.now(UTC).isoformat(timespec="milliseconds")
        end = {"end_cursor": self._cursor, "end_frame": self._frames.end}
        self._write_meta({"ended_at": ended, **end})
        self.commit()
        self._connection.execute("COMMIT")
        # While another program reads the file, the last second stays in the WAL, just as safe.
        self._connection.execute("PRAGMA busy_timeout = 100")
        with suppress(sqlite3.OperationalError):
            self._connection.execute("PRAGMA journal_mode = DELETE")
        self._close()

    def abandon(self, reason: str) -> None:
        """Leave the file as last committed, without a WAL if the disk allows it; never raises.

        Args:
            reason: Why nothing more is written, as part of a sentence that readers show.
        """
        execute = self._connection.execute
        # The last changes, and moving the WAL into the file, need the reserved space.
        self._spare.close()
        for step in (
            lambda: execute("ROLLBACK"),
            lambda: self._write_meta({"ended_because": reason, "end_cursor": self._cursor}),
            lambda: execute("PRAGMA journal_mode = DELETE"),
            self._close,
        ):
            with suppress(sqlite3.Error):
                step()

    def _close(self) -> None:
        try:
            self._spare.close()
            self._connection.close()
        finally:
            end_writing(self._live)


def _spare_space(folder: Path) -> IO[bytes]:
    """Return an unnamed file that reserves space on the disk until it is closed."""
    spare = TemporaryFile(dir=folder)  # noqa: SIM115 - it is closed with the recording
    try:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(spare.fileno(), 0, _SPARE_BYTES)
        else:
            spare.write(bytes(_SPARE_BYTES))
            spare.flush()
    except BaseException:
        spare.close()
        raise
    return spare


def _storable(text: str) -> str:
    r"""Return a text that can be stored.

    A lone surrogate, as in undecodable file names, is written as ``\udc80``.
    """
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
