"""PySide6 and PyQt6: QTimer, QBasicTimer, startTimer, singleShot and QElapsedTimer.

A timer of Qt is a number that an object holds and the event dispatcher of its thread serves. Only
the dispatcher is made to serve it sooner, later or not at all: the object, its interval and the
way it is called stay Qt's, and a held program has nothing to wake up for.
"""

from __future__ import annotations

import gc
import sys
from functools import partial
from threading import current_thread, get_ident, main_thread
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import ref

from ..clocks import NothingDueError
from ..kinds import INTERVAL_SKIP, TIMEOUT
from ..program import drawn_by
from . import Adapter, asyncio_names

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..awaited import Goal, Wait
    from ..clocks import Clock
    from ..program import Program, Timer

_MS = 1_000_000


class QtAdapter(Adapter):
    """One clock for each thread with timers; all objects that Python has started timers for."""

    library = "Qt"
    hides: tuple[str, ...] = ("PySide6", "PyQt6", "shiboken6")
    has_hidden_turns = True
    is_loop_in_c = True
    says_what_it_waits_for = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._loops: dict[int, QtLoop] = {}
        # Called with a loop when its clock has changed, on the thread of the loop
        self.followers: list[Callable[[QtLoop], None]] = []
        self.own_timers: list[Any] = []  # Timers of adapters, which are not shown

    def installed(self, module: ModuleType) -> None:
        core: Any = module
        self.core = core
        self.library = module.__name__.partition(".")[0]
        self.version = core.qVersion()
        self.wake_type = core.QEvent.Type(core.QEvent.registerEventType())
        self._watcher_class = _watcher_class(core)
        _hook_timers(self)
        _hook_basic_timers(self)
        _hook_single_shot(self)
        _hook_elapsed(self)
        if current_thread() is main_thread():
            self.loop()

    def loop(self) -> QtLoop:
        found = self._loops.get(get_ident())
        if found is None:
            is_main = current_thread() is main_thread()
            name = self.library if is_main else f"{self.library} {current_thread().name}"
            clock = self.program.clock(name, adapter=self)
            found = self._loops[get_ident()] = QtLoop(self, clock, self._watcher_class())
            found.watcher.loop = found
        return found

    def attached(self) -> None:
        for loop in list(self._loops.values()):
            loop.begin_to_follow()

    def run_again(self) -> None:
        """Let the loops of this thread run again after exit() has ended all of them."""
        application = self.core.QCoreApplication.instance()
        if application is not None:
            # After exit(), loops end at once until the main loop has run again.
            self.call_soon(self.loop().clock, self.core.QCoreApplication.exit)
            application.exec()

    def run_until(self, goal: Goal) -> None:
        """Let the calling thread handle its events until a goal of a test is reached."""
        event_loop, loop = self.core.QEventLoop(), self.loop()
        loop.begin_to_follow()
        goal.finish = partial(self.call_soon, loop.clock, event_loop.quit)
        while not goal.is_finished:
            event_loop.exec()

    def clock_here(self) -> Clock:
        """Return the clock that the calling thread reads."""
        loop = self._loops.get(get_ident())
        return self.program.own_clock if loop is None else loop.clock

    def known_here(self, number: int) -> Optional[_QtTimer]:
        loop = self._loops.get(get_ident())
        return None if loop is None else loop.timers.get(number)

    def pop(self, timer: Any) -> Optional[_QtTimer]:
        """Give up a timer that is about to be started again, and return it."""
        found: Optional[_QtTimer] = self.program.guarded(self, self._pop, timer)
        return found

    def _pop(self, timer: Any) -> Optional[_QtTimer]:
        return self.loop().timers.pop(_value(timer.timerId()), None)

    def forget(self, number: int) -> None:
        """Give up a timer that the program is about to stop."""
        self.program.guarded(self, self._forget, number)

    def _forget(self, number: int) -> None:
        self.loop().forget(number, self.program.call_site())

    def _loop_of(self, clock: Clock) -> Optional[QtLoop]:
        """Return the loop with a clock; none while it is made, on its own thread."""
        return next((loop for loop in list(self._loops.values()) if loop.clock is clock), None)

    def changed(self, clock: Clock) -> None:
        loop = self._loop_of(clock)
        if loop is not None:
            loop.is_stale = True
            self._wake(loop)

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        loop = self._loop_of(clock)
        if loop is None or self.core.QCoreApplication.instance() is None:
            call()  # There are no timers yet.
        else:
            loop.calls.append(call)
            self._wake(loop)

    def _wake(self, loop: QtLoop) -> None:
        core = self.core
        if core.QCoreApplication.instance() is not None:
            core.QCoreApplication.postEvent(loop.watcher, core.QEvent(self.wake_type))

    def keyframe(self, clock: Clock) -> Iterator[None]:
        loop = self._loop_of(clock)
        if loop is None:
            return
        if self.core.QCoreApplication.instance() is not None:
            yield from loop.find_timers()
        for timer in list(loop.timers.values()):
            if timer.number in loop.timers and timer.shown is None:
                timer.report()
            yield

    def fail(self, message: str) -> None:
        super().fail(message)
        for loop in list(self._loops.values()):
            self._wake(loop)

    def released(self) -> None:
        for loop in list(self._loops.values()):
            for timer in list(loop.timers.values()):
                timer.shown = None

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        loop = self._loop_of(clock)
        if loop is not None:
            self.call_soon(clock, partial(loop.stop, timer, cause))


