"""The program as its adapters see it: clocks, timers, frames, and the events they make.

While no inspector is attached, :attr:`Program.emit` is ``None``, and that is all a hook has to look
at. Everything else here is only called while it is not.
"""

from __future__ import annotations

from functools import partial
from itertools import count
from threading import Condition, Lock, RLock, current_thread, get_ident, get_native_id, main_thread
from time import monotonic_ns
from types import ModuleType

from .adapters import (
    ADAPTERS,
    CAPABILITIES,
    UNSEEN,
    Adapter,
    AdapterEntry,
    error_text,
    installed_entries,
    version_of,
)
from .bootstrap.import_hook import when_imported
from .clocks import Clock, Clocks
from .frames import Frames
from .kinds import (
    CALLBACK_FAILED,
    DELTA_CUT,
    FRAME_BEGAN,
    FRAME_ENDED,
    LOOP_ASKED,
    MARK,
    NEVER,
    PHASE_ENDED,
    TICKS_MISSED,
    TIMEOUT,
    TIMER_ADDED,
    TIMER_ARMED,
    TIMER_CLEARED,
    TIMER_FIRED,
    TIMER_ORIGIN,
)
from .texts import Texts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType
    from typing import Any, Callable, Optional, Union

    from .clocks import Emit
    from .waits import Waits

#: Most bytes of a traceback, and the number of its innermost calls that are kept, negative.
LONGEST_TRACE = 1 << 14
_MOST_CALLERS = -20
#: Python's own, which the adapter of ``time`` replaces by one that follows a clock.
_wait = Condition.wait
PROBE_THREAD = "timeline-probe"
#: How long a thread that is held waits before it keeps its window alive again.
PUMP_S = 0.01


class Timer:
    # What is known of a timer is kept in the program as plain numbers: if an inspector that finds
    # 100 000 timers made as many objects, Python's garbage collector would go through the whole
    # program.
    __slots__ = ("_program", "handle", "number")

    def __init__(self, program: Program, number: int, handle: Any) -> None:
        self._program = program
        self.number = number  # Its number, unique in the program
        self.handle = handle  # Kept for the adapter

    @property
    def clock(self) -> Clock:
        return self._program.clocks.by_number[self._program.timers[self.number][CLOCK]]

    @property
    def due_ns(self) -> int:
        """Local time at which it should fire."""
        return self._program.due_ns(self.number)

    @property
    def period_ns(self) -> int:
        """From one due instant to the next, 0 for a one-shot."""
        return self._program.timers.get(self.number, _GONE)[PERIOD]

    def armed(
        self, due_ns: int, period_ns: Optional[int] = None, at_ns: Optional[int] = None
    ) -> None:
        """The timer is due at another local instant, as was set at ``at_ns`` or just now."""
        program = self._program
        record, emit = program.timers.get(self.number), program.emit
        if record is None or emit is None:
            return
        clock, name, site, kind, _, period_before_ns = record
        if period_ns is None:
            period_ns = period_before_ns
        program.timers[self.number] = (clock, name, site, kind, due_ns, period_ns)
        at_ns = program.clocks.now_ns() if at_ns is None else at_ns
        emit((at_ns, TIMER_ARMED, self.number, due_ns, period_ns))

    def fired(self, late_ns: int, next_due_ns: Optional[int] = None) -> None:
        """The timer is being called.

        Args:
            late_ns: Local nanoseconds since it was due.
            next_due_ns: When it is due again; ``None``: it is gone.
        """
        self._program.fired(self.number, late_ns, next_due_ns)

    def missed(self, ticks: int) -> None:
        """The timer skips ticks, by its own rules."""
        program = self._program
        record, emit = program.timers.get(self.number), program.emit
        if record is not None and emit is not None:
            emit((program.clocks.now_ns(), TICKS_MISSED, self.number, ticks, record[KIND]))

    def cleared(self, site: int = 0, cause: int = 0) -> None:
        """The timer was cleared: by the program at a call site, or by a command."""
        self._program.cleared(self.number, site, cause)


#: What is known of a timer: numbers of its clock, name, call site and kind; due time, period.
Record = tuple[int, int, int, int, int, int]
CLOCK, NAME, SITE, KIND, DUE, PERIOD = range(6)
_GONE: Record = (0, 0, 0, 0, 0, 0)


