"""Hands the probe on to children that are given the program's environment, changed or not."""

from __future__ import annotations

import _thread
import os
from _thread import get_ident
from collections.abc import Mapping

from .import_hook import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType
    from typing import Any, NoReturn

_CONNECT = "TIMELINE_PROBE_CONNECT"
_TOKEN = "TIMELINE_PROBE_TOKEN"  # noqa: S105 - the name, not the token
_HOLD = "TIMELINE_PROBE_HOLD"
_GRANT = "TIMELINE_PROBE_GRANT"
_PATH = "PYTHONPATH"
_FOLDER = os.path.dirname(os.path.abspath(__file__))

#: Position of ``env`` among the arguments of ``Popen``, after ``self``.
_POPEN_ENV = 10
#: Functions of ``os`` with the environment as third argument.
_OS_STARTERS = ("execve", "posix_spawn", "posix_spawnp")

_handed_on: dict[str, str] = {}
#: The threads that start a process by subprocess: what they fork runs no more of the program.
_starting: set[int] = set()


def taken_from_environment() -> dict[str, Any] | None:
    """Return the arguments for ``timeline_probe.start``, ``None`` if there is no token.

    The token leaves ``os.environ``, which programs print and log.
    """
    if not is_main_interpreter():
        return None
    token = os.environ.pop(_TOKEN, "")
    is_held = os.environ.pop(_HOLD, "") == "1"
    if not token:
        return None
    grant = os.environ.get(_GRANT, "full")
    return {"connect": os.environ[_CONNECT], "token": token, "hold": is_held, "grant": grant}


def is_main_interpreter() -> bool:
    """Whether this is the interpreter of the program, not one that runs within it."""
    ask = getattr(_thread, "_is_main_interpreter", None)  # since Python 3.12
    if ask is not None:
        return bool(ask())
    try:
        interpreters = __import__("_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


def hand_on(connect: str, token: str, grant: str) -> None:
    """Let processes that this one starts dial the same inspector."""
    is_first = not _handed_on
    _handed_on.update({_CONNECT: connect, _TOKEN: token, _GRANT: grant})
    for name, value in _handed_on.items():
        # For children that inherit; os.environ does not learn of it.
        os.putenv(name, value)
    # By this, an environment is known as the program's own.
    os.environ[_CONNECT] = connect
    os.putenv(_PATH, _path_with_probe(os.environ.get(_PATH, "")))
    if not is_first:
        return
    for name in _OS_STARTERS:
        starter = getattr(os, name, None)
        if starter is not None:
            setattr(os, name, _giving(starter, 2))
    when_imported("subprocess", _wrap_popen)


def when_left(close: Callable[[], object]) -> None:
    """Call ``close`` when the process leaves by ``os._exit``, as forked children do."""
    leave = os._exit

    def _exit(status: int) -> NoReturn:
        close()
        leave(status)

    os._exit = _exit


def is_starting() -> bool:
    """Whether this thread starts a process that is another program at once."""
    return get_ident() in _starting


def _wrap_popen(subprocess: ModuleType) -> None:
    start = subprocess.Popen.__init__

    def __init__(popen: Any, *args: Any, **kwargs: Any) -> None:  # noqa: N807 - it takes its place
        thread = get_ident()
        _starting.add(thread)
        try:
            start(popen, *args, **kwargs)
        finally:
            _starting.discard(thread)

    _take_after(__init__, start)
    subprocess.Popen.__init__ = _giving(__init__, _POPEN_ENV + 1)


def _giving(start: Any, position: int) -> Any:
    """Return a function that starts a process with the probe in its environment."""

    def starting(*args: Any, **kwargs: Any) -> object:
        if "env" in kwargs:
            kwargs["env"] = _with_probe(kwargs["env"])
        elif len(args) > position:
            args = (*args[:position], _with_probe(args[position]), *args[position + 1 :])
        return start(*args, **kwargs)

    return _take_after(starting, start)


def _take_after(function: Any, original: Any) -> Any:
    """Do what ``functools.wraps`` does, whose import takes a tenth of the probe's."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, name, getattr(original, name))
    function.__wrapped__ = original
    return function


def _with_probe(environment: Any) -> Any:
    if not isinstance(environment, Mapping):
        return environment  # inherited, or an error that is the program's
    given = dict(environment)
    is_bytes = any(isinstance(name, bytes) for name in given)
    if (os.fsencode(_CONNECT) if is_bytes else _CONNECT) not in given:
        # One that the program has made for a child with which it shares nothing.
        return environment

    def put(name: str, value: str) -> None:
        given.pop(name, None)
        given[os.fsencode(name) if is_bytes else name] = os.fsencode(value) if is_bytes else value

    path = given.get(_PATH, given.get(os.fsencode(_PATH), ""))
    put(_PATH, _path_with_probe(os.fsdecode(path)))
    for name, value in _handed_on.items():
        put(name, value)
    return given


def _path_with_probe(path: str) -> str:
    # An empty part stands for the present folder.
    others = [each for each in path.split(os.pathsep) if each != _FOLDER] if path else []
    return os.pathsep.join([_FOLDER, *others])
