"""A game's flow, a door and a guard as state machines.

The flow of the game from menu to play to pause to its end is one machine, a door and a guard in the
level are two more. A player presses buttons at random and so requests transitions that are not
possible or that a guard refuses; each refusal is shown.

Try:

* Follow the lane of "flow": every change of state, and its transition.
* Look for refused transitions: continue without a saved game, save in the menu, open a locked door.
* Make a transition yourself: pause the game, and see its clocks stop.
* Pause the clock "level": the door and the guard wait, the menu and the player do not.
"""

from inspector.frames.state_machine import ANY, Edge
from inspector.sessions.stage import Stage

LIVES = 2
BUTTONS = ("start", "continue", "pause", "resume", "save", "quit")


class Flow:
    """The game's flow: a machine that pauses and resumes the clocks of the level."""

    def __init__(self, stage: Stage) -> None:
        """Set up the machines and begin in the menu."""
        self.stage = stage
        self.level = stage.root.child("level")
        self.menu = stage.root.child("menu")
        self.lives = LIVES
        self.saves = 0
        self.level.pause()
        self.flow = stage.state_machine(
            "menu",
            {
                "start": Edge("menu", "playing", on_transition=self.begin),
                "continue": Edge("menu", "playing", guard=self.has_saved),
                "pause": Edge("playing", "paused"),
                "resume": Edge("paused", "playing"),
                "save": Edge(["playing", "paused"], lambda state: state, on_transition=self.save),
                "lose": Edge("playing", "game over"),
                "quit": Edge(["paused", "game over"], "menu"),
                "reset": Edge(ANY, "menu"),
            },
            name="flow",
        )
        self.flow.on_enter = {
            "playing": lambda *_: self.level.resume(),
            "paused": lambda *_: self.level.pause(),
            "menu": lambda *_: self.level.pause(),
            "game over": self.game_over,
        }
        self.door = stage.state_machine(
            "closed",
            {
                "unlock": Edge("locked", "closed"),
                "open": Edge("closed", "open"),
                "close": Edge("open", "closed"),
                "lock": Edge("closed", "locked"),
            },
            clock=self.level,
            name="door",
        )
        self.guard = stage.state_machine(
            "walks",
            {
                "hear": Edge("walks", "listens"),
                "see": Edge(["walks", "listens"], "chases", guard=lambda _: self.is_door_open()),
                "lose sight": Edge(["listens", "chases"], "walks"),
                "catch": Edge("chases", "walks"),
            },
            clock=self.level,
            name="guard",
        )
        self.guard.on_after = self.after_guard
        self.menu.set_interval(0.7, self.press_button, name="the player presses a button")
        self.menu.set_interval(25, self.flow.go, "reset", name="attract mode")
        self.level.set_interval(1.1, self.use_door, name="somebody at the door")
        self.level.set_interval(0.3, self.hear_or_see, name="the guard looks")

    # ----------------------------------------------------------------- flow

    def press_button(self) -> None:
        """Request a random transition; the machine knows whether it is possible."""
        self.flow.go(self.stage.random.choice(BUTTONS))

    def begin(self, *_: str) -> None:
        """Begin a new game."""
        self.lives = LIVES

    def save(self, *_: str) -> None:
        """Save the game; writing takes a while."""
        self.saves += 1
        self.stage.work(0.012)

    def has_saved(self, _: str) -> bool:
        """Whether there is a saved game."""
        return self.saves > 0

    def game_over(self, *_: str) -> None:
        """Stop the level; the menu returns after two seconds."""
        self.level.pause()
        self.stage.mark("game over", clock=self.level)
        self.menu.set_timeout(2, self.flow.go, "quit", name="back to the menu")

    # ---------------------------------------------------------------- level

    def use_door(self) -> None:
        """Try something with the door."""
        self.door.go(self.stage.random.choice(self.door.names))

    def is_door_open(self) -> bool:
        """Whether the guard can see through the door."""
        return self.door.state == "open"

    def hear_or_see(self) -> None:
        """Let the guard notice or forget something."""
        self.guard.go(self.stage.random.choice(self.guard.possible()))

    def after_guard(self, old: str, new: str) -> None:
        """Take a life when the guard catches the player."""
        if (old, new) == ("chases", "walks"):
            self.lives -= 1
            if self.lives <= 0:
                self.flow.go("lose")


def build(stage: Stage) -> None:
    """Set up the game."""
    stage.name("State machines of a game")
    Flow(stage)
