"""How an attached session ends, part by part, with programs and a way in that are played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached import session as session_module
from inspector.sessions.attached.link import (
    Ended,
)
from inspector.vocabulary import (
    CLOCK_PAUSED,
    CLOCK_REMOVED,
    MARK,
    TASKS_TOLD,
)
from tests.sessions.attached.played_session import LINK, Key, do, played_opened, played_program


def test_that_an_end_is_told_when_it_is_known_what_became_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(session_module, "is_alive", lambda pid: pid == 5)
    monkeypatch.setattr(
        session_module, "how_it_ended", lambda code, _news, *, goes_on: (code, goes_on)
    )
    recent = 1_000_000_000 - 1
    detached: list[Any] = []
    for own_pid, code, has, is_orderly, since_ns, told in (
        # The process that was launched ends a moment after its connection.
        (5, 3, {}, False, 0, (3, True)),
        (5, None, {}, True, recent, None),
        (5, None, {}, True, recent + 1, (None, False)),
        # Of others it is seen whether they go on.
        (4, 3, {}, False, recent, None),
        (4, 3, {}, False, recent + 1, (None, True)),
        (None, 3, {}, False, recent + 1, (None, True)),
        (4, 3, {}, True, 0, (None, False)),
        (4, 3, {"pid": 6}, False, 0, (None, False)),
        # Threads end without their process, and other hosts have other numbers.
        (4, 3, {"parent_pid": 5}, False, 0, (None, False)),
        (4, 3, {"host": "there"}, False, 0, (None, False)),
    ):
        session = SimpleNamespace(
            pid=own_pid,
            _opened=None
            if own_pid is None
            else played_opened(pid=own_pid, poll=lambda code=code: code),
            _now_ns=lambda since_ns=since_ns: 700 + since_ns,
            _began_ns=100,
            _ending={},
            _detach=lambda *given: detached.append(given),
        )
        program = Key(**{"host": "", "pid": 5, "parent_pid": 1, **has})
        news = Ended(LINK, "", is_orderly=is_orderly, at_ns=700)
        detached.clear()
        do("_end_program", session, program, news)
        assert detached == ([] if told is None else [(program, told, 600)]), (own_pid, has)
        assert session._ending == ({program: news} if told is None else {})


@pytest.mark.parametrize("is_child", [False, True])
def test_that_an_end_stops_the_clocks_of_the_program(*, is_child: bool) -> None:
    kind = CLOCK_REMOVED if is_child else CLOCK_PAUSED
    # An end that would be a late event is told now, and none before the last event of its program.
    for at_ns, told_ns in ((80, 80), (79, 100), (95, 95), (30, 100)):
        program = played_program(translation=SimpleNamespace(last_ns=60), is_stepping=True)
        session = _ending(program, [7, 9], parent="another" if is_child else None)
        do("_detach", session, program, "it was tired", at_ns)
        assert program.ended == "“game” is no longer attached: it was tired."
        assert not program.is_stepping
        assert session.events == [
            (told_ns, MARK, 7, 70, 0),
            *((told_ns, TASKS_TOLD, each, 0, 0) for each in (7, 9)),
            *((told_ns, kind, each, 0, 0) for each in (7, 9)),
        ]
        assert session.over == [3, (program.ended, max(at_ns, 60))]


def test_that_the_session_ends_with_its_last_program() -> None:
    brings, brings_none = played_opened(may_bring_more=lambda: True), played_opened()
    for live, end, opened, is_over in (
        ([], "", None, True),
        ([], "", brings_none, True),
        ([], "", brings, False),
        (["another"], "", brings_none, False),
        ([], "It is over.", brings_none, False),
    ):
        program = played_program(translation=SimpleNamespace(last_ns=60))
        session = _ending(program, [], _end=end, _opened=opened)
        session._joined.attached = lambda live=live: live
        do("_detach", session, program, "it was tired", 90)
        assert [each[1:3] for each in session.events] == [(MARK, 0)]
        assert bool(session.over[1:]) is is_over, (live, end, opened)


def _ending(program: Any, clocks: list[int], parent: object = None, **has: object) -> Any:  # noqa: ANN401
    """Return a session whose program with these clocks, among others, is about to end."""

    def detach(of: Any, why: str) -> None:  # noqa: ANN401 - a program
        of.ended = why
        own.clear()

    own = [(program, each) for each in clocks]
    events: list[tuple[int, ...]] = []
    over: list[object] = []
    about = {
        "events": events,
        "over": over,
        "now_ns": 100,
        "_end": "",
        "_opened": None,
        "own_clocks": lambda: [(played_program(), 8), *own],
        "log": SimpleNamespace(intern=lambda text: 70 if text == program.ended else 0),
        "_sorter": SimpleNamespace(
            newest_ns=80, end_program=over.append, add=lambda *added: events.extend(added)
        ),
        "_joined": SimpleNamespace(
            detach=detach, attached=list, parent_of=lambda of: parent if of is program else None
        ),
        "_finish": lambda *given: over.append(given),
    }
    return SimpleNamespace(**{**about, **has})


def _looking(**has: object) -> Any:  # noqa: ANN401 - a session that looks after its program
    did: list[Any] = []
    about: dict[str, object] = {
        "did": did,
        "now": 10_000_000_000,
        "_lost_since_mark": 0,
        "_marked_ns": 0,
        "_ending": {},
        "_end": "",
        "_looked_after_ns": 0,
        "acceptor": SimpleNamespace(is_reachable=False, connecting_since_ns=None),
        "_is_reachable": True,
        "_opened": played_opened(),
        "opening_problem": None,
        "_joined": SimpleNamespace(attached=list),
        "programs": {},
        "_last_end": "It has ended.",
        "now_ns": 60,
        "log": SimpleNamespace(intern=lambda text: text),
        "note": lambda *given: did.append(given),
        "_end_program": lambda *given: did.append(("end", *given)),
        "_finish": lambda *given: did.append(("finish", *given)),
        "_handle_news": lambda: did.append("news"),
        "_why_no_probe": lambda _: "",
    }
    session = SimpleNamespace(**{**about, **has})
    session._now_ns = lambda: session.now
    return session


def test_that_lost_events_are_marked_once_in_a_while_with_their_number() -> None:
    session = _looking(_lost_since_mark=3, _looked_after_ns=1 << 62)
    session._marked_ns = session.now - 1_000_000_000 + 1
    do("_check_process", session)
    assert session.did == []
    session.now += 1
    do("_check_process", session)
    assert session.did == [(MARK, 0, "3 events were lost")]
    assert (session._lost_since_mark, session._marked_ns) == (0, session.now)
    session.now += 2_000_000_000
    do("_check_process", session)
    assert len(session.did) == 1
    session._lost_since_mark = 1
    do("_check_process", session)
    assert session.did[1:] == [(MARK, 0, "1 event was lost")]


def test_that_ends_that_are_not_understood_yet_are_looked_at_again() -> None:
    gone, other = Key(is_attached=False), Key(is_attached=True)
    session = _looking(_ending={gone: "a", other: "b"}, _looked_after_ns=1 << 62)
    do("_check_process", session)
    assert session.did == [("end", other, "b")]


def test_that_the_process_is_looked_after_in_intervals_until_the_end() -> None:
    session = _looking()
    session._looked_after_ns = session.now - 500_000_000 + 1
    do("_check_process", session)
    assert session._is_reachable
    session.now += 1
    session._end = "It is over."
    do("_check_process", session)
    assert session._is_reachable
    session._end = ""
    do("_check_process", session)
    assert not session._is_reachable
    assert session._looked_after_ns == session.now


def test_that_a_way_in_that_leads_nowhere_ends_the_session() -> None:
    none = AttachError("There is none.")
    cases: tuple[tuple[dict[str, Any], list[Any]], ...] = (
        ({}, []),
        ({"_opened": None}, []),
        (
            {"_opened": None, "opening_problem": none},
            [("finish", "There is none.", 60)],
        ),
        ({"opening_problem": none}, []),
        ({"programs": {0: None}}, [("finish", "It has ended.", 60)]),
        ({"programs": {0: None}, "_joined": SimpleNamespace(attached=lambda: [1])}, []),
        ({"programs": {0: None}, "more": True}, []),
        ({"problem": "It is deaf."}, ["news", ("finish", "It is deaf.", 60)]),
        ({"_why_no_probe": lambda _: "It is old."}, ["news", ("finish", "It is old.", 60)]),
        ({"problem": "It is deaf.", "programs": {0: None}, "more": True}, []),
        ({"problem": "It is deaf.", "connecting": 5}, ["news"]),
    )
    for has, did in cases:
        more, problem, connecting = (has.get(each) for each in ("more", "problem", "connecting"))
        opened = played_opened(
            may_bring_more=lambda more=more: more, problem=lambda problem=problem: problem or ""
        )
        acceptor = SimpleNamespace(is_reachable=True, connecting_since_ns=connecting)
        session = _looking(**{"_opened": opened, "acceptor": acceptor, **has})
        do("_check_process", session)
        assert session.did == did, has
        if did[:1] == ["news"] and did[1:]:
            assert str(session.opening_problem) == did[1][1]
        else:
            assert session.opening_problem is has.get("opening_problem")


def test_that_a_program_that_came_while_its_end_was_found_out_is_kept() -> None:
    opened = played_opened(problem=lambda: "It is deaf.")
    session = _looking(_opened=opened)
    session._handle_news = lambda: session.programs.update({0: None})
    do("_check_process", session)
    assert (session.did, session.opening_problem) == ([], None)
    first = AttachError("It was refused.")
    session = _looking(_opened=opened, opening_problem=first)
    do("_check_process", session)
    assert session.opening_problem is first
