"""Hands the probe on to children that are given the program's environment, changed or not."""

from __future__ import annotations

import _thread
import os
from _thread import get_ident
from collections.abc import Mapping

from .import_hook import when_imported

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import Any, NoReturn

_CONNECT = "TIMELINE_PROBE_CONNECT"
_TOKEN = "TIMELINE_PROBE_TOKEN"  # noqa: S105 - the name, not the token
_HOLD = "TIMELINE_PROBE_HOLD"
_GRANT = "TIMELINE_PROBE_GRANT"
_PATH = "PYTHONPATH"
_FOLDER = os.path.dirname(os.path.abspath(__file__))
_NODE = "NODE_OPTIONS"
_PROBE_JS = os.path.join(os.path.dirname(_FOLDER), "js", "probe.js")
# Node takes a part in double quotes as one option, and knows no other quotes.
_QUOTED = _PROBE_JS.replace("\\", "\\\\").replace('"', '\\"')
_PRELOAD = f'--require "{_QUOTED}"'
#: Commands whose programs see other files, and options that restrict the files that Node reads:
#: there, Node would not start, because it does not find the probe.
_ELSEWHERE = frozenset(
    ("bwrap", "chroot", "docker", "firejail", "flatpak", "nsenter", "podman", "proot", "unshare")
)
_RESTRICTING = ("--experimental-permission", "--permission")
_SHELLS = frozenset(("ash", "bash", "dash", "ksh", "sh", "zsh"))
#: How much of a shell script is searched.
_SCRIPT_BYTES = 65536

#: Position of ``env`` among the arguments of ``Popen``, after ``self``.
_POPEN_ENV = 10
#: Functions of ``os`` with the environment as third argument.
_OS_STARTERS = ("execve", "posix_spawn", "posix_spawnp")

_handed_on: dict[str, str] = {}
#: The threads that start a process by subprocess: their forks do not continue the program.
_starting: set[int] = set()


def pop_start_arguments() -> dict[str, Any] | None:
    """Return the arguments for ``timeline_probe.start``, ``None`` if there is no token.

    The token is removed from ``os.environ``, which programs print and log.
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
        # For children that inherit the environment; os.environ does not change.
        os.putenv(name, value)
    # Marks environments that are made from the program's own.
    os.environ[_CONNECT] = connect
    os.putenv(_PATH, path_with_probe(os.environ.get(_PATH, "")))
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
        try:
            close()
        finally:
            leave(status)

    os._exit = _exit


def is_starting() -> bool:
    """Whether this thread is starting a process that becomes another program at once."""
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

    _wraps(__init__, start)
    subprocess.Popen.__init__ = _giving(__init__, _POPEN_ENV + 1)


def _giving(start: Any, position: int) -> Any:
    """Return a function that starts a process with the probe in its environment."""

    def starting(*args: Any, **kwargs: Any) -> object:
        command = args[1] if len(args) > 1 else kwargs.get("args")
        folder = kwargs.get("cwd")
        if kwargs.get("env") is not None:
            kwargs["env"] = _with_probe(kwargs["env"], command, folder)
        elif len(args) > position:
            given = _with_probe(args[position], command, folder)
            args = (*args[:position], given, *args[position + 1 :])
        elif _PRELOAD in os.environ.get(_NODE, "") and not _may_preload(command, folder):
            kwargs["env"] = _with_probe(os.environ, command, folder)
        return start(*args, **kwargs)

    return _wraps(starting, start)


def _words(command: Any) -> list[str]:
    """Return the words of a command line, or of what a shell is to run."""
    try:
        parts = [command] if isinstance(command, (str, bytes, os.PathLike)) else command
        return " ".join(map(os.fsdecode, parts)).split()
    except TypeError:
        return []  # an error that is the program's


def _words_of_scripts(words: Iterable[str], folder: Any) -> Iterator[str]:
    is_of_shell = False
    for word in words:
        if os.path.basename(word) in _SHELLS:
            is_of_shell = True
        elif not (is_of_shell and word.startswith("-")):
            text = b""
            try:
                path = os.path.join(os.fsdecode(folder or ""), word)
                if os.path.isfile(path):
                    with open(path, "rb") as file:
                        text = file.read(_SCRIPT_BYTES)
            except (OSError, TypeError, ValueError):
                pass
            first = text.partition(b"\n")[0].split() if text[:2] == b"#!" else []
            if is_of_shell or any(os.fsdecode(os.path.basename(e)) in _SHELLS for e in first):
                yield from text.decode("utf-8", "replace").split()
            is_of_shell = False


def _may_preload(command: Any, folder: Any) -> bool:
    """Whether Node finds the probe where a command line runs it, as far as that is known."""
    words = _words(command)
    return os.path.exists(_PROBE_JS) and not any(
        word in _RESTRICTING or os.path.basename(word) in _ELSEWHERE
        for word in (*words, *_words_of_scripts(words, folder))
    )


def node_options(given: str, command: Any, folder: Any = None) -> str:
    """Return Node's options with the probe, or without it if Node could not load that."""
    others = given.replace(_PRELOAD, "").strip()
    return f"{others} {_PRELOAD}".strip() if _may_preload(command, folder) else others


def _wraps(function: Any, original: Any) -> Any:
    """Do what ``functools.wraps`` does, whose import takes a tenth of the probe's."""
    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(function, name, getattr(original, name))
    function.__wrapped__ = original
    return function


def _with_probe(environment: Any, command: Any, folder: Any) -> Any:
    if not isinstance(environment, Mapping):
        return environment  # inherited, or an error that is the program's
    given = dict(environment)
    is_bytes = any(isinstance(name, bytes) for name in given)
    if (os.fsencode(_CONNECT) if is_bytes else _CONNECT) not in given:
        # The program has made it for a child that is to inherit nothing.
        return environment

    def put(name: str, value: str) -> None:
        given.pop(name, None)
        given[os.fsencode(name) if is_bytes else name] = os.fsencode(value) if is_bytes else value

    path = given.get(_PATH, given.get(os.fsencode(_PATH), ""))
    put(_PATH, path_with_probe(os.fsdecode(path)))
    options = os.fsdecode(given.get(_NODE, given.get(os.fsencode(_NODE), "")))
    if _PRELOAD in options:
        put(_NODE, node_options(options, command, folder))
    for name, value in _handed_on.items():
        put(name, value)
    return given


def path_with_probe(path: str) -> str:
    """Return a path for Python with the folder of the probe in front."""
    # An empty part would stand for the current folder.
    others = [each for each in path.split(os.pathsep) if each != _FOLDER] if path else []
    return os.pathsep.join([_FOLDER, *others])
