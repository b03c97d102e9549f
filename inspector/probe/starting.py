"""Starts the probe: dials an inspector or listens for one, and does so again in forked children."""

from __future__ import annotations

import atexit
import os
import sys
import threading
from _thread import allocate_lock
from functools import partial, wraps

from .adapters.loop import frame as begin_frame
from .bootstrap.children import hand_on, is_main_interpreter, is_starting, when_left
from .connection import listening
from .link import Link, program_name
from .marking import use
from .program import Program
from .requests import GRANTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from socket import socket
    from typing import Optional

_program: Optional[Program] = None
_link: Optional[Link] = None
#: How a forked child dials: address, token and grant; None if it does not.
_restart: Optional[tuple[str, str, str]] = None
_is_forkable = False
#: How many threads are forking: the probe's own runs again after the last of them.
_forking = 0
_forking_lock = allocate_lock()


class Server:
    """What :func:`serve` has opened.

    Attributes:
        address: Where it listens; empty in a program that an inspector has launched, and where
            none can attach.
        token: What an inspector has to know.
    """

    def __init__(self, address: str, token: str) -> None:
        self.address = address
        self.token = token

    def close(self) -> None:
        """Stop listening, and release everything that an inspector holds."""
        if self.address and _link is not None:
            _close("the program has stopped listening")


def start(
    connect: str,
    token: str,
    *,
    hold: bool = False,
    grant: str = "full",
    only_children: bool = False,
) -> None:
    """Dial an inspector; used to launch programs and to enter running ones.

    Returns once the inspector has answered, or after five seconds. Without an inspector the program
    runs as it would without a probe.

    Args:
        connect: ``unix:/path`` or ``tcp:127.0.0.1:PORT``.
        token: What the inspector expects to be sent.
        hold: Hold the program's clock from the beginning.
        grant: ``"read-only"``, ``"step"`` or ``"full"``.
        only_children: Dial only in children that are forked from this process.

    Raises:
        RuntimeError: An inspector is attached, or may attach through :func:`serve`.
    """
    global _link, _restart  # noqa: PLW0603 - one probe in a process
    if _link is not None:
        if not _link.is_over:
            raise RuntimeError("an inspector is attached to it already, or has its own way in")
        _link.close("")
    program = _the_program(hold=hold and not only_children)
    _restart = (connect, token, grant)
    _handle_forks()
    hand_on(connect, token, grant)
    if only_children:
        return
    _link = Link(program, token, grant, address=connect)
    _link.start()
    _link.wait_until_settled()
    if _link.problem:
        program.release()
        sys.stderr.write(f"timeline probe: not attached: {_link.problem}\n")


def serve(
    address: Optional[str] = None, *, token: Optional[str] = None, grant: str = "full"
) -> Server:
    """Let an inspector attach to this program.

    If the default address cannot be used, such as in a folder that another user has made, a message
    is written to standard error, and the program goes on.

    Args:
        address: Where to listen: ``unix:/path`` or ``tcp:127.0.0.1:PORT``, port 0 for any. By
            default, where ``timeline-inspector attach`` looks.
        token: What an inspector has to know; unless given, a random one.
        grant: What it may do: ``"read-only"``, ``"step"`` or ``"full"``.

    Raises:
        ValueError: The address is not one of this machine, or there is no such grant.
        OSError: The address that was given cannot be listened on.
    """
    global _link  # noqa: PLW0603 - one probe in a process
    if grant not in GRANTS:
        raise ValueError(f"no grant, {', '.join(GRANTS)}: {grant!r}")
    if _restart is not None or _link is not None or not is_main_interpreter():
        return Server("", "")
    token = token or os.urandom(16).hex()
    try:
        listener, address = _listening_at_place(token) if address is None else listening(address)
    except OSError as error:
        if address is not None:
            raise
        sys.stderr.write(f"timeline probe: no inspector can attach: {error}\n")
        return Server("", "")
    _link = Link(_the_program(), token, grant, listener=listener)
    _handle_forks()
    _link.start()
    return Server(address, token)


def _listening_at_place(token: str) -> tuple[socket, str]:
    # Programs that dial need none, and pathlib and tempfile take as long as all of the probe.
    from .places import ListeningPlace  # noqa: PLC0415

    place = ListeningPlace.made()
    atexit.register(place.remove)
    place.write_token(token)
    return listening(place.address)


def _the_program(*, hold: bool = False) -> Program:
    global _program  # noqa: PLW0603 - one probe in a process
    is_new = _program is None
    if _program is None:
        _program = Program(program_name())
    if hold:
        # Before anything else: finding out what is loaded takes no time of the program.
        _program.pause(_program.own_clock)
    if is_new:
        use(_program, partial(begin_frame, _program))
        _program.watch_imports()
        watch_threads(_program)
        atexit.register(_close, "the program has ended")
    return _program


def watch_threads(program: Program) -> None:
    """Report exceptions that nothing has caught, so that they end a thread of the program."""
    report = threading.excepthook

    @wraps(report)
    def reporting(args: threading.ExceptHookArgs) -> None:
        # SystemExit is how a thread ends itself.
        if program.emit is not None and args.exc_type is not SystemExit:
            name = "a thread" if args.thread is None else args.thread.name
            program.failed(name, args.exc_type, args.exc_value, args.exc_traceback)
        report(args)

    threading.excepthook = reporting


def _close(reason: str) -> None:
    global _link
    link, _link = _link, None
    if link is not None:
        link.close(reason)


def _handle_forks() -> None:
    global _is_forkable  # noqa: PLW0603
    if not _is_forkable and hasattr(os, "register_at_fork"):
        _is_forkable = True
        os.register_at_fork(
            before=_before_fork, after_in_parent=_after_fork, after_in_child=_in_child
        )
        when_left(lambda: _close("the program has ended"))


def _before_fork() -> None:
    global _forking  # noqa: PLW0603
    with _forking_lock:
        _forking += 1
    # Python 3.12 and newer warn of a fork while other threads run.
    if _link is not None:
        _link.stop()


def _after_fork() -> None:
    global _forking  # noqa: PLW0603
    with _forking_lock:
        _forking -= 1
        if _link is None or _forking:
            return
        try:
            _link.start()
        except RuntimeError:
            # The interpreter is about to end.
            _the_program().detach()


def _in_child() -> None:
    global _link, _forking, _forking_lock  # noqa: PLW0603
    _forking, _forking_lock = 0, allocate_lock()
    # Python leaves the thread with the number that it had in the parent.
    set_native_id = getattr(threading.current_thread(), "_set_native_id", None)
    if set_native_id is not None:
        set_native_id()
    link, _link = _link, None
    if link is not None:
        link.abandon()
    if _program is None:
        return
    _program.forked()
    if _restart is not None and not is_starting():
        connect, token, grant = _restart
        _link = Link(_program, token, grant, address=connect)
        _link.start()
        # As at the start of a program, nothing of the child runs before an inspector sees it.
        _link.wait_until_settled()
