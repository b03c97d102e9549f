"""Thousands of timers on many clocks.

Eight herds of eight groups, each a clock with its own rate, and sixty-four to eighty animals per
group that eat, sleep and call by their own timers.

Try:

* Sort the timer queue by *Fires in* and select a herd: only its timers are listed, and pausing it
  costs the same as pausing a branch with one timer.
* Set the rate of "meadow" to 3 and watch the frame times.
* Filter the clock tree for "night": these groups stand still until dusk.
"""

from fractions import Fraction

from inspector.clocks import Clock
from inspector.sessions.stage import Stage

HERDS = ("deer", "hare", "fox", "boar", "crow", "mole", "bee", "owl")
RATES = ("1/4", "1/3", "1/2", "2/3", "1", "5/4", "3/2", "2")
DUSK, NIGHT = 12, 6


class Meadow:
    """All the animals, and counts of what they do."""

    def __init__(self, stage: Stage) -> None:
        """Hang the herds under one clock."""
        self.stage = stage
        self.done = {"eats": 0, "calls": 0, "sleeps": 0, "wakes": 0}
        self.meadow = stage.root.child("meadow")
        self.night: list[Clock] = []
        for herd in HERDS:
            clock = self.meadow.child(herd)
            for number, rate in enumerate(RATES, start=1):
                self.add_group(clock, f"{herd} group {number}", rate)
        self.meadow.set_timeout(DUSK, self.dusk, name="dusk")

    def add_group(self, herd: Clock, name: str, rate: str) -> None:
        """Add a group with its animals; the owls wait, paused, for the night."""
        random = self.stage.random
        group = herd.child(name, rate)
        for number in range(random.randint(64, 80)):
            animal = f"{herd.name} {number}"
            every = random.randint(40, 240) * Fraction(1, 10)
            group.set_interval(
                every, self.do, "eats", delay=random.uniform(0, 12), name=f"{animal} eats"
            )
            if number % 8 == 0:
                group.set_interval(every / 4, self.do, "calls", name=f"{animal} calls")
            if number % 3 == 0:
                delay = random.uniform(1, 30)
                group.set_timeout(delay, self.sleep, group, animal, name=f"{animal} sleeps")
        if herd.name == "owl":
            group.name = f"{name} (night)"
            group.pause()
            self.night.append(group)

    def do(self, what: str) -> None:
        """Count what an animal does."""
        self.done[what] += 1

    def sleep(self, group: Clock, animal: str) -> None:
        """Fall asleep for a while."""
        self.do("sleeps")
        nap = self.stage.random.uniform(4, 9)
        group.set_timeout(nap, self.wake, group, animal, name=f"{animal} wakes")

    def wake(self, group: Clock, animal: str) -> None:
        """Wake up, and be tired again later."""
        self.do("wakes")
        delay = self.stage.random.uniform(10, 30)
        group.set_timeout(delay, self.sleep, group, animal, name=f"{animal} sleeps")

    def dusk(self) -> None:
        """Start the night: owls wake, all others slow down."""
        self.stage.mark("dusk: the owls wake", clock=self.meadow)
        for group in self.night:
            group.resume()
        self.meadow.set_timeout(NIGHT, self.dawn, name="dawn")

    def dawn(self) -> None:
        """Start the day: the owls stand still with their timers."""
        self.stage.mark("dawn: the owls stop", clock=self.meadow)
        for group in self.night:
            group.pause()
        self.meadow.set_timeout(DUSK, self.dusk, name="dusk")


def build(stage: Stage) -> None:
    """Set up the meadow."""
    stage.name("Thousands of timers")
    Meadow(stage)
