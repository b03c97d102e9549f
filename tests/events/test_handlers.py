"""A reader of events has a method for each kind that it takes."""

from __future__ import annotations

import pytest

from inspector.events.handlers import handlers_of, merged
from inspector.vocabulary import FRAME_BEGAN, MARK


class Reader:
    def __init__(self) -> None:
        self.seen: list[tuple[int, ...]] = []

    def _on_mark(self, *numbers: int) -> None:
        self.seen.append(numbers)


class LaterReader(Reader):
    def _on_frame_began(self, *numbers: int) -> None:
        self.seen.append(numbers)


def test_that_methods_are_found_by_the_kind_they_take() -> None:
    reader = LaterReader()
    handlers = handlers_of(reader)
    handlers[MARK](1, 2, 3, 4)
    handlers[FRAME_BEGAN](5, 6, 7, 8)
    assert set(handlers) == {MARK, FRAME_BEGAN}
    assert reader.seen == [(1, 2, 3, 4), (5, 6, 7, 8)]


def test_that_readers_of_one_kind_take_it_in_their_order() -> None:
    first, second = Reader(), LaterReader()

    handlers = merged(handlers_of(first), handlers_of(second))

    assert handlers == {
        MARK: (first._on_mark, second._on_mark),
        FRAME_BEGAN: (second._on_frame_began,),
    }


def test_that_a_method_named_after_no_kind_is_refused() -> None:
    class Mistyped(Reader):
        def _on_timer_fierd(self, *_numbers: int) -> None:
            raise AssertionError

    with pytest.raises(TypeError, match=r"Mistyped .*_on_timer_fierd"):
        handlers_of(Mistyped())
