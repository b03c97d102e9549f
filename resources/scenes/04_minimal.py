"""The smallest scene worth looking at.

Two clocks: the game is over after ten seconds of its own time, the ui continues.
"""

from inspector.sessions.stage import Stage


def build(stage: Stage) -> None:
    """Set up two branches with a timer or two each."""
    game = stage.root.child("game", rate="1/2")
    ui = stage.root.child("ui")
    game.set_interval(0.5, stage.mark, "spawn", name="spawn")
    game.set_timeout(10, game.pause, name="game over")
    ui.set_interval(1, lambda: None, name="blink")
