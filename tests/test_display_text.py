"""Texts of other people on their way to the screen."""

from html import escape

from hypothesis import given
from hypothesis import strategies as st

from inspector.display_text import as_html, in_quotes, one_line


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
    assert (quotation == f"“{one_line(text)}”") == (len(text) <= 20)
