"""The rendering scenes of Cocos Creator 1.x, beside its scenes of nodes and components.

What is drawn is the top of a stack of rendering scenes. Each scene of nodes has one, which
takes the top when the scene is launched; others can be pushed and popped. The switch itself
waits for its place in the frame, between destruction and visit.
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class SceneMessage(Enum):
    """What a rendering scene is told, in the original's names."""

    ENTER = "onEnter"
    EXIT = "onExit"
    CLEANUP = "cleanup"
    ENTER_FINISHED = "onEnterTransitionDidFinish"
    EXIT_BEGUN = "onExitTransitionDidStart"


class RenderingScene:
    """What is visited and drawn while it runs.

    Attributes:
        name: What people call it.
        on_message: Called with every :class:`SceneMessage`.
    """

    def __init__(
        self, name: str = "", on_message: Callable[[SceneMessage], object] | None = None
    ) -> None:
        """Make one that is on no stack."""
        self.name = name
        self.on_message = on_message

    def __repr__(self) -> str:
        """Show the name."""
        return f"<RenderingScene {self.name!r}>"

    def tell(self, *messages: SceneMessage) -> None:
        """Tell the scene what happens to it, in this order."""
        for message in messages:
            if self.on_message is not None:
                self.on_message(message)


class RenderingStack:
    """The rendering scenes of a director.

    Attributes:
        running: What is visited and drawn; ``None`` before the first launch and after the end.
        next: What runs from the next switch on; ``None`` when nothing changes.
        scenes: The stack, its top last; to be read only.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self.running: RenderingScene | None = None
        self.next: RenderingScene | None = None
        self.scenes: list[RenderingScene] = []
        self._is_cleanup_due = False

    def push(self, scene: RenderingScene) -> None:
        """Put a scene on top; the one below is kept and not cleaned up."""
        self._is_cleanup_due = False
        self.scenes.append(scene)
        self.next = scene

    def pop(self) -> bool:
        """Take the top scene off, to be cleaned up; returns whether one is left."""
        if self.scenes:
            self.scenes.pop()
        if not self.scenes:
            return False
        self._is_cleanup_due = True
        self.next = self.scenes[-1]
        return True

    def replace(self, scene: RenderingScene) -> None:
        """Put a scene in the place of the top one, which will be cleaned up."""
        self.scenes[-1:] = [scene]
        self._is_cleanup_due = True
        self.next = scene

    def switch(self) -> None:
        """Run the next scene, if one is asked for; the old one leaves first."""
        if self.next is None:
            return
        if self.running is not None:
            self.running.tell(SceneMessage.EXIT_BEGUN, SceneMessage.EXIT)
            if self._is_cleanup_due:
                self.running.tell(SceneMessage.CLEANUP)
        self.running, self.next = self.next, None
        self.running.tell(SceneMessage.ENTER, SceneMessage.ENTER_FINISHED)

    def clear(self) -> None:
        """Let the running scene leave, and forget all of them."""
        if self.running is not None:
            self.running.tell(SceneMessage.EXIT_BEGUN, SceneMessage.EXIT, SceneMessage.CLEANUP)
        self.running = self.next = None
        self.scenes.clear()
