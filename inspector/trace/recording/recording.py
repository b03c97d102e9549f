"""A recording that was opened: a session's past, read from the file as it is needed."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

import numpy as np

from inspector.trace.frame_history import FrameHistory
from inspector.trace.recording.annotations import Annotation, read_annotations
from inspector.trace.recording.columns import EVENT_COLUMNS, Block, events_of, unpack
from inspector.trace.recording.keyframes import Growth, timeline_from
from inspector.trace.recording.layout import CHUNK_EVENTS, FRAME_COLUMNS, TIMER_COLUMNS
from inspector.trace.recording.opening import DAMAGE, OpenFile
from inspector.trace.recording.quick_fold import fold_block
from inspector.trace.timeline import Timeline

if TYPE_CHECKING:
    from pathlib import Path

    from inspector.vocabulary import RawEvent

#: Chunks and states that are kept in memory, those used last.
_KEPT_CHUNKS: Final = 64
_KEPT_STATES: Final = 8
#: A recording up to this size is looked through when it is opened.
_LOOKED_THROUGH_BYTES: Final = 64 * 1024 * 1024
_CURSOR, _COUNT, _FIRST_NS, _LAST_NS = range(4)


def open_recording(path: Path) -> Recording:
    """Open a recording; the file is not changed.

    Raises:
        RecordingError: It cannot be opened; the message says why, in a sentence.
    """
    return Recording(OpenFile(path))


class Recording:
    """The past of a session that was recorded.

    Attributes:
        strings: The string table.
        first: Cursor of the oldest event that is there.
        end: Cursor behind the newest.
        first_ns: The earliest session instant whose state is known.
        last_ns: Session instant of the newest event.
    """

    def __init__(self, file: OpenFile) -> None:
        """Read what is needed to find everything else."""
        self._file = file
        self._index = self._read_index()
        self.strings = self._read_strings()
        self._checked: set[int] = set()
        self._chunks: OrderedDict[int, Block | None] = OrderedDict()
        self._states: OrderedDict[int, tuple[Timeline, int]] = OrderedDict()
        self._growth = Growth()
        self._keyframes: list[int] = []
        self._frames: FrameHistory | None = None
        self._frame_cursors = np.empty(0, np.int64)
        index, meta = self._index, file.meta
        first = meta.get("first_cursor", 0)
        self.first = self.end = first if isinstance(first, int) else 0
        if index.shape[1]:
            self.first = int(index[_CURSOR][0])
            self.end = int(index[_CURSOR][-1] + index[_COUNT][-1])
        first_ns = meta.get("first_ns", 0)
        self.first_ns = first_ns if isinstance(first_ns, int) else 0
        self._note_gaps()
        self._read_keyframes()
        if file.path.stat().st_size <= _LOOKED_THROUGH_BYTES:
            for place in range(index.shape[1]):
                self._chunk(place)
        self.last_ns = self._find_last_ns()

    # ------------------------------------------------------------ what it is

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    @property
    def notes(self) -> tuple[str, ...]:
        """What is missing, as sentences; empty if nothing is."""
        return tuple(self._file.notes)

    @property
    def title(self) -> str:
        """What people call what was recorded."""
        return str(self._file.meta.get("title") or self.path.stem)

    @property
    def scene_path(self) -> str:
        """The scene's file, empty if it is not known."""
        return str(self._file.meta.get("scene_path") or "")

    @property
    def meta(self) -> dict[str, Any]:
        """All that the recording says of itself."""
        return dict(self._file.meta)

    @property
    def annotations(self) -> list[Annotation]:
        """Notes, bookmarks and named ranges, the earliest first."""
        return read_annotations(self._file.rows)

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    # ---------------------------------------------------------- what is there

    def _read_index(self) -> Block:
        text = "SELECT first_cursor, count, first_ns, last_ns FROM chunks ORDER BY first_cursor"
        found: list[tuple[Any, ...]] = []
        end = 0
        for row in self._file.rows(text):
            is_whole = all(type(each) is int for each in row)
            if is_whole and row[_CURSOR] >= end and 0 < row[_COUNT] <= CHUNK_EVENTS:
                found.append(row)
                end = row[_CURSOR] + row[_COUNT]
            else:
                self._file.note_damage("chunks", f"{row} is no part of it")
        return np.array(found, np.int64).reshape(-1, 4).T

    def _read_strings(self) -> list[str]:
        found = dict(self._file.rows("SELECT number, text FROM strings"))
        found = {n: text for n, text in found.items() if type(n) is int and n >= 0}
        end = max(found, default=0) + 1
        if end > 2 * len(found) + 1:
            # Some number was damaged: the texts cannot be that many.
            end = len(found)
        strings = [str(found.get(number, "?")) for number in range(end)]
        strings[0] = ""
        return strings

    def _read_keyframes(self) -> None:
        is_some_lost = False
        text = "SELECT cursor, at_ns, crc, state, news, timer_count, timers FROM keyframes"
        for cursor, _, crc, state, news, _, timers in self._file.rows(f"{text} ORDER BY cursor"):
            try:
                whole = crc32(timers, crc32(news.encode(), crc32(state.encode())))
                if whole != crc or type(cursor) is not int:
                    message = f"the one at event {cursor} is damaged"
                    raise ValueError(message)
                if is_some_lost:
                    self._growth.add_lost(self.state_before(cursor), state, news)
                self._growth.add(cursor, news)
            except DAMAGE as error:
                self._file.note_damage("keyframes", error)
                is_some_lost = True
            else:
                self._keyframes.append(cursor)
                is_some_lost = False

    def _find_last_ns(self) -> int:
        """Return the instant of the newest event, or of what is known of the end."""
        places = self._index.shape[1]
        if not places:
            return self.first_ns
        if self._chunk(places - 1) is None:
            return self.state_before(self.end).at_ns
        return int(self._index[_LAST_NS][-1])

    def _note_gaps(self) -> None:
        ends = self._index[_CURSOR] + self._index[_COUNT]
        missing = int(np.maximum(self._index[_CURSOR][1:] - ends[:-1], 0).sum())
        told = self._file.meta.get("lost_events")
        if missing > (told if isinstance(told, int) else 0):
            self._file.notes.append(f"{missing:,} events in between are missing.")

    def _chunk(self, place: int) -> Block | None:
        """Return the events of a chunk, ``None`` when it is damaged."""
        chunks = self._chunks
        if place in chunks:
            chunks.move_to_end(place)
            return chunks[place]
        block = chunks[place] = self._read_chunk(place)
        if len(chunks) > _KEPT_CHUNKS:
            chunks.popitem(last=False)
        return block

    def _read_chunk(self, place: int, out: Block | None = None) -> Block | None:
        """Read a chunk from the file; ``None`` when it is damaged."""
        cursor, count = int(self._index[_CURSOR][place]), int(self._index[_COUNT][place])
        try:
            text = "SELECT crc, data FROM chunks WHERE first_cursor = ?"
            crc, data = self._file.value(text, cursor)
            # Once is enough: nobody changes the file.
            if place not in self._checked and crc32(data) != crc:
                message = f"the events from {cursor:,} on are damaged"
                raise ValueError(message)
            block = unpack(data, EVENT_COLUMNS, count, out)
            if place not in self._checked:
                self._check_instants(place, block)
        except DAMAGE as error:
            self._file.note_damage("chunks", error)
            return None
        return block

    def _check_instants(self, place: int, block: Block) -> None:
        """See that the index says when the events of a chunk were; they know better."""
        self._checked.add(place)
        when = [(_FIRST_NS, int(block[0, 0])), (_LAST_NS, int(block[0, -1]))]
        for row, at_ns in when:
            if self._index[row][place] != at_ns:
                self._index[row][place] = at_ns
                self._file.note_damage("chunks", "it does not say when its events were")

    def columns(self, start: int, end: int, *, is_whole: bool = False) -> Block:
        """Return events as columns (instant, kind, subject, a, b) by cursor.

        Args:
            start: Cursor of the first.
            end: Cursor behind the last.
            is_whole: Whether to stop where something is missing, else that is left out.
        """
        cursors, counts = self._index[_CURSOR], self._index[_COUNT]
        place = max(0, int(np.searchsorted(cursors, start, side="right")) - 1)
        out = np.empty((EVENT_COLUMNS, max(0, min(end, self.end) - start)), np.int64)
        filled, at = 0, start
        while place < len(cursors) and cursors[place] < end:
            first, count = int(cursors[place]), int(counts[place])
            if is_whole and first > at:
                break
            low, high = max(0, start - first), min(count, end - first)
            target = out[:, filled : filled + max(0, high - low)]
            if place not in self._chunks and (low, high) == (0, count):
                block = self._read_chunk(place, target)
            elif (block := self._chunk(place)) is not None and low < high:
                target[:] = block[:, low:high]
            if block is None and is_whole:
                break
            if block is not None:
                filled += target.shape[1]
                at = first + count
            place += 1
        return out[:, :filled]

    def whole_since(self, start: int) -> int:
        """Return from which cursor on, not before ``start``, nothing is missing."""
        cursors = self._index[_CURSOR]
        at, place = self.end, len(cursors) - 1
        while place >= 0 and at > start:
            ends = int(cursors[place] + self._index[_COUNT][place])
            if ends != at or self._chunk(place) is None:
                break
            at, place = int(cursors[place]), place - 1
        return max(at, start)

    def events(self, start: int, end: int) -> list[RawEvent]:
        """Return the events from one cursor up to another; what is missing is left out."""
        return events_of(self.columns(start, end))

    def cursor_at(self, at_ns: int) -> int:
        """Return the cursor behind the last event at or before an instant."""
        place = int(np.searchsorted(self._index[_FIRST_NS], at_ns, side="right")) - 1
        if place < 0:
            return self.first
        cursor = int(self._index[_CURSOR][place])
        block = self._chunk(place)
        if block is None:
            return cursor
        return cursor + int(np.searchsorted(block[0], at_ns, side="right"))

    # ------------------------------------------------------------------ states

    def state_before(self, cursor: int) -> Timeline:
        """Return the state after all events before ``cursor``, as a timeline of its own.

        Where events are missing, it is the last state that is known.
        """
        cursor = min(max(cursor, self.first), self.end)
        at, timeline, frames = self._known_before(cursor)
        try:
            block = self.columns(at, cursor, is_whole=True)
            fold_block(timeline, block, frames)
        except DAMAGE as error:
            self._file.note_damage("chunks", f"event {at:,} does not fit: {error!r}")
        self._give_frames(timeline, at + block.shape[1], frames)
        self._keep(at + block.shape[1], timeline)
        return timeline

    def state_at(self, at_ns: int) -> Timeline:
        """Return the state at an instant, everything that happened then included."""
        timeline = self.state_before(self.cursor_at(at_ns))
        timeline.set_present(at_ns)
        return timeline

    def _known_before(self, cursor: int) -> tuple[int, Timeline, int]:
        """Return the nearest state that is known: cursor, timeline and frames."""
        place = bisect_right(self._keyframes, cursor) - 1
        kept = max((at for at in self._states if at <= cursor), default=-1)
        if kept >= 0 and (place < 0 or kept >= self._keyframes[place]):
            timeline, frames = self._states[kept]
            self._states.move_to_end(kept)
            return kept, timeline.copy(), frames
        while place >= 0:
            at = self._keyframes[place]
            try:
                text = "SELECT state, timer_count, timers FROM keyframes WHERE cursor = ?"
                state, count, timers = self._file.value(text, at)
                columns = len(TIMER_COLUMNS)
                block = unpack(timers, columns, count) if count else np.empty((columns, 0), "i8")
                timeline, frames = timeline_from(self.strings, at, state, block, self._growth)
            except DAMAGE as error:
                self._file.note_damage("keyframes", error)
                del self._keyframes[place]
                place -= 1
            else:
                return at, timeline, frames
        return self.first, Timeline(self.strings), 0

    def _keep(self, cursor: int, timeline: Timeline) -> None:
        self._states[cursor] = (timeline.copy(), timeline.frames.end)
        self._states.move_to_end(cursor)
        if len(self._states) > _KEPT_STATES:
            self._states.popitem(last=False)

    def _give_frames(self, timeline: Timeline, cursor: int, least: int) -> None:
        """Give a timeline the frames that had ended: shared, so that it costs nothing."""
        whole = self._all_frames()
        count = int(np.searchsorted(self._frame_cursors, cursor, side="right"))
        twin = whole.copy()
        twin._length = max(count, min(least - whole.first, len(whole)))
        timeline.frames = twin

    def _all_frames(self) -> FrameHistory:
        if self._frames is None:
            self._frames = FrameHistory()
            blocks = self._frame_blocks()
            if blocks:
                columns = np.concatenate(blocks, axis=1)
                self._frames.first = int(columns[0, 0])
                self._frames.extend([array("q", column.tobytes()) for column in columns[2:]])
                self._frame_cursors = columns[1]
        return self._frames

    def _frame_blocks(self) -> list[Block]:
        """Return all frames, those in a row that can be read."""
        found: list[Block] = []
        text = "SELECT first_frame, count, crc, data FROM frame_chunks ORDER BY first_frame"
        for first, count, crc, data in self._file.rows(text):
            try:
                if crc32(data) != crc:
                    message = f"the frames from {first:,} on are damaged"
                    raise ValueError(message)
                block = unpack(data, len(FRAME_COLUMNS), count)
            except DAMAGE as error:
                self._file.note_damage("frame_chunks", error)
                continue
            if found and block[0, 0] != found[-1][0, -1] + 1:
                block = _behind(found[-1], block)
            found.append(block)
        return found


def _behind(former: Block, block: Block) -> Block:
    """Return frames behind a gap, the gap filled with frames that took no time."""
    last, first = int(former[0, -1]), int(block[0, 0])
    if first <= last:
        return block[:, last + 1 - first :]
    filler = np.zeros((len(block), first - last - 1), np.int64)
    filler[0] = np.arange(last + 1, first)
    filler[1], filler[2] = former[1, -1], former[2, -1]
    return np.concatenate([filler, block], axis=1)
