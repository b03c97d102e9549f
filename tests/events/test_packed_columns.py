"""Columns of whole numbers as bytes, and back."""

from __future__ import annotations

import random

import numpy as np
import pytest

from inspector.events.blocks.packed_columns import events_of, pack, unpack
from inspector.vocabulary import MARK, NEVER
from tests.events.event_blocks import block_of

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


def test_that_entries_are_odd_only_where_that_takes_fewer_bytes() -> None:
    column = np.array([[2**40, 0, 1]], np.int64)

    # An odd entry and three of 4 bytes would take as much.
    assert pack(column)[8:] == bytes([8]) + bytes(7) + column.tobytes()


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
    with pytest.raises(ValueError, match="buffer is smaller"):
        unpack(b"", 1, 2**24)


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


def test_that_columns_hold_any_number_of_64_bits() -> None:
    chance = random.Random(3)
    for _ in range(200):
        limit = 2 ** chance.choice([1, 7, 8, 9, 31, 33, 63])
        low = -limit if chance.random() < 0.5 else 0
        count = chance.choice([1, 2, 9])
        rows = [[chance.randrange(low, limit) for _ in range(count)] for _ in range(5)]
        block = np.array(rows, np.int64)
        assert (unpack(pack(block), 5, count) == block).all()


def test_that_columns_of_equal_numbers_take_no_room() -> None:
    block = block_of([(1, MARK, 0, 0, NEVER)] * 1_000)
    assert len(pack(block)) == 5 * 16
    assert events_of(unpack(pack(block), 5, 1_000)) == [(1, MARK, 0, 0, NEVER)] * 1_000


def test_that_columns_with_some_big_numbers_hold_any() -> None:
    chance = random.Random(4)
    for _ in range(300):
        count = chance.choice([1, 3, 40])
        small, big = 2 ** chance.choice([0, 3, 12, 20, 40]), 2 ** chance.choice([33, 50, 63])
        low = -big if chance.random() < 0.5 else 0
        row = [
            chance.randrange(low, big) if chance.random() < 0.1 else chance.randrange(small)
            for _ in range(count)
        ]
        for values in (row, sorted(row), sorted(row, reverse=True), [row[0]] * count):
            block = np.array([values], np.int64)
            assert (unpack(pack(block), 1, count) == block).all(), values


def test_that_columns_that_wrap_round_are_no_steps() -> None:
    for row in ([0, NEVER, -NEVER - 1], [-NEVER - 1, NEVER, 0], [-1, NEVER, NEVER]):
        block = np.array([row], np.int64)
        assert (unpack(pack(block), 1, 3) == block).all()


def test_that_odd_entries_that_cannot_be_are_refused() -> None:
    block = block_of([(1, MARK, 0, 0, NEVER if n == 7 else n) for n in range(50)])
    data = pack(block)
    place = data.index((7).to_bytes(4, "little") + (NEVER).to_bytes(8, "little"))
    beyond = data[:place] + (50).to_bytes(4, "little") + data[place + 4 :]
    with pytest.raises(IndexError):
        unpack(beyond, 5, 50)
    too_many = data[:76] + (51).to_bytes(4, "little") + data[80:]
    with pytest.raises(ValueError, match="51 odd entries"):
        unpack(too_many, 5, 50)


def test_that_a_number_beyond_64_bits_is_cut_to_them() -> None:
    assert events_of(block_of([(1, 2, 3, 2**70, -(2**70))])) == [(1, 2, 3, NEVER, -(2**63))]


def test_that_bytes_that_are_not_as_many_as_they_say_are_refused() -> None:
    data = pack(block_of([(1, 2, 3, 4, 5), (2, 2, 3, 4, 5)]))
    for wrong in (data[:-1], data + b"x", data[:30], b""):
        with pytest.raises(ValueError, match=r"\w"):
            unpack(wrong, 5, 2)
