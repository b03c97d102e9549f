"""tkinter: what is set by ``after``, and the rounds of the main loop.

Timers stay Tcl's. When the clock is held or scaled, a timer is cancelled in Tcl, and its command is
set again for when it is due by the clock: it then has another name in Tcl, so the name that the
program knows is kept. Tcl is used on its own thread only, which is woken by a pipe.
"""

from __future__ import annotations

import gc
import os
from functools import partial, wraps
from itertools import count
from threading import current_thread, get_ident, main_thread
from typing import TYPE_CHECKING, Any, Callable, Optional
from weakref import finalize

from ..kinds import INTERVAL_DELAY, TIMEOUT
from ..own_files import OwnFile
from ..program import name_of
from . import Adapter, is_same

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

    from ..clocks import Clock
    from ..program import Program, Timer
    from . import Capability

_MS = 1_000_000
#: If Tcl calls a timer earlier than this before it is due by the clock, the timer waits on.
_EARLY_NS = 1_000_000
#: Tcl's flag: do not wait for an event.
_DONT_WAIT = 2
#: The protocol of windows for being asked to close.
_CLOSING = "WM_DELETE_WINDOW"
_NOT_WOKEN = "On this system, nothing can wake the loop of Tcl."


class TkinterAdapter(Adapter):
    """One clock for each interpreter of Tcl."""

    library = "tkinter"
    hides: tuple[str, ...] = ("tkinter", "turtle")
    has_hidden_turns = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._interpreters: dict[int, TclHooks] = {}
        self._next_number = count(1).__next__

    def installed(self, module: ModuleType) -> None:
        tkinter: Any = module
        self.version = str(tkinter.TkVersion)
        self.error: Any = tkinter.TclError
        misc, tk, wm, wrapper = tkinter.Misc, tkinter.Tk, tkinter.Wm, tkinter.CallWrapper
        # What is used later, to fail now rather than in the middle of a round.
        self.after, self.after_cancel = misc.after, misc.after_cancel
        _ = misc.after_idle, misc.deletecommand, wrapper.__call__, wm.wm_protocol
        self._hook_interpreters(tk)
        self._hook_timers(misc)
        self._hook_calls(wrapper)
        self._hook_loops(misc, tk, tkinter)
        self._hook_closing(wm)
        if not getattr(module.__spec__, "_initializing", False):
            # It was imported before: there may be windows already.
            for found in gc.get_objects():
                if issubclass(type(found), tk) and "tk" in vars(found):
                    self._found(found)

    def _hook_interpreters(self, tk: Any) -> None:
        adapter, program, init, destroy = self, self.program, tk.__init__, tk.destroy

        @wraps(init)
        def tk_init(self: Any, *args: Any, **kwargs: Any) -> None:
            init(self, *args, **kwargs)
            program.guarded(adapter, adapter._found, self)

        @wraps(destroy)
        def tk_destroy(self: Any) -> None:
            tcl = vars(self).get("tk")
            destroy(self)
            program.guarded(adapter, adapter._gone, tcl)

        tk.__init__, tk.destroy = tk_init, tk_destroy

    def _found(self, root: Any) -> None:
        tcl = root.tk
        if id(tcl) in self._interpreters:
            return
        number = self._next_number()
        name = self.library if number == 1 else f"{self.library} {number}"
        clock = self.program.clock(name, adapter=self)
        self._interpreters[id(tcl)] = TclHooks(self, tcl, clock)
        finalize(root, self.program.guarded, self, self._gone, tcl).atexit = False
        if current_thread() is main_thread() and self.program.keep_alive is None:
            self.program.keep_alive = self._keep_alive

    def _gone(self, tcl: Any) -> None:
        hooks = self._interpreters.pop(id(tcl), None)
        if hooks is not None:
            hooks.close()
            self.program.remove_clock(hooks.clock)

    def of(self, widget: Any) -> Optional[TclHooks]:
        return self._interpreters.get(id(getattr(widget, "tk", None)))

    def _of_clock(self, clock: Clock) -> Optional[TclHooks]:
        """Return the hooks with a clock; none while these are made, on another thread."""
        found = list(self._interpreters.values())
        return next((each for each in found if each.clock is clock), None)

    def _hook_timers(self, misc: Any) -> None:
        adapter, program, destroy = self, self.program, misc.destroy

        @wraps(self.after)
        def widget_after(self: Any, ms: Any, func: Any = None, *args: Any) -> Any:
            hooks = None if program.emit is None else adapter.of(self)
            if hooks is None or adapter.state == "failed":
                return adapter.after(self, ms, func, *args)
            if func is not None:
                return hooks.set(self, ms, func, args)
            if not isinstance(ms, int) or ms <= 0 or hooks.thread != get_ident():
                return adapter.after(self, ms)
            return hooks.sleep(ms)

        @wraps(self.after_cancel)
        def widget_after_cancel(self: Any, id: Any) -> None:  # noqa: A002 - as there
            hooks = adapter.of(self)
            timer = hooks.timers.pop(str(id), None) if hooks is not None and hooks.timers else None
            if timer is None:
                adapter.after_cancel(self, id)
            else:
                timer.cancel()

        @wraps(destroy)
        def widget_destroy(self: Any) -> None:
            if program.emit is not None and self._tclCommands:
                program.guarded(adapter, adapter._forget_commands, self)
            destroy(self)

        misc.after, misc.after_cancel, misc.destroy = (
            widget_after,
            widget_after_cancel,
            widget_destroy,
        )

    def _forget_commands(self, widget: Any) -> None:
        """Clear the timers of a widget that is being destroyed: their commands go with it."""
        hooks = self.of(widget)
        if hooks is not None:
            for identifier, timer in list(hooks.timers.items()):
                if timer.widget is widget:
                    del hooks.timers[identifier]
                    timer.cancel()

    def _hook_calls(self, wrapper: Any) -> None:
        adapter, program, call = self, self.program, wrapper.__call__

        @wraps(call)
        def command_call(self: Any, *args: Any) -> Any:
            hooks = None if program.emit is None else adapter.of(self.widget)
            if hooks is None or hooks.is_in_round:
                return call(self, *args)
            hooks.begin_round()
            try:
                return call(self, *args)
            finally:
                hooks.end_round()

        wrapper.__call__ = command_call

    def _hook_loops(self, misc: Any, tk: Any, tkinter: Any) -> None:
        adapter, program = self, self.program

        def looping(
            original: Any, widget_of: Callable[..., Any] = lambda widget, *_: widget
        ) -> Any:
            @wraps(original)
            def loop(*args: Any) -> Any:
                hooks = None if program.emit is None else adapter.of(widget_of(*args))
                return original(*args) if hooks is None else hooks.run_loop(original, *args)

            return loop

        def updating(original: Any) -> Any:
            @wraps(original)
            def update(self: Any, *args: Any) -> Any:
                hooks = None if program.emit is None else adapter.of(self)
                if hooks is None:
                    return original(self, *args)
                hooks.next_frame()
                hooks.is_updating = True
                try:
                    return original(self, *args)
                finally:
                    hooks.is_updating = False

            return update

        for name in ("mainloop", "wait_variable", "wait_window", "wait_visibility"):
            setattr(misc, name, looping(getattr(misc, name)))
        misc.waitvar, misc.update = misc.wait_variable, updating(misc.update)
        default_root = getattr(tkinter, "_get_default_root", lambda: tkinter._default_root)
        tkinter.mainloop = looping(tkinter.mainloop, lambda *_: default_root())

        def dooneevent(self: Any, flags: int) -> Any:
            return self.tk.dooneevent(flags)

        waiting, polling = looping(dooneevent), updating(dooneevent)

        def tk_dooneevent(self: Any, flags: int = 0) -> Any:
            return (polling if flags & _DONT_WAIT else waiting)(self, flags)

        tk.dooneevent = tk_dooneevent

    def _hook_closing(self, wm: Any) -> None:
        """Let the program's own loop run for a frame, even if held, to close its window."""
        adapter, protocol = self, wm.wm_protocol

        @wraps(protocol)
        def wm_protocol(self: Any, name: Any = None, func: Any = None) -> Any:
            if name != _CLOSING or not callable(func):
                return protocol(self, name, func)
            widget = self

            @wraps(func)
            def closing() -> Any:
                hooks = adapter.of(widget)
                if hooks is not None:
                    hooks.is_closing = True
                return func()

            return protocol(self, name, closing)

        wm.wm_protocol = wm.protocol = wm_protocol

    def attached(self) -> None:
        self.message = ""
        for hooks in list(self._interpreters.values()):
            hooks.is_in_round = False

    def released(self) -> None:
        for hooks in list(self._interpreters.values()):
            for timer in list(hooks.timers.values()):
                timer.shown = None

    def forked(self) -> None:
        # Tcl does not work in a forked child.
        hooks, self._interpreters = self._interpreters, {}
        for each in hooks.values():
            self.program.remove_clock(each.clock)

    def fail(self, message: str) -> None:
        is_new = self.state != "failed"
        super().fail(message)
        for hooks in list(self._interpreters.values()):
            if is_new:
                self.changed(hooks.clock)

    def capabilities(self, clock: Clock) -> dict[str, Capability]:
        hooks = self._of_clock(clock)
        if hooks is None or hooks.can_be_woken:
            return {}
        names = ("pause", "rate", "step_timer", "step_time", "clear_timer")
        return dict.fromkeys(names, _NOT_WOKEN)

    def changed(self, clock: Clock) -> None:
        hooks = self._of_clock(clock)
        if hooks is not None:
            hooks.is_stale = True
            hooks.wake()

    def turn(self) -> Optional[int]:
        dues = []
        for hooks in list(self._interpreters.values()):
            if hooks.thread == get_ident():
                hooks.follow()
                hooks.tcl.call("update")
                dues.append(self.next_turn_ns(hooks.clock, has_frames=False))
        return min((each for each in dues if each is not None), default=None)

    def end_loop(self, clock: Clock) -> bool:
        hooks = self._of_clock(clock)
        if hooks is None:
            return False
        hooks.call(hooks.tcl.quit)
        return True

    def keyframe(self, clock: Clock) -> Iterator[None]:
        hooks = self._of_clock(clock)
        if hooks is None:
            return
        hooks.call(hooks.report_unseen)
        for timer in list(hooks.timers.values()):
            if timer.shown is None:
                timer.report()
            yield

    def clear_timer(self, clock: Clock, timer: Timer, cause: int) -> None:
        hooks = self._of_clock(clock)
        if hooks is not None:
            hooks.call(partial(hooks.clear, timer, cause))

    def _keep_alive(self) -> None:
        """Let windows answer while the program's own loop sleeps."""
        for hooks in list(self._interpreters.values()):
            if hooks.thread == get_ident() and hooks.is_own_loop:
                hooks.pump()


