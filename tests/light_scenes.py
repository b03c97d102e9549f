"""The built-in scene of thousands of timers, with as many as a quick run wants."""

from __future__ import annotations

import os
from pathlib import Path

_MANY, _SOME = "random.randint(64, 80)", "random.randint(6, 8)"


def light_scene(scene: Path, folder: Path) -> Path:
    """Return a scene with a tenth of its timers if it has thousands, else the scene itself.

    The environment variable TIMELINE_INSPECTOR_FUZZ, as in ``make test-full``, keeps all of them.
    """
    text = scene.read_text(encoding="utf-8")
    if _MANY not in text or "TIMELINE_INSPECTOR_FUZZ" in os.environ:
        return scene
    light = folder / scene.name
    light.write_text(text.replace(_MANY, _SOME), encoding="utf-8")
    return light
