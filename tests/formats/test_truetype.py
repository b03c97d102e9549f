import struct

import pytest

from inspector.formats.drawing.font_metrics import (
    font,
    font_path,
    plain,
    shortened,
    text_width,
    wrapped,
)
from inspector.formats.drawing.truetype import TrueTypeFont


def test_that_advances_are_those_of_the_design() -> None:
    face = TrueTypeFont.load(font_path(is_bold=False))
    # Inter 4.0, in units of 1/2816 em: all digits are 1824 wide.
    assert face.units_per_em == 2816
    assert {face.advance(ord(digit)) for digit in "0123456789"} == {1824}
    assert face.advance(ord(" ")) == 792


def test_that_a_character_the_font_lacks_counts_as_one_em() -> None:
    face = font(is_bold=False)
    assert not face.has(ord("フ"))
    assert face.advance(ord("フ")) == face.units_per_em


def test_that_text_width_is_the_sum_of_advances_at_its_size() -> None:
    assert text_width("00", 10) == pytest.approx(2 * 1824 / 2816 * 10)
    assert text_width("00", 10, is_bold=True) > text_width("00", 10)
    assert text_width("", 10) == 0


@pytest.mark.parametrize("is_bold", [False, True])
def test_that_a_subset_keeps_advances_of_its_characters_and_nothing_else(*, is_bold: bool) -> None:
    face = font(is_bold=is_bold)
    # 🄰 is beyond U+FFFF.
    kept = "Åé 16.7 ms·µ…🄰"
    subset = TrueTypeFont(face.subset(map(ord, kept), "Some Name"))
    for char in kept:
        assert subset.has(ord(char))
        assert subset.advance(ord(char)) == face.advance(ord(char))
    assert not subset.has(ord("Z"))


def test_that_a_subset_is_small_and_the_same_each_time() -> None:
    face = font(is_bold=False)
    characters = set(map(ord, "frame interval (ms) 0123456789"))
    first = face.subset(characters, "Some Name")
    assert first == face.subset(sorted(characters, reverse=True), "Some Name")
    assert len(first) < 8_000


def test_that_the_checksum_of_a_subset_is_right() -> None:
    data = font(is_bold=False).subset(map(ord, "abc"), "Some Name")
    padded = data + b"\0" * (-len(data) % 4)
    total = sum(struct.unpack(f">{len(padded) // 4}L", padded)) & 0xFFFFFFFF
    assert total == 0xB1B0AFBA


def test_that_long_text_is_cut_to_its_room_and_says_so() -> None:
    text = "a sentence that is far too long for its room"
    short = shortened(text, 80, 9)
    assert short.endswith("…")
    assert text_width(short, 9) <= 80
    assert shortened("fits", 80, 9) == "fits"


def test_that_wrapped_text_keeps_words_and_its_number_of_lines() -> None:
    text = "one two three four five six seven"
    lines = wrapped(text, 60, 9, lines=2)
    assert len(lines) == 2
    assert text.startswith(f"{lines[0]} {lines[1][:3]}")
    assert lines[1].endswith("…")
    assert all(text_width(line, 9) <= 60 for line in lines)


def test_that_plain_text_has_no_line_breaks_and_no_control_characters() -> None:
    assert plain(" a\nb\x00c\udc80  d\u202fe ") == "a bc d e"
