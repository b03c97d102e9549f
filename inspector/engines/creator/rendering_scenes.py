"""The rendering scenes of Cocos Creator 1.x, beside its scenes of nodes and components.

The top of a stack of rendering scenes is drawn. Each scene of nodes has one, which becomes the
top when the scene is launched; others can be pushed and popped. The switch happens at its place
in the frame, between destruction and visit.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum


class SceneMessage(Enum):
    """A message to a rendering scene, in the original's names."""

    ENTER = "onEnter"
    EXIT = "onExit"
    CLEANUP = "cleanup"
    ENTER_FINISHED = "onEnterTransitionDidFinish"
    EXIT_BEGUN = "onExitTransitionDidStart"


class RenderingScene:
    """A scene that is visited and drawn while it runs."""

    def __init__(
        self, name: str = "", on_message: Callable[[SceneMessage], object] | None = None
    ) -> None:
        self.name = name
        self.on_message = on_message  # Called with every :class:`SceneMessage`

    def __repr__(self) -> str:
        return f"<RenderingScene {self.name!r}>"

    def send_messages(self, *messages: SceneMessage) -> None:
        """Send messages to the scene, in this order."""
        for message in messages:
            if self.on_message is not None:
                self.on_message(message)


class RenderingStack:
    """The rendering scenes of a director."""

    def __init__(self) -> None:
        # The scene that is visited and drawn; ``None`` before the first launch and after the end
        self.running: RenderingScene | None = None
        # The scene from the next switch on; ``None`` for no change
        self.next: RenderingScene | None = None
        self.scenes: list[RenderingScene] = []  # The stack, its top last; read-only
        self._is_cleanup_due = False

    def push(self, scene: RenderingScene) -> None:
        """Put a scene on top; the scene below is kept and not cleaned up."""
        self._is_cleanup_due = False
        self.scenes.append(scene)
        self.next = scene

    def pop(self) -> bool:
        """Remove the top scene, to be cleaned up; returns whether one is left."""
        if self.scenes:
            self.scenes.pop()
        if not self.scenes:
            return False
        self._is_cleanup_due = True
        self.next = self.scenes[-1]
        return True

    def replace(self, scene: RenderingScene) -> None:
        """Replace the top scene, which will be cleaned up."""
        self.scenes[-1:] = [scene]
        self._is_cleanup_due = True
        self.next = scene

    def switch(self) -> None:
        """Run the next scene, if there is one; the old one leaves first."""
        if self.next is None:
            return
        if self.running is not None:
            self.running.send_messages(SceneMessage.EXIT_BEGUN, SceneMessage.EXIT)
            if self._is_cleanup_due:
                self.running.send_messages(SceneMessage.CLEANUP)
        self.running, self.next = self.next, None
        self.running.send_messages(SceneMessage.ENTER, SceneMessage.ENTER_FINISHED)

    def clear(self) -> None:
        """Let the running scene leave, and drop all scenes."""
        if self.running is not None:
            self.running.send_messages(
                SceneMessage.EXIT_BEGUN, SceneMessage.EXIT, SceneMessage.CLEANUP
            )
        self.running = self.next = None
        self.scenes.clear()
