"""Callbacks that fail.

A timer that fails every third time, one that fails once, and a frame callback that fails now and
then, each on its own branch beside a sound one.

Try:

* Choose what follows a failure: continue, pause the branch, or stop the scene.
* Select a failure in the event list and read its traceback.
* With “pause branch”, resume the branch after each failure.
"""

from inspector.clocks import Clock
from inspector.pictures.shapes import Shapes, box, circle, text
from inspector.sessions.stage import Stage


class Unreliable:
    """Counts its calls and fails at some of them."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.calls = 0

    def __call__(self, _delta: float = 0.0) -> None:
        """Do the work, or fail."""
        self.calls += 1
        if self.calls % self.every == 0:
            message = f"call {self.calls} could not be done"
            raise RuntimeError(message)


class Levels:
    """Knows no level."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> str:
        """Look up a level that does not exist."""
        self.calls += 1
        levels: dict[str, str] = {}
        return levels["castle"]


def row(number: int, clock: Clock, calls: int, failures: int) -> Shapes:
    """Draw a branch: a square for each of its last calls' failures, and both counts."""
    y = 22 + 44 * number
    color = "#f0824a" if failures else "#2bb58c"
    said = f"{calls:,} called, {failures:,} failed"
    return [
        circle(20, y - 1, 9, color, clock=clock),
        text(38, y + 5, clock.name, "#e9edf1", size=16, clock=clock),
        [box(38 + 8 * n, y + 12, 6, 8, "#f0824a", clock=clock) for n in range(min(failures, 8))],
        text(312, y + 5, said, "#a3acb6", size=16, anchor="end", clock=clock),
    ]


def build(stage: Stage) -> None:
    """Set up four branches, three of which have a fault."""
    beats, fetch, load, solve = Unreliable(10**9), Unreliable(3), Levels(), Unreliable(450)
    stage.name("Callbacks that fail")
    stage.front("Events")
    healthy = stage.root.child("healthy")
    healthy.set_interval(0.5, beats, name="heartbeat")
    network = stage.root.child("network")
    network.set_interval(1, fetch, name="fetch scores")
    levels = stage.root.child("levels")
    levels.set_timeout(4, load, name="load level")
    physics = stage.root.child("physics")
    stage.every_frame(solve, clock=physics, name="solve contacts")

    def picture() -> Shapes:
        return [
            row(0, healthy, beats.calls, 0),
            row(1, network, fetch.calls, fetch.calls // fetch.every),
            row(2, levels, load.calls, load.calls),
            row(3, physics, solve.calls, solve.calls // solve.every),
        ]

    stage.picture(picture)
