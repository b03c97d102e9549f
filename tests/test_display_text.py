"""Texts of other people on their way to the screen."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from inspector.display_text import as_html, one_line


@given(st.text(alphabet=st.sampled_from("a&<>\"' \n\té"), max_size=30))
def test_that_a_text_is_written_in_html_as_the_library_writes_it(text: str) -> None:
    assert as_html(text) == escape(text)


@given(st.text(max_size=30))
def test_that_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1
    assert "\t" not in one_line(text)
