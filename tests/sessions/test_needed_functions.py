"""What a scene replaces or closes although the report about it needs it."""

from __future__ import annotations

import builtins
import json
import os

import pytest

from inspector.errors import InspectorError, SceneError
from inspector.sessions.scene import NeededFunctions, needed_functions_kept, run_kept


def test_that_what_is_needed_is_put_back_and_what_only_wraps_stays(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dumps, opens, length = json.dumps, open, len
    needed = NeededFunctions()

    def wrapped(*_each: object) -> None: ...

    with monkeypatch.context() as patch:
        patch.setattr(json, "dumps", wrapped)
        patch.setattr(builtins, "print", wrapped)
        patch.setattr(builtins, "open", None)
        patch.setattr(builtins, "len", wrapped)
        patch.setattr(json, "extra", wrapped, raising=False)
        replaced = needed.put_back()

        assert replaced == ["builtins.len", "builtins.open", "json.dumps"]
        assert (json.dumps, open, len) == (dumps, opens, length)
        assert (print, vars(json)["extra"]) == (wrapped, wrapped)
        assert needed.put_back() == []


def test_that_a_run_that_fails_says_what_the_scene_has_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json, "dumps", json.dumps)

    @run_kept()
    def run(error: Exception, *, replaces: bool) -> None:
        if replaces:
            json.dumps = None  # type: ignore[assignment]
        raise error

    with pytest.raises(InspectorError) as told:
        run(ValueError("no dumps"), replaces=True)
    assert str(told.value) == (
        "The run has failed, as the scene has replaced json.dumps, which runs need: "
        "ValueError: no dumps."
    )
    with pytest.raises(ValueError, match="its own"):
        run(ValueError("its own"), replaces=False)
    with pytest.raises(SceneError, match="as it is"):
        run(SceneError("as it is"), replaces=True)


@pytest.mark.parametrize("number", [1, 2])
def test_that_outputs_that_a_scene_closes_are_opened_again(
    number: int, capfd: pytest.CaptureFixture[str]
) -> None:
    free = os.dup(number)
    os.close(free)
    with needed_functions_kept():
        os.close(number)
    os.write(number, b"here")
    assert "here" in capfd.readouterr()

    with needed_functions_kept():
        os.write(number, b"still")
    assert "still" in capfd.readouterr()
    # Nothing is left open for them.
    assert os.dup(number) == free
    os.close(number)
    with needed_functions_kept():
        # Closed before, it is not the scene's doing.
        pass
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(number)
    os.dup2(free, number)
    os.close(free)
