"""Columns of whole numbers as bytes, and back."""

from __future__ import annotations

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import pack, unpack

HEAD_BYTES = 16


@pytest.mark.parametrize(
    ("span", "width"),
    [(0, 0), (1, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4), (2**32, 8)],
)
@pytest.mark.parametrize("least", [0, -5, 7])
def test_that_entries_are_as_wide_as_the_range_of_a_column_needs(
    span: int, width: int, least: int
) -> None:
    # Falling, so that it is not kept as steps.
    column = np.array([[least + span, least]], np.int64)

    packed = pack(column)

    assert len(packed) == HEAD_BYTES + 2 * width
    assert unpack(packed, 1, 2).tolist() == column.tolist()


@pytest.mark.parametrize("ends", [(-(2**63), 2**63 - 1), (2**63 - 1, -(2**63)), (-1, 2**63 - 1)])
def test_that_differences_beyond_63_bits_come_back(ends: tuple[int, int]) -> None:
    column = np.array([[*ends, 3]], np.int64)

    assert unpack(pack(column), 1, 3).tolist() == column.tolist()


@pytest.mark.parametrize(
    ("usual", "width"), [(0, 0), (255, 1), (256, 2), (65_535, 2), (65_536, 4), (2**32 - 1, 4)]
)
def test_that_few_wide_entries_do_not_make_the_others_wide(usual: int, width: int) -> None:
    column = np.full((1, 100), usual, np.int64)
    column[0, [0, 40, 99]] = 2**40, 0, 2**40

    packed = pack(column)

    # Two have an index and a value besides.
    assert len(packed) == HEAD_BYTES + width * 100 + 2 * 12
    assert unpack(packed, 1, 100).tolist() == column.tolist()


def test_that_instants_are_kept_as_steps() -> None:
    evenly = 2**40 + 255 * np.arange(100)
    with_gap = evenly + 2**40 * (np.arange(100) > 50)
    block = np.array([evenly, with_gap])

    packed = pack(block)

    assert len(packed) == 2 * HEAD_BYTES + 2 * 100 + 100 + 12
    assert unpack(packed, 2, 100).tolist() == block.tolist()


def test_that_one_column_is_read_without_the_others() -> None:
    block = np.array([[5] * 9, [1, 2**40, *[3] * 7], [-9, 0, *[300] * 7], [2**33] * 9], np.int64)
    packed = pack(block)

    for number, column in enumerate(block.tolist()):
        assert unpack(packed, 4, 9, only=number).tolist() == [column]


@pytest.mark.parametrize("change", [-1, 1])
def test_that_bytes_that_are_too_few_or_too_many_are_refused(change: int) -> None:
    packed = pack(np.array([[1, 2, 3]], np.int64))
    damaged = packed[:-1] if change < 0 else packed + b"\0"

    with pytest.raises(ValueError, match=r"bytes|buffer"):
        unpack(damaged, 1, 3)


def test_that_columns_are_the_same_bytes_on_every_machine() -> None:
    block = np.array([[7, 7], [258, 2], [0, 2**40]], np.int64)

    assert pack(block) == bytes.fromhex(
        # Minimum, width, whether it has steps, two zeros, number of odd entries
        "0700000000000000 00 00 0000 00000000"
        "0200000000000000 02 00 0000 00000000"
        "0000000000000000 08 01 0000 00000000"
        "0001 0000"
        "0000000000000000 0000000000010000"
    )


@pytest.mark.parametrize("count", [-1, 2**24 + 1])
def test_that_a_number_of_entries_that_is_never_written_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="invalid number of entries"):
        unpack(pack(np.array([[7, 7]], np.int64)), 1, count)


def test_that_no_entries_are_read() -> None:
    packed = pack(np.array([[7, 7]], np.int64))

    assert unpack(packed, 1, 0).shape == (1, 0)


@pytest.mark.parametrize(("place", "value"), [(8, 3), (8, 9), (12, 3)])
def test_that_a_width_or_odd_entries_that_cannot_be_are_refused(place: int, value: int) -> None:
    damaged = bytearray(pack(np.array([[7, 7]], np.int64)))
    damaged[place] = value

    with pytest.raises(ValueError, match="invalid column"):
        unpack(bytes(damaged), 1, 2)


def test_that_all_entries_may_be_odd() -> None:
    column = np.array([[2**40, 2**41]], np.int64)
    head = pack(np.array([[0, 0]], np.int64))[:12] + (2).to_bytes(4, "little")

    packed = head + np.array([0, 1], "<u4").tobytes() + column.astype("<i8").tobytes()

    assert unpack(packed, 1, 2).tolist() == column.tolist()
