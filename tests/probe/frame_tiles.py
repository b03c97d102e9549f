"""What frames must come to: their starts, lengths, work and idle times tile the time."""

from __future__ import annotations

from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING

from inspector.events.schema import ABOUT_CLOCKS
from inspector.probe.kinds import CLOCK_ADDED, FRAME_BEGAN, FRAME_ENDED

if TYPE_CHECKING:
    from collections.abc import Iterable

    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: Between an instant and the reading of a clock right after it.
SLACK_NS = 500_000
#: The same where another program had the processor in between, as happens on a busy machine.
_INTERRUPTED_NS = 50_000_000
#: In one of so many frames, and in this many more.
_INTERRUPTED_EVERY, _INTERRUPTED = 20, 2


@dataclass(slots=True)
class _Loop:
    """What is known of a loop; instants, and for how long its clock had stood still by then."""

    began_ns: int = 0
    stood_ns: int = 0
    began_held: bool = False
    delta_ns: int = 0
    local_ns: int = 0
    before: tuple[int, int, int, int, int] | None = None


class _Differences:
    """What instants differ by, of which a few may be more than a slack."""

    def __init__(self, slack_ns: int) -> None:
        self._slack_ns = slack_ns
        self._interrupted: list[object] = []

    def note(self, apart_ns: int, *about: object) -> None:
        assert apart_ns <= (self._slack_ns and _INTERRUPTED_NS), about
        if apart_ns > self._slack_ns:
            self._interrupted.append((apart_ns, *about))

    def check(self, frames: int) -> None:
        most = _INTERRUPTED + frames // _INTERRUPTED_EVERY
        assert len(self._interrupted) <= most, self._interrupted


def check_frames_tile(timeline: Timeline, events: Iterable[RawEvent], *, slack_ns: int = 0) -> int:
    """Check the frames of each loop against the one before; returns how many were checked.

    The length of a frame is the distance of its start from that of the frame before, but for the
    time in which its clock stood still. It begins with the work of the frame before.

    Args:
        timeline: Takes the events of clocks.
        events: All events since the frames of the first began.
        slack_ns: By how much measured instants may differ; 0 if nothing was measured.
    """
    loops: dict[int, _Loop] = {}
    stood: dict[int, int] = {}
    last_ns, checked = 0, 0
    differences = _Differences(slack_ns)
    # The end of a step is told when it is noticed, which may be in a frame that began behind it.
    for event in sorted(events, key=itemgetter(0)):
        at_ns, kind, clock, a, b = event
        for number in stood:
            if _is_held(timeline, number):
                stood[number] += at_ns - last_ns
        last_ns = at_ns
        if kind in ABOUT_CLOCKS:
            if kind == CLOCK_ADDED:
                stood.setdefault(clock, 0)
            timeline.apply_all([event])
        elif kind == FRAME_BEGAN:
            loop = loops.setdefault(clock, _Loop())
            loop.began_ns, loop.stood_ns, loop.delta_ns = at_ns, stood[clock], b
            loop.began_held = _is_held(timeline, clock)
            loop.local_ns = timeline.local_ns(clock, at_ns)
        elif kind == FRAME_ENDED:
            loop = loops[clock]
            held_ns = stood[clock] - loop.stood_ns
            work_ns = at_ns - loop.began_ns - (0 if loop.began_held else held_ns)
            differences.note(abs(b - work_ns), event, work_ns)
            if loop.before is None:
                assert a == 0, event
            else:
                began_ns, stood_ns, local_ns, former_work_ns, answered_ns = loop.before
                length_ns = loop.began_ns - began_ns - (loop.stood_ns - stood_ns) + answered_ns
                differences.note(abs(a - length_ns), event, length_ns)
                differences.note(former_work_ns - a, event, former_work_ns)
                differences.note(abs(loop.delta_ns - (loop.local_ns - local_ns)), event)
                checked += 1
            answered_ns = held_ns if loop.began_held else 0
            loop.before = loop.began_ns, loop.stood_ns, loop.local_ns, work_ns, answered_ns
    differences.check(checked)
    return checked


def _is_held(timeline: Timeline, number: int) -> bool:
    return any(clock.n == 0 for clock in timeline.path(number))
