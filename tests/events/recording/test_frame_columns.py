"""The frames of blocks of events equal the folded frames."""

from __future__ import annotations

import random

from inspector.events.blocks.ended_frames import FrameCollector
from inspector.events.timeline import Timeline
from inspector.vocabulary import EventKind, Phase, RawEvent, two_durations
from tests.events.event_blocks import block_of


def _frames(chance: random.Random, count: int) -> list[RawEvent]:
    """Return the events of frames, some of which are begun again or cut."""
    events: list[RawEvent] = []
    for at_ns in range(1_000, 1_000 * count, 1_000):
        for _ in range(chance.choice([1, 1, 1, 2])):
            events.append((at_ns, EventKind.FRAME_BEGAN, 1, 0, chance.randrange(99)))
            for _ in range(chance.randrange(4)):
                phase = chance.choice(list(Phase))
                events.append((at_ns, EventKind.PHASE_ENDED, phase, 0, chance.randrange(99)))
                events.append((at_ns, EventKind.MARK, 0, 0, 0))
            if chance.random() < 0.3:
                events.append((at_ns, EventKind.DELTA_CUT, 1, chance.randrange(99), 0))
            if chance.random() < 0.5:
                first, second = (two_durations(chance.randrange(99_000), 1_000) for _ in "ab")
                events.append((at_ns, EventKind.FRAME_SHARES, first, second, chance.randrange(99)))
        events.append((at_ns, EventKind.FRAME_ENDED, 1, chance.randrange(99), at_ns % 97))
    return events


def test_that_frames_are_found_however_the_events_are_divided() -> None:
    chance = random.Random(6)
    for _ in range(40):
        events = _frames(chance, 30)
        cursor = chance.randrange(len(events) // 2)
        timeline = Timeline([""])
        timeline.apply_all(events[:cursor])
        collector = FrameCollector(timeline.frames.end, timeline.open_frame)
        before = timeline.frames.end
        found = []
        while cursor < len(events):
            some = chance.randrange(1, 60)
            frames = collector.fold(block_of(events[cursor : cursor + some]), cursor)
            found += frames.T.tolist()
            timeline.apply_all(events[cursor : cursor + some])
            cursor += some

        told = timeline.frames
        columns = [told.at_ns, told.interval_ns, told.delta_ns, told.busy_ns, told.cut_ns]
        columns += [*told.phases, *told.shares]
        expected = [list(each) for each in zip(*columns, strict=True)][before:]
        assert [row[2:] for row in found] == expected
        assert [row[0] for row in found] == list(range(before, told.end))
        ends = [n for n, event in enumerate(events, 1) if event[1] == EventKind.FRAME_ENDED]
        assert [row[1] for row in found] == ends[before:]
        assert collector.end == told.end
