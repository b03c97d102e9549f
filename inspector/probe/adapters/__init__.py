"""Adapters: what a library's clocks and timers are in the terms of the inspector.

One file per library, and one entry in :data:`ADAPTERS`; packages that are installed beside the
program add theirs by entry points, see :func:`installed_entries`. An adapter is made when its
library has been imported, describes timers through :class:`~..program.Program`, and makes what the
library reads, sleeps and waits for follow a :class:`~..clocks.Clock`. Each hook it puts into the
library begins with the test ``program.emit is None`` and does nothing else while no inspector is
attached.

Whatever an adapter raises makes it *failed*, with a message for the inspector; the program goes
on unharmed. So an adapter need not catch errors that come from a library that has changed.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module

from ..texts import LONGEST_NAME
from ..wire import cut_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType
    from typing import Any, Callable, Optional, Union

    from ..clocks import Clock
    from ..frames import Frames
    from ..program import Program, Timer

    #: ``True``, or the reason why not, as a sentence.
    Capability = Union[bool, str]

#: Time from frame to frame in virtual time, if the program sets no limit.
FRAME_NS = 1_000_000_000 // 60
#: What may be possible with a clock.
CAPABILITIES = ("pause", "rate", "step_frame", "step_timer", "step_time", "clear_timer")


class Adapter:
    """The base of all adapters.

    Attributes:
        library: The library's name, as its users write it.
        reads_anywhere: Whether any thread may read its timers when their own is busy.
        calls_in_frames: Whether only a frame calls what is due, so that this waits while the
            program is held.
        has_own_rates: Whether its clocks have rates and pauses of the program's own, which it
            restores by itself when the inspector goes.
        has_hidden_turns: Whether its loops report no frames, or not all that they do in them: the
            stacks of their threads tell when they are busy.
        is_loop_in_c: Whether such a loop waits in a function that has no frame of its own.
        has_waits_of_threads: Whether its timers are waits of any threads, not calls of a loop.
        waits_for_events: Whether its frames are turns of a loop that calls one thing after another.
        says_what_it_waits_for: Whether its loops and threads begin and end their waits by
            :class:`~..waits.Waits`, so that a jump of virtual time need not wake them all.
        hides: Names of the packages whose frames are skipped when a call site is looked for.
        program: The program.
        turns: When its clock's loop calls something, if it reports no frames; ``None`` before.
        version: Version of the library, empty if unknown.
        state: ``"waiting"`` until the library is there, then ``"active"`` or ``"failed"``.
        message: Why it failed, or what it could not read.
        cost_version: Incremented when :meth:`costs` would measure something else.
    """

    library: str = ""
    hides: tuple[str, ...] = ()
    calls_in_frames = False
    has_own_rates = False
    reads_anywhere = False
    has_hidden_turns = False
    is_loop_in_c = False
    has_waits_of_threads = False
    waits_for_events = False
    says_what_it_waits_for = False
    turns: Optional[Frames] = None

    def __init__(self, program: Program) -> None:
        self.program = program
        self.version = ""
        self.state = "waiting"
        self.message = ""
        self.cost_version = 0

    def installed(self, module: ModuleType) -> None:
        """Put the hooks in; called once, when the library has just been imported or was before."""

    def attached(self) -> None:
        """An inspector is there: called before any clock is described, on the probe's thread.

        ``program.emit`` is still ``None``. Install here what costs something.
        """

    def released(self) -> None:
        """The inspector has gone and all clocks run at rate 1; called on the probe's thread."""

    def forked(self) -> None:
        """This is a child process, made by fork; no other thread runs, no inspector is attached."""

    def call_soon(self, clock: Clock, call: Callable[[], None]) -> None:
        """Run a short call soon, on the thread on which the timers of a clock may be read.

        Unless overridden, at once on the probe's thread.
        """
        call()

    def keyframe(self, clock: Clock) -> Iterator[None]:
        """Describe the pending timers of a clock by :meth:`Program.timer`.

        Runs in slices by way of :meth:`call_soon`: yield after each few timers, and do not hold on
        to anything that the program may change between two slices.
        """
        return iter(())

    def was_read_elsewhere(self, clock: Clock) -> None:
        """The timers of a clock have been described on the probe's thread, as its own is busy."""

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        """Return what can be done with a clock; what is not named is ``True``.

        By names of :data:`CAPABILITIES`; if something cannot be done, a sentence that says why.
        """
        return {}

    def running_task(self, clock: Clock) -> Optional[tuple[str, object]]:
        """Return the name and the identity of the task whose step runs now.

        Called on the probe's thread; ``None`` if none runs, or the library has no tasks.
        """
        return None

    def task_loops(self) -> list[tuple[Clock, Any]]:
        """Return the loops whose tasks can be reported, with their clocks; see :mod:`..tasks`.

        Loops of asyncio, including uvloop's, or runners of trio.
        """
        return []

    def changed(self, clock: Clock) -> None:
        """A clock, or one above it, was paused or resumed, or has another rate.

        Wake what sleeps, arm again what waits. Called on the probe's thread with the clocks' lock
        held (or on a thread of the program, at the end of a step): be short, and wait for nothing.
        """

    def end_loop(self, clock: Clock) -> bool:
        """End the loop of a clock, on any thread; returns whether that is possible.

        Only needed if the loop does not say what it waits for; called if nothing can end its wait.
        """
        return False

    def idle_loops(self) -> list[Any]:
        """Return the loops of asyncio on the calling thread that do not run but have calls."""
        return []

    def turn(self) -> Optional[int]:
        """Call what is due on the calling thread, where no loop runs that would.

        Called while a test lets virtual time go on. Only needed where timers are called by loops
        that may be turned by hand.

        Returns:
            The local instant of the program's clock of the next turn, ``None`` for none.
        """
        return None

    def next_turn_ns(self, clock: Clock, *, has_frames: bool) -> Optional[int]:
        """Return the local instant of the program's clock of the next turn by hand.

        Args:
            clock: The clock of the timers.
            has_frames: Whether something is called in each frame.
        """
        own_clock, due_ns = self.program.own_clock, self.program.first_due_ns(clock)
        if due_ns is not None:
            due_ns = clock.due_above(due_ns, own_clock)
        now_ns = own_clock.local_ns()
        if has_frames or (due_ns is not None and due_ns <= now_ns):
            frame_ns = now_ns + FRAME_NS
            return frame_ns if due_ns is None or due_ns <= now_ns else min(due_ns, frame_ns)
        return due_ns

    def step_frame(self, clock: Clock, frames: int) -> None:
        """A step of frames begins: the clock is running until :meth:`Program.frame_ended`.

        Only needed where frames have to be asked for.
        """

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        """Clear a timer by command; called on the probe's thread.

        Only called if :meth:`capabilities` gives no reason against it. This one raises, so that an
        adapter without it does not seem to have cleared something.
        """
        message = f"{type(self).__name__} neither clears timers nor says why it cannot."
        raise TypeError(message)

    def costs(self) -> dict[int, float]:
        """Return what the hooks cost for an event by its kind, in nanoseconds, by measuring it.

        Only needed where hooks do much more than to call :class:`Program`; see :mod:`..cost`.
        """
        return {}

    def thin_out(self, share: float) -> None:
        """Hooks have cost the program this share of a processor: follow less, or all again.

        Only needed where programs have very many timers; :attr:`message` has to say so.
        """

    def fail(self, message: str) -> None:
        """Report what could not be read, and leave the library alone from now on."""
        self.state, self.message = "failed", message
        self.program.mention_change()


