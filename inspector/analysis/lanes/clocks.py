"""The past of every clock: rates, pauses, parents, and local time at any instant."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from inspector.analysis.lanes.lane_columns import Steps
from inspector.clocks.rate import D, local_ns, moved, reanchored
from inspector.events.timeline import Timeline

#: The rate in force of a removed clock.
GONE: Final = -1


class Standstill(Struct, frozen=True):
    clock_id: int
    began_ns: int
    end_ns: int  # When it ended; the present if it has not
    cause: int  # Number of the command that caused it, 0 for the program
    is_rate_zero: bool  # Whether its rate was 0 without a pause
    is_over: bool


class ClockPast(Steps):
    """The past of a clock: steps of its rate in force, 0 while stopped, :data:`GONE` at the end."""

    __slots__ = ("_off", "name", "parent", "paused", "rate_n")

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.rate_n = array("q")  # Its own rate at each step, kept while paused
        self.parent = array("q")  # Number of its parent at each step, 0 for the root
        self.paused = array("b")  # Whether it was paused at each step: 1 or 0
        # These outgrow 64 bits.
        self._off: list[int] = []

    def step(  # noqa: PLR0913, PLR0917 - one value a column
        self, at_ns: int, n: int, off: int, rate_n: int, parent: int, paused: int, cause: int
    ) -> None:
        self.append(at_ns, n, cause)
        self._off.append(off)
        self.rate_n.append(rate_n)
        self.parent.append(parent)
        self.paused.append(paused)

    def drop_last(self) -> None:
        for column in (
            *(self.at_ns, self.value, self.cause),
            *(self._off, self.rate_n, self.parent, self.paused),
        ):
            column.pop()

    @property
    def last(self) -> tuple[int, int, int, int, int]:
        """Present rate in force, offset, own rate, parent, and whether it is paused."""
        return (self.value[-1], self._off[-1], self.rate_n[-1], self.parent[-1], self.paused[-1])

    def mapped(self, place: int, above_ns: int) -> int:
        """Return the local time at a local time of the parent, as the step at ``place`` maps it."""
        return local_ns(above_ns, self.value[place], self._off[place])


class ClockPasts:
    def __init__(self, *, has_rates: bool = True) -> None:
        self.has_rates = has_rates  # Whether rates can differ from 1, so that they are shown
        self.strings: Sequence[str] = ("",)
        self.by_id: dict[int, ClockPast] = {}
        self.version = 0  # Increases when a clock is added, removed or moved
        self.rates_version = 0  # Increases when a clock is paused, resumed or gets another rate

    def local_ns(self, clock_id: int, at_ns: int) -> int | None:
        steps: list[tuple[ClockPast, int]] = []
        while clock_id:
            past = self.by_id.get(clock_id)
            place = -1 if past is None else past.place_at(at_ns)
            if past is None or place < 0 or past.value[place] == GONE:
                return None
            steps.append((past, place))
            clock_id = past.parent[place]
        local = at_ns
        for past, place in reversed(steps):
            local = past.mapped(place, local)
        return local

    def path_at(self, clock_id: int, at_ns: float) -> list[int]:
        found: list[int] = []
        while clock_id and clock_id in self.by_id:
            found.append(clock_id)
            past = self.by_id[clock_id]
            clock_id = past.parent[max(past.place_at(at_ns), 0)] if len(past) else 0
        return found

    def standstills(self, clock_id: int, low_ns: float, high_ns: float) -> Iterator[Standstill]:
        past = self.by_id.get(clock_id)
        if past is None:
            return
        start, stop = past.within(low_ns, high_ns)
        for place in range(start, stop):
            if past.value[place] == 0:
                is_over = place + 1 < len(past)
                yield Standstill(
                    *(clock_id, past.at_ns[place], past.end_of(place, int(high_ns))),
                    *(past.cause[place], not past.paused[place], is_over),
                )

    def changes_of_path(self, clock_id: int, low_ns: float, high_ns: float) -> list[int]:
        """Return the instants in view at which a clock's effective rate changed."""
        found: set[int] = set()
        for number in self.path_at(clock_id, high_ns):
            past = self.by_id[number]
            start = bisect_right(past.at_ns, low_ns)
            stop = bisect_right(past.at_ns, high_ns)
            found.update(past.at_ns[start:stop])
        return sorted(found)

    def samples(
        self, clock_id: int, low_ns: float, high_ns: float, most: int
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return instants in view and the clock's local time at each, for an axis.

        Straight lines between them are exact with up to ``most`` changes of the rate.
        """
        changes = self.changes_of_path(clock_id, low_ns, high_ns)
        if len(changes) > most:
            changes = [round(each) for each in np.linspace(low_ns, high_ns, most)]
        instants = sorted({max(int(low_ns), 0), int(high_ns), *changes})
        pairs = [(at_ns, self.local_ns(clock_id, at_ns)) for at_ns in instants]
        known = [(at_ns, local) for at_ns, local in pairs if local is not None]
        if not known:
            nothing = np.zeros(0)
            return nothing, nothing
        xs, locals_ns = zip(*known, strict=True)
        return np.array(xs, dtype=np.float64), np.array(locals_ns, dtype=np.float64)

    def go_on_from(self, timeline: Timeline) -> None:
        """Continue from the clocks of a timeline, after a gap."""
        for clock in timeline.clocks.values():
            past = self.by_id.setdefault(clock.id, ClockPast(clock.name))
            past.step(
                *(timeline.at_ns, clock.n, clock.off, clock.rate_n, clock.parent_id),
                *(int(clock.paused), clock.pause_cause),
            )
        for number, past in self.by_id.items():
            if number not in timeline.clocks and len(past) and past.value[-1] != GONE:
                _, off, rate_n, parent, paused = past.last
                past.step(timeline.at_ns, GONE, off, rate_n, parent, paused, 0)
        self.version += 1

    def _on_clock_added(self, at_ns: int, subject: int, parent: int, name: int) -> None:
        past = self.by_id.get(subject)
        if past is None:
            past = ClockPast(self.strings[name])
        elif past.value[-1] != GONE:
            raise ValueError(f"clock {subject} cannot be added")
        # As in the timeline: until the clock is anchored, its time is that of its parent.
        past.step(at_ns, D, 0, D, parent, 0, 0)
        self.by_id[subject] = past
        self.version += 1

    def _on_clock_anchored(self, at_ns: int, subject: int, epoch_ns: int, n: int) -> None:
        past = self.by_id[subject]
        *_, parent, paused = past.last
        cause = past.cause[-1] if paused else 0
        if len(past) == 1 and past.at_ns[0] == at_ns:
            past.drop_last()
        self.rates_version += 1
        past.step(at_ns, n, -epoch_ns * n, n, parent, paused, cause)

    def _on_clock_rate(self, at_ns: int, subject: int, rate_n: int, cause: int) -> None:
        past = self.by_id[subject]
        n, off, _, parent, paused = past.last
        new = n if paused else rate_n
        # A new rate during a pause does not change the cause of the pause.
        cause = past.cause[-1] if paused else cause
        self._change(at_ns, subject, new, rate_n, paused, cause, (n, off, parent))

    def _on_clock_paused(self, at_ns: int, subject: int, cause: int, _b: int) -> None:
        n, off, rate_n, parent, _ = self.by_id[subject].last
        self._change(at_ns, subject, 0, rate_n, 1, cause, (n, off, parent))

    def _on_clock_resumed(self, at_ns: int, subject: int, cause: int, _b: int) -> None:
        n, off, rate_n, parent, _ = self.by_id[subject].last
        self._change(at_ns, subject, rate_n, rate_n, 0, cause, (n, off, parent))

    def _on_clock_moved(self, at_ns: int, subject: int, parent: int, _b: int) -> None:
        past = self.by_id[subject]
        if subject in self.path_at(parent, at_ns):
            raise ValueError(f"clock {subject} cannot hang under clock {parent}")
        n, off, rate_n, former, paused = past.last
        old_ns = self.local_ns(former, at_ns) or 0
        new_ns = self.local_ns(parent, at_ns) or 0
        past.step(at_ns, n, moved(off, n, old_ns, new_ns), rate_n, parent, paused, past.cause[-1])
        self.version += 1

    def _on_clock_removed(self, at_ns: int, subject: int, _a: int, _b: int) -> None:
        for number, past in self.by_id.items():
            if not len(past) or past.value[-1] == GONE:
                continue
            if subject in self.path_at(number, at_ns):
                _, off, rate_n, parent, paused = past.last
                past.step(at_ns, GONE, off, rate_n, parent, paused, 0)
        self.version += 1

    def _change(  # noqa: PLR0913, PLR0917 - one value a column
        self,
        at_ns: int,
        subject: int,
        n: int,
        rate_n: int,
        paused: int,
        cause: int,
        former: tuple[int, int, int],
    ) -> None:
        n_old, off, parent = former
        above_ns = self.local_ns(parent, at_ns) or 0
        new_off = reanchored(off, above_ns, n_old, n)
        self.rates_version += 1
        self.by_id[subject].step(at_ns, n, new_off, rate_n, parent, paused, cause)
