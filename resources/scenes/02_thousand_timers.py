"""Thousands of timers on many clocks.

Eight herds of eight groups, each a clock with its own rate, and sixty-four to eighty animals per
group that eat, sleep and call by their own timers.

In the picture a lamp stands for eight animals: it lights up when one of them does something. Each
herd is a row, each group a column, the slowest on the left.

Try:

* Sort the timer queue by *Due in* and select a herd: only its timers are listed, and pausing it
  costs the same as pausing a branch with one timer.
* Set the rate of “meadow” to 3 and watch the frame times.
* Filter the clock tree for “night”: these groups stand still until dusk.
"""

from dataclasses import dataclass
from fractions import Fraction

from inspector.clocks import Clock
from inspector.pictures.shapes import Shapes, circle, text
from inspector.sessions.stage import Stage

HERDS = ("deer", "hare", "fox", "boar", "crow", "mole", "bee", "owl")
RATES = ("1/4", "1/3", "1/2", "2/3", "1", "5/4", "3/2", "2")
DUSK, NIGHT = 12, 6
#: Columns with their rate above them.
NAMED = (0, 2, 4, 7)

#: Nanoseconds of its clock that a lamp takes to go out.
GLOW_NS = 700_000_000
#: From just lit to dark.
GLOW = ("#fff3b0", "#ffd75e", "#f0a830", "#b8761f", "#7a5220", "#4a3a24", "#2f2d2a")


@dataclass(eq=False)
class Lamp:
    """Shows the last call of eight animals."""

    clock: Clock
    x: float
    y: float
    lit_ns: int = -GLOW_NS
    step: int = -1
    drawn: Shapes = ()

    def picture(self, now_ns: int) -> Shapes:
        """Draw it by how long ago it was lit on its clock; the same again while that is alike."""
        age_ns = now_ns - self.lit_ns
        step = age_ns * len(GLOW) // GLOW_NS if age_ns < GLOW_NS else len(GLOW) - 1
        if step != self.step:
            self.step = step
            self.drawn = circle(self.x, self.y, 2.6, GLOW[step], clock=self.clock)
        return self.drawn


class Meadow:
    """All the animals, and counts of what they do."""

    def __init__(self, stage: Stage) -> None:
        """Hang the herds under one clock."""
        self.stage = stage
        self.done = {"eats": 0, "calls": 0, "sleeps": 0, "wakes": 0}
        self.meadow = stage.root.child("meadow")
        self.night: list[Clock] = []
        self.lamps: list[Lamp] = []
        self.clocks: list[Clock] = []
        for herd in HERDS:
            clock = self.meadow.child(herd)
            for number, rate in enumerate(RATES, start=1):
                self.add_group(clock, f"{herd} group {number}", rate)
        self.is_night = False
        self.meadow.set_timeout(DUSK, self.dusk, name="dusk")
        stage.picture(self.picture, width=320, height=180, background="#161512")

    def add_group(self, herd: Clock, name: str, rate: str) -> None:
        """Add a group with its animals; the owls wait, paused, for the night."""
        random = self.stage.random
        group = herd.child(name, rate)
        self.clocks.append(group)
        column, row = RATES.index(rate), HERDS.index(herd.name)
        for number in range(random.randint(64, 80)):
            if number % 8 == 0:
                place = number // 8
                x, y = 55 + 33 * column + 6 * (place % 5), 27 + 19.5 * row + 7 * (place // 5)
                self.lamps.append(Lamp(group, x, y))
            lamp = self.lamps[-1]
            animal = f"{herd.name} {number}"
            every = random.randint(40, 240) * Fraction(1, 10)
            group.set_interval(
                every, self.do, "eats", lamp, delay=random.uniform(0, 12), name=f"{animal} eats"
            )
            if number % 8 == 0:
                group.set_interval(every / 4, self.do, "calls", lamp, name=f"{animal} calls")
            if number % 3 == 0:
                delay = random.uniform(1, 30)
                group.set_timeout(delay, self.sleep, lamp, animal, name=f"{animal} sleeps")
        if herd.name == "owl":
            group.name = f"{name} (night)"
            group.pause()
            self.night.append(group)

    def do(self, what: str, lamp: Lamp) -> None:
        """Count what an animal does, and light its lamp."""
        self.done[what] += 1
        lamp.lit_ns = lamp.clock.time_ns

    def sleep(self, lamp: Lamp, animal: str) -> None:
        """Fall asleep for a while."""
        self.do("sleeps", lamp)
        nap = self.stage.random.uniform(4, 9)
        lamp.clock.set_timeout(nap, self.wake, lamp, animal, name=f"{animal} wakes")

    def wake(self, lamp: Lamp, animal: str) -> None:
        """Wake up, and be tired again later."""
        self.do("wakes", lamp)
        delay = self.stage.random.uniform(10, 30)
        lamp.clock.set_timeout(delay, self.sleep, lamp, animal, name=f"{animal} sleeps")

    def dusk(self) -> None:
        """Start the night: the owls wake."""
        self.is_night = True
        self.stage.mark("dusk: the owls wake", clock=self.meadow)
        for group in self.night:
            group.resume()
        self.meadow.set_timeout(NIGHT, self.dawn, name="dawn")

    def dawn(self) -> None:
        """Start the day: the owls stand still with their timers."""
        self.is_night = False
        self.stage.mark("dawn: the owls stop", clock=self.meadow)
        for group in self.night:
            group.pause()
        self.meadow.set_timeout(DUSK, self.dusk, name="dusk")

    def picture(self) -> Shapes:
        """Draw the lamps, a row for each herd."""
        times = {clock: clock.time_ns for clock in self.clocks}
        return [
            text(6, 15, "night" if self.is_night else "day", "#b8c0c8", size=16),
            [text(52 + 33 * n, 15, f"{RATES[n]}×", "#98a1ab", size=16) for n in NAMED],
            [text(6, 36 + 19.5 * row, herd, "#b8c0c8", size=16) for row, herd in enumerate(HERDS)],
            [each.picture(times[each.clock]) for each in self.lamps],
        ]


def build(stage: Stage) -> None:
    """Set up the meadow."""
    stage.name("Thousands of timers")
    Meadow(stage)
