"""What methods answer of sessions, which stand-ins take the place of."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from inspector.calls.call import SCHEDULED, CallId
from inspector.events.schema import SCHEMA
from inspector.formats.frame_times import Provenance
from inspector.remote import questions
from inspector.sessions.session import AttachesPrograms
from tests.remote.stand_ins import Asked, like, noted, refusal


def test_that_the_past_is_what_has_been_and_is_still_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    timeline: Any = SimpleNamespace(at_ns=10)
    history = SimpleNamespace(state_at=lambda at_ns: f"at {at_ns}")
    opened: Any = SimpleNamespace(session=SimpleNamespace(timeline=timeline, history=history))
    monkeypatch.setattr(questions, "missing_text", lambda _, at: "" if at else "It is forgotten.")
    assert questions._past(opened, None) is timeline
    found: list[Any] = [questions._past(opened, at) for at in (1, 10)]
    assert found == ["at 1", "at 10"]
    assert refusal(lambda: questions._past(opened, 0)) == "It is forgotten."
    assert "only 10 ns" in refusal(lambda: questions._past(opened, 11))


def test_that_members_wait_among_the_timers_of_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = sorted(SCHEDULED, key=str)
    members = [SimpleNamespace(id=number, kind=kinds[0]) for number in (1, 2, 3, 4)]
    members.append(SimpleNamespace(id=5, kind="no call"))
    clocks = {1: "root", 2: "game", 3: "menu"}
    timeline = SimpleNamespace(
        resolve_dues=lambda: None,
        clocks=clocks,
        branch=lambda clock: [clock],
        timers=SimpleNamespace(id=[1, 2], session_due=[50, 20], clock=[2, 3]),
        members=SimpleNamespace(by_id={each.id: each for each in members}),
    )
    due = {1: (2, 30), 2: (2, None), 3: (3, 10), 4: None}

    def call_of(_timeline: object, call: CallId) -> object:
        found = due[call.number] if call.is_member else (0, 0)
        if found is None:
            return None
        return SimpleNamespace(id=call, clock_id=found[0], session_due_ns=found[1])

    monkeypatch.setattr(questions, "call_of", call_of)
    monkeypatch.setattr(
        questions, "_call_value", lambda _, call: (call.id.number, call.id.is_member)
    )
    asked: Any = Asked(SimpleNamespace(timeline=timeline))
    page: Any = questions.timers(asked, clock_id=2)
    assert page == {"items": [(1, True), (1, False), (2, True)], "total": 3, "next": None}
    # All clocks, where there is none of that number.
    page = questions.timers(asked, clock_id=9, offset=1, limit=2)
    assert page == {"items": [(2, False), (1, True)], "total": 5, "next": 3}
    assert questions.timers(asked, clock_id=9, offset=3, limit=2)["next"] is None


def test_that_members_have_the_last_states_of_machines() -> None:
    kind = SimpleNamespace(text="machine")
    about = {"name": "m", "kind": kind, "parent_id": 0, "clock_id": 1, "is_paused": False}
    members = {n: SimpleNamespace(id=n, calls=n, **about) for n in (1, 2, 3)}
    columns = (list(range(25)), [1] * 25, [2] * 25)
    timeline = SimpleNamespace(
        strings=["", "idle", "start"],
        members=SimpleNamespace(by_id=members, histories={2: SimpleNamespace(columns=columns)}),
    )
    asked: Any = Asked(SimpleNamespace(timeline=timeline))
    page: Any = questions.members(asked, offset=1, limit=2)
    two, three = page["items"]
    assert [(each["member_id"], each["calls"]) for each in (two, three)] == [(2, 2), (3, 3)]
    assert [each["at_ns"] for each in two["states"]] == list(range(5, 25))
    assert two["states"][0] == {"at_ns": 5, "state": "idle", "transition": "start"}
    assert (three["states"], page["total"], page["next"]) == ([], 3, None)
    assert questions.members(asked, limit=2)["next"] == 2


def test_that_a_frame_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def spans_of(*_: object) -> list[object]:
        raise IndexError

    monkeypatch.setattr(questions, "spans_of", spans_of)
    asked: Any = Asked(SimpleNamespace(history=None, timeline=None))
    assert "no frame 1,234" in refusal(lambda: questions.frame(asked, 1_234))


def test_that_events_of_a_kind_are_listed_page_by_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "describe", lambda event, _strings: f"event at {event[0]}")
    rows = list(SCHEMA.values())[:2]
    kinds = [int(row.kind) for row in rows]
    events = [(at, kinds[at % 2]) for at in range(30_000)]

    def numbered(first: int, end: int) -> tuple[range, list[tuple[int, int]]]:
        assert end - first <= 10_000
        return range(first, end), events[first:end]

    history = SimpleNamespace(first=5, end=30_000, numbered=numbered, strings=[])
    asked: Any = Asked(SimpleNamespace(history=history))
    page: Any = questions.events(asked, limit=2)
    assert [each["event"] for each in page["items"]] == [5, 6]
    assert (page["next"], page["total"]) == (7, 30_000)
    page = questions.events(asked, offset=10_000, limit=3, kinds=[rows[1].name])
    assert [each["at_ns"] for each in page["items"]] == [10_001, 10_003, 10_005]
    assert page["items"][0]["text"] == "event at 10001"
    assert page["next"] == 10_007
    page = questions.events(asked, offset=29_998, limit=3)
    assert (len(page["items"]), page["next"]) == (2, None)
    page = questions.events(asked, offset=5, limit=10_000, kinds=[rows[0].name])
    assert (len(page["items"]), page["next"]) == (10_000, 20_005)
    assert "no kind of event “x”" in refusal(lambda: questions.events(asked, kinds=["x"]))


class _Hit(msgspec.Struct):
    number: int


def test_that_the_last_hits_of_breakpoints_are_listed_where_there_are_any() -> None:
    each = SimpleNamespace(text="late", as_values=lambda: {"over": 1})
    session = SimpleNamespace(
        breakpoints={4: (each, 2)}, timeline=SimpleNamespace(hits=[_Hit(n) for n in range(120)])
    )
    session.breakpoints = SimpleNamespace(items=lambda: [(4, each, 2)])
    asked: Any = Asked(session)
    found: Any = questions.breakpoints(asked)
    (told,) = found["breakpoints"]
    assert told == {"number": 4, "hits": 2, "text": "late", "values": {"over": 1}}
    assert [each["number"] for each in found["hits"]] == list(range(20, 120))
    session.breakpoints = None
    assert "no breakpoints" in refusal(lambda: questions.breakpoints(asked))


def test_that_a_change_without_effect_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "considered_command", lambda _, text: text)
    monkeypatch.setattr(questions, "preview", lambda _timeline, _command: None)
    asked: Any = Asked(SimpleNamespace(timeline=None))
    assert "nothing that is due" in refusal(lambda: questions.preview_change(asked, "pause x"))


def test_that_findings_are_about_the_budget_that_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Any] = []
    monkeypatch.setattr(questions, "loop_budget", lambda *_, waits: ("usual", waits))
    monkeypatch.setattr(
        questions,
        "findings",
        lambda _history, *, budget, state: noted(budgets, (budget, state), []),
    )
    history = SimpleNamespace(end=9, state_before=lambda end: f"before {end}")
    asked: Any = Asked(SimpleNamespace(history=history, frame_rate=60, waits=True))
    assert questions.list_findings(asked) == []
    questions.list_findings(asked, budget_ms=2.0)
    assert budgets[0] == (("usual", True), "before 9")
    assert (budgets[1][0].budget_ns, budgets[1][0].by_busy) == (2_000_000, True)

    def of_ms(_budget_ms: float) -> None:
        message = "no budget"
        raise ValueError(message)

    monkeypatch.setattr(questions, "FrameBudget", SimpleNamespace(of_ms=of_ms))
    assert refusal(lambda: questions.list_findings(asked, budget_ms=0.0)) == "no budget."


@pytest.mark.parametrize(("is_recorded", "refresh_ms"), [(True, None), (False, 20.0)])
def test_that_statistics_know_how_often_a_live_session_is_drawn(
    monkeypatch: pytest.MonkeyPatch, refresh_ms: float | None, *, is_recorded: bool
) -> None:
    given: list[object] = []
    values = [
        SimpleNamespace(metric=SimpleNamespace(id=name), value=value, text=name)
        for name, value in (("p99", 5), ("none", None))
    ]
    monkeypatch.setattr(questions, "FrameTimes", SimpleNamespace(from_history=lambda each: each))
    monkeypatch.setattr(questions, "series_of", lambda _, *, refresh_ms: given.append(refresh_ms))
    monkeypatch.setattr(questions, "metric_values", lambda _series: values)
    about = Provenance("game", None, "", frame_rate=Fraction(50))
    monkeypatch.setattr(questions, "provenance_of", lambda _session: about)
    session = SimpleNamespace(is_recorded=is_recorded, timeline=SimpleNamespace(frames=None))
    asked: Any = Asked(session)
    assert questions.statistics(asked) == {"p99": {"value": 5, "text": "p99"}}
    assert given == [refresh_ms]


def test_that_files_and_sessions_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    history = SimpleNamespace(title="game")
    opened = SimpleNamespace(session=SimpleNamespace(title="game", history=history), number=2)
    asked: Any = Asked()
    asked.in_session = lambda number, read: read(opened) if number == 2 else None
    monkeypatch.setattr(questions, "run_of_file", lambda path: path.name)
    monkeypatch.setattr(
        questions, "run_of_session", lambda _, title: lambda report: (title, report)
    )
    monkeypatch.setattr(questions, "_late", lambda _, over_ns, limit: (over_ns, limit))
    compared: list[list[Any]] = []

    def differences(runs: list[Any]) -> list[str]:
        compared.append(runs)
        return ["slower"]

    monkeypatch.setattr(questions, "differences", differences)
    monkeypatch.setattr(questions, "comparison_values", lambda found: {"is": found})
    found: Any = questions.compare(asked, "a.csv", 2, over_ns=7)
    assert found == {
        "frames_and_calls": {"is": "slower"},
        "late": {"before": None, "after": (7, 100)},
    }
    before, (title, _) = compared[0]
    assert (before, title) == ("a.csv", "game (2)")

    def too_short(_runs: object) -> list[str]:
        message = "too short"
        raise ValueError(message)

    monkeypatch.setattr(questions, "differences", too_short)
    found = questions.compare(asked, "a.csv", "b.csv")
    assert found["frames_and_calls"] == {"why_not": "too short"}


def test_that_only_a_recording_is_asked_in_sql() -> None:
    asked: Any = Asked(kind="capture")
    assert "Only a recording" in refusal(lambda: questions.sql(asked, "SELECT 1"))


def test_that_tasks_are_watched_until_nobody_wants_them(monkeypatch: pytest.MonkeyPatch) -> None:
    every: list[int] = []
    tasks = SimpleNamespace(told_ns={1: 5, 2: 7})
    attached = like(
        AttachesPrograms,
        watch_tasks=every.append,
        history=None,
        timeline=SimpleNamespace(tasks=tasks),
    )
    monkeypatch.setattr(questions, "task_rows", lambda *_: [SimpleNamespace(values="task")])
    asked: Any = Asked(attached)
    found: Any = questions.tasks(asked)
    assert (found["items"], found["total"], found["told_ns"]) == (["task"], 1, 7)
    tasks.told_ns = {}
    assert questions.tasks(asked, watch=False)["told_ns"] is None
    assert every == [500_000_000, 0]
    questions.tasks(Asked(SimpleNamespace(history=None, timeline=attached.timeline)))
