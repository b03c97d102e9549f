"""Errors that end threads which a scene has started."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from traceback import walk_tb
from typing import Final
from weakref import ref

from inspector.sessions.scene import is_in_scene, user_traceback

#: All that take errors, the newest last; read by any thread.
_followed: Final[list[ref[SceneThreads]]] = []


class SceneThreads:
    """The errors that have ended threads in code of a scene."""

    def __init__(self, scene_path: Path) -> None:
        self._scene_path = scene_path
        # Name of the scene's module, empty until it is loaded. It distinguishes two runs of the
        # same file, as going back in time makes a second one
        self.module_name = ""
        # Names of threads with their tracebacks; any thread may add some
        self.failures: deque[tuple[str, str]] = deque()

    def follow(self) -> None:
        """Take errors from now on, until :meth:`leave`."""
        if not _known():
            threading.excepthook = _hook_after(threading.excepthook)
        _followed.append(ref(self))

    def leave(self) -> None:
        _followed[:] = [each for each in _followed if each() not in {None, self}]
        before = getattr(threading.excepthook, "before", None)
        if before is not None and not _followed:
            threading.excepthook = before

    def has(self, error: BaseException) -> bool:
        return is_in_scene(self._scene_path, error)


def _known() -> list[SceneThreads]:
    return [threads for each in _followed if (threads := each()) is not None]


def _hook_after(
    before: Callable[[threading.ExceptHookArgs], object],
) -> Callable[[threading.ExceptHookArgs], object]:
    """Return a hook that gives errors of threads to their scenes, and others to ``before``."""

    def except_hook(args: threading.ExceptHookArgs) -> None:
        error = args.exc_value
        scenes = [] if error is None else [each for each in _known() if each.has(error)]
        if error is None or not scenes:
            before(args)
        elif not isinstance(error, SystemExit):
            places = walk_tb(error.__traceback__)
            modules = {str(frame.f_globals.get("__name__")) for frame, _ in places}
            owner = next((each for each in scenes if each.module_name in modules), scenes[-1])
            name = "a thread" if args.thread is None else args.thread.name
            owner.failures.append((name, user_traceback(error)))

    except_hook.before = before  # type: ignore[attr-defined]
    return except_hook
