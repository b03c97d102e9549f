"""An open recording: a session's past, read from the file as needed."""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Final
from zlib import crc32

import numpy as np

from inspector.display_text import counted
from inspector.errors import RecordingError
from inspector.events.blocks.packed_columns import EVENT_COLUMNS, Block, events_of, unpack
from inspector.events.blocks.quick_fold import fold_block
from inspector.events.frame_history import FrameHistory
from inspector.events.loop_frames import exchange
from inspector.events.recording.annotations import Annotation, read_annotations
from inspector.events.recording.keyframes import Growth, timeline_from
from inspector.events.recording.layout import CHUNK_EVENTS, TIMER_COLUMNS, WITH_LOOPS
from inspector.events.recording.reading.frames import StoredFrames
from inspector.events.recording.reading.opening import DAMAGE, OpenFile
from inspector.events.recording.reading.pictures import RecordedBlocks
from inspector.events.recording.reading.soundness import UNKNOWN_TEXT, Soundness
from inspector.events.schema import COMMAND_FORMS
from inspector.events.timeline import MISFIT, Timeline
from inspector.timebase import MAX_NS
from inspector.vocabulary import RawEvent

#: Number of cached chunks and states, most recently used.
_KEPT_CHUNKS: Final = 64
_KEPT_STATES: Final = 8
#: Most timers in all cached states, at 100 bytes each; a single state may have more.
_KEPT_TIMERS: Final = 400_000
#: Events that are folded without keeping a state on the way, in some 10 ms.
_FAR: Final = 40_000
#: Up to this size, all events of a recording are checked when it is opened.
_LOOKED_THROUGH_BYTES: Final = 64 << 20
_CURSOR, _COUNT, _FIRST_NS, _LAST_NS = range(4)
#: A longer gap between events is taken for damage, as some readers iterate over gaps.
_MOST_MISSING_EVENTS: Final = 1 << 28
#: The events of a command: the command, its context and its form.
_EVENTS_OF_COMMAND: Final = 3
_LONGEST_SAID: Final = 4_096


def open_recording(path: Path) -> Recording:
    return Recording(OpenFile(path))


