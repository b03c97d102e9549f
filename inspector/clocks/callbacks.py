"""Callbacks: their labels, and what is refused as a callback or as its result."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR, CO_ITERABLE_COROUTINE
from types import AsyncGeneratorType, CodeType, CoroutineType, GeneratorType
from typing import Final

from inspector.foreign.numbers import shown


def label_of(callback: Callable[..., object]) -> str:
    """Return the qualified name of a callable, without ``<locals>``."""
    function = getattr(callback, "func", callback)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return str(name).replace("<locals>.", "").replace("<lambda>", "lambda")


def checked_callable(callback: object) -> None:
    """Refuse what cannot be called, and async and generator functions, with a ``TypeError``."""
    if not callable(callback):
        # Most likely the result of a function that was called by mistake.
        hint = "; pass the function itself, without calling it" if callback is None else ""
        raise TypeError(f"not callable: {shown(callback)}{hint}")
    flags = _flags_of(callback)
    if flags & _AWAITED_FLAGS:
        raise TypeError(_AWAITED.format(what="the async function", label=label_of(callback)))
    if flags & CO_ASYNC_GENERATOR:
        raise TypeError(_AWAITED.format(what="the async generator", label=label_of(callback)))
    if flags & CO_GENERATOR:
        raise TypeError(_ADVANCED.format(what="generator function", label=label_of(callback)))


def refuse_unfinished(returned: object) -> None:
    """Refuse a coroutine or generator that a callback has returned, because nothing would run it.

    It is closed, so that Python does not warn about it. The ``TypeError`` says what to write.
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
    "nothing here awaits {what} {label!r}: pass a plain function, which may call asyncio.run() "
    "for something short; for anything longer start a thread and return its result with "
    "clock.post()"
)
_ADVANCED: Final = (
    "nothing here advances the {what} {label!r}: pass a plain function, which may call next() "
    "on a generator that it keeps"
)
_AWAITED_FLAGS: Final = CO_COROUTINE | CO_ITERABLE_COROUTINE


def _flags_of(callback: object) -> int:
    """Return the flags of the code that a call runs, 0 if it is not Python code."""
    while isinstance(callback, partial):
        callback = callback.func
    code = getattr(callback, "__code__", None)
    if code is None:
        code = getattr(type(callback).__call__, "__code__", None)
    return code.co_flags if isinstance(code, CodeType) else 0


class CheckedCallback:
    """An attribute that accepts what :func:`checked_callable` accepts, or ``None``.

    Without ``__get__``, reading it costs as little as any attribute.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __set__(self, instance: object, value: object) -> None:
        """Set the callback; a ``TypeError`` for what cannot be called, or nothing would run."""
        if value is not None:
            checked_callable(value)
        instance.__dict__[self._name] = value
