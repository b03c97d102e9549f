"""Animations of PySide6 and PyQt6, which Qt runs by a clock of its own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import WeakKeyDictionary, WeakSet, ref

from . import Adapter
from .qt import QtAdapter, replacing

if TYPE_CHECKING:
    from types import ModuleType

    from ..program import Program, Timer
    from .qt import QtLoop

_MS = 1_000_000
#: Time between two steps of an animation whose clock does not run at rate 1.
_STEP_MS = 16


class _Animation:
    __slots__ = ("from_ms", "from_ns", "loop", "shown")

    from_ms: int  # Its time at ``from_ns``

    def __init__(self, loop: QtLoop) -> None:
        self.loop = loop
        self.shown: Optional[Timer] = None
        # Local time since when the adapter sets its time, None while Qt does
        self.from_ns: Optional[int] = None


class QtAnimationsAdapter(Adapter):
    """The running animations that Python has started; Qt's own clock for them is out of reach.

    While the clock does not run at rate 1 they are paused, and a timer sets their time.
    """

    library = "Qt animations"
    hides = QtAdapter.hides

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._running: WeakKeyDictionary[Any, _Animation] = WeakKeyDictionary()
        self._connected: WeakSet[Any] = WeakSet()
        self._tickers: dict[QtLoop, Any] = {}

    def installed(self, module: ModuleType) -> None:
        core: Any = module
        timers = self.program.adapters["qt"]
        assert isinstance(timers, QtAdapter)
        self._timers = timers
        self.library = f"{module.__name__.partition('.')[0]} animations"
        self.version = core.qVersion()
        self._class = animation = core.QAbstractAnimation
        self._original_pause, self._original_state = animation.pause, animation.state
        self._original_resume = animation.resume
        self._hook("start", self._started)
        self._hook("resume", self._started)
        self._hook("stop", self._stopped)
        self._hook("pause", self._stopped)

        @replacing(animation.state)
        def state(instance: Any) -> Any:
            found = self._original_state(instance)
            known = self._running.get(instance)
            is_driven = known is not None and known.from_ns is not None
            is_paused = found == animation.State.Paused
            return animation.State.Running if is_driven and is_paused else found

        animation.state = state
        timers.followers.append(partial(self.program.guarded, self, self._follow))

    def _hook(self, name: str, then: Callable[[Any, bool], None]) -> None:
        original, program, animation = getattr(self._class, name), self.program, self._class

        @replacing(original)
        def replacement(instance: Any, *args: Any, **kwargs: Any) -> None:
            if program.emit is None:
                original(instance, *args, **kwargs)
                return
            was = self._original_state(instance)
            known = self._running.get(instance)
            is_driven = known is not None and known.from_ns is not None
            if not (is_driven and was == animation.State.Paused and name in {"start", "resume"}):
                was_stopped = was == animation.State.Stopped
                original(instance, *args, **kwargs)
                program.guarded(self, then, instance, was_stopped)

        setattr(self._class, name, replacement)

    def _started(self, instance: Any, was_stopped: object) -> None:
        if self._original_state(instance) != self._class.State.Running or instance.group():
            return
        if instance in self._running:
            if not was_stopped:
                return
            # It has ended, and is started again by what it calls at its end.
            self._ended(instance)
        program, loop = self.program, self._timers.loop()
        known = self._running[instance] = _Animation(loop)
        left_ms = instance.totalDuration() - instance.currentTime()
        if instance.totalDuration() > 0:
            name, site = type(instance).__name__, program.call_site()
            property_name = getattr(instance, "propertyName", bytes)()
            name += f" {bytes(property_name).decode()}" if len(property_name) else ""
            due_ns = loop.clock.local_ns() + left_ms * _MS
            known.shown = program.timer(loop.clock, name, site, due_ns)
        if instance not in self._connected:
            self._connected.add(instance)
            weak = ref(instance)
            instance.finished.connect(lambda: self._finished(weak()))
        if not loop.clock.is_plain:
            self._follow(loop)

    def _stopped(self, instance: Any, _was_stopped: object) -> None:
        known = self._running.pop(instance, None)
        if known is not None and known.shown is not None:
            known.shown.cleared(self.program.call_site())

    def _finished(self, instance: Any) -> None:
        if instance is not None and self._original_state(instance) == self._class.State.Stopped:
            self._ended(instance)

    def _ended(self, instance: Any) -> None:
        known = self._running.pop(instance, None)
        if known is not None and known.shown is not None:
            known.shown.fired(max(known.loop.clock.local_ns() - known.shown.due_ns, 0))

    def _follow(self, loop: QtLoop) -> None:
        """The clock of a loop was paused or resumed, or has another rate."""
        is_plain, local_ns = loop.clock.is_plain, loop.clock.local_ns()
        self._tick(loop)
        is_any_driven = False
        for instance, known in list(self._running.items()):
            if known.loop is not loop:
                continue
            if self._original_state(instance) == self._class.State.Stopped:
                self._ended(instance)
            elif is_plain and known.from_ns is not None:
                known.from_ns = None
                self._unnoticed(instance, self._original_resume)
            elif not is_plain:
                is_any_driven = True
                if known.from_ns is None:
                    known.from_ns, known.from_ms = local_ns, instance.currentTime()
                    self._unnoticed(instance, self._original_pause)
        ticker = self._tickers.get(loop)
        if is_any_driven and not loop.clock.is_held:
            if ticker is None:
                ticker = self._tickers[loop] = self._timers.core.QTimer()
                self._timers.own_timers.append(ticker)
                ticker.timeout.connect(lambda: self._tick(loop))
            type(ticker).start.__wrapped__(ticker, _STEP_MS)
        elif ticker is not None:
            type(ticker).stop.__wrapped__(ticker)

    @staticmethod
    def _unnoticed(instance: Any, call: Callable[[Any], None]) -> None:
        was_blocked = instance.blockSignals(True)
        call(instance)
        instance.blockSignals(was_blocked)

    def _tick(self, loop: QtLoop) -> None:
        local_ns = loop.clock.local_ns()
        for instance, known in list(self._running.items()):
            if known.loop is loop and known.from_ns is not None:
                passed_ms = (local_ns - known.from_ns) // _MS
                if instance.direction() == self._class.Direction.Backward:
                    passed_ms = -passed_ms
                instance.setCurrentTime(max(known.from_ms + passed_ms, 0))
