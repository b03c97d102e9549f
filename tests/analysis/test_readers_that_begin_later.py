"""A reader that begins with a state reads the same as one that has read all events before."""

from __future__ import annotations

from functools import cache

import pytest

from inspector.analysis.statistics.compared_calls import CallFold
from inspector.events.conditions.event_fields import EVENT_FIELDS, EventReader
from inspector.events.log import EventLog
from inspector.timebase import NS_PER_SECOND
from tests.events.recording.recorded_worlds import folded, scene_log

_SCENES = ["1", "5", "7", "8", "10"]


@cache
def log_of(scene: str) -> EventLog:
    return scene_log(scene, 1)


@pytest.mark.parametrize("scene", _SCENES)
@pytest.mark.parametrize("share", [0.2, 0.7])
def test_that_events_have_the_same_fields(scene: str, share: float) -> None:
    log = log_of(scene)
    start = int(share * log.end)
    whole, later = EventReader(log.strings), EventReader(log.strings, folded(log, start))
    for event in log.slice(0, start):
        whole.fold(event)

    seen = set()
    # In a frame that has begun, its number is known from its beginning on only.
    has_begun = False
    for event in log.slice(start, log.end):
        whole.fold(event)
        later.fold(event)
        has_begun |= whole.frame == later.frame
        for field in EVENT_FIELDS:
            if has_begun or field.name != "frame":
                value = field.read(whole)
                assert field.read(later) == value, (field.name, event)
                seen |= {field.name} if value is not None else set()

    assert has_begun
    assert {"kind", "at", "frame", "clock"} < seen


@pytest.mark.parametrize("scene", _SCENES)
def test_that_calls_are_of_the_same_clocks_and_names(scene: str) -> None:
    log = log_of(scene)
    start = log.end // 3
    whole, later = (CallFold(folded(log, first), log.strings) for first in (log.first, start))
    whole.fold(log.slice(log.first, log.end))
    later.fold(log.slice(start, log.end))
    since_ns = log.slice(start, start + 1)[0][0]

    all_calls = whole.calls(NS_PER_SECOND).samples
    late_calls = later.calls(NS_PER_SECOND).samples

    assert late_calls.keys() <= all_calls.keys()
    for key, found in all_calls.items():
        told = sorted(at_ns for at_ns in found.at_ns if at_ns > since_ns)
        known = late_calls.get(key)
        assert told == ([] if known is None else sorted(at for at in known.at_ns if at > since_ns))
