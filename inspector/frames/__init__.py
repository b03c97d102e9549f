"""Systems that run in each frame: the director, loops, schedulers and state machines."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Final

from inspector.frames.director import Director, FrameCallback
from inspector.frames.loop import FixedRateLoop, LoopRules, start_loop

__all__ = ["Director", "FixedRateLoop", "FrameCallback", "LoopRules", "start_loop"]

_MOVED: Final = {"browser_timers", "cocos", "creator", "egret", "open_flash"}
_ENGINES: Final = "inspector.engines"


class _MovedModules:
    """Imports the systems of other engines by the names that they had in this package."""

    @staticmethod
    def find_spec(
        name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        moved = name.removeprefix(f"{__name__}.")
        top = moved.partition(".")[0]
        if moved == name or top not in _MOVED:
            return None
        if moved == top:
            message = f"{name} has moved to {_ENGINES}.{top}: import it from there"
            warnings.warn(message, DeprecationWarning, stacklevel=2)
        return ModuleSpec(name, _MovedModules)  # type: ignore[arg-type]

    @staticmethod
    def create_module(_spec: ModuleSpec) -> None:
        """Leave making the module to the import system."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        moved = module.__name__.removeprefix(__name__)
        sys.modules[module.__name__] = import_module(f"{_ENGINES}{moved}")


# Inserted first: the finder of a moved package would load its modules a second time.
sys.meta_path.insert(0, _MovedModules)
