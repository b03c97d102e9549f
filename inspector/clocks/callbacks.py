"""What can be a callback: checks, labels, and what a call must not return."""

from __future__ import annotations

from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_ITERABLE_COROUTINE
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Final

from inspector.foreign.numbers import shown

if TYPE_CHECKING:
    from collections.abc import Callable


def label_of(callback: Callable[..., object]) -> str:
    """Return the qualified name of a callable, as short as it is clear."""
    function = getattr(callback, "func", callback)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).replace("<locals>.", "").replace("<lambda>", "lambda")


def checked_callable(callback: object) -> None:
    """Refuse what cannot be called, and what would do nothing when called.

    Raises:
        TypeError: Naming what was given; an async function or a generator function is told
            what to write instead.
    """
    if not callable(callback):
        message = f"not something that can be called: {shown(callback)}"
        raise TypeError(message)
    flags = _flags_of(callback)
    if flags & _AWAITED_FLAGS:
        raise TypeError(_AWAITED.format(what="the async function", label=label_of(callback)))
    if flags & CO_ASYNC_GENERATOR:
        raise TypeError(_AWAITED.format(what="the async generator", label=label_of(callback)))
    if flags & CO_GENERATOR:
        raise TypeError(_ADVANCED.format(what="generator function", label=label_of(callback)))


def refuse_unfinished(returned: object) -> None:
    """Refuse what a callback has returned when it is a coroutine or a generator.

    Nothing would run it. It is closed, so that no warning follows.

    Raises:
        TypeError: Saying what to write instead.
    """
    if isinstance(returned, CoroutineType):
        returned.close()
        raise TypeError(_AWAITED.format(what="the coroutine", label=returned.__qualname__))
    if isinstance(returned, AsyncGeneratorType):
        raise TypeError(_AWAITED.format(what="the async generator", label=returned.__qualname__))
    if isinstance(returned, GeneratorType):
        returned.close()
        raise TypeError(_ADVANCED.format(what="generator", label=returned.__qualname__))


_AWAITED: Final = (
    "nothing here awaits {what} {label!r}: give a plain function, which may call asyncio.run() "
    "if that is quick, or else start a thread that does, and hands back what it has found with "
    "clock.post()"
)
_ADVANCED: Final = (
    "nothing here advances the {what} {label!r}: give a plain function, which may call next() "
    "on a generator that it keeps"
)
_AWAITED_FLAGS: Final = CO_COROUTINE | CO_ITERABLE_COROUTINE


def _flags_of(callback: object) -> int:
    """Return the flags of the code that a call runs, 0 if that is not Python's."""
    while isinstance(callback, partial):
        callback = callback.func
    code = getattr(callback, "__code__", None)
    if code is None and not isinstance(callback, type):
        code = getattr(type(callback).__call__, "__code__", None)
    return code.co_flags if isinstance(code, CodeType) else 0


class CheckedCallback:
    """An attribute that takes what :func:`checked_callable` accepts, or ``None``.

    It has no ``__get__``, so that reading it costs what any attribute costs.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        """Remember its name."""
        self._name = name

    def __set__(self, instance: object, value: object) -> None:
        """Keep a callback.

        Raises:
            TypeError: It cannot be called, or nothing would run it.
        """
        if value is not None:
            checked_callable(value)
        instance.__dict__[self._name] = value
