"""Histories of frames that share columns are each like a plain list of frames."""

from __future__ import annotations

from random import Random

import pytest

from inspector.events.frame_history import NO_PHASES, NO_SHARES, FrameHistory
from inspector.vocabulary import Phase, Share
from tests.fuzz import rounds

_NAMES = ("at_ns", "interval_ns", "delta_ns", "busy_ns", "cut_ns")
_COLUMNS = (*_NAMES, *Phase, *Share)
#: Number of the first frame, and start, interval, delta, busy time, cut, phases and shares of each.
Model = tuple[int, list[list[int]]]


def row(random: Random, model: Model) -> list[int]:
    """Return the next frame; few different ones, so that copies go on with the same."""
    _, rows = model
    at_ns = rows[-1][0] + random.randint(0, 2) if rows else random.randint(0, 2)
    return [at_ns, *(random.randint(0, 1) for _ in _COLUMNS[1:])]


def grown(random: Random, history: FrameHistory, model: Model) -> None:
    first, rows = model
    kind = random.choice(["plain", "plain", "append", "extend", "extend without shares"])
    if kind.startswith("extend"):
        added: list[list[int]] = []
        for _ in range(random.randint(0, 3)):
            added.append(row(random, (first, rows + added)))
        columns = [list(column) for column in zip(*added, strict=True)] or [[] for _ in _COLUMNS]
        if kind != "extend":
            columns = columns[: -len(Share)]
            added = [[*each[: -len(Share)], *NO_SHARES] for each in added]
        history.extend(columns)
        rows += added
        return
    new = row(random, model)
    at_ns, interval_ns, delta_ns, busy_ns, cut_ns = new[:5]
    phases, shares = new[5 : 5 + len(Phase)], new[5 + len(Phase) :]
    if kind == "plain":
        history.append(at_ns, interval_ns, delta_ns, busy_ns, cut_ns, NO_PHASES)
        phases, shares = [*NO_PHASES], [*NO_SHARES]
    else:
        history.append(at_ns, interval_ns, delta_ns, busy_ns, cut_ns, phases, shares)
    rows.append([*new[:5], *phases, *shares])


def check(random: Random, history: FrameHistory, model: Model) -> None:
    first, rows = model
    end = first + len(rows)
    assert (history.first, history.end, len(history)) == (first, end, len(rows))
    columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in _COLUMNS]
    named = [history.at_ns, history.interval_ns, history.delta_ns, history.busy_ns, history.cut_ns]
    assert [list(each) for each in (*named, *history.phases, *history.shares)] == columns
    start, stop = (random.randint(first - 2, end + 2) for _ in range(2))
    for number, name in enumerate(_COLUMNS):
        asked = columns[number][max(start - first, 0) : max(stop - first, 0)]
        assert history.numpy(name, start, stop).tolist() == asked
        assert history.part(name, start, stop).tolist() == asked
        assert list(history.column(name)) == columns[number]
    for index in (first - 1, first, random.randint(first, end), end - 1, end):
        if not first <= index < end:
            assert history.span(index) is None
            with pytest.raises(IndexError, match=f"frame {index} is not kept"):
                history.frame(index)
            continue
        at_ns = [each[0] for each in rows]
        place = index - first
        frame = history.frame(index)
        assert [frame.index, frame.at_ns, frame.interval_ns] == [index, *rows[place][:2]]
        assert [frame.delta_ns, frame.busy_ns, frame.cut_ns] == rows[place][2:5]
        assert [*frame.phases, *frame.shares] == rows[place][5:]
        assert frame.unknown_ns == max(rows[place][1] - sum(frame.shares), 0)
        assert history.began_ns(index) == at_ns[place]
        before = at_ns[place - 1] if place else None
        assert history.span(index) == (-1 if before is None else before, at_ns[place])
        since = at_ns[place] - rows[place][1] if before is None else before
        assert history.before_ns(index) == since
    at = random.randint(-1, 9)
    began = sum(each[0] <= at for each in rows)
    assert history.index_at(at) == first + began
    later = [place for place, each in enumerate(rows) if each[0] >= at]
    assert history.index_from(at) == (first + later[0] if later else None)
    assert history.frame_at(at) == first + (later[0] if later else len(rows))


def test_that_copies_and_parts_go_on_by_themselves() -> None:
    for seed in rounds(60):
        random = Random(seed)
        pairs: list[tuple[FrameHistory, Model]] = [(FrameHistory(), (0, []))]
        for _ in range(25):
            history, model = random.choice(pairs)
            first, rows = model
            cut = random.randint(first - 1, first + len(rows) + 1)
            inside = min(max(cut - first, 0), len(rows))
            match random.choice(["grow", "grow", "grow", "copy", "until", "since", "complete"]):
                case "copy":
                    pairs.append((history.copy(), (first, rows[:])))
                case "until":
                    pairs.append((history.until(cut), (first, rows[:inside])))
                case "since":
                    pairs.append((history.since(cut), (first + inside, rows[inside:])))
                case "complete":
                    stop = random.randint(cut, cut + 3)
                    kept = rows[: max(stop - first, 0)][inside:]
                    begin = first + min(inside, len(rows[: max(stop - first, 0)]))
                    found = history.complete(cut, stop)
                    check(random, found, (begin, kept))
                    assert found.complete(begin, begin) is found
                case _:
                    grown(random, history, model)
            check(random, *random.choice(pairs))
        for each in pairs:
            check(random, *each)


def test_that_columns_of_different_lengths_are_refused() -> None:
    columns = [[1]] * len(_COLUMNS)
    for wrong in (columns[:-1], [*columns[:-1], [1, 2]], [*columns, [1]]):
        with pytest.raises(ValueError, match=f"needs {len(_COLUMNS)} columns of equal lengths"):
            FrameHistory().extend(wrong)
