"""A stand-in for Qt's core: timers, events and their dispatcher, in a time that the test sets."""

# ruff: noqa: ANN401, N802, N803, N815 - as Qt has it

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from types import SimpleNamespace
from typing import Any
from weakref import ref

from inspector.probe.adapters.qt import QtAdapter, QtLoop
from tests.probe.adapters.played import Played

MS = 1_000_000


class Signal:
    def __init__(self) -> None:
        self._calls: list[Callable[..., object]] = []

    def connect(self, call: Callable[..., object]) -> None:
        self._calls.append(call)

    def emit(self) -> None:
        for call in list(self._calls):
            call()


class Dispatcher:
    """Serves the timers of a thread.

    Attributes:
        registered: Interval, type, object and due time of each timer, by its number.
        told: What it was told to do.
        asked: How often it was asked when a timer is due.
        has_more: Whether it still has events when it is asked to handle them.
    """

    def __init__(self, now_ms: Callable[[], float]) -> None:
        self.registered: dict[int, list[Any]] = {}
        self.told: list[tuple[object, ...]] = []
        self.asked = 0
        self.has_more = False
        self.aboutToBlock, self.awake = Signal(), Signal()
        self.now_ms = now_ms

    def registerTimer(self, number: int, interval: int, kind: Any, owner: Any) -> None:
        if owner.is_deleted:
            raise RuntimeError
        assert isinstance(interval, int)
        self.told.append((number, interval, kind))
        self.register(number, interval, kind, owner)

    def register(self, number: int, interval: int, kind: Any, owner: Any) -> None:
        assert number not in self.registered
        self.registered[number] = [interval, kind, ref(owner), self.now_ms() + interval]

    def unregisterTimer(self, number: int) -> None:
        self.registered.pop(number, None)

    def registeredTimers(self, owner: Any) -> list[Any]:
        if owner.is_deleted:
            raise RuntimeError
        return [
            SimpleNamespace(timerId=SimpleNamespace(value=n), interval=interval, timerType=kind)
            for n, (interval, kind, of, _) in self.registered.items()
            if of() is owner
        ]

    def remainingTime(self, number: int) -> int:
        self.asked += 1
        due_ms = self.registered[number][3] if number in self.registered else self.now_ms() - 1
        return int(due_ms - self.now_ms())

    def processEvents(self, flags: object) -> bool:
        assert flags == "all"
        return self.has_more

    def wakeUp(self) -> None:
        self.told.append(("wake up",))


class Qt(Played):
    """A program of Qt with one thread, and a probe in it.

    Attributes:
        core: The module.
        objects: References to all that were made.
    """

    def __init__(self) -> None:
        super().__init__(400 * MS)
        self.objects: list[Callable[[], Any]] = []
        self.numbers = iter(range(1, 1000))
        self.dispatcher = Dispatcher(lambda: self.now_ns / MS)
        self.posted: list[tuple[Any, Any]] = []
        self.told: list[object] = []
        self.application: Any = SimpleNamespace(exec=self.exec)
        self.core = _core(self)
        self.adapter = QtAdapter(self.program)
        self.program.adapters["qt"] = self.adapter
        self.adapter.installed(self.core)
        self.adapter.state = "active"
        self.loop: QtLoop = self.adapter._loops[get_ident()]
        self.clock = self.loop.clock
        self.now_ns += 100 * MS
        self.events.clear()

    def exec(self) -> None:
        self.told.append("exec")
        self.handle()

    def handle(self) -> None:
        """Handle what was posted."""
        while self.posted:
            receiver, event = self.posted.pop(0)
            assert receiver.event(event)

    def turn(self, at_ms: float, *, early_ms: float = 0) -> None:
        """Have Qt handle events, and timers that are due, at a time of the machine."""
        self.now_ns = round(at_ms * MS)
        self.handle()
        for number, entry in list(self.dispatcher.registered.items()):
            interval, _, of, due_ms = entry
            if due_ms - early_ms <= at_ms and self.dispatcher.registered.get(number) is entry:
                entry[3] = due_ms + interval if due_ms + interval > at_ms else at_ms + interval
                owner = of()
                # Qt stops the timers of an object that is deleted.
                if owner is not None:
                    owner.handle(self.core.QTimerEvent(number))

    def of(self, kind: int) -> list[tuple[int, float, float]]:
        """Return the timers of events of a kind, with their two numbers in milliseconds."""
        return [(n, a / MS, b / MS) for _, found, n, a, b in self.events if found == kind]

    def named(self, kind: int, place: int) -> list[str]:
        """Return the texts in events of a kind."""
        return [self.program.texts[event[place]] for event in self.events if event[1] == kind]


