"""What undoing the next change is called."""

from __future__ import annotations

from ui.interventions.intervention_undo import step_text
from ui.selected.undo_steps import Undoable


def test_that_a_long_text_is_shortened_and_ampersands_stay() -> None:
    assert step_text("&Undo", None) == ""
    assert step_text("&Undo", Undoable(1, "pause “a&b”")) == "&Undo: pause “a&&b”"
    text = step_text("&Undo", Undoable(1, "pause “" + "x" * 90 + "”"))
    assert len(text) <= 60
    assert text.endswith("…")
