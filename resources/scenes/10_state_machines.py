"""A game’s flow, a door and a guard as state machines.

The flow of the game from menu to play to pause to its end is one machine, a door and a guard in the
level are two more. A player presses buttons at random and so requests transitions that are not
possible or that a guard refuses; each refusal is shown.

Try:

* Follow the lane of “flow”: every change of state, and its transition.
* Look for refused transitions: continue without a saved game, save in the menu, open a locked door.
* Make a transition yourself: pause the game, and see its clocks stop.
* Pause the clock “level”: the door and the guard wait, the menu and the player do not.
"""

from inspector.clocks import Clock
from inspector.frames.state_machine import ANY, Edge
from inspector.pictures.shapes import Shapes, box, circle, group, line, polygon, text
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
        stage.picture(self.picture, background="#171a24")

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

    # -------------------------------------------------------------- picture

    def picture(self) -> Shapes:
        """Draw the level with its door and guard, and the flow of the game above."""
        states = ("menu", "playing", "paused", "game over")
        return [
            [self.state_box(number, state) for number, state in enumerate(states)],
            box(8, 48, 304, 124, "#20242f", clock=self.level),
            self.door_shapes(),
            self.guard_shapes(),
            [circle(20 + 12 * n, 162, 4, "#d55e00", clock=self.level) for n in range(self.lives)],
            text(
                300, 166, f"{self.saves} saved", "#a3acb6", size=16, anchor="end", clock=self.menu
            ),
        ]

    def state_box(self, number: int, state: str) -> Shapes:
        """Draw a state of the flow, bright when it is the present one."""
        is_present = self.flow.state == state
        x, color = 8 + 77 * number, "#56b4e9" if is_present else "#2b3040"
        ink, name = "#10131a" if is_present else "#a3acb6", state.removeprefix("game ")
        return [
            box(x, 10, 73, 24, color, clock=self.menu),
            text(x + 36.5, 28, name, ink, size=16, anchor="middle", clock=self.menu),
        ]

    def door_shapes(self) -> Shapes:
        """Draw the door, which is open, closed, or locked with a bar across."""
        state, clock = self.door.state, self.level
        leaf = [(60, 78), (96, 78), (96, 150), (60, 150)]
        if state == "open":
            leaf = [(60, 78), (72, 86), (72, 158), (60, 150)]
        return [
            box(58, 76, 40, 74, "#0d0f15", clock=clock),
            polygon(leaf, "#8a5a35", line="#c98b4b", clock=clock),
            line(56, 112, 100, 112, "#a0a8b1", 4, clock=clock) if state == "locked" else (),
            text(78, 68, state, "#e9edf1", size=16, anchor="middle", clock=clock),
        ]

    def guard_shapes(self) -> Shapes:
        """Draw the guard: it leans when it listens, and runs with open arms when it chases."""
        state = self.guard.state
        lean = {"walks": 0.0, "listens": -0.25, "chases": -0.5}[state]
        color = {"walks": "#2bb58c", "listens": "#e69f00", "chases": "#f0824a"}[state]
        reach = 16 if state == "chases" else 8
        figure: Clock = self.level
        return [
            group(
                circle(0, -42, 7, color),
                line(0, -35, 0, -14, color, 3),
                line(-reach, -26, reach, -28, color, 3),
                line(0, -14, -8, 0, color, 3),
                line(0, -14, 8, 0, color, 3),
                x=220,
                y=150,
                turn=lean,
                clock=figure,
            ),
            text(220, 68, state, color, size=16, anchor="middle", clock=figure),
        ]


def build(stage: Stage) -> None:
    """Set up the game."""
    stage.name("State machines of a game")
    stage.front("State machines")
    Flow(stage)
