"""Panda3D and Ursina: do-later tasks, and the steps of the task manager as frames.

Panda3D's clock is set to local time, in slave mode, as soon as that is no longer real time. While
it is held, windows are drawn and answer events, but no task runs.
"""

from __future__ import annotations

import builtins
import sys
from functools import wraps
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, Optional

from ..clocks import whole_ns
from ..kinds import INTERVAL_DELAY, TIMEOUT
from ..program import SITE, name_of
from . import FRAME_NS, Adapter

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..clocks import Clock
    from ..program import Program, Timer

_NS = 1_000_000_000
#: Time between two pictures of a held program.
_HELD_DRAW_NS = 100_000_000
#: A task that woke and has not begun to wait again after this time is called in every frame now.
_AGAIN_S = 0.2


class PandaAdapter(Adapter):
    """One clock, for Panda3D's global clock."""

    library = "Panda3D"
    calls_in_frames = True
    hides: tuple[str, ...] = ("direct", "panda3d", "ursina.main")

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        # Not time.monotonic_ns, which may have become local time itself.
        self._now_ns = program.clocks.now_ns
        self._manager: Any = None
        #: By task: its timer, and the time of Panda3D at which it wakes.
        self._shown: dict[Any, tuple[Timer, float]] = {}
        self._frame_ns: Optional[int] = None
        self._limit_ns = 0
        # The shortest recent frame, as Panda3D does not tell to which rate it limits itself.
        self._shortest_ns = 0
        self._mode: Any = None
        self._base_s: float = 0.0
        self._held_drawn_ns = 0
        self._is_turning = False

    def installed(self, module: ModuleType) -> None:
        core: Any = sys.modules["panda3d.core"]
        task_module: Any = module
        self._core = core
        self.version = core.PandaSystem.getVersionString()
        self._panda_clock = core.ClockObject.getGlobalClock()
        self._clock = self.program.clock("Panda3D", adapter=self)
        manager = task_module.TaskManager
        adapter, program = self, self.program
        step, do_later = manager.step, manager.doMethodLater

        @wraps(step)
        def manager_step(self: Any) -> Any:
            if program.emit is None and adapter._mode is None:
                return step(self)
            program.guarded(adapter, adapter._before, self)
            try:
                return step(self)
            finally:
                program.guarded(adapter, adapter._after)

        @wraps(do_later)
        def do_method_later(self: Any, *args: Any, **kwargs: Any) -> Any:
            task = do_later(self, *args, **kwargs)
            if program.emit is not None:
                program.guarded(adapter, adapter._report_timer, task, program.call_site())
            return task

        manager.step, manager.doMethodLater, manager.do_method_later = (
            manager_step,
            do_method_later,
            do_method_later,
        )
        # Reading what the adapter is going to read finds out at once whether it is there.
        _ = manager.getDoLaters, core.PythonTask.getWakeTime, self._panda_clock.setFrameTime

    def fail(self, message: str) -> None:
        super().fail(message)
        if self._mode is not None:
            self._panda_clock.setMode(self._mode)
            self._mode = None

    def _before(self, manager: Any) -> None:
        clock, panda_clock = self._clock, self._panda_clock
        self._manager = manager
        if not clock.is_plain and self._mode is None:
            self._slave_clock()
        if self.program.emit is not None and clock.is_held:
            self.program.wait_while_held(clock, self._keep_alive)
        # Virtual time advances from frame to frame.
        limit_ns = self._limit_ns or (FRAME_NS if self.program.waits is not None else 0)
        if limit_ns and self._frame_ns is not None and not self._is_turning:
            self.program.sleep_until(clock, self._frame_ns + limit_ns, self._keep_alive)
        now_ns = clock.local_ns()
        delta_ns = now_ns - (self._frame_ns or now_ns)
        self._frame_ns = now_ns
        if self._mode is None:
            longer_ns = self._shortest_ns + self._shortest_ns // 100
            self._shortest_ns = min(longer_ns, delta_ns) if longer_ns else delta_ns
        else:
            frame_s = self._base_s + now_ns / _NS
            if clock.is_plain:
                # Back to Panda3D's own time, which goes on from here.
                panda_clock.setMode(self._mode)
                panda_clock.setRealTime(frame_s)
                self._mode, self._limit_ns = None, 0
            else:
                panda_clock.setDt(delta_ns / _NS)
                panda_clock.setFrameTime(frame_s)
                panda_clock.setFrameCount(panda_clock.getFrameCount() + 1)
        if self.program.emit is not None:
            self._watch()
            self.program.frame_began(clock)

    def turn(self) -> Optional[int]:
        managers: Any = sys.modules.get("direct.task.TaskManagerGlobal")
        if managers is None or current_thread() is not main_thread():
            return None
        self._is_turning = True
        try:
            managers.taskMgr.step()
        finally:
            self._is_turning = False
        return self.next_turn_ns(self._clock, has_frames=bool(managers.taskMgr.getTasks()))

    def _slave_clock(self) -> None:
        """Set Panda3D's clock to local time from now on, unless frames have a fixed length."""
        panda_clock, modes = self._panda_clock, self._core.ClockObject
        mode = panda_clock.getMode()
        if mode not in {modes.MNormal, modes.MLimited}:
            self.message = "Frames have a fixed length in this program: they are held and stepped."
            return
        self._mode = mode
        if mode == modes.MLimited:
            self._limit_ns = self._shortest_ns
        frame_ns = self._clock.local_ns() if self._frame_ns is None else self._frame_ns
        self._base_s = panda_clock.getFrameTime() - frame_ns / _NS
        panda_clock.setMode(modes.MSlave)

    def _keep_alive(self) -> None:
        """Have the windows of the held program drawn, and its events answered."""
        now_ns = self._now_ns()
        if now_ns - self._held_drawn_ns >= _HELD_DRAW_NS:
            self._held_drawn_ns = now_ns
            if self._mode is not None:
                # The same frame is not drawn twice.
                self._panda_clock.setFrameCount(self._panda_clock.getFrameCount() + 1)
            self._core.GraphicsEngine.getGlobalPtr().renderFrame()
            event_manager = getattr(getattr(builtins, "base", None), "eventMgr", None)
            if event_manager is not None:
                event_manager.doEvents()

    def _after(self) -> None:
        if self.program.emit is not None:
            self._watch()
            self.program.frame_ended(self._clock)

    def _watch(self) -> None:
        waiting, frame_s = set(), self._panda_clock.getFrameTime()
        for task in self._manager.getDoLaters():
            waiting.add(task)
            known, wake_s = self._shown.get(task), task.getWakeTime()
            if known is None:
                self._report_timer(task, 0)
            elif known[1] != wake_s:
                timer, due_ns = known[0], self._due_ns(wake_s)
                self._shown[task] = (timer, wake_s)
                if known[1] > frame_s:
                    timer.armed(due_ns)
                elif timer.period_ns:
                    timer.fired(self._late_ns(frame_s, known[1]), due_ns)
                else:
                    # It waits again, for as long as before.
                    record = self.program.timers.get(timer.number)
                    site = 0 if record is None else record[SITE]
                    timer.fired(self._late_ns(frame_s, known[1]))
                    self._report_timer(task, site, whole_ns(task.getDelay()))
        for task, (timer, wake_s) in list(self._shown.items()):
            # A task that is called in this frame is alive, and may wait again in the next.
            if task not in waiting and not (task.isAlive() and frame_s - wake_s < _AGAIN_S):
                del self._shown[task]
                if wake_s <= frame_s:
                    timer.fired(self._late_ns(frame_s, wake_s))
                else:
                    timer.cleared()

    @staticmethod
    def _late_ns(frame_s: float, wake_s: float) -> int:
        return max(whole_ns(frame_s - wake_s), 0)

    def _due_ns(self, wake_s: float) -> int:
        if self._mode is None:
            left_s: float = wake_s - self._panda_clock.getRealTime()
            return self._clock.local_ns() + whole_ns(left_s) + 1
        return whole_ns(wake_s - self._base_s) + 1

    def _report_timer(self, task: Any, site: int, period_ns: int = 0) -> None:
        wake_s = task.getWakeTime()
        function = task.getFunction() if hasattr(task, "getFunction") else None
        name = task.name if function is None else f"{task.name} ({name_of(function)})"
        due_ns, kind = self._due_ns(wake_s), INTERVAL_DELAY if period_ns else TIMEOUT
        timer = self.program.timer(self._clock, name, site, due_ns, period_ns, kind, task)
        self._shown[task] = (timer, wake_s)

    def keyframe(self, clock: Clock) -> Iterator[None]:
        # Each frame describes the tasks that are not known.
        return iter(())

    def released(self) -> None:
        self._shown.clear()

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        self._shown.pop(timer.handle, None)
        timer.handle.remove()
        timer.cleared(cause=cause)