class _TclTimer:
    identifier: str  # What the program calls it, and Tcl at first
    site: int
    due_ns: int  # Local time at which it should be called

    def __init__(self, hooks: TclHooks, widget: Any, ms: Any, func: Any, args: Any) -> None:
        self.hooks = hooks
        self.widget = widget  # The widget that has set it
        self.ms = ms  # After how long, as the program says it: whole milliseconds, or "idle"
        self.func = func  # What is called
        self._args = args
        self.present: Any = None  # What Tcl calls it now, None while Tcl does not know of it
        self.script: Any = None  # The command of Tcl that calls it, once that was asked for
        self.period_ns = 0  # Its delay, if it was set by the call of the one before
        self.shown: Optional[Timer] = None  # The timer in the inspector

    @property
    def is_idle(self) -> bool:
        """Whether it is called as soon as Tcl has nothing else to do."""
        return bool(self.ms == "idle")

    def set(self) -> Any:
        """Have Tcl call it, by its own clock; returns what Tcl calls it."""

        def call(*args: Any) -> None:
            self.hooks.call_timer(self, args)

        call.__name__ = getattr(self.func, "__name__", type(self.func).__name__)
        self.present = self.hooks.adapter.after(self.widget, self.ms, call, *self._args)
        self.script = None
        return self.present

    def cancel_in_tcl(self) -> None:
        """Cancel it in Tcl without deleting the command that it calls."""
        tcl = self.hooks.tcl
        if self.script is None:
            self.script = tcl.splitlist(tcl.call("after", "info", self.present))[0]
        if self.present is not None:
            tcl.call("after", "cancel", self.present)
            self.present = None

    def follow(self) -> None:
        """Have Tcl call it when it is due by the clock; idle calls only wait while that is held."""
        hooks = self.hooks
        if self.is_idle:
            if self.present is None and not hooks.clock.is_held:
                self.present = hooks.tcl.call("after", "idle", self.script)
            return
        self.cancel_in_tcl()
        real_ns = hooks.clock.real_ns_until(self.due_ns)
        if hooks.adapter.state == "failed":
            real_ns = real_ns or 0
        if real_ns is not None:
            self.present = hooks.tcl.call("after", -(-real_ns // _MS), self.script)

    def cancel(self) -> None:
        """Cancel it, as the program wants."""
        adapter = self.hooks.adapter
        if self.shown is not None:
            self.shown.cleared(adapter.program.call_site())
        if self.present is not None:
            adapter.after_cancel(self.widget, self.present)
            return
        try:
            self.widget.deletecommand(self.script)
        except adapter.error:  # The widget is gone.
            pass

    def report(self) -> None:
        hooks = self.hooks
        kind = INTERVAL_DELAY if self.period_ns else TIMEOUT
        self.shown = hooks.adapter.program.timer(
            hooks.clock,
            name_of(self.func),
            self.site,
            self.due_ns,
            self.period_ns,
            kind,
            self.identifier,
        )


class TclHooks:
    """One interpreter of Tcl; used on its thread only, but for :meth:`call` and :meth:`wake`."""

    def __init__(self, adapter: TkinterAdapter, tcl: Any, clock: Clock) -> None:
        self.adapter = adapter
        self.tcl = tcl
        self.clock = clock
        self.thread = get_ident()
        # What was set and has not been called, by what the program calls it
        self.timers: dict[str, _TclTimer] = {}
        # is_in_round: Whether the program is being called, or is in a frame of its own loop
        # is_own_loop: Whether the frames are those of a loop of its own
        # is_updating: Whether that loop lets Tcl handle events
        self.is_in_round = self.is_own_loop = self.is_updating = False
        # is_closing: Whether the program was asked to close its window
        # is_stale: Whether the clock has changed since the timers were set
        self.is_closing = self.is_stale = False
        self._is_answering = False
        self._calling: Optional[_TclTimer] = None
        self._calls: list[Callable[[], None]] = []
        self._pipe: Optional[tuple[OwnFile, OwnFile]] = None
        if self.can_be_woken:
            reader, writer = os.pipe()
            self._pipe = OwnFile(reader), OwnFile(writer)
            os.set_blocking(reader, False)
            os.set_blocking(writer, False)
            tcl.createfilehandler(reader, 2, self._woken)

    @property
    def can_be_woken(self) -> bool:
        """Whether Tcl looks at files while it waits."""
        return hasattr(self.tcl, "createfilehandler")

    def close(self) -> None:
        """Stop watching the pipe; the interpreter is gone."""
        pipe, self._pipe = self._pipe, None
        # Another thread that finds the interpreter unused must not touch it.
        if pipe is not None and self.thread == get_ident():
            self.tcl.deletefilehandler(pipe[0].number)
            for end in pipe:
                end.close()

    # ----------------------------------------------------------------- any thread

    def wake(self) -> None:
        """Have :meth:`_woken` called."""
        if self._pipe is not None and not self._pipe[1].is_lost:
            try:
                os.write(self._pipe[1].number, b"\0")
            except BlockingIOError:
                # The pipe is full, so it will be woken.
                pass

    def call(self, call: Callable[[], None]) -> None:
        """Have something called on the thread of Tcl."""
        self._calls.append(call)
        self.wake()

    def set(self, widget: Any, ms: Any, func: Any, args: Any) -> Any:
        """Set a timer as the program wants; returns what Tcl calls it."""
        timer = _TclTimer(self, widget, ms, func, args)
        identifier = timer.set()
        self.adapter.program.guarded(self.adapter, self._added, timer, str(identifier))
        return identifier

    def _added(self, timer: _TclTimer, identifier: str) -> None:
        program, clock, before = self.adapter.program, self.clock, self._calling
        if before is not None and not is_same(before.func, timer.func):
            before = None
        wait_ns = 0 if timer.is_idle else max(int(timer.ms), 0) * _MS
        # What is due at once waits as well while the clock is held.
        timer.due_ns = clock.local_ns() + (wait_ns or 1)
        timer.identifier = identifier
        timer.site = program.call_site()
        self.timers[identifier] = timer
        if before is not None:
            self._calling = None
            timer.period_ns, timer.shown, before.shown = wait_ns, before.shown, None
        if timer.shown is not None:
            timer.shown.handle = identifier
            timer.shown.armed(timer.due_ns, timer.period_ns)
        else:
            timer.report()
        if timer.is_idle:
            if before is not None and clock.is_held:
                timer.cancel_in_tcl()
        elif not clock.is_plain:
            timer.follow()

    def call_timer(self, timer: _TclTimer, args: Any) -> None:
        """Call what a timer calls, if the timer is due by the clock as well."""
        adapter, before = self.adapter, self._calling
        program = adapter.program
        if program.guarded(adapter, self._is_early, timer):
            return
        # A loop that was not seen to begin, such as that of ``root.tk.mainloop()``.
        is_in_other_loop = self.is_own_loop and not self.is_updating
        if is_in_other_loop:
            self.end_round()
            self.is_own_loop = False
            self.begin_round()
        self._calling = timer
        try:
            timer.func(*args)
        finally:
            self._calling = before
            if timer.shown is not None:
                timer.shown.cleared()
            if is_in_other_loop:
                self.end_round()

    def _is_early(self, timer: _TclTimer) -> bool:
        """Return whether a timer that Tcl calls has to wait; else report that it is called."""
        del self.timers[timer.identifier]
        clock = self.clock
        if not timer.is_idle and not clock.is_plain:
            wait_ns = clock.real_ns_until(timer.due_ns)
            if wait_ns is None or wait_ns > _EARLY_NS:
                # Set anew, as its command is deleted after this call.
                timer.set()
                self.timers[timer.identifier] = timer
                timer.follow()
                return True
        if timer.shown is not None:
            local_ns = clock.local_ns()
            late_ns = max(local_ns - timer.due_ns, 0)
            if timer.period_ns:
                # Unless it sets itself again, it will be cleared.
                timer.shown.fired(late_ns, local_ns + timer.period_ns)
            else:
                timer.shown.fired(late_ns)
                timer.shown = None
        return False

    def sleep(self, ms: int) -> None:
        """Sleep as ``after`` without a function does."""
        program, clock = self.adapter.program, self.clock
        due_ns = clock.local_ns() + ms * _MS
        timer = program.timer(clock, "after", program.call_site(), due_ns)
        try:
            program.sleep_until(clock, due_ns, self.pump if self.is_own_loop else None)
        except BaseException:
            timer.cleared()
            raise
        timer.fired(max(clock.local_ns() - due_ns, 0))

    def clear(self, shown: Timer, cause: int) -> None:
        timer = self.timers.get(shown.handle)
        if timer is not None and timer.shown is shown:
            del self.timers[timer.identifier]
            timer.shown = None
            timer.cancel()
            shown.cleared(cause=cause)

    def report_unseen(self) -> None:
        """Report timers that were set before the inspector came."""
        known = {str(timer.present) for timer in self.timers.values()}
        pending = [str(each) for each in self.tcl.splitlist(self.tcl.call("after", "info"))]
        scripts = [self.tcl.splitlist(self.tcl.call("after", "info", each))[0] for each in pending]
        ours = [each for each, script in zip(pending, scripts) if str(script)[:1].isdigit()]
        if unseen := sum(each not in known for each in ours):
            self.adapter.message = (
                "timers that were set before the inspector came are seen and controlled once they "
                f"are set again: {unseen} of them"
            )
            self.adapter.program.mention_change()

    def _woken(self, *_: Any) -> None:
        """The clock has changed, or something wants to be called here."""
        if self._pipe is None:
            return
        reader = self._pipe[0]
        if reader.is_lost:
            self.close()
        else:
            try:
                os.read(reader.number, 1024)
            except BlockingIOError:
                pass
        try:
            while self._calls:
                self._calls.pop(0)()
            self.follow()
        except Exception as error:  # noqa: BLE001 - nothing here may end the program
            self.adapter.program.adapter_failed(self.adapter, error)

    def follow(self) -> None:
        """Set the timers again if the clock has changed."""
        if self.is_stale:
            self.is_stale = False
            for timer in list(self.timers.values()):
                timer.follow()

    def begin_round(self) -> None:
        """The loop calls the program, which was not being called."""
        self.is_in_round = True
        self._is_answering = self.clock.is_held
        if not self._is_answering:
            self.adapter.program.frame_began(self.clock)

    def end_round(self) -> None:
        """The program has been called."""
        self.is_in_round = False
        if not self._is_answering:
            self.adapter.program.frame_ended(self.clock)
        self._is_answering = False

    def run_loop(self, loop: Callable[..., Any], *args: Any) -> Any:
        """Run a loop of Tcl, which may be within a round of another."""
        was = self.is_in_round, self._is_answering, self.is_own_loop
        if self.is_in_round:
            self.end_round()
        self.is_own_loop = False
        try:
            return loop(*args)
        finally:
            self.is_in_round, self._is_answering, self.is_own_loop = was
            if self.is_in_round and not self._is_answering:
                self.adapter.program.frame_began(self.clock)

    def next_frame(self) -> None:
        """The program's own loop lets Tcl handle events: a frame ends."""
        program = self.adapter.program
        if self._is_answering:
            return
        self.is_own_loop = self.is_own_loop or not self.is_in_round
        if self.is_in_round:
            program.frame_ended(self.clock)
        self.is_in_round = False
        if self.clock.is_held:
            try:
                program.wait_while_held(self.clock, self.pump)
            except _ClosingError:
                pass
        self.is_in_round = True
        program.frame_began(self.clock)

    def pump(self) -> None:
        """Have windows answer while their program is held."""
        was = self.is_in_round, self._is_answering
        self.is_in_round = self._is_answering = True
        try:
            self.tcl.call("update")
        finally:
            self.is_in_round, self._is_answering = was
        if self.is_closing:
            self.is_closing = False
            raise _ClosingError


class _ClosingError(Exception):
    """The program was asked to close its window."""
