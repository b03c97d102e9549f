"""Callbacks that fail.

A timer that fails every third time, one that fails once, and a frame callback that fails now and
then, each on its own branch beside a sound one.

Try:

* Choose what follows a failure: continue, pause the branch, or stop the scene.
* Select a failure in the event list and read its traceback.
* With "pause branch", resume the branch after each failure.
"""

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


def load_level(levels: dict[str, str]) -> str:
    """Look up a level that does not exist."""
    return levels["castle"]


def build(stage: Stage) -> None:
    """Set up four branches, three of which have a fault."""
    stage.name("Callbacks that fail")
    healthy = stage.root.child("healthy")
    healthy.set_interval(0.5, lambda: None, name="heartbeat")
    network = stage.root.child("network")
    network.set_interval(1, Unreliable(3), name="fetch scores")
    levels = stage.root.child("levels")
    levels.set_timeout(4, load_level, {}, name="load level")
    physics = stage.root.child("physics")
    stage.every_frame(Unreliable(450), clock=physics, name="solve contacts")
