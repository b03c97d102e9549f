"""Every reader of events survives any sequence that the sorter lets in."""

from __future__ import annotations

from random import Random

from inspector.analysis.frame_events import frames_in
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lanes.rows import RowChoices, rows_of
from inspector.analysis.lateness.samples import Samples
from inspector.cli.call_tally import CallTally
from inspector.events import EventLog, Timeline
from inspector.events.conditions.event_fields import EventReader
from inspector.events.history import LogHistory
from inspector.events.schema import FIELDS, NUMBERS, SCHEMA, Unit
from inspector.sessions.attached.event_sorter import EventSorter
from inspector.vocabulary import EventKind, Field, RawEvent
from tests.fuzz import rounds
from ui.events.event_list_model import EventNames

_STRINGS = ("", "one", "two", "three", "four")
#: These change what there is, so that others find something.
_FREQUENT = [
    EventKind.CLOCK_ADDED,
    EventKind.CLOCK_ADDED,
    EventKind.CLOCK_ANCHORED,
    EventKind.CLOCK_RATE,
    EventKind.CLOCK_PAUSED,
    EventKind.CLOCK_RESUMED,
    EventKind.CLOCK_MOVED,
    EventKind.CLOCK_REMOVED,
    EventKind.TIMER_ADDED,
    EventKind.MEMBER_ADDED,
]


class _Window:
    """A sorter, and the readers that a window and a report have."""

    def __init__(self) -> None:
        self.log = EventLog()
        for text in _STRINGS:
            self.log.intern(text)
        self.timeline = Timeline(self.log.strings)
        self.sorter = EventSorter(self.log, self.timeline)
        self.history = LogHistory(self.log)
        self.lanes = LaneStore()
        self.fields = EventReader(self.log.strings)
        self.names = EventNames()
        self.names.set_source(self.log.strings, self.timeline)
        self.samples = Samples(self.log.strings)
        self.tally = CallTally(self.log)
        self.cursor = 0

    def take(self, *events: RawEvent) -> None:
        """Let events in and have everybody read what became of them."""
        self.sorter.add(*events)
        self.sorter.release(events[-1][0])
        news = list(self.history.events(self.cursor, self.history.end))
        for event in news:
            self.fields.fold(event)
            self.names.note(event)
        self.samples.fold(news)
        list(frames_in(range(self.cursor, self.history.end), news))
        self.cursor = self.history.end
        while self.lanes.read(self.history, self.timeline):
            pass
        rows_of(self.lanes, RowChoices())
        self.tally.update()
        self.tally.timers(self.timeline)
        self.tally.calls(self.timeline)
        self.tally.systems(self.timeline)
        self.check_clocks()

    def check_clocks(self) -> None:
        """The lanes have the clocks of the timeline, at the same local times."""
        for number in self.timeline.clocks:
            local_ns = self.lanes.clocks.local_ns(number, self.timeline.at_ns)
            assert local_ns == self.timeline.local_ns(number)


def _any_event(random: Random, at_ns: int) -> RawEvent:
    kind = random.choice(_FREQUENT if random.random() < 2 / 3 else list(EventKind))
    row = SCHEMA[kind]
    subject, a, b = (_any_number(random, unit) for unit in (row.subject, row.a, row.b))
    if row.b is Unit.FIELD_VALUE:
        b = _any_number(random, FIELDS[Field(a)].unit)
    return (at_ns, int(kind), subject, a, b)


def _any_number(random: Random, unit: Unit) -> int:
    """Return a number that is let in where it is of this unit."""
    return int(random.choice(list(NUMBERS[unit]))) if unit in NUMBERS else random.randint(0, 4)


def test_that_no_sequence_of_events_stops_a_reader() -> None:
    for seed in rounds(25):
        random, window = Random(seed), _Window()
        for batch in range(20):
            at_ns = 1_000 * batch
            window.take(*(_any_event(random, at_ns + each) for each in range(10)))


def test_that_a_clock_that_was_never_anchored_may_be_resumed() -> None:
    window = _Window()

    window.take((0, EventKind.CLOCK_ADDED, 1, 0, 1), (5, EventKind.CLOCK_RESUMED, 1, 0, 0))

    assert window.lanes.cursor == 2


def test_that_thousands_of_nested_clocks_are_read() -> None:
    window = _Window()
    depth = 4_000
    added = [(0, int(EventKind.CLOCK_ADDED), each + 1, each, 1) for each in range(depth)]
    window.sorter.add(*added)
    window.sorter.release(1)
    while window.lanes.read(window.history, window.timeline):
        pass

    assert window.lanes.clocks.local_ns(depth, 1) == 1
    assert rows_of(window.lanes, RowChoices())[1][1].depth == 1