def _described(
    number: int, record: Record, at_ns: int
) -> tuple[tuple[int, int, int, int, int], ...]:
    clock, name, site, kind, due_ns, period_ns = record
    return (
        (at_ns, TIMER_ADDED, number, clock, name),
        (at_ns, TIMER_ORIGIN, number, site, kind),
        (at_ns, TIMER_ARMED, number, due_ns, period_ns),
    )


class Program(Texts):
    # Not among its variables, for the same reason as the lock of its clocks.
    __slots__ = ("_woken",)

    def __init__(self, name: str, now_ns: Callable[[], int] = monotonic_ns) -> None:
        super().__init__()
        # Takes events while an inspector is attached, else None: what every hook tests
        self.emit: Optional[Emit] = None
        # Takes several events that must stay together
        self.extend: Callable[[tuple[tuple[int, int, int, int, int], ...]], None] = lambda _: None
        self.clocks = Clocks(now_ns)  # The tree of clocks
        self.clocks.text = self.text
        self.clocks.changed = self._clock_changed
        # What is known of the pending timers, by number, while an inspector is attached
        self.timers: dict[int, Record] = {}
        self._objects: dict[int, Timer] = {}
        self._entries = list(ADAPTERS)
        self.adapters: dict[str, Adapter] = {}  # The adapters whose libraries have been loaded
        self.changes = 0  # Incremented when clocks, capabilities or adapters change
        # Incremented when the program's clock is paused or resumed or has another rate
        self.holds = 0
        self.next_frame = 0  # Index of the frame that follows the latest
        # Called repeatedly while the main thread is held in a sleep of another library than that of
        # its window, to keep the window alive
        self.keep_alive: Optional[Callable[[], object]] = None
        # What its threads wait for while a test controls its time, else None
        self.waits: Optional[Waits] = None
        # By the code of a thread's innermost frame, a function that says whether it waits for work
        self.idle_workers: dict[CodeType, Callable[[FrameType], bool]] = {}
        # A single call, so that no two threads take the same number.
        self._next_timer = count(1).__next__
        # The frames of each loop that has run one, by the number of its clock
        self.loops: dict[int, Frames] = {}
        self._frames_left = 0
        #: Work of a turn above which the program is held, 0 for none; and the command that said so.
        self._longest_turn_ns = self._longest_cause = 0
        # Shares the clocks' lock, so that no two threads take two locks in different orders.
        self._woken = Condition(self.clocks.lock)
        self.own_clock = self.clocks.add(name, None)  # The clock of the program, above all others
        at_ns = now_ns()
        # The instant of its local time 0. A library that counts from the machine's start reads
        # local time plus this
        self.base_ns = at_ns - self.own_clock.local_at(at_ns)

    # ------------------------------------------------------------------- adapters

    def watch_imports(self) -> None:
        """Install the adapter of each library once it is imported, or now if it has been."""
        installed = installed_entries()
        self._entries += installed
        for entry in self._entries:
            for name in entry.modules:
                when_imported(name, partial(self._install, entry))
        seen = {name.partition(".")[0] for entry in installed for name in entry.modules}
        for module, library, message in UNSEEN:
            if module.partition(".")[0] not in seen:
                when_imported(module, partial(self._cannot_see, library, message))

    def _cannot_see(self, library: str, message: str, _module: ModuleType) -> None:
        """Report that a library is loaded of which nothing can be seen."""
        adapter = self.adapters[library] = Adapter(self)
        adapter.library = library
        adapter.fail(message)

    def _install(self, entry: AdapterEntry, module: ModuleType) -> None:
        if entry.name in self.adapters:
            return
        adapter = Adapter(self)
        try:
            adapter = entry.load(self)
            self.hide(*adapter.hides)
            adapter.version = adapter.version or version_of(module)
            adapter.installed(module)
            adapter.state = "active"
            if self.emit is not None:
                adapter.attached()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - nothing here may end the program
            self.adapter_failed(adapter, error)
        self.adapters[entry.name] = adapter
        self.mention_change()

    def guarded(self, adapter: Adapter, call: Callable[..., Any], *args: Any) -> Any:
        """Call a method of an adapter; what it raises makes the adapter failed."""
        if adapter.state == "failed":
            return None
        try:
            return call(*args)
        except Exception as error:  # noqa: BLE001 - nothing here may end the program
            self.adapter_failed(adapter, error)
            return None

    def adapter_failed(self, adapter: Adapter, error: BaseException) -> None:
        """Mark an adapter as failed: it has raised, as its library is not what it was."""
        adapter.fail(error_text(error))

    def described_adapters(self) -> list[dict[str, str]]:
        """Return all adapters, including those whose libraries are not loaded."""
        waiting = {entry.name: Adapter(self) for entry in self._entries}
        return [
            {
                "name": name,
                "library": adapter.library or name,
                "version": adapter.version,
                "state": adapter.state,
                "message": adapter.message,
            }
            for name, adapter in {**waiting, **self.adapters}.items()
        ]

    # ----------------------------------------------------------------- attachment

    def attach(
        self, emit: Emit, extend: Callable[[tuple[tuple[int, int, int, int, int], ...]], None]
    ) -> None:
        """Begin to report, with the clocks as they are."""
        for adapter in list(self.adapters.values()):
            self.guarded(adapter, adapter.attached)
        for frames in self.loops.values():
            frames.forget()
        with self.clocks.lock:
            self.timers.clear()
            self._objects.clear()
            self.extend = extend
            self.describe_clocks()
            self.emit = self.clocks.emit = emit

    def describe_clocks(self) -> None:
        with self.clocks.lock:
            self.extend(tuple(self.clocks.described()))

    def detach(self) -> None:
        """Stop reporting, and let everything run."""
        self.emit = self.clocks.emit = None
        self.extend = lambda _: None
        self.timers.clear()
        self._objects.clear()
        self.release()
        for adapter in list(self.adapters.values()):
            self.guarded(adapter, adapter.released)

    def forked(self) -> None:
        """Start over in a child process, with new locks: other threads may have held the old."""
        self._text_lock = Lock()
        self.clocks.lock = RLock()
        self._woken = Condition(self.clocks.lock)
        self.detach()
        for adapter in list(self.adapters.values()):
            self.guarded(adapter, adapter.forked)

    def mention_change(self) -> None:
        """Have clocks, capabilities and adapters reported to the inspector again."""
        self.changes += 1

    def capabilities(self, clock: Clock) -> dict[str, Union[bool, str]]:
        """Return what can be done with a clock, or why not."""
        found: dict[str, Union[bool, str]] = dict.fromkeys(CAPABILITIES, True)
        adapter = clock.adapter
        if adapter is None:
            if not self.loops:
                found["step_frame"] = "No frames have been seen in this program."
        else:
            found["step_frame"] = "Frames are stepped with the clock of the program."
            if adapter.state == "failed":
                found = dict.fromkeys(CAPABILITIES, f"{adapter.library}: {adapter.message}")
            else:
                found.update(self.guarded(adapter, adapter.capabilities, clock) or {})
        return found

    # --------------------------------------------------------------------- clocks

    def clock(
        self, name: str, parent: Optional[Clock] = None, adapter: Optional[Adapter] = None
    ) -> Clock:
        """Add a clock, below the program's own unless a parent is given."""
        clock = self.clocks.add(name, parent or self.own_clock, adapter)
        thread = current_thread().name
        # The probe's own thread adds clocks that it finds, which are those of other threads.
        clock.thread = "" if thread == PROBE_THREAD else thread
        clock.threads = get_ident(), get_native_id()
        if not clock.thread:
            main = main_thread()
            clock.threads = main.ident or 0, main.native_id or 0
        self.mention_change()
        return clock

    def remove_clock(self, clock: Clock) -> None:
        """Remove a clock, what is below it and their timers."""
        with self.clocks.lock:
            gone = {below.number for below in self.clocks.branch(clock)}
            for number, record in list(self.timers.items()):
                if record[CLOCK] in gone:
                    self.forget(number)
            self.clocks.remove(clock)
        self.mention_change()

    def _clock_changed(self, clock: Clock) -> None:
        for below in list(self.clocks.branch(clock)):
            if below.adapter is not None:
                self.guarded(below.adapter, below.adapter.changed, below)
        if clock is self.own_clock:
            self.holds += 1
        self._woken.notify_all()

    def wait_while_held(self, clock: Clock, pump: Optional[Callable[[], object]] = None) -> None:
        """Hold the calling thread here while a clock is held, for loops that read no time."""
        # Not in virtual time, which stands still while a loop works: there, only waits are held.
        while clock.is_held and self.waits is None:
            if pump is not None:
                pump()
            with self._woken:
                if clock.is_held:
                    _wait(self._woken, None if pump is None else PUMP_S)

    def sleep_until(
        self, clock: Clock, local_ns: int, pump: Optional[Callable[[], object]] = None
    ) -> None:
        """Let the calling thread sleep until a clock has reached a local instant."""
        if pump is None and current_thread() is main_thread():
            pump = self.keep_alive
        while True:
            waits = self.waits
            if waits is not None and not waits.spares_me:
                if waits.sleep(clock, local_ns + waits.rounding_ns):
                    return
                continue
            with self._woken:
                wait_ns = clock.real_ns_until(local_ns)
                if wait_ns == 0:
                    return
                if wait_ns is None:
                    _wait(self._woken, None if pump is None else PUMP_S)
                else:
                    _wait(self._woken, wait_ns / 1e9)
            if wait_ns is None and pump is not None:
                pump()

    def pause(self, clock: Clock, cause: int = 0) -> None:
        """Pause a clock; the program's own pause ends a step."""
        with self.clocks.lock:
            if clock is self.own_clock:
                self._frames_left = 0
                self.clocks.end_step()
            self.clocks.pause(clock, cause)

    def resume(self, clock: Clock, cause: int = 0) -> None:
        """Let a clock run; a step of the program becomes a normal run."""
        with self.clocks.lock:
            if clock is self.own_clock:
                self._frames_left = 0
                self.clocks.end_step()
            self.clocks.resume(clock, cause)

    def release(self) -> None:
        """Let everything run at rate 1, from where it is."""
        with self.clocks.lock:
            self._frames_left = self._longest_turn_ns = 0
            self.clocks.release()

    def hold_after_turn(self, longest_ns: int, cause: int) -> None:
        """Hold the program at the end of a turn or frame that takes longer; 0 for never."""
        with self.clocks.lock:
            self._longest_turn_ns, self._longest_cause = longest_ns, cause

    def step_frames(self, frames: int, cause: int) -> None:
        """Let the held program run until a number of frames have ended."""
        with self.clocks.lock:
            self._frames_left = frames
            self.own_clock.cause = cause
            self.clocks.resume(self.own_clock, cause)
        for clock in list(self.clocks.by_number.values()):
            if clock.adapter is not None:
                self.guarded(clock.adapter, clock.adapter.step_frame, clock, frames)

    # --------------------------------------------------------------------- timers

    def timer(  # noqa: PLR0913, PLR0917 - what a timer is
        self,
        clock: Clock,
        name: str,
        site: int,
        due_ns: int,
        period_ns: int = 0,
        kind: int = TIMEOUT,
        handle: Any = None,
        at_ns: Optional[int] = None,
    ) -> Timer:
        """Report a timer that was set, or while a keyframe is made, one that is pending.

        Args:
            site: Its call site, see :meth:`call_site`.
            due_ns: Local time at which it should fire.
            period_ns: From one due instant to the next, 0 for a one-shot.
            kind: ``TIMEOUT`` or a kind of interval.
            handle: Kept with it for the adapter.
            at_ns: The instant at which it was set, if that is known.
        """
        number = self.pending_timer(clock, name, site, due_ns, period_ns, kind, at_ns)
        timer = self._objects[number] = Timer(self, number, handle)
        return timer

    def pending_timer(  # noqa: PLR0913, PLR0917 - what a timer is
        self,
        clock: Clock,
        name: str,
        site: int,
        due_ns: int,
        period_ns: int = 0,
        kind: int = TIMEOUT,
        at_ns: Optional[int] = None,
    ) -> int:
        """Do as :meth:`timer` does, and return the number: for adapters with very many timers."""
        numbers = self._numbers
        number = self._next_timer()
        known = numbers[name] if name in numbers else self.text(name)
        record = self.timers[number] = (clock.number, known, site, kind, due_ns, period_ns)
        if self.emit is not None:
            self.extend(
                _described(number, record, self.clocks.now_ns() if at_ns is None else at_ns)
            )
        return number

    def due_ns(self, number: int) -> int:
        """Return the local time at which a timer should fire; 0 if it is gone."""
        return self.timers.get(number, _GONE)[DUE]

    def fired(self, number: int, late_ns: int, next_due_ns: Optional[int] = None) -> None:
        """Report that a timer is being called, see :meth:`Timer.fired`."""
        emit, record = self.emit, self.timers.get(number)
        if emit is None or record is None:
            return
        if next_due_ns is None:
            self.forget(number)
            next_due_ns = NEVER
        else:
            clock, name, site, kind, _, period_ns = record
            self.timers[number] = (clock, name, site, kind, next_due_ns, period_ns)
        emit((self.clocks.now_ns(), TIMER_FIRED, number, late_ns, next_due_ns))

    def cleared(self, number: int, site: int = 0, cause: int = 0) -> None:
        """Report that a timer was cleared, see :meth:`Timer.cleared`."""
        emit = self.emit
        if number in self.timers:
            self.forget(number)
            if emit is not None:
                emit((self.clocks.now_ns(), TIMER_CLEARED, number, site, cause))

    def pending(self, number: int) -> Optional[Timer]:
        if number not in self.timers:
            return None
        return self._objects.get(number) or Timer(self, number, None)

    def forget(self, number: int) -> None:
        self.timers.pop(number, None)
        self._objects.pop(number, None)

    def first_due_ns(self, clock: Clock) -> Optional[int]:
        """Return the local instant at which the next timer of a clock is due."""
        records = list(self.timers.values())
        return min((each[DUE] for each in records if each[CLOCK] == clock.number), default=None)

    def next_due_ns(self) -> Optional[int]:
        """Return when the next timer is due, in local time of the program's clock.

        ``None`` without one. Timers of paused branches are never due. What is due already is only
        waiting to be called, so it counts only where nothing else is pending.
        """
        clocks = dict(self.clocks.by_number)
        now_ns = {number: clock.local_ns() for number, clock in clocks.items()}
        earliest: dict[int, int] = {}
        overdue: set[int] = set()
        for record in list(self.timers.values()):
            number, due_ns = record[CLOCK], record[DUE]
            if number not in now_ns:
                continue  # It was set on a clock that is gone.
            if due_ns <= now_ns[number]:
                overdue.add(number)
            elif due_ns < earliest.get(number, NEVER):
                earliest[number] = due_ns
        own_clock = self.own_clock
        dues = (clocks[number].due_above(due_ns, own_clock) for number, due_ns in earliest.items())
        first_ns = min((due_ns for due_ns in dues if due_ns is not None), default=None)
        if first_ns is None and any(
            clocks[number].due_above(0, own_clock) is not None for number in overdue
        ):
            return own_clock.local_ns() + 1
        return first_ns

    @property
    def is_call_due(self) -> bool:
        """Whether a timer is due that is called in the next frame, and not before."""
        return any(
            record[DUE] <= clock.local_ns()
            for record in list(self.timers.values())
            if (clock := self.clocks.by_number.get(record[CLOCK])) is not None
            and clock.adapter is not None
            and clock.adapter.calls_in_frames
            and clock.due_above(0, self.own_clock) is not None
        )

    def clear_timer(self, timer: Timer, cause: int) -> None:
        adapter = timer.clock.adapter
        if adapter is not None:
            self.guarded(adapter, adapter.clear_timer, timer.clock, timer, cause)

    def described_again(self) -> Iterator[None]:
        """Describe all pending timers that are known, after a loss."""
        for number, record in list(self.timers.items()):
            if number in self.timers:
                self.extend(
                    _described(number, self.timers.get(number, record), self.clocks.now_ns())
                )
                emit = self.emit
                if number not in self.timers and emit is not None:
                    # It has fired on another thread in between.
                    emit((self.clocks.now_ns(), TIMER_CLEARED, number, 0, 0))
            yield

    # --------------------------------------------------------------------- frames

    def frames(self, clock: Clock) -> Frames:
        """Return the frames of a clock's loop, which are counted from the first call on."""
        found = self.loops.get(clock.number)
        if found is None:
            found = self.loops[clock.number] = Frames()
            self.mention_change()
        return found

    def frame_began(self, clock: Clock, delta_ns: Optional[int] = None) -> None:
        """A frame begins.

        Args:
            delta_ns: What the program assumes as local time since the previous frame, unless it
                reads that from the clock.
        """
        emit = self.emit
        if emit is None:
            return
        frames = self.frames(clock)
        now_ns = self.clocks.now_ns()
        passed_ns = frames.begin(clock, now_ns)
        if delta_ns is None:
            delta_ns = passed_ns
        emit((now_ns, FRAME_BEGAN, clock.number, frames.index, delta_ns))

    def phase_ended(self, clock: Clock, phase: int, duration_ns: int) -> None:
        emit = self.emit
        if emit is not None:
            emit((self.clocks.now_ns(), PHASE_ENDED, phase, self.frames(clock).index, duration_ns))

    def frames_asked(self, clock: Clock, frame_ns: int) -> None:
        """The loop, which has begun a frame, asks for a local time from frame to frame."""
        emit = self.emit
        if emit is not None:
            frames = self.frames(clock)
            if frames.asked_ns != frame_ns:
                frames.asked_ns = frame_ns
                emit((self.clocks.now_ns(), LOOP_ASKED, clock.number, frame_ns, 0))

    def delta_cut(self, clock: Clock, cut_ns: int) -> None:
        """The loop has cut a part of the delta of the running frame."""
        emit = self.emit
        if emit is not None:
            emit((self.clocks.now_ns(), DELTA_CUT, clock.number, cut_ns, 0))

    def frame_ended(self, clock: Clock) -> None:
        """The running frame, if there is one, has ended.

        At the end of a step, the program is held here.
        """
        emit = self.emit
        if emit is None:
            return
        frames = self.frames(clock)
        if frames.began_ns == 0:
            # None runs, or it began before the inspector came.
            return
        now_ns = self.clocks.now_ns()
        frames.end(clock, now_ns)
        emit((now_ns, FRAME_ENDED, clock.number, frames.length_ns, frames.busy_ns))
        self.next_frame = frames.index
        if self._frames_left:
            self._frames_left -= 1
            if self._frames_left == 0:
                self.clocks.pause(self.own_clock, self.own_clock.cause)
        if 0 < self._longest_turn_ns < frames.busy_ns and not self.own_clock.is_paused:
            self.pause(self.own_clock, self._longest_cause)

    # --------------------------------------------------------- failures and marks

    def failed(self, name: str, *raised: Any) -> None:
        """Report what a callback or thread has raised, as :func:`sys.exc_info` returns it."""
        # Imported only now, as it takes longer to load than most of the probe.
        import traceback  # noqa: PLC0415

        trace = "".join(traceback.format_exception(*raised, limit=_MOST_CALLERS))
        emit = self.emit
        if emit is not None:
            texts = self.text(name), self.text(trace, LONGEST_TRACE)
            emit((self.clocks.now_ns(), CALLBACK_FAILED, 0, *texts))

    def mark(self, text: str) -> None:
        emit = self.emit
        if emit is not None:
            emit((self.clocks.now_ns(), MARK, self.own_clock.number, self.text(text), 0))


def name_of(callback: Any) -> str:
    while isinstance(callback, partial):
        callback = callback.func
    owner = getattr(callback, "__self__", None)
    name = getattr(callback, "__qualname__", None) or getattr(callback, "__name__", None)
    if name is None:
        return type(callback).__qualname__
    is_of_value = owner is not None and not isinstance(owner, (type, ModuleType))
    if is_of_value and (drawn := drawn_by(owner)):
        return drawn
    if is_of_value and "." not in name:
        return f"{type(owner).__qualname__}.{name}"
    return str(name)


def drawn_by(timer: Any) -> str:
    """Return the name of what a timer of matplotlib calls, an animation's function by its own.

    Empty for anything else, and for a timer that calls nothing yet.
    """
    calls = getattr(timer, "callbacks", None)
    if not calls or not str(type(timer).__module__).startswith("matplotlib."):
        return ""
    animation = getattr(calls[0][0], "__self__", None)
    return name_of(getattr(animation, "_func", calls[0][0]))
