"""The smallest scene worth looking at.

Two clocks: the game is over after ten seconds of its own time, the ui continues.
"""

from math import cos, pi, sin

from inspector.clocks import Clock
from inspector.pictures.shapes import Shapes, circle, line, text
from inspector.sessions.stage import Stage


def dial(clock: Clock, x: float) -> Shapes:
    """Draw a clock: its hand goes round in ten seconds of its own time."""
    angle = 2 * pi * clock.time / 10
    return [
        circle(x, 80, 50, "#20262e", line="#56b4e9", width=2, clock=clock),
        line(x, 80, x + 44 * sin(angle), 80 - 44 * cos(angle), "#e9edf1", 3, clock=clock),
        text(x, 152, clock.name, "#e9edf1", size=16, anchor="middle", clock=clock),
    ]


def build(stage: Stage) -> None:
    """Set up two branches with a timer or two each."""
    game = stage.root.child("game", rate="1/2")
    ui = stage.root.child("ui")
    game.set_interval(0.5, stage.mark, "spawn", name="spawn")
    game.set_timeout(10, game.pause, name="game over")
    ui.set_interval(1, lambda: None, name="blink")
    stage.picture(lambda: [dial(game, 90), dial(ui, 230)])
