"""A town that lives a day in a minute.

The clock “town” runs 1,440 times as fast as the root: its local time is the time of day. Shops,
trams and street lamps have timers of minutes and hours.

Try:

* Set the rate of “town” to 60: a minute per second. Then to 1, and step from hour to hour with
  “step to the next timer”.
* Pause “trams” for a while: they continue with their own timetable, late for the town.
* Export the frame times of a whole day: timeline-inspector run 6 --seconds 60 --export day.svg
"""

from collections.abc import Callable

from inspector.clocks import Clock
from inspector.pictures.shapes import Shapes, box, circle, group, line, polygon, text
from inspector.sessions.stage import Stage

MINUTE, HOUR = 60, 3600
DAY = 24 * HOUR


SHOPS = (("baker", 6, 14), ("books", 9, 18), ("cinema", 15, 23))
LINES = ((1, 10), (2, 15), (5, 20))
#: Length of a tram.
TRAM = 34
#: The sky at every third hour.
SKY = ("#0b1024", "#0b1024", "#3a3f66", "#7fb2dd", "#8cc4ee", "#8cc4ee", "#d99a6c", "#2a2b52")


class Town:
    """The timetable of the town."""

    def __init__(self, stage: Stage) -> None:
        """Begin at midnight."""
        self.stage = stage
        self.town = stage.root.child("town", rate=DAY // 60, epoch=0)
        self.is_lit = True
        self.passengers = 0
        self.open_shops: set[str] = set()
        stage.picture(self.picture, background="#0b1024")
        self.lamps = lamps = self.town.child("street lamps")
        self.shops = shops = self.town.child("shops")
        self.trams = trams = self.town.child("trams")
        self.daily(lamps, "lamps go out", 6, self.switch_lamps, "out")
        self.daily(lamps, "lamps are lit", 21, self.switch_lamps, "lit")
        for shop, opens, closes in SHOPS:
            self.daily(shops, f"{shop} opens", opens, self.open_shop, shop)
            self.daily(shops, f"{shop} closes", closes, self.close_shop, shop)
        for number, minutes in LINES:
            trams.set_interval(minutes * MINUTE, self.tram_comes, number, name=f"tram {number}")
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

    def open_shop(self, shop: str) -> None:
        """Light its window."""
        self.open_shops.add(shop)
        self.stage.mark(f"{shop} opens")

    def close_shop(self, shop: str) -> None:
        """Darken its window."""
        self.open_shops.discard(shop)
        self.stage.mark(f"{shop} closes")

    def tram_comes(self, line: int) -> None:
        """Take passengers; more of them in the rush hours."""
        hour = self.town.time_ns // 1_000_000_000 // HOUR % 24
        rush = 3 if hour in (7, 8, 16, 17) else 1
        self.passengers += self.stage.random.randint(0, 12) * rush + line

    def picture(self) -> Shapes:
        """Draw the street at its time of day."""
        minutes = self.town.time_ns // (MINUTE * 1_000_000_000) % (24 * 60)
        night = "#f6e27f" if self.is_lit else "#4b5563"
        return [
            box(0, 0, 320, 130, SKY[minutes // 180], clock=self.town),
            box(0, 0, 320, 24, "#2b2f36"),
            text(8, 18, f"{self.passengers:,} passengers", "#a3acb6", size=16),
            text(
                312, 18, f"{minutes // 60:02}:{minutes % 60:02}", "#ffffff", size=16, anchor="end"
            ),
            [self.shop_shapes(number, name) for number, (name, _, _) in enumerate(SHOPS)],
            box(0, 130, 320, 50, "#2b2f36"),
            [
                [
                    line(x, 130, x, 96, "#6b7280", 2, clock=self.lamps),
                    circle(x, 93, 4, night, clock=self.lamps),
                ]
                for x in (16, 112, 208, 304)
            ],
            [self.tram_shapes(number, *each) for number, each in enumerate(LINES)],
        ]

    def shop_shapes(self, number: int, name: str) -> Shapes:
        """Draw a shop, whose window is lit while it is open."""
        x = 30 + 96 * number
        window = "#ffd75e" if name in self.open_shops else "#1f2430"
        return [
            box(x, 62, 66, 68, ("#7a4b3a", "#4a5a78", "#5d4a70")[number], clock=self.shops),
            polygon([(x - 4, 62), (x + 33, 40), (x + 70, 62)], "#3b2f35", clock=self.shops),
            box(x + 10, 88, 46, 26, window, clock=self.shops),
            text(x + 33, 80, name, "#ffffff", size=16, anchor="middle", clock=self.shops),
        ]

    def tram_shapes(self, number: int, name: int, minutes: int) -> Shapes:
        """Draw a tram, which crosses the street between two stops."""
        share = (
            self.trams.time_ns
            % (minutes * MINUTE * 1_000_000_000)
            / (minutes * MINUTE * 1_000_000_000)
        )
        x = -TRAM + (320 + TRAM) * share
        return group(
            box(0, 0, TRAM, 15, ("#d55e00", "#0072b2", "#009e73")[number]),
            # While it is all in the street.
            text(TRAM / 2, 13.5, f"{name}", "#ffffff", size=16, anchor="middle")
            if 0 < x < 320 - TRAM
            else (),
            x=x,
            y=131 + 16.5 * number,
            clock=self.trams,
        )


def build(stage: Stage) -> None:
    """Set up the town."""
    stage.name("A town that lives a day in a minute")
    Town(stage)
