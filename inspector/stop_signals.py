"""Ctrl+C, SIGTERM and SIGHUP: the first ends the work in good order, the second the process."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import ClassVar, Final

from inspector.exit_codes import ExitCode

#: It comes when the terminal is closed; Windows has none.
_HANGUP: Final = getattr(signal, "SIGHUP", None)
_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, *filter(None, (_HANGUP,)))

#: From ``<signal.h>``: the next signal has its default effect.
_RESET_AFTER_FIRST: Final = 0x80000000
#: Platform on which the C structure has the layout below.
_KNOWN_MACHINES: Final = frozenset({"x86_64", "aarch64"})
_MASK_BYTES: Final = 128


def exit_code_of(number: int) -> ExitCode:
    """Return the exit code of a process ended by a signal, as in shells."""
    return ExitCode(128 + number)


@contextmanager
def signals_held_back() -> Iterator[None]:
    """Deliver the first Ctrl+C or SIGTERM at the end; the second ends the process at once.

    For calls into Qt that an exception in the middle would crash: the import of PySide6, and
    drawing. Signals that call nothing in Python, and other threads, are left alone.
    """
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    if threading.current_thread() is not threading.main_thread():
        handlers = {}
    raising = {number: handler for number, handler in handlers.items() if callable(handler)}
    came: list[int] = []

    def note(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        for each in raising:
            signal.signal(each, signal.SIG_DFL)

    for each in raising:
        signal.signal(each, note)
    try:
        yield
    finally:
        for each, handler in raising.items():
            signal.signal(each, handler)
            if isinstance(getattr(handler, "__self__", None), StopSignals):
                _end_at_second(each)
        if came:
            signal.raise_signal(came[0])


class StopSignals:
    """Handles the first Ctrl+C or SIGTERM; the second ends the process at once.

    Python handles the first between two of its instructions. A long computation in a library
    prevents that, so on Linux the second needs no Python at all. For the main thread.
    """

    def __init__(self, on_first: Callable[[int, FrameType | None], None]) -> None:
        self.number = 0  # The signal received, 0 for none
        self._on_first = on_first
        # What was started with nohup outlives its terminal.
        taken = [each for each in _SIGNALS if each != _HANGUP or not _is_ignored(each)]
        self._former = {number: signal.signal(number, self._handle) for number in taken}
        for number in taken:
            _end_at_second(number)

    def stop(self) -> None:
        for number, handler in self._former.items():
            signal.signal(number, handler)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.number = number
        for each in self._former:
            signal.signal(each, signal.SIG_DFL)
        if number == _HANGUP:
            _write_nowhere()
        self._on_first(number, frame)


def _is_ignored(number: int) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def _write_nowhere() -> None:
    """Let what is still printed to a terminal that was closed be no error."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for output in (1, 2):
        if os.isatty(output):
            os.dup2(nowhere, output)
    os.close(nowhere)


def _end_at_second(number: int) -> None:
    """Let a second signal end the process, whatever Python is doing."""
    if sys.platform != "linux" or os.uname().machine not in _KNOWN_MACHINES:
        return
    import ctypes  # noqa: PLC0415 - not needed elsewhere

    class Action(ctypes.Structure):
        """``struct sigaction`` of glibc and musl."""

        # The stubs know only a bare class attribute.
        _fields_: ClassVar = [  # type: ignore[mutable-override]
            ("handler", ctypes.c_void_p),
            ("mask", ctypes.c_ubyte * _MASK_BYTES),
            ("flags", ctypes.c_uint),
            ("restorer", ctypes.c_void_p),
        ]

    sigaction = ctypes.CDLL(None).sigaction
    action = Action()
    if sigaction(int(number), None, ctypes.byref(action)) == 0:
        action.flags |= _RESET_AFTER_FIRST
        sigaction(int(number), ctypes.byref(action), None)
