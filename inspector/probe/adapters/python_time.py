"""Python's ``time``: what a program reads there follows a clock, and its sleeps are timers.

The functions of the module are replaced before the program runs, and so are the join of threads
and the wait of conditions, on which events, queues, thread timers and futures wait. Parts of the
standard library that wait on sockets and processes keep the machine's time: what they wait for is
outside of the program. So does what waits in C, such as ``lock.acquire(timeout=…)``.
"""

from __future__ import annotations

import gc
import math
import sys
import threading
import time
import warnings
from _thread import allocate_lock
from contextlib import contextmanager
from functools import partial, wraps
from threading import get_ident
from types import BuiltinFunctionType, ModuleType

from ..bootstrap.import_hook import import_within, when_imported
from ..program import name_of
from . import Adapter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType
    from typing import Any, Callable, Optional

    from ..clocks import Clock
    from ..program import Program, Timer
    from ..waits import Waits
    from . import Capability

_READINGS = ("monotonic", "perf_counter", "time")
#: A smaller difference is the time between two readings.
_CLOCK_SET_NS = 1_000_000
#: Longer waits are left to Python: about what ``Condition.wait`` and ``time.sleep`` accept.
_LONGEST_S = 2**31
#: How often a thread that waits looks at the clock: at rate 1, and otherwise.
_PLAIN_SLICE_S = 1.0
_SCALED_SLICE_S = 0.05
#: In virtual time, how often a thread that joins another looks whether its time-out has come.
_JOIN_SLICE_S = 0.002
#: How often a thread that waited in the virtual time of a test looks whether another has begun.
_RETURN_SLICE_S = 0.01
#: A wait is named after the function of these modules that the program has called.
_WAITING = frozenset({"threading", "queue", "concurrent.futures._base", "multiprocessing.pool"})
#: A library that patches the C functions of ``time`` and ``datetime``, and so has to find them.
_TIME_MACHINE = "_time_machine"
#: The warning of Python itself.
_UTCNOW_IS_OLD = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use "
    "timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)
#: Modules of the standard library that use the machine's time. Not among them: ``sched`` and
#: ``turtle``, whose time is the program's.
_REAL_TIME = (  # noqa: SIM905 - a list would be 56 lines
    "_android_support _pydatetime _pyrepl.commands _pyrepl.unix_console _strptime "
    "asyncio.base_events asyncio.windows_events asyncore cgitb concurrent.futures._base "
    "concurrent.interpreters._queues datetime email._parseaddr email.generator email.utils gzip "
    "http.cookiejar http.cookies http.server imaplib logging logging.handlers mailbox "
    "multiprocessing.connection multiprocessing.managers multiprocessing.pool "
    "multiprocessing.queues multiprocessing.resource_tracker multiprocessing.synchronize pprint "
    "profile pstats pydoc random selectors smtpd socketserver sqlite3.dbapi2 ssl subprocess "
    "tarfile telnetlib timeit trace urllib.request urllib.robotparser uuid "
    "wsgiref.handlers xmlrpc.client zipfile zipimport"
).split()


