"""A table of timers holds what a dictionary would hold."""

from __future__ import annotations

from array import array
from random import Random

import numpy as np
import pytest

from inspector.events.timer_table import RowByNumber, TimerTable
from inspector.vocabulary import NEVER, TimerKind
from tests.fuzz import rounds

_STRINGS = ("", "one", "two", "site")


def check(random: Random, table: TimerTable, known: dict[int, list[int]], version: int) -> None:
    """Compare a table with clock, label and due time by number."""
    assert (len(table), sorted(table.ids())) == (len(known), sorted(known))
    some = [random.randint(0, 200) for _ in range(5)]
    assert [each in table for each in some] == [each in known for each in some]
    rows = table.rows_of(np.array([*known, *some], np.int64)).tolist()
    for number, row in zip([*known, *some], rows, strict=True):
        assert row == (table.index(number) if number in known else -1)
    assert table.pending_rows([*known, 999]) == rows[: len(known)]
    assert table.session_dues([999, *known]) == [
        table.session_due[row] for row in rows[: len(known)]
    ]
    for number, (clock, label, due_ns) in known.items():
        row = table.row(number)
        assert (row.id, row.clock_id, row.label, row.due_ns) == (
            *(number, clock, _STRINGS[label]),
            due_ns,
        )
        assert (row.call_site, row.kind, row.interval_ns) == ("site", TimerKind.TIMEOUT, number)
        assert (row.fired, row.last_lateness_ns, row.order) == (0, 0, number)
    most = random.randint(1, 3)
    for clock in range(4):
        for label in range(4):
            alike = sorted(
                (due_ns, number)
                for number, (on, name, due_ns) in known.items()
                if (on, name) == (clock, label)
            )
            found = table.named(version, clock, label, most)
            assert [known[each][2] for each in found] == [due_ns for due_ns, _ in alike[:most]]
            assert set(found) <= {number for _, number in alike}


def test_that_a_table_of_timers_is_like_a_dictionary() -> None:
    for seed in rounds(60):
        random = Random(seed)
        table, known = TimerTable(_STRINGS), dict[int, list[int]]()
        for version in range(40):
            number = random.randint(0, 200)
            if random.random() < 0.6:
                if number in known:
                    with pytest.raises(ValueError, match=f"timer {number} exists"):
                        table.add(number, 0, 0)
                    continue
                clock, label, due_ns = (
                    random.randint(1, 3),
                    random.randint(0, 2),
                    random.randint(0, 9),
                )
                table.add(number, clock, label)
                row = table.index(number)
                assert table.due[row] == table.session_due[row] == NEVER
                table.due[row] = table.session_due[row] = due_ns
                table.site[row], table.interval[row] = 3, number
                known[number] = [clock, label, due_ns]
            elif number in known or known:
                number = number if number in known else random.choice([*known])
                assert table.remove(number) == known.pop(number)[0]
            else:
                with pytest.raises(KeyError):
                    table.remove(number)
            if random.random() < 0.2:
                twin = table.copy(_STRINGS)
                if known:
                    twin.remove(next(iter(known)))
            if version % 8 == 0:
                check(random, table, known, version)
        assert table.find_rows()
        check(random, table, known, -7)
        if known:
            table.id.append(next(iter(known)))
            assert not table.find_rows()


def test_that_a_number_whose_row_is_set_again_counts_once() -> None:
    rows = RowByNumber()

    for row in (0, 0, 3, 0):
        rows[5] = row

    twin = rows.copy()
    assert (rows.count, rows[5]) == (twin.count, twin[5]) == (1, 0)


@pytest.mark.parametrize("first", [0, 1, 63, 64, 65])
@pytest.mark.parametrize("count", [0, 1, 2, 63, 64, 65, 130])
def test_that_consecutive_numbers_are_added_together_unless_one_exists(
    first: int, count: int
) -> None:
    rows = RowByNumber()
    numbers, given = array("q", range(first, first + count)), array("i", range(7, 7 + count))

    assert rows.add_all(numbers, given)

    assert [rows.get(number) for number in range(first - 1, first + count + 1)] == [-1, *given, -1]
    assert rows.count == count
    if count:
        last = array("q", (numbers[-1],)), array("i", (1,))
        assert not rows.add_all(*last)
        assert rows.pop(numbers[-1]) == given[-1]
        assert rows.add_all(*last)
    assert rows.count == count
