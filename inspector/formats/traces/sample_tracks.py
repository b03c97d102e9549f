"""Samples of long turns as tracks: the functions as slices, nested as they call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from inspector.analysis.lateness.blocks import turns_of
from inspector.analysis.lateness.flame import functions_seen
from inspector.analysis.lateness.samples import Sample, Samples
from inspector.formats.traces.writer import CLOCKS, SliceDetails, TraceWriter

#: Before the numbers of the clocks of sampled loops.
_SAMPLED: Final = 300_000_000


class SampleTracks:
    """Writes the functions that samples have seen, below the clock of their loop."""

    def __init__(
        self, strings: Sequence[str], writer: TraceWriter, within_ns: tuple[int, int]
    ) -> None:
        self.samples = Samples(strings)  # Takes the events; write follows
        self._writer = writer
        self._within_ns = within_ns
        #: By sampled clock: up to when slices were written.
        self._reached: dict[int, int] = {}

    def write(self, *, is_last: bool = False) -> None:
        """Write the turns that are over, of which no more samples come."""
        for clock_id, samples in self.samples.by_clock.items():
            turns = turns_of(samples) if samples else []
            if not is_last:
                del turns[-1:]
            for begin, end in turns:
                self._write_turn(clock_id, samples[begin:end])
            if turns:
                del samples[: turns[-1][1]]

    def _write_turn(self, clock_id: int, samples: Sequence[Sample]) -> None:
        low_ns, high_ns = self._within_ns
        # In a scene, whose time stands still in a wake-up, turns may overlap.
        low_ns = max(low_ns, self._reached.get(clock_id, low_ns))
        for seen in functions_seen(samples, low_ns, high_ns):
            if seen.took_ns <= 0:
                continue
            track = _SAMPLED + clock_id
            if clock_id not in self._reached:
                self._writer.track(track, "functions, from samples", CLOCKS + clock_id)
            ended_ns = seen.began_ns + seen.took_ns
            self._reached[clock_id] = max(self._reached.get(clock_id, 0), ended_ns)
            place = seen.hottest
            name = place.short.partition(" (")[0]
            told = {"file": place.file, "line": place.line, "samples": seen.samples}
            self._writer.slice(track, name, seen.began_ns, seen.took_ns, SliceDetails(told))
