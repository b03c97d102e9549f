"""The tail of the event log as a Qt table of sentences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice
from typing import Final

from msgspec import Struct
from PySide6.QtCore import QModelIndex
from typing_extensions import override

from inspector.display_text import without_quotes
from inspector.events.handlers import handled_kinds, handlers_of
from inspector.events.log import EventLog
from inspector.events.member_names import MEMBER_NAMING_KINDS, KnownMember, MemberNames
from inspector.events.schema import (
    ABOUT_CLOCKS,
    ABOUT_FIELDS,
    ABOUT_MEMBERS,
    ADDED,
    COMMANDS,
    FAILURES,
    MAY_BE_ABOUT_CLOCKS,
    MAY_BE_ABOUT_TIMERS,
    QUIET_GROUPS,
    SCHEMA,
    EventGroup,
    Unit,
    group_of,
    kinds_of,
    kinds_with,
)
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.timebase import format_instant
from inspector.vocabulary import NEVER, EventKind, Field, MemberKind, RawEvent

from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.theme import ColorRole, Theme
from ..session.bridge import Selection, SelectionKind

#: Names of members that are gone are forgotten when there are this many more than needed.
_SPARE_NAMES: Final = 5_000

#: Members whose text also names the member they belong to: their own name says little.
_OWNED: Final = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.TIMEOUT,
        MemberKind.COMPONENT,
        MemberKind.PHASE,
        MemberKind.EDGE,
        MemberKind.HOOK,
    }
)
#: Kinds of events whose sentences say what a member is.
_SAY_KIND: Final = kinds_with(b=Unit.MEMBER_KIND)


class EventNames:
    """The names of timers and members, as of the event that was noted last."""

    def __init__(self) -> None:
        self._labels: dict[int, str] = {}
        self._clocks: dict[int, str] = {}
        self._members = MemberNames(("",))
        # Cache of the texts of :meth:`member_text`.
        self._texts: dict[int, str] = {}
        # Timers that ended; their names are kept until their last event has been put into words.
        self._gone: list[int] = []
        self.strings: Sequence[str] = ("",)
        self._timeline: Timeline | None = None
        self._steps = handlers_of(self)

    def set_source(self, strings: Sequence[str], timeline: Timeline | None) -> None:
        """Read another log by its string table; a timeline knows earlier names."""
        self.strings, self._timeline = strings, timeline
        self._labels.clear()
        self._clocks.clear()
        self._members = MemberNames(strings)
        self._texts.clear()
        self._gone.clear()

    def note(self, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        if kind in ABOUT_MEMBERS:
            self._note_member(event)
        elif kind in self._steps:
            self._steps[kind](at_ns, subject, a, b)

    def _on_clock_added(self, _at_ns: int, clock_id: int, _parent_id: int, name: int) -> None:
        self._clocks[clock_id] = self.strings[name]

    def _on_timer_added(self, _at_ns: int, timer_id: int, _clock_id: int, name: int) -> None:
        self._labels[timer_id] = self.strings[name]

    def _on_timer_fired(self, _at_ns: int, timer_id: int, _late_ns: int, next_ns: int) -> None:
        if next_ns == NEVER:
            self._gone.append(timer_id)

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._gone.append(timer_id)

    def _note_member(self, event: RawEvent) -> None:
        subject = event[2]
        if event[1] != ADDED[Unit.MEMBER]:
            self._known(subject)
        if self._members.note(event) is not None:
            # The texts of the members below it may contain its name.
            for number in (subject, *self._members.below(subject)):
                self._texts.pop(number, None)

    def forget_gone(self) -> None:
        """Forget what has ended, once all noted events are put into words."""
        for timer_id in self._gone:
            self._labels.pop(timer_id, None)
        self._gone.clear()
        clocks = {} if self._timeline is None else self._timeline.clocks
        if len(self._clocks) > 2 * len(clocks) + _SPARE_NAMES:
            for number in self._clocks.keys() - clocks.keys():
                del self._clocks[number]
        alive = {} if self._timeline is None else self._timeline.members.by_id
        if len(self._members) > 2 * len(alive) + _SPARE_NAMES:
            for number in [each for each in self._members if each not in alive]:
                self._members.forget(number)
            self._texts.clear()

    def _known(self, number: int) -> KnownMember | None:
        known = self._members.get(number)
        if known is None and self._timeline is not None:
            state = self._timeline.members.by_id.get(number)
            if state is not None:
                known = self._members.learn(state)
        return known

    def kind_of(self, number: int) -> MemberKind | None:
        known = self._known(number)
        return None if known is None else known.kind

    def label_of(self, event: RawEvent) -> str:
        """Return what the subject of an event is called; empty for clocks and what is unknown."""
        _, kind, subject, _, _ = event
        if kind in ABOUT_MEMBERS:
            return self.member_text(subject)
        if kind in MAY_BE_ABOUT_TIMERS:
            return self._labels.get(subject, "")
        return ""

    def member_text(self, number: int) -> str:
        """Return what a member is called, with what it is; empty when it is not known.

        For example ``frame timer “shoot” of “boss”``.
        """
        text = self._texts.get(number)
        if text is None:
            known = self._known(number)
            if known is None:
                return ""
            text = f"{known.kind_text} “{known.name}”" if known.name else known.kind_text
            above = self._known(known.parent_id) if known.parent_id else None
            if above is not None and known.kind in _OWNED and above.name:
                text += f" of “{above.name}”"
            self._texts[number] = text
        return text

    def sentence(self, event: RawEvent, label: str) -> str:
        """Return what happened, with names; ``label`` is from :meth:`label_of`."""
        _, kind, subject, _, _ = event

        def named(what: str, number: int) -> str:
            if what == "clock":
                return self._clock_text(number)
            if what == "timer":
                return f"timer “{label}”" if label else ""
            name = label if number == subject and label else self.member_text(number)
            if kind in _SAY_KIND:
                # The second half of the sentence says what kind of member it is.
                return name[name.find("“") :] if "“" in name else ""
            return name

        return describe(event, self.strings, named)

    def _clock_text(self, number: int) -> str:
        clock = None if self._timeline is None else self._timeline.clocks.get(number)
        name = self._clocks.get(number) if clock is None else clock.name
        return "" if name is None else f"clock “{name}”"


#: Kinds that are read for the names they give even when they are not shown; of the kinds that set
#: fields, only events that set a name are needed.
NAMING_KINDS: Final = MEMBER_NAMING_KINDS - ABOUT_FIELDS | handled_kinds(EventNames)


#: At most this many rows are kept; older ones are dropped at the top.
MAX_ROWS: Final = 20_000
#: Rows are dropped this many at a time, so that not every refresh moves all the others.
_BUNCH: Final = 1_000
#: At most this many events are read when the filter changes or after the panel was hidden.
_LOOK_BACK: Final = 2_000_000
#: At most this many sentences are composed to search for words, newest first.
_MOST_SENTENCES: Final = 200_000


_NAME: Final = int(Field.NAME)
#: Kinds that put a timer or a member on a clock.
_ON_CLOCKS: Final = kinds_with(a=Unit.CLOCK) - ABOUT_CLOCKS


class ListedEvent(Struct, frozen=True):
    event: RawEvent
    group: EventGroup  # The group with which it is shown or hidden
    label: str  # What its timer or member is called, empty when that is not known
    names: EventNames  # What everything else is called

    @property
    def sentence(self) -> str:
        return without_quotes(self.names.sentence(self.event, self.label))

    @property
    def long_text(self) -> str:
        if self.event[1] in FAILURES:
            return self.names.strings[self.event[4]]
        return f"{self.sentence}\n{self.event[0]:,} ns"


_column = Column[ListedEvent]


class EventColumn(ColumnEnum):
    # fmt: off
    AT = _column(
        "Session (m:s)", lambda row: format_instant(row.event[0]),
        "Session time at which it happened", sample="0:00:00.000")
    GROUP = _column(
        "Kind", lambda row: row.group.word, "Kind of event", sample="◉ breakpoint",
        is_searched=True)
    WHAT = _column(
        "What happened", lambda row: row.sentence, "Double-click to select the subject",
        lambda row: row.long_text, is_searched=True)
    # fmt: on


class EventListModel(ListTableModel[ListedEvent]):
    """The newest events that pass a filter, oldest first, at most 20 000."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(EventColumn, theme)
        self._log: EventLog | None = None
        self._timeline: Timeline | None = None
        self._cursor = 0
        self._looked_at = 0
        self.lost_count = 0
        self._groups = QUIET_GROUPS
        self._subject: Selection | None = None
        self._frame_span: tuple[int, int] | None = None
        self._subject_members: set[int] = set()
        self._names = EventNames()

    def set_log(self, log: EventLog | None, timeline: Timeline | None) -> None:
        self._log, self._timeline = log, timeline
        self.lost_count = 0
        self.read_again()

    def set_groups(self, groups: frozenset[EventGroup]) -> None:
        if groups != self._groups:
            self._groups = groups
            self.read_again()

    @override
    def set_filter(self, text: str) -> None:
        words = tuple(text.casefold().split())
        if words != self._words:
            self._words = words
            self.read_again()

    def set_subject(self, subject: Selection | None) -> None:
        """Show what happened to one clock, timer or member or in one frame, ``None`` for all.

        Events of a member also count as events of everything above it.
        """
        if subject is not None and subject.kind is SelectionKind.NONE:
            subject = None
        if subject != self._subject:
            self._subject = subject
            self.read_again()

    @override
    def color_of(self, row: ListedEvent, column: ColumnEnum) -> ColorRole | None:
        return ColorRole.RED if _is_trouble(row.event) else None

    @override
    def is_bold(self, row: ListedEvent, column: ColumnEnum) -> bool:
        return _is_trouble(row.event)

    @property
    @override
    def hidden_count(self) -> int:
        return self._looked_at - len(self.rows)

    @property
    def waiting_count(self) -> int:
        return 0 if self._log is None else max(0, self._log.end - self._cursor)

    def read_again(self) -> None:
        self.beginResetModel()
        self.rows = []
        self._looked_at = 0
        if self._log is not None:
            self._names.set_source(self._log.strings, self._timeline)
            self._cursor = max(self._log.first, self._log.end - _LOOK_BACK)
            self._frame_span = self._span_of_frame()
            self._subject_members = self._members_of_subject()
            self.rows = self._read()[-MAX_ROWS:]
        self.endResetModel()

    def refresh(self) -> int:
        """Read what is new in the log; returns how many rows were added."""
        log = self._log
        if log is None or log.end == self._cursor:
            return 0
        if log.end - self._cursor > _LOOK_BACK:
            self.lost_count += log.end - _LOOK_BACK - self._cursor
            self._cursor = log.end - _LOOK_BACK
        fresh = self._read()[-MAX_ROWS:]
        if not fresh:
            return 0
        surplus = len(self.rows) + len(fresh) - MAX_ROWS
        if surplus > 0:
            leaving = min(len(self.rows), max(surplus, _BUNCH))
            self.beginRemoveRows(QModelIndex(), 0, leaving - 1)
            del self.rows[:leaving]
            self.endRemoveRows()
            self._looked_at -= leaving
        count = len(self.rows)
        self.beginInsertRows(QModelIndex(), count, count + len(fresh) - 1)
        self.rows += fresh
        self.endInsertRows()
        return len(fresh)

    def row_behind(self, at_ns: int) -> int:
        """Return the first row whose event came after an instant; the row count if none did."""
        return bisect_right(self.rows, at_ns, key=_instant_of)

    def selection_at(self, row: int) -> Selection | None:  # noqa: PLR0911 - one a kind
        """Return what the event in a row happened to, ``None`` if that cannot be shown."""
        timeline = self._timeline
        if timeline is None:
            return None
        event, group = self.rows[row].event, self.rows[row].group
        at_ns, kind, subject, a, _ = event
        said = SCHEMA[EventKind(kind)]
        frame = next((event[place] for place in (3, 4) if said.unit(place) is Unit.FRAME), None)
        if kind in ABOUT_MEMBERS:
            return Selection.member(subject) if subject in timeline.members.by_id else None
        if frame is not None:
            is_kept = timeline.frames.first <= frame < timeline.frames.end
            return Selection.frame(frame) if is_kept or group is EventGroup.FRAMES else None
        if kind in MAY_BE_ABOUT_CLOCKS:
            return Selection.clock(subject) if subject in timeline.clocks else None
        if kind in MAY_BE_ABOUT_TIMERS and subject:
            if subject in timeline.timers:
                return Selection.timer(subject)
            return Selection.clock(a) if said.a is Unit.CLOCK else None
        if group in (EventGroup.FRAMES, EventGroup.FAILURES):
            index = timeline.frames.index_from(at_ns)
            return None if index is None else Selection.frame(index)
        return None

    def _read(self) -> list[ListedEvent]:
        log = self._log
        assert log is not None
        batch = log.read(self._cursor)
        self._cursor = batch.cursor
        self.lost_count += batch.lost
        self._looked_at += len(batch.events)
        kinds = kinds_of(self._groups)
        read = kinds | NAMING_KINDS
        # A million calls that are not shown must cost next to nothing.
        events = [
            event
            for event in batch.events
            if event[1] in read or (event[1] in ABOUT_FIELDS and event[3] == _NAME)
        ]
        self._note_names(events)
        passed: list[ListedEvent] = []
        shown = (event for event in reversed(events) if event[1] in kinds)
        for event in islice(shown, _MOST_SENTENCES) if self._words else shown:
            row = self._row(event)
            if row is not None:
                passed.append(row)
                if len(passed) == MAX_ROWS:
                    break
        self._names.forget_gone()
        passed.reverse()
        return passed

    def _note_names(self, events: list[RawEvent]) -> None:
        note, ours, added = self._names.note, self._subject_members, ADDED[Unit.MEMBER]
        for event in events:
            kind = event[1]
            if kind in NAMING_KINDS or kind in ABOUT_FIELDS:
                note(event)
                if kind == added and event[3] in ours:
                    ours.add(event[2])

    def _row(self, event: RawEvent) -> ListedEvent | None:
        names = self._names
        member_kind = names.kind_of(event[2]) if event[1] in ABOUT_MEMBERS else None
        group = group_of(event, member_kind)
        if group not in self._groups:
            return None
        if self._subject is not None and not self._is_about_subject(event):
            return None
        row = ListedEvent(event, group, names.label_of(event), names)
        return row if self._passes(row) else None

    def _is_about_subject(self, event: RawEvent) -> bool:
        wanted = self._subject
        assert wanted is not None
        at_ns, kind, subject, a, _ = event
        if wanted.kind is SelectionKind.MEMBER:
            return kind in ABOUT_MEMBERS and subject in self._subject_members
        if wanted.kind is SelectionKind.CLOCK:
            if kind in _ON_CLOCKS:
                return a == wanted.id
            return kind in MAY_BE_ABOUT_CLOCKS and subject == wanted.id
        if wanted.kind is SelectionKind.TIMER:
            return kind in MAY_BE_ABOUT_TIMERS and subject == wanted.id
        span = self._frame_span
        return span is not None and span[0] < at_ns <= span[1]

    def _members_of_subject(self) -> set[int]:
        timeline, subject = self._timeline, self._subject
        if timeline is None or subject is None or subject.kind is not SelectionKind.MEMBER:
            return set()
        if subject.id not in timeline.members.by_id:
            return {subject.id}
        return {member.id for member in timeline.members.branch(subject.id)}

    def _span_of_frame(self) -> tuple[int, int] | None:
        timeline, subject = self._timeline, self._subject
        if timeline is None or subject is None or subject.kind is not SelectionKind.FRAME:
            return None
        return timeline.frames.span(subject.id)


def _instant_of(row: ListedEvent) -> int:
    return row.event[0]


def _is_trouble(event: RawEvent) -> bool:
    _, kind, _, _, b = event
    return kind in FAILURES or (kind in COMMANDS and b != 0)