def _core(qt: Qt) -> Any:  # noqa: C901 - classes of a few lines each
    dispatcher = qt.dispatcher
    coarse, precise = TimerType("coarse"), TimerType("precise")

    class QObject:
        is_deleted = False

        def __init__(self, parent: Any = None) -> None:
            self._parent, self._filters = parent, list[Any]()
            self.home, self.handled = "main", 0
            qt.objects.append(ref(self))

        def parent(self) -> Any:
            return self._parent

        def thread(self) -> str:
            if self.is_deleted:
                raise RuntimeError
            return self.home

        def installEventFilter(self, watcher: Any) -> None:
            self._filters.append(watcher)

        def startTimer(self, interval: Any, timerType: Any = coarse) -> int:
            number = next(qt.numbers)
            dispatcher.register(number, int(interval), timerType, self)
            return number

        def killTimer(self, number: Any) -> None:
            dispatcher.unregisterTimer(number)

        def handle(self, event: Any) -> None:
            if not any(each.eventFilter(self, event) for each in self._filters):
                self.timerEvent(event)

        def timerEvent(self, _event: Any) -> None:
            self.handled += 1

        def event(self, event: Any) -> bool:
            return bool(event.type() == "known")

    class QTimer(QObject):
        def __init__(self, parent: Any = None) -> None:
            super().__init__(parent)
            self.number, self.ms, self.kind = -1, 0, coarse
            self.is_once = False
            self.timeout = Signal()

        def _start(self) -> None:
            self._stop()
            if self.ms >= 0:
                self.number = next(qt.numbers)
                dispatcher.register(self.number, self.ms, self.kind, self)

        def _stop(self) -> None:
            dispatcher.unregisterTimer(self.number)
            self.number = -1

        def start(self, msec: Any = None) -> None:
            self.ms = self.ms if msec is None else int(msec)
            self._start()

        def stop(self) -> None:
            self._stop()

        def setInterval(self, msec: Any) -> None:
            self.ms = int(msec)
            if self.number > 0:
                self._start()

        def interval(self) -> int:
            return self.ms

        def isActive(self) -> bool:
            if self.is_deleted:
                raise RuntimeError
            return self.number > 0

        def timerId(self) -> int:
            return self.number

        def timerType(self) -> Any:
            return self.kind

        def setTimerType(self, kind: Any) -> None:
            self.kind = kind

        def isSingleShot(self) -> bool:
            return self.is_once

        def setSingleShot(self, is_once: bool) -> None:
            self.is_once = is_once

        def remainingTime(self) -> int:
            return dispatcher.remainingTime(self.number)

        def objectName(self) -> str:
            return ""

        def timerEvent(self, event: Any) -> None:
            super().timerEvent(event)
            if self.is_once:
                self._stop()
            self.timeout.emit()

        @staticmethod
        def singleShot(*args: Any) -> None:
            qt.told.append(args)

    class QBasicTimer:
        number = 0
        fromId = None

        def start(self, msec: Any, *args: Any) -> None:
            self.stop_natively()
            self.number = next(qt.numbers)
            dispatcher.register(self.number, int(msec), args[0] if args[1:] else coarse, args[-1])

        def stop_natively(self) -> None:
            dispatcher.unregisterTimer(self.number)
            self.number = 0

        def stop(self) -> None:
            self.stop_natively()

        def timerId(self) -> Any:
            return SimpleNamespace(value=self.number)

    class QAbstractAnimation(QObject):
        State = SimpleNamespace(Stopped="stopped", Paused="paused", Running="running")
        Direction = SimpleNamespace(Forward="forward", Backward="backward")

        def __init__(self, duration_ms: int) -> None:
            super().__init__()
            self.duration_ms, self.ms, self.since_ns = duration_ms, 0, 0
            self.way, self.present, self.is_blocked = "forward", "stopped", False
            self.states: list[str] = []
            self.finished = Signal()

        def become(self, state: str) -> None:
            self.ms, self.since_ns, self.present = self.currentTime(), qt.now_ns, state
            if not self.is_blocked:
                self.states.append(state)

        def currentTime(self) -> int:
            passed_ms = (qt.now_ns - self.since_ns) // MS * (self.present == "running")
            return int(self.ms + passed_ms)

        def setCurrentTime(self, ms: int) -> None:
            self.ms, self.since_ns = min(ms, self.duration_ms), qt.now_ns
            if ms >= self.duration_ms > 0 or ms < 0:
                self.become("stopped")
                self.finished.emit()

        def start(self) -> None:
            if self.present == "stopped":
                self.ms = self.duration_ms if self.way == "backward" else 0
                self.become("running")

        def pause(self) -> None:
            self.become("paused")

        def resume(self) -> None:
            self.become("running")

        def stop(self) -> None:
            self.become("stopped")

        def state(self) -> str:
            return self.present

        def direction(self) -> str:
            return self.way

        def totalDuration(self) -> int:
            return self.duration_ms

        def group(self) -> Any:
            return self.parent()

        def blockSignals(self, is_blocked: bool) -> bool:
            was, self.is_blocked = self.is_blocked, is_blocked
            return was

    class QElapsedTimer:
        is_valid = False

        def isValid(self) -> bool:
            return self.is_valid

        def start(self) -> None:
            self.is_valid = True

        def nsecsElapsed(self) -> int:
            return 7

        def elapsed(self) -> int: ...  # type: ignore[empty-body]

        def restart(self) -> int: ...  # type: ignore[empty-body]

        def hasExpired(self, _timeout: int) -> bool:
            raise AssertionError

    class QEvent:
        Type = staticmethod(lambda number: number)

        def __init__(self, kind: Any) -> None:
            self.kind = kind

        def type(self) -> Any:
            return self.kind

        @staticmethod
        def registerEventType() -> int:
            return 1001

    class QTimerEvent(QEvent):
        def __init__(self, number: int) -> None:
            super().__init__("timer")
            self.number = number

        def timerId(self) -> int:
            return self.number

    class QEventLoop:
        ProcessEventsFlag = SimpleNamespace(AllEvents="all")

        def exec(self) -> None:
            qt.exec()

        def quit(self) -> None:
            qt.told.append("quit")

    core = SimpleNamespace(
        __name__="PySide6.QtCore",
        QAbstractAnimation=QAbstractAnimation,
        QAbstractEventDispatcher=SimpleNamespace(instance=lambda: qt.dispatcher),
        QBasicTimer=QBasicTimer,
        QCoreApplication=SimpleNamespace(
            exit=lambda: qt.told.append("exit"),
            instance=lambda: qt.application,
            postEvent=lambda receiver, event: qt.posted.append((receiver, event)),
        ),
        QElapsedTimer=QElapsedTimer,
        QEvent=QEvent,
        QEventLoop=QEventLoop,
        QObject=QObject,
        QThread=SimpleNamespace(currentThread=lambda: "main"),
        QTimer=QTimer,
        QTimerEvent=QTimerEvent,
        Qt=SimpleNamespace(TimerType=TimerType),
        qVersion=lambda: "6.8.0",
    )
    TimerType.CoarseTimer, TimerType.PreciseTimer = coarse, precise
    return core


class TimerType(str):
    """How exactly Qt serves a timer."""

    __slots__ = ()
    CoarseTimer: TimerType
    PreciseTimer: TimerType
