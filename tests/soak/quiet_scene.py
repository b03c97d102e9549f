"""Nothing happens here: what a window needs beside it, it would always need."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspector.sessions.stage import Stage


def build(stage: Stage) -> None:
    """Have a clock, and nothing that it calls."""
    stage.root.child("quiet")