class PythonTimeAdapter(Adapter):
    """The functions of the module ``time``.

    Attributes:
        day_ns: How far the time of day is ahead of what follows from its clock.
        return_to_machine: Sets the time of day to the machine's again.
    """

    library: str = "time"
    has_waits_of_threads = True
    says_what_it_waits_for = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.version = sys.version.split()[0]
        self.clock = program.clock("Python time", adapter=self)
        self.day_ns = 0
        self.return_to_machine: Callable[[], None]
        self._day_now_ns: Callable[[], int]
        self._datetime: Optional[_ClassMethods] = None
        self._sleeping: dict[int, Timer] = {}
        #: The replacements that programs find, with what they replace.
        self._natives: dict[Any, Any] = {}
        self._followers: list[tuple[Replacement, Callable[[], Any]]] = []
        self._real: Any = ModuleType("time", time.__doc__)

    def installed(self, module: ModuleType) -> None:
        self._real.__dict__.update(vars(module))
        for name in _READINGS:
            self._follow(module, name)
        self.clock.before_first_change = self._begin_to_follow
        if not self.clock.is_plain:
            self._begin_to_follow()
        self._replace(module, "sleep").call_instead(self._sleep_function())
        for name in ("threading", "queue"):
            when_imported(name, self._follow_in)
        self._follow_waits()
        for name in _REAL_TIME:
            when_imported(name, self._spare)
        import_within(_TIME_MACHINE, self._natives_in_place)

    def _follow(self, module: ModuleType, name: str) -> None:
        """Let the two functions of a reading, in seconds and in nanoseconds, follow the clock."""
        native_ns: Callable[[], int] = getattr(module, f"{name}_ns")
        machine_ns: Callable[[], int] = self._real.monotonic_ns
        local_ns, base_ns = self.clock.local_ns, self.program.base_ns
        # The difference of two clocks of the machine; it changes if the time of day is set.
        ahead_ns = native_ns() - machine_ns()

        def monotonic_ns() -> int:
            return local_ns() + base_ns

        def reading_ns() -> int:
            nonlocal ahead_ns
            now_ahead_ns = native_ns() - machine_ns()
            if abs(now_ahead_ns - ahead_ns) > _CLOCK_SET_NS:
                ahead_ns = now_ahead_ns
            return local_ns() + base_ns + ahead_ns + (self.day_ns if is_day else 0)

        def return_to_machine() -> None:
            self.day_ns += native_ns() - reading_ns()

        is_day = name == "time"
        if is_day:
            self.return_to_machine, self._day_now_ns = return_to_machine, reading_ns
        followed_ns = monotonic_ns if name == "monotonic" else reading_ns

        def followed() -> float:
            return followed_ns() / 1e9

        for each, follower in ((name, followed), (f"{name}_ns", followed_ns)):
            replacement = self._replace(module, each)
            self._followers.append((replacement, follower))

    def _begin_to_follow(self) -> None:
        """Call functions that follow the clock; so far, the machine's were called."""
        for replacement, follower in self._followers:
            replacement.call_instead(follower)
        when_imported("datetime", self._follow_datetime)

    def _follow_datetime(self, module: Any) -> None:
        """Let what ``datetime`` calls the present follow the time of day."""
        day_now_ns, of, replace = self._day_now_ns, module.datetime, module.datetime.replace
        utc, from_timestamp = module.timezone.utc, vars(of)["fromtimestamp"]

        def now(cls: Any, tz: Any = None) -> Any:
            # Such a float holds microseconds exactly.
            return from_timestamp.__get__(None, cls)(day_now_ns() // 1_000 / 1e6, tz)

        def utcnow(cls: Any) -> Any:
            if sys.version_info >= (3, 12):
                warnings.warn(_UTCNOW_IS_OLD, DeprecationWarning, stacklevel=2)
            return replace(now(cls, utc), tzinfo=None)

        followed = _ClassMethods(of, {"now": now, "utcnow": utcnow})
        try:
            followed.replace()
        except (ImportError, AttributeError, TypeError, SystemError):
            self.message = "in this Python, datetime.now() keeps the machine's time"
        else:
            self._datetime = followed

    @contextmanager
    def _natives_in_place(self) -> Iterator[None]:
        for native in self._natives.values():
            setattr(time, native.__name__, native)
        if self._datetime is not None:
            self._datetime.put_back()
        try:
            yield
        finally:
            for replacement, native in self._natives.items():
                setattr(time, native.__name__, replacement)
            if self._datetime is not None:
                self._datetime.replace()

    def _replace(self, module: ModuleType, name: str) -> Replacement:
        """Have programs find a replacement that calls what it replaces."""
        native = getattr(module, name)
        replacement = Replacement(native)
        self._natives[replacement] = native
        setattr(module, name, replacement)
        return replacement

    def _spare(self, module: ModuleType) -> None:
        for name, value in list(vars(module).items()):
            if value is time:
                setattr(module, name, self._real)
            elif type(value) is Replacement:
                setattr(module, name, self._natives[value])

    def _follow_in(self, module: ModuleType) -> None:
        """Let a module that was imported before follow the clock."""
        followers = {native: follower for follower, native in self._natives.items()}
        for name, value in list(vars(module).items()):
            if isinstance(value, BuiltinFunctionType) and value in followers:
                setattr(module, name, followers[value])

    # ----------------------------------------------------------------------- sleep

    def _sleep_function(self) -> Any:
        program, native, monotonic_ns = self.program, self._real.sleep, self._real.monotonic_ns
        follow = self._sleep

        def sleep(*seconds: Any, **wrong: Any) -> None:
            is_followed = program.emit is not None and len(seconds) == 1
            if is_followed and _is_span(seconds[0]) and not _is_spared(program.waits):
                follow(seconds[0])
                return
            # If an inspector attaches meanwhile, keyframe() reads these from the frame.
            began_ns = monotonic_ns()  # noqa: F841
            native(*seconds, **wrong)
            if program.emit is not None:
                self._woken()

        self._sleep_code = sleep.__code__
        return sleep

    def _sleep(self, seconds: Any) -> None:
        clock, program = self.clock, self.program
        due_ns = clock.local_ns() + math.ceil(seconds * 1e9)
        timer = program.timer(clock, "time.sleep", program.call_site(), due_ns)
        try:
            program.sleep_until(clock, due_ns)
        except BaseException:
            timer.cleared()
            raise
        timer.fired(clock.local_ns() - due_ns)

    def _woken(self) -> None:
        """A thread has slept by the machine's time; an inspector may have attached meanwhile."""
        timer = self._sleeping.pop(get_ident(), None)
        if timer is not None:
            timer.fired(self.clock.local_ns() - timer.due_ns)

    # ----------------------------------------------------------------------- waits

    def _follow_waits(self) -> None:
        program, follow = self.program, self._wait
        condition_type: Any = threading.Condition
        thread_type: Any = threading.Thread
        native_wait, native_join = condition_type.wait, thread_type.join

        @wraps(native_wait)
        def wait(condition: Any, timeout: Any = None) -> Any:
            waits, is_spared = program.waits, _is_spared(program.waits)
            if waits is not None and not is_spared and _may_wait(timeout):
                return self._wait_in_turn(waits, condition, timeout)
            if program.emit is None or is_spared or not _is_span(timeout):
                return native_wait(condition, timeout)
            return follow("Condition.wait", timeout, partial(native_wait, condition))

        @wraps(native_join)
        def join(thread: Any, timeout: Any = None) -> None:
            def has_ended(seconds: float) -> bool:
                native_join(thread, seconds)
                return not thread.is_alive()

            waits, is_spared = program.waits, _is_spared(program.waits)
            if waits is not None and not is_spared and _may_wait(timeout):
                self._join_in_turn(waits, thread, timeout, native_join)
            elif program.emit is None or is_spared or not _is_span(timeout):
                native_join(thread, timeout)
            else:
                follow("Thread.join", timeout, has_ended)

        condition_type.wait, thread_type.join = wait, join

    def _wait(self, name: str, timeout: float, is_over: Callable[[float], bool]) -> bool:
        """Wait in slices of real seconds; returns whether it was over before the time-out."""
        clock = self.clock
        due_ns = clock.local_ns() + math.ceil(timeout * 1e9)
        timer = self.program.timer(clock, *self._name_and_site(name), due_ns)
        try:
            while True:
                wait_ns = clock.real_ns_until(due_ns)
                if wait_ns == 0:
                    timer.fired(clock.local_ns() - due_ns)
                    return False
                slice_s = _PLAIN_SLICE_S if clock.is_plain else _SCALED_SLICE_S
                if is_over(slice_s if wait_ns is None else min(wait_ns / 1e9, slice_s)):
                    timer.cleared()
                    return True
        except BaseException:
            timer.cleared()
            raise

    def follow_queues(self) -> None:
        """Let threads of pools and simple queues wait by conditions too, not in C."""
        import concurrent.futures.thread as pools  # noqa: PLC0415 - only in virtual time
        import queue  # noqa: PLC0415

        in_python: Any = queue._PySimpleQueue  # type: ignore[attr-defined]
        namespace = ModuleType("queue")
        namespace.__dict__.update(vars(queue), SimpleQueue=in_python)
        pools.queue = namespace  # type: ignore[attr-defined]

    def follow_starts(self, starts: Callable[[threading.Thread], None]) -> None:
        """Let threads keep the same time as the threads that start them."""
        thread_type: Any = threading.Thread
        native_start = thread_type.start

        @wraps(native_start)
        def start(thread: Any) -> None:
            starts(thread)
            native_start(thread)

        thread_type.start = start

    def _wait_in_turn(self, waits: Waits, condition: Any, timeout: Any) -> bool:
        if not condition._is_owned():
            raise RuntimeError("cannot wait on un-acquired lock")
        due_ns, timer = self._limit(waits, "Condition.wait", timeout)
        waiter = allocate_lock()
        waiter.acquire()
        condition._waiters.append(waiter)
        state = condition._release_save()
        is_notified = False

        def is_over() -> bool:
            return waiter not in condition._waiters

        try:
            is_late = waits.wait_for(waiter, self.clock, due_ns, is_over)
            is_notified = is_over()
            while not is_notified and not is_late:
                # Time is the machine's again, until another test has virtual time.
                waits.returning.add(get_ident())
                waiter.acquire(False)
                if self.program.waits is not None:
                    is_late = waits.wait_for(waiter, self.clock, due_ns, is_over)
                    is_notified = is_over()
                else:
                    is_notified = waiter.acquire(True, _RETURN_SLICE_S)
                    is_late = due_ns is not None and self.clock.local_ns() >= due_ns
        finally:
            waits.returning.discard(get_ident())
            condition._acquire_restore(state)
            if not is_notified:
                try:
                    condition._waiters.remove(waiter)
                except ValueError:
                    pass
            if timer is not None:
                self._ended(timer, is_over=is_notified)
        return is_notified

    def _join_in_turn(self, waits: Waits, thread: Any, timeout: Any, native_join: Any) -> None:
        if thread is threading.current_thread() or not thread.is_alive():
            native_join(thread, timeout)
            return
        due_ns, timer = self._limit(waits, "Thread.join", timeout)
        running = threading._active  # type: ignore[attr-defined]

        def is_ending() -> bool:
            return running.get(thread.ident) is not thread

        def has_ended() -> bool:
            native_join(thread, _JOIN_SLICE_S)
            return not thread.is_alive()

        try:
            waits.wait_in_slices(self.clock, due_ns, has_ended, is_ending)
        finally:
            if timer is not None:
                self._ended(timer, is_over=not thread.is_alive())

    def _limit(
        self, waits: Waits, name: str, timeout: Any
    ) -> tuple[Optional[int], Optional[Timer]]:
        if not _is_span(timeout):
            return None, None
        due_ns = self.clock.local_ns() + math.ceil(timeout * 1e9)
        timer = self.program.timer(self.clock, *self._name_and_site(name, 4), due_ns)
        return due_ns + waits.rounding_ns, timer

    def _ended(self, timer: Timer, *, is_over: bool) -> None:
        if is_over:
            timer.cleared()
        else:
            timer.fired(max(self.clock.local_ns() - timer.due_ns, 0))

    def _name_and_site(self, name: str, level: int = 3) -> tuple[str, int]:
        """Return the name of the wait of the calling thread, and the place that waits."""
        frame = sys._getframe(level)
        above: Optional[FrameType] = frame
        while above is not None and above.f_globals.get("__name__") in _WAITING:
            code = above.f_code
            waiter = above.f_locals.get("self")
            if isinstance(waiter, threading.Timer):
                # Where it was set is not known any more.
                return name_of(waiter.function), self.program.function_site(waiter.function)
            if code.co_name.startswith("_bootstrap"):
                break
            name = f"{type(waiter).__name__}.{code.co_name}"
            above = above.f_back
        return name, self.program.site_from(above)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        for thread, frame in list(sys._current_frames().items()):
            above = frame.f_back
            if frame.f_code is self._sleep_code and above is not None:
                seen = frame.f_locals
                if "began_ns" in seen:
                    local_ns = seen["began_ns"] - self.program.base_ns
                    due_ns = local_ns + math.ceil(seen["seconds"][0] * 1e9)
                    site = self.program.code_site(above.f_code, above.f_lineno)
                    self._sleeping[thread] = self.program.timer(clock, "time.sleep", site, due_ns)
            yield

    def attached(self) -> None:
        self._sleeping.clear()

    def forked(self) -> None:
        self._sleeping.clear()

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        return {"clear_timer": "A thread that waits cannot be woken before its time."}


class Replacement(partial):  # type: ignore[type-arg] # has none at run time before 3.9
    """What programs find in place of a built-in function, which it looks like.

    Like that, it is no method of a class that has it as an attribute. As a ``partial``, it costs
    a tenth of a Python function, and what it calls can be exchanged even where it was stored.
    """

    def __init__(self, native: Any) -> None:
        # Having attributes, it is not unwrapped by a partial of it.
        for name in ("__qualname__", "__module__", "__doc__", "__self__"):
            setattr(self, name, getattr(native, name))
        self.__text_signature__ = native.__text_signature__
        self.__name__: str = native.__name__
        self._repr = repr(native)

    def call_instead(self, call: Callable[..., Any]) -> None:
        """Call something else from now on; in one step, for all threads."""
        replace: Any = partial.__setstate__  # type: ignore[attr-defined] # not in its stubs
        replace(self, (call, (), self.keywords, vars(self)))

    @property  # type: ignore[misc] # is never set
    def __class__(self) -> Any:
        return BuiltinFunctionType

    def __get__(self, owner: object, kind: Any = None) -> Any:
        return self

    def __repr__(self) -> str:
        return self._repr

    def __reduce__(self) -> str:
        return self.__name__


class _ClassMethods:
    """Class methods that replace those of a class, which may be built in and stays as it was."""

    def __init__(self, of: Any, methods: dict[str, Callable[..., Any]]) -> None:
        self._of = of
        self._natives = {name: vars(of)[name] for name in methods}
        self._others = {name: classmethod(method) for name, method in methods.items()}
        for name, method in methods.items():
            method.__qualname__ = f"{of.__name__}.{name}"
            method.__doc__ = self._natives[name].__doc__

    def replace(self) -> None:
        """Have programs find the others.

        Raises:
            ImportError, AttributeError, TypeError, SystemError: The class is built in, and this
                Python has no way to change it.
        """
        self._set(self._others)

    def put_back(self) -> None:
        """Have programs find the native methods again."""
        self._set(self._natives)

    def _set(self, methods: dict[str, Any]) -> None:
        try:
            for name, method in methods.items():
                setattr(self._of, name, method)
        except TypeError:
            if hasattr(sys, "gettotalrefcount"):
                raise  # A debug build of Python would abort.
            from ctypes import py_object, pythonapi  # noqa: PLC0415 - not in every Python

            forget_lookups = pythonapi.PyType_Modified
            inside: Any = gc.get_referents(vars(self._of))[0]
            inside.update(methods)
            forget_lookups(py_object(self._of))


def _is_spared(waits: Optional[Waits]) -> bool:
    """Return whether the calling thread keeps the machine's time while a test controls its own."""
    return waits is not None and waits.spares_me


def _may_wait(seconds: Any) -> bool:
    """Return whether a time-out, or none, lets its caller wait."""
    return seconds is None or _is_span(seconds)


def _is_span(seconds: Any) -> bool:
    """Return whether something is a time that is waited for, and not for ever."""
    return isinstance(seconds, (int, float)) and 0 < seconds < _LONGEST_S
