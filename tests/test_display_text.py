"""Texts of other people on their way to the screen."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from inspector.display_text import (
    as_html,
    foreign_line,
    foreign_lines,
    in_quotes,
    one_line,
    shared_name,
)


@given(st.text(alphabet=st.sampled_from("a&<>\"' \n\té"), max_size=30))
def test_that_a_text_is_written_in_html_as_the_library_writes_it(text: str) -> None:
    assert as_html(text) == escape(text)


@given(st.text(max_size=30))
def test_that_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert "\t" not in one_line(text)


@given(st.text())
def test_that_a_quotation_has_no_more_than_its_beginning(text: str) -> None:
    quotation = in_quotes(text, 20)

    assert len(quotation) <= 23
    assert len(quotation.splitlines()) == 1
    assert (quotation == f"“{foreign_line(text)}”") == (len(text) <= 20)


def test_that_a_quotation_of_what_a_user_types_controls_no_terminal() -> None:
    assert in_quotes("a\x1b[2Jb\0\u202ec") == "“a\ufffd[2Jb\ufffd\ufffdc”"


def test_that_names_of_other_programs_move_no_cursor_and_turn_no_text_round() -> None:
    assert foreign_line("a\x1b[2Jb\x07\u202ec\x9b1m") == "a\ufffd[2Jb\ufffd\ufffdc\ufffd1m"
    assert foreign_line("two\nlines\tand a tab") == "two⏎lines⇥and a tab"
    assert foreign_line("größer 漢字 👩‍🚀") == "größer 漢字 👩‍🚀"


def test_that_a_long_name_of_another_program_keeps_its_beginning_and_its_end() -> None:
    cut = foreign_line("/home/" + "x" * 60_000 + "/game.py:7")
    assert len(cut) < 600
    assert cut.startswith("/home/x")
    assert cut.endswith("x/game.py:7")


def test_that_texts_of_other_programs_keep_their_lines() -> None:
    assert foreign_lines("Traceback:\r\n\tat x\n\x1b[31m") == "Traceback:\n\tat x\n\ufffd[31m"


def test_that_a_shared_name_has_no_bracket_without_its_end() -> None:
    assert shared_name(["sleep", "in", "handler", "(handler"]) == "sleep in handler"
    assert shared_name(["poll(a", "b)", "x"]) == "poll(a b) x"
    assert shared_name(["(x"]) == ""