class _QtTimer:
    def __init__(  # noqa: PLR0913 - what a timer is
        self,
        loop: QtLoop,
        owner: Any,
        number: int,
        interval_ms: int,
        precision: Any,
        *,
        is_once: bool,
    ) -> None:
        self.loop = loop
        self.number = number  # Its number in the event dispatcher
        # Weak reference to the object that receives its events
        self.owner = ref(owner, lambda _: loop.forget(number))
        self.interval_ms = interval_ms  # As the program has set it
        self.precision = precision  # Its type, in Qt's words
        self.is_once = is_once  # Whether it stops by itself
        # Local time at which it should fire
        self.due_ns = loop.clock.local_ns() + interval_ms * _MS
        self.is_plain = True  # Whether Qt serves it by its own interval
        self.name = f"{type(owner).__name__}.timerEvent"
        self.site = 0
        self.shown: Optional[Timer] = None  # The timer in the inspector

    def report(self) -> None:
        period_ns, kind = (0, TIMEOUT) if self.is_once else (self.interval_ms * _MS, INTERVAL_SKIP)
        loop = self.loop
        self.shown = loop.adapter.program.timer(
            loop.clock, self.name, self.site, self.due_ns, period_ns, kind, self.number
        )


class QtLoop:
    """The timers of one thread; used on that thread only, but for ``calls``."""

    def __init__(self, adapter: QtAdapter, clock: Clock, watcher: Any) -> None:
        self.adapter = adapter
        self.clock = clock
        self.watcher = watcher
        self.timers: dict[int, _QtTimer] = {}
        self.calls: list[Callable[[], None]] = []
        self.is_stale = False
        self._dispatcher: Any = None
        self._wait: Optional[Wait] = None

    def begin_to_follow(self) -> None:
        """In virtual time, notice when the loop is about to wait."""
        program, core = self.adapter.program, self.adapter.core
        dispatcher = core.QAbstractEventDispatcher.instance()
        if program.waits is None or dispatcher is None or dispatcher is self._dispatcher:
            return
        self._dispatcher = dispatcher
        dispatcher.aboutToBlock.connect(partial(program.guarded, self.adapter, self._about_to_wait))
        dispatcher.awake.connect(partial(program.guarded, self.adapter, self._goes_on))

    def _about_to_wait(self) -> None:
        from ..awaited import Wait  # noqa: PLC0415 - only in virtual time

        waits, core = self.adapter.program.waits, self.adapter.core
        if waits is None or waits.spares_me or self._wait is not None:
            return
        if self._dispatcher.processEvents(core.QEventLoop.ProcessEventsFlag.AllEvents):
            # The signal also comes when there is something left to do.
            self._dispatcher.wakeUp()
            return
        dues = [timer.due_ns for timer in self.timers.values()]
        due_ns = min(dues, default=None)
        wait = self._wait = Wait(self.clock, due_ns, self._wake_due, is_idle=True)
        if waits.begin(wait):
            self._wake_due()

    def _wake_due(self) -> None:
        self.is_stale = True
        self.adapter._wake(self)

    def _goes_on(self) -> None:
        wait, self._wait = self._wait, None
        waits = self.adapter.program.waits
        if wait is not None and waits is not None:
            try:
                waits.end(wait)
            except NothingDueError as error:
                waits.deliver(error, self.adapter.core.QCoreApplication.exit)

    def add(  # noqa: PLR0913 - what a timer is
        self,
        owner: Any,
        number: int,
        interval_ms: int,
        precision: Any,
        *,
        is_once: bool = False,
        name: str = "",
        again: Optional[_QtTimer] = None,
    ) -> None:
        """Take over a timer that Qt has just started."""
        if number <= 0:
            return
        # Bindings take fractions, and Qt drops them.
        interval_ms = int(interval_ms)
        program = self.adapter.program
        timer = _QtTimer(self, owner, number, interval_ms, precision, is_once=is_once)
        if again is not None:
            timer.name, timer.site, timer.shown = again.name, again.site, again.shown
        elif name:
            timer.name = name
        self.timers[number] = timer
        self.begin_to_follow()
        if again is None:
            owner.installEventFilter(self.watcher)
        if program.emit is not None:
            if timer.shown is not None:
                timer.shown.handle = number
                timer.shown.armed(timer.due_ns, 0 if is_once else interval_ms * _MS)
            else:
                timer.site = program.call_site()
                timer.report()
        if not self.clock.is_plain:
            self.serve(timer)

    def forget(self, number: int, site: int = 0, cause: int = 0) -> None:
        """Give up a timer that is stopped."""
        timer = self.timers.pop(number, None)
        if timer is not None and timer.shown is not None:
            timer.shown.cleared(site, cause)

    def stop(self, shown: Timer, cause: int) -> None:
        timer = self.timers.get(shown.handle)
        if timer is None or timer.shown is not shown:
            return
        owner = timer.owner()
        self.forget(timer.number, cause=cause)
        if owner is not None:
            core = self.adapter.core
            if isinstance(owner, core.QTimer):
                owner.stop()
            else:
                owner.killTimer(timer.number)

    def serve(self, timer: _QtTimer) -> None:
        """Have Qt serve a timer when it is due by the clock."""
        owner = timer.owner()
        core = self.adapter.core
        dispatcher = core.QAbstractEventDispatcher.instance()
        if owner is None or dispatcher is None:
            return
        if not self._is_active(timer, owner):
            self.forget(timer.number)
            return
        timer.is_plain = False
        dispatcher.unregisterTimer(timer.number)
        real_ns = self.clock.real_ns_until(timer.due_ns)
        if real_ns is None:
            return
        # A coarse timer may be early by a twentieth of this wait, which is not its interval.
        precise = core.Qt.TimerType.PreciseTimer
        dispatcher.registerTimer(timer.number, -(-real_ns // _MS), precise, owner)

    def _is_active(self, timer: _QtTimer, owner: Any) -> bool:
        core = self.adapter.core
        try:
            if isinstance(owner, core.QTimer):
                return bool(owner.isActive()) and _value(owner.timerId()) == timer.number
            infos = core.QAbstractEventDispatcher.instance().registeredTimers(owner)
        except RuntimeError:  # Qt has deleted the object.
            return False
        return not timer.is_plain or timer.number in {_value(info.timerId) for info in infos}

    def is_early(self, timer: _QtTimer) -> bool:
        """Return whether a timer has waited for a part of its time only; then it waits on."""
        if timer.is_plain or self.clock.real_ns_until(timer.due_ns) == 0:
            return False
        self.serve(timer)
        return True

    def fired(self, timer: _QtTimer) -> None:
        """Qt is about to deliver the event of a timer."""
        local_ns, due_ns = self.clock.local_ns(), timer.due_ns
        next_ns: Optional[int] = None
        if timer.is_once:
            del self.timers[timer.number]
        else:
            next_ns = due_ns + timer.interval_ms * _MS
            # While all is in time, Qt need not be asked when it will serve the timer next. Coarse
            # timers may be early, and are due an interval after that.
            if timer.is_plain and not timer.interval_ms:
                next_ns = local_ns
            elif not timer.is_plain or next_ns <= local_ns or local_ns < due_ns:
                next_ns = self._next_due_ns(timer, local_ns)
            timer.due_ns = next_ns
            if not timer.is_plain:
                self.serve(timer)
        if timer.shown is not None:
            # A coarse timer of Qt may be early.
            late_ns = max(local_ns - due_ns, 0)
            self.adapter.program.fired(timer.shown.number, late_ns, next_ns)

    def _next_due_ns(self, timer: _QtTimer, local_ns: int) -> int:
        """Return when an interval is due again that is late, early, or not served by Qt alone."""
        dispatcher = self.adapter.core.QAbstractEventDispatcher.instance()
        if timer.is_plain:
            return local_ns + max(int(dispatcher.remainingTime(timer.number)), 0) * _MS
        if self.clock.is_plain:
            # The rest of an interval has passed: go back to Qt's own timing.
            dispatcher.unregisterTimer(timer.number)
            owner = timer.owner()
            dispatcher.registerTimer(timer.number, timer.interval_ms, timer.precision, owner)
            timer.is_plain = True
            return local_ns + timer.interval_ms * _MS
        interval_ns = max(timer.interval_ms, 1) * _MS
        return timer.due_ns + ((local_ns - timer.due_ns) // interval_ns + 1) * interval_ns

    def let_go(self) -> None:
        """Give all timers back to Qt, because the adapter has failed."""
        dispatcher = self.adapter.core.QAbstractEventDispatcher.instance()
        for number, timer in list(self.timers.items()):
            owner = timer.owner()
            if not timer.is_plain and owner is not None:
                dispatcher.unregisterTimer(number)
                dispatcher.registerTimer(number, timer.interval_ms, timer.precision, owner)
        self.timers.clear()

    def find_timers(self) -> Iterator[None]:
        """Take over timers that were started, and give up those stopped, without an inspector."""
        core = self.adapter.core
        dispatcher = core.QAbstractEventDispatcher.instance()
        thread, own_timers = core.QThread.currentThread(), self.adapter.own_timers
        active = set()
        for count, found in enumerate(gc.get_objects()):
            if count % 1000 == 0:
                yield
            if isinstance(found, core.QObject):
                try:
                    if found.thread() != thread:
                        continue
                    for info in dispatcher.registeredTimers(found):
                        number = _value(info.timerId)
                        active.add(number)
                        is_own = any(found is each for each in own_timers)
                        if number not in self.timers and not is_own:
                            self._find(found, number, info)
                except RuntimeError:  # Qt has deleted the object.
                    pass
        for number, timer in list(self.timers.items()):
            if number not in active and timer.is_plain:
                self.forget(number)

    def _find(self, owner: Any, number: int, info: Any) -> None:
        """Take over a timer whose start was not seen."""
        dispatcher = self.adapter.core.QAbstractEventDispatcher.instance()
        is_once = isinstance(owner, self.adapter.core.QTimer) and owner.isSingleShot()
        timer = _QtTimer(self, owner, number, info.interval, info.timerType, is_once=is_once)
        timer.due_ns = self.clock.local_ns() + max(int(dispatcher.remainingTime(number)), 0) * _MS
        namespace = getattr(owner.parent(), "__dict__", {})
        names = [name for name, value in list(namespace.items()) if value is owner]
        if names:
            timer.name = f"{type(owner.parent()).__name__}.{names[0]}"
        self.timers[number] = timer
        owner.installEventFilter(self.watcher)
        if not self.clock.is_plain:
            self.serve(timer)

    def woken(self) -> None:
        """The clock has changed, or something wants to be called here."""
        while self.calls:
            self.calls.pop(0)()
        if self.is_stale:
            self.is_stale = False
            for timer in list(self.timers.values()):
                self.serve(timer)
            for follow in self.adapter.followers:
                follow(self)


def _watcher_class(core: Any) -> Any:
    timer_event = core.QTimerEvent

    class Watcher(core.QObject):  # type: ignore[misc]
        """Sees the events of the objects with timers; is woken by an event of its own."""

        loop: QtLoop

        def eventFilter(self, _watched: Any, event: Any) -> bool:  # noqa: N802
            # By its class: reading event.type() takes a quarter of all of this.
            if type(event) is timer_event:
                loop = self.loop
                number = event.timerId()
                timer = loop.timers.get(number if type(number) is int else _value(number))
                if timer is not None:
                    try:
                        if loop.is_early(timer):
                            return True
                        loop.fired(timer)
                    except Exception as error:  # noqa: BLE001 - nothing here may end the program
                        loop.adapter.program.adapter_failed(loop.adapter, error)
            return False

        def event(self, event: Any) -> bool:
            loop = self.loop
            if event.type() == loop.adapter.wake_type:
                adapter = loop.adapter
                adapter.program.guarded(adapter, loop.woken)
                if adapter.state == "failed":
                    loop.let_go()
                return True
            return bool(core.QObject.event(self, event))

    return Watcher


def replacing(original: Any) -> Callable[[Any], Any]:
    """Name a replacement as what it replaces; ``functools.wraps`` would read all of its help."""

    def named(replacement: Any) -> Any:
        replacement.__name__ = original.__name__
        replacement.__wrapped__ = original
        return replacement

    return named


def _value(number: Any) -> int:
    """Return the number of a timer, which newer versions wrap."""
    return number if isinstance(number, int) else int(number.value)


def _hook_timers(adapter: QtAdapter) -> None:  # noqa: C901 - hooks of a few lines each
    core, program = adapter.core, adapter.program
    timer_class = core.QTimer
    start, stop, remaining_time = timer_class.start, timer_class.stop, timer_class.remainingTime
    set_interval = timer_class.setInterval
    set_single_shot = timer_class.setSingleShot

    def restarted(timer: Any, call: Callable[..., None], *args: Any) -> None:
        if program.emit is None:
            call(timer, *args)
            return
        again = adapter.pop(timer)
        call(timer, *args)
        program.guarded(adapter, add_started, timer, again)

    def add_started(timer: Any, again: Optional[_QtTimer]) -> None:
        if timer.isActive():
            adapter.loop().add(
                timer,
                _value(timer.timerId()),
                timer.interval(),
                timer.timerType(),
                is_once=timer.isSingleShot(),
                name=again.name if again else _timer_name(timer),
                again=again,
            )
        elif again is not None and again.shown is not None:
            again.shown.cleared(program.call_site())

    # A signal passes what it carries to as many parameters as there are: bools are dropped,
    # because a timer that is connected to clicked starts with its own interval.
    @replacing(start)
    def timer_start(self: Any, msec: Any = None) -> None:
        restarted(self, start, *(() if msec is None or isinstance(msec, bool) else (msec,)))

    @replacing(stop)
    def timer_stop(self: Any) -> None:
        if program.emit is not None:
            adapter.forget(_value(self.timerId()))
        stop(self)

    @replacing(set_interval)
    def timer_set_interval(self: Any, msec: Any) -> None:
        restarted(self, set_interval, msec)

    @replacing(set_single_shot)
    def timer_set_single_shot(self: Any, single_shot: Any) -> None:
        set_single_shot(self, single_shot)
        timer = adapter.known_here(_value(self.timerId()))
        if timer is not None:
            timer.is_once = bool(single_shot)
            if timer.shown is not None:
                period_ns = 0 if timer.is_once else timer.interval_ms * _MS
                timer.shown.armed(timer.due_ns, period_ns)

    @replacing(remaining_time)
    def timer_remaining_time(self: Any) -> int:
        if program.emit is not None:
            timer = adapter.known_here(_value(self.timerId()))
            if timer is not None and not timer.is_plain:
                return max(0, -((timer.loop.clock.local_ns() - timer.due_ns) // _MS))
        return int(remaining_time(self))

    timer_class.start, timer_class.stop = timer_start, timer_stop
    timer_class.setInterval, timer_class.remainingTime = timer_set_interval, timer_remaining_time
    timer_class.setSingleShot = timer_set_single_shot


def _hook_basic_timers(adapter: QtAdapter) -> None:
    core, program = adapter.core, adapter.program
    object_class, basic_class = core.QObject, core.QBasicTimer
    start_timer, kill_timer = object_class.startTimer, object_class.killTimer
    basic_start, basic_stop = basic_class.start, basic_class.stop

    @replacing(start_timer)
    def object_start_timer(self: Any, interval: Any, *args: Any, **kwargs: Any) -> int:
        number: int = start_timer(self, interval, *args, **kwargs)
        if program.emit is not None and isinstance(interval, (int, float)):
            precision = args[0] if args else core.Qt.TimerType.CoarseTimer
            precision = kwargs.get("timerType", precision)
            program.guarded(adapter, start_basic, self, number, interval, precision)
        return number

    @replacing(kill_timer)
    def object_kill_timer(self: Any, number: Any) -> None:
        if program.emit is not None:
            adapter.forget(_value(number))
        kill_timer(self, number)

    def start_basic(  # noqa: PLR0913, PLR0917 - what a timer is
        owner: Any,
        number: int,
        msec: int,
        precision: Any,
        again: Optional[_QtTimer] = None,
        name: str = "",
    ) -> None:
        adapter.loop().add(owner, number, msec, precision, name=name, again=again)

    @replacing(basic_start)
    def basic_timer_start(self: Any, msec: Any, *args: Any) -> None:
        if program.emit is None:
            basic_start(self, msec, *args)
            return
        again = adapter.pop(self)
        basic_start(self, msec, *args)
        precision = args[0] if args[1:] else core.Qt.TimerType.CoarseTimer
        name = "" if again else _timer_name(self)
        number = _value(self.timerId())
        program.guarded(adapter, start_basic, args[-1], number, msec, precision, again, name)

    @replacing(basic_stop)
    def basic_timer_stop(self: Any) -> None:
        if program.emit is not None:
            adapter.forget(_value(self.timerId()))
        basic_stop(self)

    object_class.startTimer, object_class.killTimer = object_start_timer, object_kill_timer
    basic_class.start, basic_class.stop = basic_timer_start, basic_timer_stop


def _timer_name(timer: Any) -> str:
    """Return the name under which an object of the program keeps a timer, or its own name."""
    frame = sys._getframe()
    package = __name__.partition(".")[0]
    while str(frame.f_globals.get("__name__")).partition(".")[0] == package and frame.f_back:
        frame = frame.f_back
    owner = frame.f_locals.get("self")
    for name, value in list(getattr(owner, "__dict__", {}).items()):
        if value is timer:
            return drawn_by(owner) or f"{type(owner).__name__}.{name}"
    names = [key for key, value in list(frame.f_locals.items()) if value is timer and key != "self"]
    type_name = "" if hasattr(timer, "fromId") else type(timer).__name__
    return next(filter(None, (*names, getattr(timer, "objectName", str)())), type_name)


def _hook_single_shot(adapter: QtAdapter) -> None:
    core, program = adapter.core, adapter.program
    single_shot = core.QTimer.singleShot
    kept: set[Any] = set()

    @replacing(single_shot)
    def timer_single_shot(msec: Any, *args: Any) -> None:
        call = args[-1]
        precise = bool(args[1:]) and isinstance(args[0], core.Qt.TimerType)
        if program.emit is None or not callable(call) or msec <= 0 or len(args) != 1 + precise:
            single_shot(msec, *args)
            return
        timer = core.QTimer()
        timer.setSingleShot(True)
        if precise:
            timer.setTimerType(args[0])
        kept.add(timer)
        timer.timeout.connect(lambda: kept.discard(timer))
        timer.timeout.connect(call)
        core.QTimer.start.__wrapped__(timer, msec)
        program.guarded(adapter, add_started, timer, msec, call)

    def add_started(timer: Any, msec: int, call: Any) -> None:
        kind, name = timer.timerType(), asyncio_names.name_of_shot(program, call)
        adapter.loop().add(timer, _value(timer.timerId()), msec, kind, is_once=True, name=name)

    core.QTimer.singleShot = staticmethod(timer_single_shot)


def _hook_elapsed(adapter: QtAdapter) -> None:
    core = adapter.core
    elapsed_class = core.QElapsedTimer
    start, restart, elapsed = elapsed_class.start, elapsed_class.restart, elapsed_class.elapsed
    nsecs_elapsed, has_expired = elapsed_class.nsecsElapsed, elapsed_class.hasExpired

    @replacing(start)
    def elapsed_start(self: Any) -> None:
        start(self)
        self.timeline_clock = clock = adapter.clock_here()
        self.timeline_began_ns = clock.local_ns()

    @replacing(nsecs_elapsed)
    def elapsed_nsecs(self: Any) -> int:
        clock = getattr(self, "timeline_clock", None)
        if clock is None or not self.isValid():
            return int(nsecs_elapsed(self))
        return int(clock.local_ns() - self.timeline_began_ns)

    @replacing(elapsed)
    def elapsed_ms(self: Any) -> int:
        passed_ns: int = elapsed_nsecs(self)
        return passed_ns // _MS

    @replacing(restart)
    def elapsed_restart(self: Any) -> int:
        passed_ms: int = elapsed_ms(self)
        elapsed_start(self)
        return passed_ms

    @replacing(has_expired)
    def elapsed_has_expired(self: Any, timeout: int) -> bool:
        return timeout >= 0 and elapsed_ms(self) > timeout

    elapsed_class.start, elapsed_class.restart = elapsed_start, elapsed_restart
    elapsed_class.elapsed, elapsed_class.nsecsElapsed = elapsed_ms, elapsed_nsecs
    elapsed_class.hasExpired = elapsed_has_expired
