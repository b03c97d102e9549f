"""Drift and late timers, side by side.

Six ways to do something eight times a second, and a callback that blocks everything for 130 ms
every two seconds. Two keep their count, four lose ticks, each for a different reason.

In the picture every way drives a hand by its ticks; the faint hand is where it should be.

Try:

* Compare “fired” in the timer queue after a minute; marks every ten seconds give the count of each
  way and the expected count.
* Select a late tick and read its lateness, then look at the frame before it.
* Set the rate of “metronomes” to 1/2: local time slows, and nothing more is lost.
* Run it without a window for an hour: timeline-inspector run 3 --seconds 3600 --dt 1/60
"""

from fractions import Fraction
from math import cos, pi, sin

from inspector.clocks import MissedTicks
from inspector.pictures.shapes import Shapes, circle, line, text
from inspector.sessions.stage import Stage

EIGHTH = Fraction(1, 8)


class Metronomes:
    """Six counters that should all read eight times the seconds passed."""

    def __init__(self, stage: Stage) -> None:
        """Start all six at the same instant."""
        self.stage = stage
        self.clock = stage.root.child("metronomes")
        self.ticks = {
            "burst": 0,
            "skip": 0,
            "delay": 0,
            "re-armed": 0,
            "re-armed by a frame": 0,
            "counted in frames": 0,
        }
        # Exact: every tick runs, late ones in a row.
        self.clock.set_interval(EIGHTH, self.tick, "burst", missed=MissedTicks.BURST, name="burst")
        # On the grid, but missed ticks are skipped and counted.
        self.clock.set_interval(EIGHTH, self.tick, "skip", missed=MissedTicks.SKIP, name="skip")
        # A whole interval after a late tick: the grid moves a little each time.
        self.clock.set_interval(EIGHTH, self.tick, "delay", missed=MissedTicks.DELAY, name="delay")
        # Sets itself again from its own due instant, so it keeps up with the interval.
        self.clock.set_timeout(EIGHTH, self.rearm, name="re-armed")
        # Like coroutines that wait and continue in a frame: each wait starts late.
        self.waits_for_frame = False
        self.clock.set_timeout(EIGHTH, self.wait_for_frame, name="re-armed by a frame")
        # The usual first attempt: add up deltas, start again from zero.
        self.elapsed = 0.0
        stage.every_frame(self.count_frames, clock=self.clock, name="counted in frames")

        blocker = stage.root.child("blocker")
        blocker.set_interval(2, self.block, name="blocks for 130 ms")
        self.clock.set_interval(10, self.report, delay=10.05, name="report")
        stage.picture(self.picture)

    def tick(self, way: str) -> None:
        """Count one."""
        self.ticks[way] += 1

    def rearm(self) -> None:
        """Count one, then set the next timer."""
        self.tick("re-armed")
        self.clock.set_timeout(EIGHTH, self.rearm, name="re-armed")

    def wait_for_frame(self) -> None:
        """Leave the rest to the next frame."""
        self.waits_for_frame = True

    def count_frames(self, delta: float) -> None:
        """Handle the two ways that depend on frames."""
        self.elapsed += delta
        if self.elapsed >= EIGHTH:
            self.elapsed = 0.0
            self.tick("counted in frames")
        if self.waits_for_frame:
            self.waits_for_frame = False
            self.tick("re-armed by a frame")
            self.clock.set_timeout(EIGHTH, self.wait_for_frame, name="re-armed by a frame")

    def block(self) -> None:
        """Block for 130 ms, like a slow file or a long computation."""
        self.stage.work(Fraction(130, 1000))

    @property
    def ideal(self) -> int:
        """How many ticks there should have been."""
        return int(self.clock.time_ns * 8 // 1_000_000_000)

    def picture(self) -> Shapes:
        """Draw a dial for each way: 64 ticks, which are eight seconds, are a turn."""
        return [self.dial(number, way) for number, way in enumerate(self.ticks)]

    def dial(self, number: int, way: str) -> Shapes:
        """Draw the dial of a way, green while it counts every tick."""
        x, y, radius = 32 + 156 * (number // 3), 30 + 60 * (number % 3), 22
        behind = self.ideal - self.ticks[way]
        color = "#2bb58c" if behind <= 1 else "#e69f00"

        def hand(ticks: int, paint: str, width: float) -> Shapes:
            angle = 2 * pi * ticks / 64
            x2, y2 = x + radius * sin(angle), y - radius * cos(angle)
            return line(x, y, x2, y2, paint, width, clock=self.clock)

        said = [(part, "#a3acb6") for part in way.split(" ", 1)]
        said.append(("all" if behind <= 1 else f"{behind:,} lost", color))
        top = y + 14 - 9 * len(said)
        return [
            circle(x, y, radius + 4, "#20262e", line="#39434f", clock=self.clock),
            hand(self.ideal, "#56606c", 3),
            hand(self.ticks[way], color, 2),
            [
                text(x + 34, top + 18 * line, words, paint, size=16, clock=self.clock)
                for line, (words, paint) in enumerate(said)
            ],
        ]

    def report(self) -> None:
        """Mark the ticks of each way."""
        ideal = self.ideal
        counts = ", ".join(f"{way} {count:,}" for way, count in self.ticks.items())
        self.stage.mark(f"of {ideal:,}: {counts}", clock=self.clock)


def build(stage: Stage) -> None:
    """Set up the six ways and the blocker."""
    stage.name("Drift and late timers")
    Metronomes(stage)
