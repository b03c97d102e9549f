"""The door that a way leads through."""

from __future__ import annotations

from typing import Any

import pytest

from inspector.errors import AttachError
from inspector.sessions.attached.doors import ways
from inspector.sessions.attached.doors.browser import Browser
from inspector.sessions.attached.doors.hosts.host import OnHost, Together
from inspector.sessions.attached.doors.launch import Launch
from inspector.sessions.attached.doors.listener import PageListener
from inspector.sessions.attached.doors.listening import Dial, Listen
from inspector.sessions.attached.doors.ways import Way

_NOTHING = Launch(())
_PROGRAM = Launch(("python3", "game.py"))


def _door(way: Way) -> Any:  # noqa: ANN401 - a door
    return way.door(print, lambda _address, _token: None)


@pytest.mark.parametrize(
    ("way", "count", "kind"),
    [
        (Way(_NOTHING), 0, type(None)),
        (Way(_NOTHING, ssh=("web-1",)), 0, type(None)),
        (Way(_PROGRAM), 1, Launch),
        (Way(_NOTHING, dial="unix:/s", token="t"), 1, Dial),  # noqa: S106 - none
        (Way(_NOTHING, listen="tcp"), 1, Listen),
        (Way(_NOTHING, listen="unix"), 1, Listen),
        (Way(_NOTHING, browser="9222"), 1, Browser),
        (Way(_NOTHING, listen_websocket=0), 1, PageListener),
        (Way(_NOTHING, 5, ssh=("web-1",)), 1, OnHost),
        (Way(_PROGRAM, exec=("env",)), 1, OnHost),
        (Way(_PROGRAM, ssh=("web-1",), exec=("env",)), 1, Together),
        (Way(_PROGRAM, 5, browser="9222", listen_websocket=0), 4, Browser),
    ],
)
def test_that_a_way_leads_through_its_door(way: Way, count: int, kind: type) -> None:
    assert way.count == count
    assert type(_door(way)) is kind


def test_that_a_door_knows_what_the_way_says(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not _door(Way(_NOTHING, listen="unix")).is_tcp
    assert _door(Way(_NOTHING, listen="tcp")).is_tcp
    door = _door(Way(_NOTHING, 5, exec=("env",), grant="step"))
    assert (door.pid, door.grant, door.on_note, door.launch) == (5, "step", print, None)
    monkeypatch.setattr(ways, "door_of_process", lambda pid, grant: (pid, grant))
    assert _door(Way(_NOTHING, 5, grant="step")) == (5, "step")
    assert _door(Way(_NOTHING, browser="9222")) == Browser("9222")
    way = Way(_NOTHING, browser="9222", headless=True, hold=True, grant="step")
    assert _door(way) == Browser("9222", hold=True, grant="step", headless=True)
    assert _door(Way(_NOTHING, dial="unix:/a", token="00")) == Dial("unix:/a", "00")  # noqa: S106
    pages = _door(Way(_NOTHING, listen_websocket=0, origin=("null",)))
    assert pages == PageListener(0, ("null",))
    launch = _door(Way(_PROGRAM))
    assert (launch.argv, launch.on_note) == (_PROGRAM.argv, print)


def test_that_ways_that_lead_nowhere_are_refused() -> None:
    with pytest.raises(AttachError, match="Name one host"):
        _door(Way(_NOTHING, 5, exec=("env", "env")))
    with pytest.raises(AttachError, match="nosuchprogram"):
        _door(Way(Launch(("nosuchprogram",))))