class Recording:
    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._index = self._read_index()
        self.strings = self._read_strings()
        self._sound = Soundness(len(self.strings), self._unknown_text)
        self._repaired: set[int] = set()
        self._checked: set[int] = set()
        self._unreadable: set[int] = set()
        self._chunks: OrderedDict[int, Block | None] = OrderedDict()
        self._states: OrderedDict[int, tuple[Timeline, int]] = OrderedDict()
        self._growth = Growth(self._sound, self._form_of)
        self._keyframes: list[int] = []
        self._asked: dict[int, int] | None = None
        self._stored: dict[int, StoredFrames] = {}
        # _written_of: the loop whose frames the frame events in the file are of
        # frames_of: the loop whose frames states and events have now, 0 for a scene
        self._written_of = self.frames_of = 0
        index, meta = self._index, file.meta
        self.first = self.end = _whole(meta.get("first_cursor"))
        if index.shape[1]:
            self.first = int(index[_CURSOR][0])
            self.end = int(index[_CURSOR][-1] + index[_COUNT][-1])
        # The earliest session instant with a known state
        self.first_ns = _whole(meta.get("first_ns"))
        self._note_gaps()
        self._read_keyframes()
        if file.size <= _LOOKED_THROUGH_BYTES:
            for place in range(index.shape[1]):
                self._chunk(place)
        self.last_ns = self._find_last_ns()
        self.pictures = RecordedBlocks(file)  # What the scene drew of itself
        version = _whole(meta.get("schema_version"))
        if version >= WITH_LOOPS:
            for (clock_id,) in file.rows("SELECT clock FROM loops WHERE in_frames = 1"):
                self._written_of = self.frames_of = _whole(clock_id)

    # ------------------------------------------------------------ properties

    @property
    def path(self) -> Path:
        return self._file.path

    @property
    def notes(self) -> tuple[str, ...]:
        return self._file.notes

    @property
    def is_partial(self) -> bool:
        """Whether a part of it is missing or cannot be read; the notes say which."""
        has_gaps = self._gaps or any(each.missing for each in self._stored.values())
        return bool(has_gaps) or self._file.is_damaged()

    @property
    def has_all_events(self) -> bool:
        is_there = all(self._chunk(place) is not None for place in range(self._index.shape[1]))
        is_gapless = int(self._index[_COUNT].sum()) == self.end - self.first
        return is_there and is_gapless and not self._file.is_damaged("chunks", "strings")

    @property
    def missing(self) -> int:
        """How many events are known to be missing; a large file is not read in full at first."""
        return self._gaps + sum(int(self._index[_COUNT][place]) for place in self._unreadable)

    @property
    def title(self) -> str:
        return self._said("title") or self.path.stem

    @property
    def scene_path(self) -> str:
        return self._said("scene_path")

    def _said(self, name: str) -> str:
        said = self._file.meta.get(name)
        return said[:_LONGEST_SAID] if isinstance(said, str) else ""

    @property
    def meta(self) -> dict[str, Any]:
        return dict(self._file.meta)

    @property
    def annotations(self) -> list[Annotation]:
        return read_annotations(self._file.rows)

    def close(self) -> None:
        """Close the file; states returned before keep their frames."""
        for stored in self._stored.values():
            stored.keep()
        self._file.close()

    def choose_frames(self, clock_id: int) -> None:
        """Have states and events show the frames of another loop from now on.

        States returned before keep theirs.
        """
        self.frames_of = clock_id
        self._chunks.clear()
        self._states.clear()

    # ---------------------------------------------------------------- events

    def _read_index(self) -> Block:
        text = "SELECT first_cursor, count, first_ns, last_ns FROM chunks ORDER BY first_cursor"
        found: list[tuple[Any, ...]] = []
        end = 0
        for row in self._file.rows(text):
            is_whole = all(type(each) is int for each in row)
            most = end + _MOST_MISSING_EVENTS if found else MAX_NS
            if is_whole and end <= row[_CURSOR] < most and 0 < row[_COUNT] <= CHUNK_EVENTS:
                found.append(row)
                end = row[_CURSOR] + row[_COUNT]
            else:
                self._file.note_damage(
                    "chunks", f"the events from {row[_CURSOR]} on are out of place"
                )
        return np.array(found, np.int64).reshape(-1, 4).T

    def _read_strings(self) -> list[str]:
        found: dict[int, str] = {}
        # A character takes at least a byte of the file, so texts that are longer are damage.
        left = self._file.size
        for number, text in self._file.rows("SELECT number, text FROM strings"):
            if type(number) is not int or number < 0 or not isinstance(text, str):
                self._file.note_damage("strings", f"number {number} is not a text")
                continue
            left -= len(text)
            if left < 0:
                self._file.note_damage("strings", "they are longer than the file")
                break
            found[number] = text
        end = max(found, default=0) + 1
        if end > 2 * len(found) + 1:
            # A number is damaged, as far fewer texts were found.
            end = len(found)
        strings = [found.get(number, UNKNOWN_TEXT) for number in range(max(1, end))]
        strings[0] = ""
        return strings

    def _unknown_text(self) -> int:
        strings, number = self.strings, self._sound.texts
        if len(strings) == number:
            strings.append(UNKNOWN_TEXT)
        return number

    def _read_keyframes(self) -> None:
        is_some_lost = False
        text = "SELECT cursor, at_ns, crc, state, news, timer_count, timers FROM keyframes"
        for cursor, _, crc, state, news, _, timers in self._file.rows(f"{text} ORDER BY cursor"):
            try:
                whole = crc32(timers, crc32(news.encode(), crc32(state.encode())))
                if whole != crc or type(cursor) is not int or not 0 <= cursor < MAX_NS:
                    raise ValueError(f"the one at event {cursor} is damaged")
                if is_some_lost:
                    self._growth.add_lost(self.state_before(cursor), state, news)
                self._growth.add(cursor, news)
            except DAMAGE as error:
                self._file.note_damage("keyframes", error)
                is_some_lost = True
            else:
                self._keyframes.append(cursor)
                is_some_lost = False

    def _form_of(self, number: int) -> str:
        if self._asked is None:
            self._asked = dict(self._file.rows("SELECT number, cursor FROM commands"))
        cursor = self._asked.get(number)
        if type(cursor) is int and self.first <= cursor < self.end:
            for event in self.events(cursor, cursor + _EVENTS_OF_COMMAND):
                if event[1] in COMMAND_FORMS and event[2] == number:
                    return self.strings[event[3]]
        return ""

    def _find_last_ns(self) -> int:
        places = self._index.shape[1]
        if not places:
            return self.first_ns
        if self._chunk(places - 1) is None:
            return self.state_before(self.end).at_ns
        return int(self._index[_LAST_NS][-1])

    def _note_gaps(self) -> None:
        meta, begins = self._file.meta, self._index[_CURSOR]
        first = min(_whole(meta.get("first_cursor")), self.first)
        end = max(_whole(meta.get("end_cursor")) if "ended_at" in meta else 0, self.end)
        ends = np.append(first, begins + self._index[_COUNT])
        gaps = np.maximum(np.append(begins, end) - ends, 0)
        self._gaps = int(gaps.sum())
        if self._gaps <= _whole(meta.get("lost_events")):
            return
        for where, missing in (
            ("at the beginning", gaps[0]),
            ("in between", gaps[1:-1].sum()),
            ("at the end", gaps[-1] if len(begins) else 0),
        ):
            if missing:
                self._file.note(f"{counted(missing, 'event is', 'events are')} missing {where}.")

    def _chunk(self, place: int) -> Block | None:
        chunks = self._chunks
        if place in chunks:
            chunks.move_to_end(place)
            return chunks[place]
        block = chunks[place] = self._read_chunk(place)
        if len(chunks) > _KEPT_CHUNKS:
            chunks.popitem(last=False)
        return block

    def _read_chunk(self, place: int, out: Block | None = None) -> Block | None:
        cursor, count = int(self._index[_CURSOR][place]), int(self._index[_COUNT][place])
        try:
            text = "SELECT crc, data FROM chunks WHERE first_cursor = ?"
            crc, data = self._file.value(text, cursor)
            # Checked once per chunk, as the file does not change.
            if place not in self._checked and crc32(data) != crc:
                raise ValueError(f"the events from {cursor:,} on are damaged")
            block = unpack(data, EVENT_COLUMNS, count, out)
            is_new = place not in self._checked
            if is_new or place in self._repaired:
                self._repair(place, block)
            if is_new:
                self._check_instants(place, block)
            if self.frames_of != self._written_of:
                exchange(block, self._written_of, self.frames_of)
        except DAMAGE as error:
            self._file.note_damage("chunks", error, self._known_ns(place))
            self._unreadable.add(place)
            return None
        return block

    def _repair(self, place: int, block: Block) -> None:
        """Replace invalid numbers in events, so that no reader meets them."""
        repaired = self._sound.repair(block)
        if repaired and place not in self._repaired:
            self._repaired.add(place)
            what = "event makes" if repaired == 1 else "events make"
            said = (
                f"{repaired:,} {what} no sense from event {int(self._index[_CURSOR][place]):,} on"
            )
            self._file.note_damage("chunks", said, int(block[0, 0]))

    def _known_ns(self, place: int) -> int:
        """Return the instant up to which nothing is missing before a chunk."""
        before = place - 1
        last = self._index[_LAST_NS][before] if before in self._checked else self.first_ns
        return int(last)

    def _check_instants(self, place: int, block: Block) -> None:
        """Correct the index where the first and last instants of a chunk differ from it."""
        self._checked.add(place)
        when = [(_FIRST_NS, int(block[0, 0])), (_LAST_NS, int(block[0, -1]))]
        for row, at_ns in when:
            if self._index[row][place] != at_ns:
                self._index[row][place] = at_ns
                self._file.note_damage("chunks", "the index has wrong instants")

    def columns(self, start: int, end: int, *, is_whole: bool = False) -> Block:
        """Return events as columns, by cursor; with ``is_whole``, only those before a gap."""
        return self._read(start, end, is_whole=is_whole)[0]

    def _read(self, start: int, end: int, *, is_whole: bool = False) -> tuple[Block, list[range]]:
        """Return events as columns, and the ranges of cursors that they cover."""
        cursors, counts = self._index[_CURSOR], self._index[_COUNT]
        place = max(0, int(np.searchsorted(cursors, start, side="right")) - 1)
        behind = int(np.searchsorted(cursors, end))
        # The chunks bound the number of events: a gap in the cursors may be huge.
        most = min(max(0, min(end, self.end) - start), int(counts[place:behind].sum()))
        out = np.empty((EVENT_COLUMNS, most), np.int64)
        filled, at = 0, start
        covered: list[range] = []
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
                covered.append(range(first + low, first + low + target.shape[1]))
            place += 1
        return out[:, :filled], covered

    def whole_until(self, start: int, end: int) -> int:
        cursors, counts = self._index[_CURSOR], self._index[_COUNT]
        at = start
        place = max(0, int(np.searchsorted(cursors, start, side="right")) - 1)
        while at < end and place < len(cursors) and cursors[place] <= at:
            if self._chunk(place) is None:
                break
            at = max(at, int(cursors[place] + counts[place]))
            place += 1
        return max(start, min(at, end))

    def whole_since(self, start: int) -> int:
        """Return the first cursor from ``start`` on after which no event is missing."""
        cursors = self._index[_CURSOR]
        at, place = self.end, len(cursors) - 1
        while place >= 0 and at > start:
            ends = int(cursors[place] + self._index[_COUNT][place])
            if ends != at or self._chunk(place) is None:
                break
            at, place = int(cursors[place]), place - 1
        return max(at, start)

    def events(self, start: int, end: int) -> list[RawEvent]:
        return events_of(self.columns(start, end))

    def numbered(self, start: int, end: int) -> tuple[Sequence[int], list[RawEvent]]:
        block, covered = self._read(start, end)
        stretches = [each for each in covered if each]
        is_whole = all(before.stop == after.start for before, after in pairwise(stretches))
        if stretches and is_whole:
            return range(stretches[0].start, stretches[-1].stop), events_of(block)
        return [cursor for stretch in stretches for cursor in stretch], events_of(block)

    def cursor_at(self, at_ns: int) -> int:
        place = int(np.searchsorted(self._index[_FIRST_NS], at_ns, side="right")) - 1
        if place < 0:
            return self.first
        cursor = int(self._index[_CURSOR][place])
        block = self._chunk(place)
        if block is None:
            # A keyframe may tell the state after the damage.
            is_behind = at_ns >= int(self._index[_LAST_NS][place])
            return cursor + int(self._index[_COUNT][place]) if is_behind else cursor
        return cursor + int(np.searchsorted(block[0], at_ns, side="right"))

    # ------------------------------------------------------------------ states

    @property
    def base(self) -> Timeline:
        return self.state_before(self.first)

    def state_before(self, cursor: int) -> Timeline:
        """Return a copy of the state after all events before ``cursor``.

        Where events are missing, it is the last known state.
        """
        cursor = min(max(cursor, self.first), self.end)
        at, timeline, frames = self._known_before(cursor)
        while cursor - at > _FAR:
            # The next state asked for is often nearby, so a state halfway is kept too.
            middle = at + (cursor - at) // 2
            if self.whole_until(at, middle) < middle:
                break
            self._keep(self._fold(timeline, at, middle, frames), timeline)
            at, frames = middle, timeline.frames.end
        self._keep(self._fold(timeline, at, cursor, frames), timeline)
        return timeline

    def known_before(self, cursor: int) -> tuple[int, Timeline]:
        at, timeline, frames = self._known_before(min(max(cursor, self.first), self.end))
        self._give_frames(timeline, at, frames)
        return at, timeline

    def go_on(self, state: Timeline, start: int, end: int) -> None:
        self._fold(state, start, end, state.frames.end)

    def _fold(self, timeline: Timeline, start: int, end: int, frames: int) -> int:
        """Fold events up to the first gap; returns the cursor there."""
        block = self.columns(start, end, is_whole=True)
        timeline.skips_misfits = True
        known = timeline.misfits
        fold_block(timeline, block, frames)
        if misfits := timeline.misfits - known:
            what = "event does" if misfits == 1 else "events do"
            said = f"{misfits:,} {what} not fit what was before, from event {start:,} on"
            self._file.note_damage("chunks", said, int(block[0, 0]))
        at = start + int(block.shape[1])
        self._give_frames(timeline, at, frames)
        return at

    def state_at(self, at_ns: int) -> Timeline:
        timeline = self.state_before(self.cursor_at(at_ns))
        timeline.set_present(at_ns)
        return timeline

    def unknown_around(self, at_ns: int) -> tuple[int, int] | None:
        cursor = self.cursor_at(at_ns)
        place = bisect_right(self._keyframes, cursor) - 1
        until = self.whole_until(self._keyframes[place] if place >= 0 else self.first, cursor)
        last = self.columns(until - 1, until)
        began_ns = int(last[0, -1]) if last.size else self.first_ns
        if until == cursor:
            place = int(np.searchsorted(self._index[_CURSOR], cursor))
            if place == self._index.shape[1] or self.whole_until(cursor, cursor + 1) > cursor:
                return None
            # cursor_at() returns the start of a gap, or of a damaged chunk, for instants within it.
            is_gap = self._index[_CURSOR][place] > cursor
            if at_ns <= began_ns if is_gap else at_ns < self._index[_FIRST_NS][place]:
                return None
        after = bisect_right(self._keyframes, cursor)
        if after == len(self._keyframes):
            return began_ns, self.last_ns
        return began_ns, self.state_before(self._keyframes[after]).at_ns

    def _known_before(self, cursor: int) -> tuple[int, Timeline, int]:
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
                if count > max(1, len(timers)):
                    # Timer numbers differ, so each takes at least a byte.
                    raise ValueError(f"{count:,} timers in {len(timers):,} bytes")
                block = unpack(timers, columns, count) if count else np.empty((columns, 0), "i8")
                timeline, frames = timeline_from(self.strings, at, state, block, self._growth)
            except DAMAGE as error:
                self._file.note_damage("keyframes", error)
                del self._keyframes[place]
                place -= 1
            else:
                if self.frames_of != self._written_of:
                    timeline.choose_frames(self.frames_of)
                    frames = timeline.frames.end
                return at, timeline, frames
        timeline = Timeline(self.strings)
        if self.frames_of != self._written_of:
            timeline.choose_frames(self.frames_of)
        return self.first, timeline, 0

    def _keep(self, cursor: int, timeline: Timeline) -> None:
        states = self._states
        states[cursor] = (timeline.copy(), timeline.frames.end)
        states.move_to_end(cursor)
        timers = sum(len(each.timers) for each, _ in states.values())
        while len(states) > _KEPT_STATES or (timers > _KEPT_TIMERS and len(states) > 1):
            timers -= len(states.popitem(last=False)[1][0].timers)

    def _give_frames(self, timeline: Timeline, cursor: int, least: int) -> None:
        timeline.frames = self._frames_before(cursor, self.frames_of, least)
        for clock_id, loop in timeline.loops.items():
            if clock_id != self.frames_of:
                loop.frames = self._frames_before(cursor, clock_id)
        if self.frames_of != self._written_of:
            timeline.number_frames()

    def _frames_before(self, cursor: int, clock_id: int, least: int = 0) -> FrameHistory:
        stored = self._stored.get(clock_id)
        if stored is None:
            version = _whole(self._file.meta.get("schema_version"))
            is_other = clock_id != self._written_of
            stored = StoredFrames(self._file, version, clock_id if is_other else None)
            self._stored[clock_id] = stored
        return FrameHistory.stored(stored).until(
            max(stored.first + stored.count_until(cursor), least)
        )


@contextmanager
def as_far_as_it_goes(recording: Recording) -> Iterator[None]:
    """Replace errors that are due to a damaged recording by a ``RecordingError``."""
    try:
        yield
    except MISFIT as error:
        if not recording.is_partial:
            raise
        message = f"{recording.path} is damaged, and the readable part does not contain this."
        raise RecordingError(message) from error


def _whole(value: object) -> int:
    """Return a plausible whole number, otherwise 0."""
    return value if type(value) is int and 0 <= value < MAX_NS else 0
