"""Has a life of a scene do again what a journal says."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from typing import TYPE_CHECKING

from inspector.sessions.breakpoints.actions import note_hit
from inspector.sessions.breakpoints.breakpoints import Breakpoints
from inspector.sessions.replay.journal import REWIND_ENTRY, Place, Script
from inspector.vocabulary import Reading

if TYPE_CHECKING:
    from inspector.sessions.commands.desk import CommandDesk
    from inspector.sessions.hosting import Hosting
    from inspector.sessions.replay.journal import Entry, Journal


class ScriptFollower:
    """Drives a life by a journal, up to a frame or to its end, instead of the time source.

    It is a :class:`~inspector.sessions.life.Driver`. For the thread that owns the session,
    like the life itself.

    Attributes:
        is_live: False: nothing that happens is new.
        arrived_at: Where its log stood when it came to the last frame that was asked for;
            ``None`` before.
    """

    def __init__(self, desk: CommandDesk, journal: Journal, stop_frame: int | None = None) -> None:
        """Do nothing yet, see :meth:`steps`.

        Args:
            desk: That of the life which is driven; nothing of it was loaded yet.
            journal: What is done again.
            stop_frame: After how many frames to stop, held; ``None`` for the journal's end.
        """
        self.is_live = False
        self.arrived_at: int | None = None
        self._desk = desk
        self._life = desk.life
        self._script = Script(journal)
        self._stop_frame = stop_frame

    def steps(self) -> Generator[None]:
        """Load the scene and let happen what the script says, a frame or so at each turn.

        Whoever goes through them calls :meth:`end` afterwards, however that went.
        """
        life = self._life
        life.gate.follow(self._script)
        life.load(self)
        yield from self._follow()
        hosting = life.hosting
        if self._stop_frame is not None and hosting is not None:
            if self.arrived_at is None:
                self.arrived_at = life.log.end
            self._script.is_over = True
            hosting.transport.hold()

    def end(self) -> None:
        """Follow no more; session time is held."""
        gate, hosting = self._life.gate, self._life.hosting
        gate.end_following()
        if hosting is not None:
            hosting.stage.take_time_from(gate.source_of_work)

    @property
    def has_arrived(self) -> bool:
        """Whether the script goes no further than the present frame."""
        if self._is_at_stop:
            return True
        head = self._script.head()
        return head is not None and head.code == REWIND_ENTRY and head.frame <= self._frames_run

    def at_frame(self) -> None:
        """Apply what was applied before this frame."""
        self._apply_what_was(Place.BEFORE_FRAME)

    def at_wake_end(self) -> None:
        """Apply what was applied at the end of this wake-up."""
        self._apply_what_was(Place.WAKE_END)

    def look_around(self, *, after_frame: bool) -> None:
        """Have the breakpoints hit that were hit here; stop where the script ends."""
        script, hosting = self._script, self._life.hosting
        if hosting is None:
            return
        while (entry := script.head()) is not None and (hit := entry.hit) is not None:
            # A step may go on after its last frame; what is hit then belongs to the next.
            if entry.frame != self._frames_run or after_frame != (hit.frame < entry.frame):
                break
            script.take()
            known = self._life.breakpoints.get(hit.number)
            if known is not None:
                hit = replace(hit, action=known.action)
            note_hit(self._desk, hit, hosting)
            self._apply_what_was(Place.BREAKPOINT)
        if self.has_arrived:
            if self.arrived_at is None and self._is_at_stop:
                self.arrived_at = self._life.log.end
            hosting.tree.halt()

    def pump_recorder(self) -> None:
        """Hand over nothing: what is done again is nothing new."""

    def before_reading(self) -> None:
        """Wait for nothing: it comes when the script says so."""

    @property
    def _frames_run(self) -> int:
        return self._life.frames_run

    @property
    def _is_at_stop(self) -> bool:
        return self._stop_frame is not None and self._frames_run >= self._stop_frame

    def _follow(self) -> Generator[None]:
        script = self._script
        while (hosting := self._life.hosting) is not None and not self._is_at_stop:
            entry = script.head()
            if entry is None:
                break
            if entry.code == REWIND_ENTRY and entry.told is not None:
                script.take()
                self._go_back_in_place(entry, hosting)
            elif entry.told is not None:
                if entry.told.place is not Place.AT_ONCE or entry.frame != self._frames_run:
                    # It did something else than before; the comparison says what.
                    break
                yield from self._scripted_steps(Place.AT_ONCE)
            elif entry.hit is not None:
                break
            else:
                script.take()
                self._let_happen(entry, hosting)
            yield

    def _go_back_in_place(self, entry: Entry, hosting: Hosting) -> None:
        """Be where somebody went back to: this life has come just so far."""
        life, told = self._life, entry.told
        assert told is not None, "whoever goes back was told to"
        hosting.transport.hold()
        life.breakpoints = Breakpoints.holding(told.breakpoints, told.next_breakpoint)
        life.broken_by = life.stopped_by = None
        self._desk.note_rewind(entry.value, told)

    def _let_happen(self, entry: Entry, hosting: Hosting) -> None:
        """Let happen what an entry says has come from outside."""
        life = self._life
        match entry.code:
            case Reading.PERIOD:
                life.set_period(entry.value)
            case Reading.SYNCED:
                life.note(Reading.SYNCED)
                hosting.tree.sync()
            case Reading.HELD:
                life.hold(is_in_step=bool(entry.value))
            case Reading.RATE:
                life.reset_period()
            case _:
                life.gate.let_through(entry.code, entry.value)

    def _apply_what_was(self, place: Place) -> None:
        """Apply what the script says was applied here."""
        for _ in self._scripted_steps(place):
            pass

    @property
    def _is_broken_off(self) -> bool:
        """Whether somebody has ended a step at the present frame."""
        head = self._script.head()
        return (
            head is not None
            and head.code == Reading.HELD
            and bool(head.value)
            and head.frame == self._frames_run
        )

    def _scripted_steps(self, place: Place) -> Generator[None]:
        """Apply what the script says was applied here, a frame of it at each turn."""
        script = self._script
        while not self.has_arrived:
            entry = script.head()
            if entry is None or (told := entry.told) is None or told.place is not place:
                return
            if entry.frame != self._frames_run:
                return
            script.take()
            for _ in self._desk.apply_steps(
                told.command, entry.value, place=place, by=told.by, host_ms=told.host_ms
            ):
                yield
                self._desk.is_broken_off = self._is_broken_off
            if place is Place.AT_ONCE:
                return
