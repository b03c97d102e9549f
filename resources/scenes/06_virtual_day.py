"""A town that lives a day in a minute.

The clock "town" runs 1 440 times as fast as the root: its local time is the time of day. Shops,
trams and street lamps have timers of minutes and hours.

Try:

* Set the rate of "town" to 60: a minute per second. Then to 1, and step from hour to hour with
  "step to the next timer".
* Pause "trams" for a while: they continue with their own timetable, late for the town.
* Export the frame times of a whole day: timeline-inspector run 6 --seconds 60 --export day.svg
"""

from collections.abc import Callable

from inspector.clocks import Clock
from inspector.sessions.stage import Stage

MINUTE, HOUR = 60, 3600
DAY = 24 * HOUR


class Town:
    """The timetable of the town."""

    def __init__(self, stage: Stage) -> None:
        """Begin at midnight."""
        self.stage = stage
        self.town = stage.root.child("town", rate=DAY // 60, epoch=0)
        self.is_lit = True
        self.passengers = 0
        lamps = self.town.child("street lamps")
        shops = self.town.child("shops")
        trams = self.town.child("trams")
        self.daily(lamps, "lamps go out", 6, self.switch_lamps, "out")
        self.daily(lamps, "lamps are lit", 21, self.switch_lamps, "lit")
        for shop, opens, closes in (("baker", 6, 14), ("books", 9, 18), ("cinema", 15, 23)):
            self.daily(shops, f"{shop} opens", opens, stage.mark, f"{shop} opens")
            self.daily(shops, f"{shop} closes", closes, stage.mark, f"{shop} closes")
        for line, minutes in ((1, 10), (2, 15), (5, 20)):
            trams.set_interval(minutes * MINUTE, self.tram_comes, line, name=f"tram {line}")
        self.town.set_interval(DAY, stage.mark, "midnight", name="midnight")

    def daily(
        self, clock: Clock, name: str, hour: int, do: Callable[[str], None], what: str
    ) -> None:
        """Do something once a day at a full hour."""
        clock.set_interval(DAY, do, what, delay=hour * HOUR, name=name)

    def switch_lamps(self, state: str) -> None:
        """Turn all lamps on or off."""
        self.is_lit = state == "lit"
        self.stage.mark(f"lamps are {state}")

    def tram_comes(self, line: int) -> None:
        """Take passengers; more of them in the rush hours."""
        hour = self.town.time_ns // 1_000_000_000 // HOUR % 24
        rush = 3 if hour in (7, 8, 16, 17) else 1
        self.passengers += self.stage.random.randint(0, 12) * rush + line


def build(stage: Stage) -> None:
    """Set up the town."""
    stage.name("A town that lives a day in a minute")
    Town(stage)
