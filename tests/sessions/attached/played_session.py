"""Sessions, programs and ways in that have only what a part of a session needs."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace
from typing import Any

from inspector.sessions.attached.session import AttachedSession

LINK: Any = SimpleNamespace(began_ns=900)


def do(part: str, session: object, *given: object) -> Any:  # noqa: ANN401 - any result
    """Call a method of a session that has only the attributes it needs."""
    return getattr(AttachedSession, part)(session, *given)


def played_program(name: str = "game", **has: object) -> Any:  # noqa: ANN401 - a program
    about = {
        "name": name,
        "index": 3,
        "host": "",
        "pid": 5,
        "parent_pid": 1,
        "link": LINK,
        "is_attached": True,
        "is_stepping": False,
        "has_step_begun": False,
        "step_ended_ns": None,
        "lost": Counter[str](),
        "ended": "",
    }
    return SimpleNamespace(**{**about, **has})


class Key:
    """Something that can be a key."""

    def __init__(self, **has: object) -> None:
        vars(self).update(has)


def played_opened(**has: object) -> Any:  # noqa: ANN401 - what a door has opened
    about = {"pid": None, "note": "", "may_bring_more": lambda: False, "problem": lambda: ""}
    return SimpleNamespace(**{**about, **has})
