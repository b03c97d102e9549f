"""Stand-ins for requests and sessions, which have what a method asks for, and nothing else."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from inspector.remote.methods import REFUSED, RemoteError


def like(*protocols: type, **has: object) -> Any:  # noqa: ANN401 - a session
    """Return an object with all names of some protocols, and what is given."""
    names = {name for each in protocols for name in dir(each) if not name.startswith("_")}
    given = {name: staticmethod(each) if callable(each) else each for name, each in has.items()}
    return type("Session", (), {**dict.fromkeys(names, ""), **given})()


class Asked:
    """A request to a session."""

    def __init__(self, session: object = None, kind: str = "scene", grant: str = "full") -> None:
        self.opened = SimpleNamespace(session=session, kind=kind, number=3, host=None, path="")
        self.checked: list[tuple[str, str]] = []
        self.woken = threading.Event()
        self.worker = SimpleNamespace(wake=self.woken.set, opened=None)
        self.client = object()
        self.shown = None
        self.handler = SimpleNamespace(grant=grant, sessions={}, program=("own",))

    def session(self, _number: int) -> SimpleNamespace:
        return self.opened

    def check(self, needed: str, what: str) -> None:
        self.checked.append((needed, what))


def refusal(ask: Callable[[], object], code: int = REFUSED) -> str:
    with pytest.raises(RemoteError) as refused:
        ask()
    assert refused.value.code == code
    return str(refused.value)


def noted(notes: list[Any], what: object, answer: object) -> object:
    notes.append(what)
    return answer
