"""Common mistakes of newcomers, and the messages that correct them.

Names from other libraries, swapped arguments, and an object next to the needed one. Nothing
here runs before something is refused anyway.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from inspector.clocks.callbacks import label_of
from inspector.display_text import with_article
from inspector.foreign.numbers import shown
from inspector.timebase import seconds_to_ns

#: Names in other libraries, lower case without underscores, and their names here; the first
#: that the object has is suggested.
_NAMES_ELSEWHERE: Final[dict[str, tuple[str, ...]]] = {
    "addchild": ("child", "node"),
    "addtimer": ("set_timeout", "schedule"),
    "after": ("set_timeout", "schedule_once"),
    "afteridle": ("set_timeout", "schedule_once"),
    "callafter": ("set_timeout", "schedule_once"),
    "callat": ("set_timeout", "schedule_once"),
    "callevery": ("set_interval", "schedule"),
    "calllater": ("set_timeout", "schedule_once"),
    "callsoon": ("set_timeout", "schedule_once"),
    "cancel": ("clear", "unschedule"),
    "cleartimeout": ("clear", "unschedule"),
    "clearinterval": ("clear", "unschedule"),
    "createtimer": ("set_timeout", "schedule"),
    "currenttime": ("time",),
    "delay": ("set_timeout", "schedule_once"),
    "delayedcall": ("set_timeout", "schedule_once"),
    "every": ("set_interval", "schedule"),
    "everyframe": ("every_frame", "on"),
    "fps": ("frame_rate",),
    "getcomponent": ("component",),
    "getdeltatime": ("delta", "delta_ns"),
    "deltatime": ("delta", "delta_ns"),
    "gettime": ("time",),
    "invoke": ("set_timeout", "schedule_once"),
    "invokerepeating": ("set_interval", "schedule"),
    "loop": ("set_interval", "every_frame"),
    "newtimer": ("set_timeout", "schedule"),
    "now": ("time",),
    "nowms": ("time",),
    "onframe": ("every_frame", "on"),
    "onupdate": ("every_frame", "on"),
    "play": ("resume",),
    "repeat": ("set_interval", "schedule"),
    "requestanimationframe": ("every_frame", "on"),
    "schedule": ("set_interval",),
    "scheduleinterval": ("set_interval", "schedule"),
    "scheduleonce": ("schedule_once", "set_timeout"),
    "scheduleupdate": ("schedule_update", "every_frame"),
    "scheduleupdatefortarget": ("schedule_update",),
    "setinterval": ("set_interval", "schedule"),
    "settimeout": ("set_timeout", "schedule_once", "set_timeout_ns"),
    "settimer": ("set_timeout", "schedule"),
    "settimescale": ("time_scale", "rate"),
    "singleshot": ("set_timeout", "schedule_once"),
    "speed": ("rate", "time_scale"),
    "starttimer": ("set_interval", "schedule"),
    "stop": ("pause", "clear"),
    "tick": ("every_frame", "run_frame", "update"),
    "timescale": ("time_scale", "rate"),
    "unpause": ("resume",),
    "unschedule": ("clear",),
    "unscheduleall": ("unschedule_all",),
    "unscheduleallcallbacks": ("unschedule_all",),
    "unscheduleallfortarget": ("unschedule_target",),
    "wait": ("set_timeout", "schedule_once"),
}


def suggest_name(error: BaseException) -> None:
    """Add a similar or equivalent name to the error of an unknown attribute of ours.

    For an error about to be shown. A ``__getattr__`` that did this at once would make every
    access to a clock's attributes slower: without one, Python finds them by their place.
    """
    if not isinstance(error, AttributeError) or not isinstance(error.name, str):
        return
    name, owner = error.name, error.obj
    suggestion = None
    if not name.startswith("_") and _is_ours(owner) and not hasattr(type(owner), name):
        suggestion = _suggestion(owner, name)
    if suggestion is not None:
        error.args = (f"{error}; did you mean {suggestion!r}?",)
        # Newer versions of Python would add a suggestion of their own.
        error.name = None


def _is_ours(owner: object) -> bool:
    kind = type(owner)
    if kind.__getattribute__ is not object.__getattribute__:
        return False
    return any(str(base.__module__).startswith("inspector.") for base in kind.__mro__)


def _suggestion(owner: object, name: str) -> str | None:
    # The stage may be asked for what its root clock or director can do.
    own = {*getattr(owner, "__dict__", ()), *getattr(owner, "__slots__", ())}
    parts = ((f"{part}.", getattr(owner, part)) for part in ("root", "director") if part in own)
    for prefix, thing in (("", owner), *parts):
        names = {*dir(type(thing)), *getattr(thing, "__dict__", ())}
        known = sorted(each for each in names if not each.startswith("_"))
        for candidate in _candidates(name, known):
            return f"{prefix}{candidate}"
    return None


def _candidates(name: str, known: Iterable[str]) -> Iterator[str]:
    plain = name.replace("_", "").lower()
    snake_case = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    for candidate in (snake_case, *_NAMES_ELSEWHERE.get(plain, ())):
        if candidate in known:
            yield candidate
    from difflib import get_close_matches  # noqa: PLC0415 - only for an error

    yield from get_close_matches(snake_case, known, n=1, cutoff=0.8)


def refused_seconds(
    call: str, argument: str, given: object, error: ValueError, callback: object
) -> Exception:
    """Return the exception for an argument that is not a number of seconds.

    ``call`` is the expected one, such as ``set_timeout(delay, callback)``, and ``callback`` the
    value that was given for that.
    """
    if callable(given) and not callable(callback):
        return _swapped(call, callback, given)
    return ValueError(f"{call}: the {argument} is {error}")


def checked_seconds_ns(call: str, argument: str, given: Any) -> int:  # noqa: ANN401 - anything
    """Return an argument in seconds as nanoseconds; a ``ValueError`` names it if it is none.

    ``call`` is the expected one, such as ``child(name, rate, epoch)``.
    """
    try:
        return seconds_to_ns(given)
    except ValueError as error:
        raise ValueError(f"{call}: the {argument} is {error}") from None


def check_order(call: str, callback: object, seconds: object) -> None:
    """Refuse a callback and a number of seconds that are swapped, with a ``TypeError``.

    It shows the expected ``call``, such as ``schedule(callback, interval)``.
    """
    if callable(seconds) and not callable(callback):
        raise _swapped(call, callback, seconds)


def _swapped(call: str, seconds: object, callback: Callable[..., object]) -> TypeError:
    name, _, order = call.partition("(")
    label = label_of(callback)
    # A lambda has no name that could be written.
    texts = {each: each if label.endswith("lambda") else label for each in ("callback", "listener")}
    arguments = ", ".join(texts.get(each, repr(seconds)) for each in order[:-1].split(", "))
    return TypeError(f"{call}: the arguments are swapped; write {name}({arguments})")


def checked_name(call: str, name: object) -> None:
    """Refuse a name that is not a text, with a ``TypeError`` that names argument and value."""
    if not isinstance(name, str):
        raise TypeError(f"{call}: the name is not a text: {shown(name)}")


def checked_clock(call: str, clock: object) -> None:
    """Refuse what is not a clock with a ``TypeError``, and say where the clock is.

    Anything with a time and a tree counts as a clock; ``call`` is what needs one, such as
    ``Director(clock)``.
    """
    if _is_clock(clock):
        return
    kind = type(clock).__name__
    message = f"{call}: needs a clock, not {with_article(kind)}"
    for path in ("root", "tree.root"):
        if _reaches_clock(clock, path):
            message += f"; pass its clock, {kind.lower()}.{path}"
            break
    raise TypeError(message)


def _reaches_clock(owner: object, path: str) -> bool:
    found: object = owner
    for part in path.split("."):
        found = getattr(found, part, None)
    return _is_clock(found)


def _is_clock(thing: object) -> bool:
    return hasattr(type(thing), "time_ns") and hasattr(type(thing), "tree")