class AdapterEntry:
    """An adapter, before its library is loaded.

    Attributes:
        name: Name of the adapter: that of its file.
        modules: It is installed as soon as one of these modules has been imported.
        class_name: Name of the class in the file.
        place: The module with the class; of this package if it begins with a dot.
    """

    def __init__(
        self, name: str, modules: tuple[str, ...], class_name: str, place: str = ""
    ) -> None:
        self.name = name
        self.modules = modules
        self.class_name = class_name
        self.place = place or f".{name}"

    def load(self, program: Program) -> Adapter:
        """Make the adapter.

        Raises:
            TypeError: The class is not that of an adapter. Whatever the module raises passes.
        """
        module: Any = import_module(self.place, __package__)
        adapter = getattr(module, self.class_name)(program)
        if not isinstance(adapter, Adapter):
            message = f"{self.place}:{self.class_name} does not make an adapter"
            raise TypeError(message)
        return adapter


ADAPTERS: tuple[AdapterEntry, ...] = (
    AdapterEntry("python_time", ("time",), "PythonTimeAdapter"),
    AdapterEntry("asyncio", ("asyncio.base_events",), "AsyncioAdapter"),
    AdapterEntry("uvloop", ("uvloop",), "UvloopAdapter"),
    AdapterEntry("trio", ("trio",), "TrioAdapter"),
    AdapterEntry("twisted", ("twisted.internet.base",), "TwistedAdapter"),
    AdapterEntry("pygame", ("pygame",), "PygameAdapter"),
    AdapterEntry("pyglet", ("pyglet.clock",), "PygletAdapter"),
    AdapterEntry("qt", ("PySide6.QtCore", "PyQt6.QtCore"), "QtAdapter"),
    AdapterEntry("qt_animations", ("PySide6.QtCore", "PyQt6.QtCore"), "QtAnimationsAdapter"),
    AdapterEntry("tkinter", ("tkinter",), "TkinterAdapter"),
    AdapterEntry("kivy", ("kivy.clock",), "KivyAdapter"),
    AdapterEntry("clock_tree", ("inspector.clocks.transport",), "ClockTreeAdapter"),
    AdapterEntry("panda3d", ("direct.task.Task",), "PandaAdapter"),
    AdapterEntry("schedule", ("schedule",), "ScheduleAdapter", ".jobs"),
    AdapterEntry("apscheduler", ("apscheduler.schedulers.base",), "APSchedulerAdapter", ".jobs"),
    AdapterEntry("celery_beat", ("celery.beat",), "CeleryBeatAdapter", ".jobs"),
)

