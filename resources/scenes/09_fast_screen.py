"""Egret on three screens: at 240 Hz a second lasts a quarter.

The original counts the refreshes of the screen and assumes 60 a second. Here clocks play screens of
60, 144 and 240 Hz, with timers of one second: the original on all of them, and on the fastest also
three published repairs and a timer that counts elapsed time. (The fourth repair uses the timers of
a browser.) One more ticker uses the real frames.

In the picture the timers race: each firing is a step, and the line is where a second each leads.

Try:

* Read the marks every ten seconds: at 240 Hz the original fires four times too often.
* Set the rate of “240 Hz screen” to 1/4, which makes it a screen of 60 Hz: now the original
  is right, and the repairs that were made for 240 Hz are wrong or cut corners.
* Pause the ticker for a while and resume it: time has passed for its timers all the same.
* Set the rate of “game” to 1/2: the original does not notice, it counts refreshes.
"""

from fractions import Fraction

from inspector.engines.egret.repairs import ElapsedGuard, longer_count, longer_delay
from inspector.engines.egret.ticker import Ticker
from inspector.engines.egret.timer import BY_CALLS, BY_ELAPSED, Counting, TickerTimer
from inspector.pictures.shapes import Shapes, box, circle, line, text
from inspector.sessions.stage import Stage

DISPLAY_RATE = 240
#: Refreshes a second of the screens that have the original only.
OTHER_RATES = (60, 144)


class Count:
    """Counts its calls under a name."""

    def __init__(self, counts: dict[str, int], name: str) -> None:
        """Begin at nothing."""
        self.counts = counts
        self.name = name
        counts[name] = 0

    def __call__(self) -> None:
        """Count one."""
        self.counts[self.name] += 1


class Screens:
    """The tickers of three screens and of the real frames, and their timers."""

    def __init__(self, stage: Stage) -> None:
        """Start all timers at the same instant."""
        self.stage = stage
        self.clock = stage.root.child("game")
        self.counts: dict[str, int] = {}
        self.ticker = self.screen(DISPLAY_RATE)
        self.ticker.on_enter_frame = Count(self.counts, "frames")
        on_frames = stage.ticker(self.clock, name="ticker on frames")
        factor = DISPLAY_RATE / 60
        self.timer(self.ticker, "original", BY_CALLS)
        self.timer(self.ticker, "repair 1", longer_delay(factor))
        self.guarded("repair 2")
        self.timer(self.ticker, "repair 4", longer_count(factor))
        self.timer(self.ticker, "elapsed time", BY_ELAPSED)
        self.compared = list(self.counts)[1:]
        self.timer(on_frames, "original on frames", BY_CALLS)
        self.timer(on_frames, "elapsed time on frames", BY_ELAPSED)
        for rate in OTHER_RATES:
            self.timer(self.screen(rate), f"original at {rate} Hz", BY_CALLS)
        self.quick = TickerTimer(self.ticker, 150, 5, name="five quick ones")
        self.quick.on_timer = Count(self.counts, "quick")
        self.quick.on_complete = self.wait
        self.quick.start()
        self.ticker.set_interval(self.blink, 530)
        self.is_lit = False
        stage.root.set_interval(10, self.report, delay=10.05, name="report")
        stage.picture(self.picture)

    def screen(self, rate: int) -> Ticker:
        """Return a ticker that a screen of this refresh rate drives."""
        display = self.stage.root.child(f"{rate} Hz screen")
        ticker = Ticker(clock=self.clock, name=f"ticker at {rate} Hz")
        ticker.set_frame_rate(60)
        display.set_interval(Fraction(1, rate), ticker.run_frame, name="refresh")
        return ticker

    def timer(self, ticker: Ticker, name: str, counting: Counting) -> TickerTimer:
        """Start a timer of one second."""
        timer = TickerTimer(ticker, 1000, counting=counting, name=name)
        timer.on_timer = Count(self.counts, name)
        timer.start()
        return timer

    def guarded(self, name: str) -> None:
        """Start a timer like the original whose listener checks the time."""
        timer = TickerTimer(self.ticker, 1000, counting=BY_CALLS, name=name)
        guard = ElapsedGuard(self.ticker.now_ms, Count(self.counts, name))
        timer.on_timer = guard
        guard.stamp()
        timer.start()

    def wait(self) -> None:
        """Wait for two seconds, then count to five again."""
        self.ticker.set_timeout(self.restart, 2000)

    def restart(self) -> None:
        """Count to five again."""
        self.quick.reset()
        self.quick.start()

    def blink(self) -> None:
        """Switch the cursor."""
        self.is_lit = not self.is_lit

    def report(self) -> None:
        """Mark the firings of each timer, and the expected number."""
        ideal = int(self.clock.time_ns // 1_000_000_000)
        counts = ", ".join(f"{name} {self.counts[name]}" for name in self.compared)
        self.stage.mark(f"of {ideal}: {counts}", clock=self.clock)

    def picture(self) -> Shapes:
        """Draw a track for each timer, by screens; the furthest has the whole width."""
        tracks = [(f"{rate} Hz", "original", f"original at {rate} Hz") for rate in OTHER_RATES]
        tracks += [(f"{DISPLAY_RATE} Hz", name, name) for name in self.compared]
        tracks += [("frames", name, f"{name} on frames") for name in ("original", "elapsed time")]
        ideal = int(self.clock.time_ns // 1_000_000_000)
        unit = 136 / max(*(self.counts[name] for _, _, name in tracks), ideal, 10)
        found: list[Shapes] = []
        last = ""
        for number, (screen, label, name) in enumerate(tracks):
            y, count = 10 + 17.4 * number, self.counts[name]
            is_right = abs(count - ideal) <= 1
            color = "#2bb58c" if is_right else "#e69f00"
            if screen != last:
                found.append(text(6, y + 5.5, screen, "#a3acb6", size=16, clock=self.clock))
            found += [
                text(
                    70, y + 5.5, label.removesuffix(" time"), "#e9edf1", size=16, clock=self.clock
                ),
                box(138, y - 1, 136, 2, "#2b3138", clock=self.clock),
                box(138, y - 1, unit * count, 2, color, clock=self.clock),
                circle(138 + unit * count, y, 5, color, clock=self.clock),
                text(316, y + 5.5, f"{count}", color, size=16, anchor="end", clock=self.clock),
            ]
            last = screen
        x = 138 + unit * ideal
        return [
            line(x, 2, x, 161, "#56606c", 1.5),
            found,
            text(x, 176, f"{ideal} s", "#a3acb6", size=16, anchor="middle"),
        ]


def build(stage: Stage) -> None:
    """Set up the screens."""
    stage.name("Egret's timers on fast screens")
    stage.front("Events", "Refresh-rate lab")
    Screens(stage)
