"""What was raised is read from a traceback as Python prints it."""

from __future__ import annotations

import traceback

import pytest

from inspector.vocabulary import what_was_raised


def _printed(error: BaseException) -> str:
    try:
        raise error  # noqa: TRY301 - for its traceback
    except BaseException as caught:  # noqa: BLE001 - whatever it is
        return "".join(traceback.format_exception(caught))


def _chained() -> BaseException:
    second = ValueError("second")
    second.__cause__ = KeyError("first")
    return second


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ValueError("no"), "ValueError: no"),
        (KeyError("name"), "KeyError: 'name'"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (ValueError("two\n\n  lines"), "ValueError: two"),
        (ExceptionGroup("several", [ValueError(1), OSError(2)]), "ExceptionGroup: several"),
        (ExceptionGroup("outer", [ExceptionGroup("in", [KeyError(1)])]), "ExceptionGroup: outer"),
        (SyntaxError("bad", ("scene.py", 3, 1, "x = = 1", 3, 4)), "SyntaxError: bad"),
        (_chained(), "ValueError: second"),
    ],
)
def test_that_it_is_one_line(error: BaseException, said: str) -> None:
    text = _printed(error)
    alone = "".join(traceback.format_exception_only(error))

    for told in (what_was_raised(text), what_was_raised(alone)):
        assert told.split(" (")[0] == said


def test_that_notes_do_not_hide_it() -> None:
    error = ValueError("no")
    error.add_note("read the manual")

    assert what_was_raised(_printed(error)) == "ValueError: no"


@pytest.mark.parametrize("text", ["", "\n", "just a line", "  indented"])
def test_that_what_is_no_traceback_is_taken_as_it_is(text: str) -> None:
    assert what_was_raised(text) == text.strip()