#: What is missing of a library whose loop goes on while the program is held.
KEEPS_TIME = "its timers are not seen, and keep the machine's time"
#: Libraries with timers, but without an adapter: the module by which each is noticed, what people
#: call it, and what is missing.
UNSEEN: tuple[tuple[str, str, str], ...] = (
    ("gevent", "gevent", KEEPS_TIME),
    ("eventlet", "eventlet", "its timers are not seen, but follow Python's time"),
    ("wx", "wxPython", KEEPS_TIME),
    ("gi", "GLib", KEEPS_TIME),
    ("PyQt5.QtCore", "PyQt5", KEEPS_TIME),
    ("PySide2.QtCore", "PySide2", KEEPS_TIME),
    ("PySide6.QtQml", "QML", KEEPS_TIME),
    ("PyQt6.QtQml", "QML", KEEPS_TIME),
    ("glfw", "GLFW", "its frames are not seen, and get_time() is the machine's"),
    ("raylib", "raylib", KEEPS_TIME),
    ("pyxel", "Pyxel", KEEPS_TIME),
    ("dearpygui", "Dear PyGui", KEEPS_TIME),
    ("pgzero.clock", "Pygame Zero", "what its clock schedules is not seen, but follows pygame's"),
)

#: The group of entry points by which a package adds an adapter.
GROUP = "timeline_inspector.adapters"


def installed_entries() -> list[AdapterEntry]:
    """Return the adapters that packages in the program's environment add.

    An entry point of :data:`GROUP` has the name of the module that its adapter waits for, and
    names a class derived from :class:`Adapter`. Nothing of the packages is imported here.
    """
    found: dict[str, AdapterEntry] = {}
    for folder in sys.path:
        try:
            names = sorted(os.listdir(folder or "."))
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")):
                path = os.path.join(folder, name, "entry_points.txt")
                for module, _, value in _points(path):
                    place, _, class_name = value.partition(":")
                    if place and class_name:
                        # The first on the path counts, as for imports.
                        entry = AdapterEntry(value, (module,), class_name, place)
                        found.setdefault(value, entry)
    return list(found.values())


def _points(path: str) -> Iterator[list[str]]:
    """Yield name, equals sign and value of each line of the group in a file.

    Importing ``configparser`` or ``importlib.metadata`` would take longer than the probe itself.
    """
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return
    is_ours = False
    for line in text.splitlines() if GROUP in text else ():
        if line.startswith("["):
            is_ours = line.strip() == f"[{GROUP}]"
        elif is_ours and "=" in line and not line.startswith(("#", ";")):
            yield [part.strip() for part in line.partition("=")]


def version_of(module: ModuleType) -> str:
    """Return the version of a library, empty if it has none."""
    version = getattr(module, "__version__", None) or getattr(module, "version", "")
    return version if isinstance(version, str) else ""


def error_text(error: BaseException) -> str:
    """Return what was raised, and where in the adapter."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = ""
    if trace is not None:
        file = trace.tb_frame.f_code.co_filename.replace("\\", "/").rpartition("/")[2]
        where = f" ({file}:{trace.tb_lineno})"
    return cut_text(f"{type(error).__name__}: {error}{where}", LONGEST_NAME)


def is_same(one: Any, other: Any) -> bool:
    """Return whether two callbacks are the same, perhaps made twice by the same line."""
    if one == other:
        return True
    owners = getattr(one, "__self__", None), getattr(other, "__self__", None)
    if isinstance(one, partial) and isinstance(other, partial):
        return is_same(one.func, other.func)
    code = getattr(one, "__code__", None)
    return code is not None and owners == (None, None) and code is getattr(other, "__code__", None)
