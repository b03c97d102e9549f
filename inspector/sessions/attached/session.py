"""The attached session: programs that run in other processes, through probes inside them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from fractions import Fraction
from struct import unpack_from
from typing import TYPE_CHECKING, Any, Final

from typing_extensions import override

from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.commands.clocks import PauseClock
from inspector.commands.command import Capability, Command, usable
from inspector.commands.transport import Hold, Run
from inspector.display_text import counted
from inspector.errors import AttachError
from inspector.events.conditions.breakpoint import BreakAction
from inspector.events.history import LogHistory
from inspector.events.log import EventLog
from inspector.events.states import detached_text
from inspector.events.timeline import Timeline
from inspector.probe.wire import BAD_PARAMS, WireError
from inspector.sessions.annotations import Annotations
from inspector.sessions.attached.doors.processes import is_alive
from inspector.sessions.attached.event_sorter import KEYFRAME_BEGUN, KEYFRAME_COMPLETE, EventSorter
from inspector.sessions.attached.joined import JoinedPrograms
from inspector.sessions.attached.link import (
    Answered,
    Attached,
    Batch,
    ClockCompared,
    Ended,
    News,
    Notification,
    ProbeLink,
    ProbeServer,
    Unable,
)
from inspector.sessions.attached.messages import (
    ChangedMessage,
    CostMessage,
    HeldMessage,
    KeyframeMessage,
    LostMessage,
    TextsMessage,
    decoded,
)
from inspector.sessions.attached.program import NEVER_POSSIBLE, JoinedProgram
from inspector.sessions.attached.sentences import (
    how_it_ended,
    more_about,
    what_is_missing,
    what_they_do,
    why_unable,
)
from inspector.sessions.attached.session_numbers import ROOT_ID, is_above_programs, is_family
from inspector.sessions.attached.target import AttachedTarget
from inspector.sessions.attached.translation import Translation
from inspector.sessions.attached.whole_session import WholeSession
from inspector.sessions.breakpoints.breakpoints import BreakpointHit, Breakpoints
from inspector.sessions.recorder import Recorder
from inspector.sessions.session import SessionPhase, SessionStatus, ShownLoop, frames_wait, loops_of
from inspector.timebase import NS_PER_MS, NS_PER_SECOND
from inspector.vocabulary import (
    BREAKPOINT_HIT,
    CLOCK_PAUSED,
    CLOCK_REMOVED,
    MARK,
    TASKS_TOLD,
    TRANSPORT,
    LoopKind,
    Mode,
)

if TYPE_CHECKING:
    from inspector.sessions.attached.doors.door import Door, Opened

#: Programs send events within 16 ms, so after this time all of them should have come.
SETTLED_NS: Final = 50 * NS_PER_MS
#: Most bytes of events that a refresh takes, in some 70 ms: a flood must not block the window.
_TAKEN_BYTES: Final = 2 << 20
#: If events come later, on a busy machine, the session waits for them up to this time.
_SETTLED_LATEST_NS: Final = 500 * NS_PER_MS
#: How often the launched process is checked.
_LOOKED_AFTER_NS: Final = NS_PER_SECOND // 2
#: Lost events are marked at most this often.
_MARKED_NS: Final = NS_PER_SECOND
#: A program makes at most one event in this time; a greater loss is not believed.
_NS_PER_EVENT: Final = 10
#: Events that a program may have lost before it connected.
_MOST_LOST: Final = 10_000_000
#: A process that ends does so within this time after its connection has ended.
_EXITS_WITHIN_NS: Final = NS_PER_SECOND
_POSSIBLE: Final = frozenset(Capability) - NEVER_POSSIBLE.keys()
#: Capabilities of the session itself, whatever programs allow.
_OWN: Final = frozenset(
    {Capability.MARK, Capability.BREAKPOINTS, Capability.UNDO, Capability.RECORD}
)


class AttachedSession:
    """Programs in other processes, seen and controlled through their probes.

    Session time is real time since the session began; its timeline stands still while all programs
    are held. Every program is a clock below the root clock. The session opens its door in a thread
    of its own; programs that dial join it, and so do their children.

    Everything but :meth:`submit` is for the thread that made it.
    """

    capabilities: Final = _POSSIBLE  # What some clocks allow; why_not answers for each clock
    is_recorded: Final = False
    wake_errors: Final = None  # None: unknown
    # Frame times are compared with this rate, as programs do not report their own
    frame_rate: Final[Fraction] = DEFAULT_FRAME_RATE

    def __init__(
        self,
        door: Door,
        now_ns: Callable[[], int] = time.monotonic_ns,
        acceptor: ProbeServer | None = None,
    ) -> None:
        """Open a door; :attr:`status` shows the progress."""
        self.title = door.title
        # The events of all programs, with the frames of the loop that is shown
        self.log = EventLog()
        self.history = LogHistory(self.log)
        self.timeline = Timeline(self.log.strings)  # The log folded up to the last refresh
        self.annotations = Annotations()
        # The breakpoints; programs are held some 60 ms after a hit
        self.breakpoints = Breakpoints()
        self._tasks_every_ns = 0
        self._sorter = EventSorter(self.log, self.timeline)
        self._sorter.loops.describe = self._describe_loop
        self._whole_history = self.history
        self._joined = JoinedPrograms(self._sorter)
        self.programs = self._joined.by_number
        whole = WholeSession(self.title, self.annotations, self._sorter, self.history, self._joined)
        self.recorder = Recorder(whole)
        self.annotations.keep = self.recorder.record_annotations
        self.acceptor = acceptor or ProbeServer(now_ns)
        self._now_ns = now_ns
        self._began_ns = now_ns()
        self._ended_ns: int | None = None
        self._target = AttachedTarget(
            self._joined, self._sorter, self.breakpoints, self.recorder, lambda: self.now_ns
        )
        self.undoing = self._target.undoing  # The inverses of commands
        self._by_link: dict[ProbeLink, JoinedProgram] = {}
        self._handlers: dict[str, tuple[type[Any], Callable[[JoinedProgram, Any], None]]] = {
            "Events.texts": (TextsMessage, self._on_texts),
            "Events.keyframe": (KeyframeMessage, self._on_keyframe),
            "Events.lost": (LostMessage, self._on_lost),
            "Program.changed": (ChangedMessage, JoinedProgram.apply_change),
            "Program.cost": (CostMessage, JoinedProgram.add_cost),
            "Program.held": (HeldMessage, self._on_held),
        }
        self._owner = threading.get_ident()
        self._commands: deque[Command] = deque()
        self._ending: dict[JoinedProgram, Ended] = {}
        self._unable: list[Unable] = []
        self._broken_by: BreakpointHit | None = None
        self._end = ""
        self._is_closed = self._is_ending = False
        self._is_reachable = True
        self._looked_after_ns = self._marked_ns = self._began_ns
        self._lost_since_mark = 0
        self._opened: Opened | None = None
        # Why the door did not open; None while it may
        self.opening_problem: AttachError | None = None
        self._joined.add_clock(ROOT_ID, 0, "session", self.now_ns)
        self._opener = threading.Thread(
            target=self._open, args=(door,), name="attach: open", daemon=True
        )
        self._opener.start()
        self.refresh()

    def _open(self, door: Door) -> None:
        try:
            self._opened = door.open(self.acceptor)
        except AttachError as error:
            self.opening_problem = error
        self.acceptor.on_news()

    @override
    def __repr__(self) -> str:
        return f"<AttachedSession {self.title} {self.status.phase.value}>"

    # ------------------------------------------------------------------ questions

    @property
    def source_label(self) -> str:
        known = [
            f"{each.name} ({each.process_text}, {each.link.text})"
            for each in self._joined.attached()
        ]
        return ", ".join(known) or self.title

    @property
    def now_ns(self) -> int:
        return (self._now_ns() if self._ended_ns is None else self._ended_ns) - self._began_ns

    @property
    def is_running(self) -> bool:
        return self._joined.is_running

    @property
    def present_ns(self) -> int:
        """Session time up to which everything is known."""
        return self._sorter.at_ns

    @property
    def frames_run(self) -> int:
        return self.timeline.frames.end

    @property
    def frames_of(self) -> int:
        return self._sorter.loops.shown

    @property
    def waits(self) -> bool:
        program = self.program_of_clock(self.frames_of)
        is_known = program is not None and program.waits(self.frames_of)
        # The timeline still has the kind of a loop whose clock has been removed.
        return is_known or frames_wait(self.timeline, {})

    def _describe_loop(self, clock_id: int) -> tuple[int, LoopKind]:
        """Return the number of a loop's name, which includes the clocks above it, and its kind."""
        names = []
        if clock_id in self.timeline.clocks:
            path = [each for each in self.timeline.path(clock_id) if not is_above_programs(each.id)]
            names = [each.name for each in reversed(path)]
        program = self.program_of_clock(clock_id)
        waits = program is not None and program.waits(clock_id)
        kind = LoopKind.WAITS_FOR_EVENTS if waits else LoopKind.DRAWS_FRAMES
        return self.log.intern(" › ".join(names)), kind

    @property
    def loops(self) -> tuple[ShownLoop, ...]:
        return loops_of(self.timeline)

    @property
    def file_stem(self) -> str:
        return self._joined.file_stem

    @property
    def expects_news(self) -> bool:
        """Whether events may come without a command: a program is attached, or still may be."""
        return self._ended_ns is None

    @property
    def pid(self) -> int | None:
        return None if self._opened is None else self._opened.pid

    def own_clocks(self) -> list[tuple[JoinedProgram, int]]:
        return self._joined.own_clocks()

    def program_of_clock(self, clock_id: int) -> JoinedProgram | None:
        return self._joined.of_clock(clock_id)

    def watch_tasks(self, every_ns: int) -> None:
        """Make the programs report their tasks at this interval, 0 for no more."""
        self._tasks_every_ns = every_ns

    def driven_clock(self, selected: int) -> int:
        """Return the selected clock of a program, else that of the only program."""
        if self.program_of_clock(selected) is not None:
            return selected
        clocks = self.own_clocks()
        return clocks[0][1] if len(clocks) == 1 else 0

    def why_not(self, capability: Capability, clock_id: int = 0) -> str:
        if capability in {Capability.PROGRAM, Capability.MARK}:
            return self._end.rstrip(".")
        if capability in NEVER_POSSIBLE or capability in _OWN:
            return NEVER_POSSIBLE.get(capability, "")
        is_together = is_family(clock_id) and capability is Capability.PAUSE
        if not (clocks := self._joined.family(clock_id) if is_together else self.own_clocks()):
            missing = "its programs have ended" if is_together else "no program is attached yet"
            return self._end.rstrip(".") or missing
        if not is_together and is_above_programs(clock_id):
            if capability in {Capability.PAUSE, Capability.RATE} and (clock_id or len(clocks) > 1):
                what = "the session's own time"
                if clock_id > ROOT_ID:
                    what = f"the time of “{self.timeline.clocks[clock_id].name}”"
                return f"{what} is real time: select a program or a clock below it"
        elif not is_together:
            program = self.program_of_clock(clock_id)
            return "" if program is None else program.why_not(capability, clock_id)
        # For all programs together, it is possible if it is for any of them.
        reasons = [program.why_not(capability, each) for program, each in clocks]
        return "" if "" in reasons else reasons[0]

    @property
    def _last_end(self) -> str:
        return next(reversed(self.programs.values())).ended

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on missing or inexact events, and on the way in."""
        found = [self._opened.note] if self._opened is not None and self._opened.note else []
        found += [why_unable(each) for each in self._unable]
        return (*found, *what_is_missing(self.programs.values(), self._sorter))

    @property
    def status(self) -> SessionStatus:
        if self._is_closed:
            return SessionStatus(SessionPhase.EMPTY, "No program is attached.")
        if self.opening_problem is not None and not self.programs:
            problem = self.opening_problem
            return SessionStatus(SessionPhase.FAILED, str(problem), problem.detail)
        if self._end:
            return SessionStatus(SessionPhase.ENDED, f"{self._end} {self.about_end}".rstrip())
        if not (live := self._joined.attached()):
            waiting = f"Waiting for “{self.title}” to connect."
            message = f"{self._last_end} {waiting}" if self.programs else waiting
            return SessionStatus(SessionPhase.WAITING, message)
        if not self.own_clocks():
            reading = f"Reading the state of “{live[0].name}” …"
            return SessionStatus(SessionPhase.WAITING, reading)
        phase = SessionPhase.RUNNING if self.is_running else SessionPhase.HELD
        if any(each.is_stepping for each in live):
            phase = SessionPhase.STEPPING
        hit = None if self.is_running else self._broken_by
        doing = what_they_do(live, hit.text if hit else "", is_running=self.is_running)
        more = more_about(live, is_reachable=self._is_reachable)
        number = hit.number if hit else 0
        said = " ".join(filter(None, (doing, self.about_end, *more)))
        return SessionStatus(phase, said, breakpoint=number)

    # ------------------------------------------------------------------- commands

    def submit(self, command: Command) -> None:
        """Submit a command, from any thread; it is applied at once, or at the next refresh.

        Its :data:`~inspector.vocabulary.COMMAND` event follows when the programs have answered.
        """
        self._commands.append(usable(command))
        if threading.get_ident() == self._owner:
            self._apply_waiting()
        else:
            self.acceptor.on_news()

    def _apply_waiting(self) -> None:
        while self._commands:
            self._apply(self._commands.popleft())

    def _apply(self, command: Command, by: str = "") -> None:
        if self._is_closed:
            return
        reason = ""
        if command.capability not in self.capabilities or command.capability not in _OWN:
            reason = self.why_not(command.capability, command.clock_about(self.timeline))
        has_begun = self._target.apply(command, command.asker or by, reason)
        if has_begun and command.lets_time_pass:
            self._broken_by = None

    def note(self, kind: int, subject: int, a: int = 0, b: int = 0) -> None:
        self._sorter.add((self.now_ns, kind, subject, a, b))

    # -------------------------------------------------------------------- refresh

    def refresh(self) -> int:
        """Take what programs have sent, and fold the settled events; returns their number."""
        if self._is_closed:
            return 0
        until_ns = self._settled_until_ns()
        self._handle_news()
        for batch in self.acceptor.next_batches():
            # The next refresh takes this batch, and no later event may be folded before it.
            until_ns = min(until_ns, self._first_ns(batch))
            self.acceptor.on_news()
        self._apply_waiting()
        self._check_process()
        count = self._settle(until_ns if self.expects_news else self.now_ns)
        if self.is_running or not self.own_clocks():
            # While programs are held, their time stands as that of a scene does.
            self.timeline.set_present(self._sorter.at_ns)
        self.recorder.pump(at_once=not self.is_running)
        self._sorter.log.settle()
        if self.log is not self._sorter.log:
            self.log.settle()
        return count

    def _handle_news(self) -> None:
        for news in self.acceptor.pop_news(_TAKEN_BYTES):
            self._dispatch(news)

    def _first_ns(self, batch: Batch) -> int:
        """Return an instant before the first event of a batch, within plausible limits."""
        came_ns = batch.at_ns - self._began_ns
        program = self._by_link.get(batch.link)
        if program is None:
            return came_ns - SETTLED_NS
        (raw_ns,) = unpack_from("<q", batch.payload)
        first_ns = int(raw_ns) + program.translation.shift_ns
        return min(max(first_ns, came_ns - _SETTLED_LATEST_NS), came_ns) - 1

    def _settled_until_ns(self) -> int:
        """Return the instant up to which no more events are expected."""
        now_ns = self.now_ns
        since_ns = self.acceptor.connecting_since_ns
        if since_ns is not None:
            # A program that is connecting will also send what has happened since it began to.
            now_ns = min(now_ns, since_ns - self._began_ns)
        wait_ns = max(SETTLED_NS, 3 * self._sorter.late_ns // 2)
        return now_ns - min(wait_ns, _SETTLED_LATEST_NS)

    def _settle(self, until_ns: int) -> int:
        count = self._sorter.release(until_ns)
        for index in self._sorter.resyncs:
            if index in self.programs and self.programs[index].is_attached:
                self.programs[index].link.request("Events.keyframe", {})
        self._sorter.resyncs.clear()
        if wanted := self._sorter.loops.wanted:
            self.choose_loop(wanted)
        self._update_transport()
        self._act_on_breakpoints()
        return count

    def _dispatch(self, news: News) -> None:
        if isinstance(news, Attached):
            self._attach(news)
        elif isinstance(news, Answered):
            news.done(news.result, news.refusal)
        elif isinstance(news, Unable):
            self._unable.append(news)
        else:
            program = self._by_link.get(news.link)
            if program is None or not program.is_attached:
                return
            try:
                self._handle(program, news)
            except WireError as error:
                told = f"it does not follow the protocol: {error.message}"
                self._detach(program, told, self.now_ns)
                program.link.end(error.message)

    def _attach(self, news: Attached) -> None:
        index = len(self.programs)
        shift_ns = news.offset_ns - self._began_ns
        translation = Translation(index, shift_ns, self.log.intern)
        translation.last_ns = self._sorter.at_ns
        program = JoinedProgram(index, news, translation)
        self._joined.join(program, self.now_ns)
        self._by_link[news.link] = program

    def _handle(
        self, program: JoinedProgram, news: Batch | Notification | ClockCompared | Ended
    ) -> None:
        """Handle what a program has sent; raises a :class:`WireError` if it makes no sense."""
        if isinstance(news, Batch):
            at_ns = news.at_ns - self._began_ns
            translation = program.translation
            was_known = translation.top_clock_id
            rows = translation.rows(news.payload, at_ns, self._target.number)
            self._sorter.add_rows(program.index, rows)
            if not was_known and translation.top_clock_id:
                self._joined.put_children_below(program, self.now_ns)
        elif isinstance(news, ClockCompared):
            program.follow_clock(news.offset_ns - self._began_ns, news.error_ns)
            # A keyframe describes its own clock again, which is anchored in session time.
            program.link.request("Events.keyframe", {})
        elif isinstance(news, Ended):
            self._end_program(program, news)
        elif news.method in self._handlers:
            # Other methods are those of a newer probe, and are ignored.
            kind, handle = self._handlers[news.method]
            handle(program, decoded(news.params, kind))

    def _on_texts(self, program: JoinedProgram, texts: TextsMessage) -> None:
        if not program.translation.add_texts(texts.first, texts.texts):
            message = f"texts from {texts.first:,} on do not follow those before"
            raise WireError(BAD_PARAMS, message)

    def _on_lost(self, program: JoinedProgram, lost: LostMessage) -> None:
        most = _MOST_LOST + (self._now_ns() - program.link.began_ns) // _NS_PER_EVENT
        if program.lost.total() + sum(lost.counts.values()) > most:
            message = "more events were lost than there can have been"
            raise WireError(BAD_PARAMS, message)
        self._lost_since_mark += program.count_lost(lost.counts)

    def _on_held(self, program: JoinedProgram, held: HeldMessage) -> None:
        # Before the step has begun, the message is about an earlier hold.
        if held.held and program.has_step_begun:
            program.has_step_begun = False
            program.step_ended_ns = program.translation.last_ns

    def _on_keyframe(self, program: JoinedProgram, keyframe: KeyframeMessage) -> None:
        at_ns = program.translation.last_ns
        program.note_busy(keyframe)
        if keyframe.state == "begun":
            self._sorter.add_keyframe(program.index, KEYFRAME_BEGUN, at_ns)
        elif keyframe.state == "complete":
            self._sorter.add_keyframe(program.index, KEYFRAME_COMPLETE, at_ns)
            program.is_described = True
            if self._joined.wants_hold:
                self._hold_new(program)

    def _hold_new(self, program: JoinedProgram) -> None:
        self._settle(self.now_ns)
        for each, clock_id in self.own_clocks():
            if each is program and not self.timeline.clocks[clock_id].paused:
                cause = {"cause": self._target.number}
                program.ask_clock("Clock.pause", clock_id, cause)

    def _update_transport(self) -> None:
        clocks = self.own_clocks()
        for program, _ in clocks:
            if program.step_ended_ns is not None and program.step_ended_ns <= self._sorter.at_ns:
                program.is_stepping, program.step_ended_ns = False, None
        if any(program.is_stepping for program, _ in clocks):
            return
        is_running = any(not self.timeline.clocks[clock_id].paused for _, clock_id in clocks)
        if is_running is not self.is_running:
            self._joined.is_running = is_running
            self.note(TRANSPORT, Mode.RUNNING if is_running else Mode.HELD)

    # -------------------------------------------------------- acting on breakpoints

    def _act_on_breakpoints(self) -> None:
        """Act on the breakpoints that were hit; the events that this causes may hit some again."""
        longest_ns = self.breakpoints.longest_turn_ns
        for program in self._joined.attached():
            program.hold_after_turn(longest_ns, self._target.number)
            program.watch_tasks(self._tasks_every_ns)
        if not self.breakpoints.is_any_enabled:
            return
        self._target.watch()
        for hit in self.breakpoints.check():
            self._act_on(hit)

    def _act_on(self, hit: BreakpointHit) -> None:
        text = self.log.intern(hit.text)
        self.note(BREAKPOINT_HIT, hit.number, text, hit.frame)
        by = f"breakpoint {hit.number}"
        match hit.action:
            case BreakAction.HOLD:
                self._broken_by = self._broken_by or hit
                # After a long turn a program may have held itself, but the others still run.
                if not self._joined.wants_hold:
                    self._apply(Hold(), by)
            case BreakAction.MARK:
                self.note(MARK, 0, text)
            case BreakAction.PAUSE_ROOT | BreakAction.PAUSE_BRANCH:
                is_branch = hit.action is BreakAction.PAUSE_BRANCH and hit.clock_id > ROOT_ID
                clocks = [hit.clock_id] if is_branch else [each for _, each in self.own_clocks()]
                for clock_id in clocks:
                    self._apply(PauseClock(clock_id), by)
            case _:
                self.recorder.record_hit(hit, self.breakpoints.get(hit.number))

    # ------------------------------------------------------------------ the end

    def _end_program(self, program: JoinedProgram, news: Ended) -> None:
        own = self._opened if self.pid == program.pid else None
        exit_code = None if own is None else own.poll()
        # A thread of Node may end without its process.
        is_process = not program.host and program.pid != program.parent_pid
        goes_on = not news.is_orderly and is_process and is_alive(program.pid)
        may_end = goes_on if own is None else exit_code is None
        if may_end and self._now_ns() - news.at_ns < _EXITS_WITHIN_NS:
            # The process usually ends a moment after its connection, so ask again later.
            self._ending[program] = news
            return
        how = how_it_ended(exit_code, news, goes_on=goes_on)
        self._detach(program, how, news.at_ns - self._began_ns)

    def _detach(self, program: JoinedProgram, how: str, at_ns: int) -> None:
        """Detach a program that has ended: its clock stands still from then on.

        The clock of a child is removed while its parent is attached: many would pile up.
        """
        at_ns = max(at_ns, program.translation.last_ns)
        clocks = [clock_id for each, clock_id in self.own_clocks() if each is program]
        self._joined.detach(program, detached_text(program.name, how))
        program.is_stepping = False
        live = self._joined.attached()
        is_child = self._joined.parent_of(program) is not None
        self._sorter.end_program(program.index)
        text = self.log.intern(program.ended)
        # An end that is noticed late gets the present instant, so as not to count as a late event.
        told_ns = at_ns if at_ns >= self._sorter.newest_ns else self.now_ns
        self._sorter.add((told_ns, MARK, clocks[0] if clocks else 0, text, 0))
        kind = CLOCK_REMOVED if is_child else CLOCK_PAUSED
        # From here on it is unknown what its tasks do.
        self._sorter.add(*((told_ns, TASKS_TOLD, clock_id, 0, 0) for clock_id in clocks))
        self._sorter.add(*((told_ns, kind, clock_id, 0, 0) for clock_id in clocks))
        opened = self._opened
        if not (live or self._end or (opened is not None and opened.may_bring_more())):
            self._finish(program.ended, at_ns)

    def _finish(self, sentence: str, at_ns: int) -> None:
        self._end = sentence
        self._ended_ns = at_ns + self._began_ns
        self._settle(at_ns)

    def _check_process(self) -> None:
        """Check whether the launched program has ended or has no probe, and mark lost events."""
        now_ns = self._now_ns()
        if self._lost_since_mark and now_ns - self._marked_ns >= _MARKED_NS:
            self._marked_ns = now_ns
            text = counted(self._lost_since_mark, "event was lost", "events were lost")
            self._lost_since_mark = 0
            self.note(MARK, 0, self.log.intern(text))
        for program, news in self._ending.items():
            if program.is_attached:
                self._end_program(program, news)
        if now_ns - self._looked_after_ns < _LOOKED_AFTER_NS or self._end:
            return
        self._looked_after_ns = now_ns
        self._is_reachable = self.acceptor.is_reachable
        opened = self._opened
        if opened is None and self.opening_problem is not None:
            self._finish(str(self.opening_problem), self.now_ns)
        if opened is None or self._joined.attached():
            return
        if self.programs and not opened.may_bring_more():
            self._finish(self._last_end, self.now_ns)
        elif not self.programs and (problem := self._why_no_probe(opened) or opened.problem()):
            # The program may have connected before it ended.
            is_connecting = self.acceptor.connecting_since_ns is not None
            self._handle_news()
            if not (is_connecting or self.programs):
                self.opening_problem = self.opening_problem or AttachError(problem)
                self._finish(problem, self.now_ns)

    def _why_no_probe(self, opened: Opened) -> str:
        found = next((each for each in self._unable if each.pid == opened.pid), None)
        return "" if found is None else f"{why_unable(found)} {opened.note}".rstrip()

    def frames_text(self, clock_id: int) -> str:
        loops = self._sorter.loops
        count = loops.ended(clock_id)
        is_shown = loops.loop_of(clock_id) == loops.shown
        return f"{count:,}{', shown' * is_shown}" if count else ""

    def choose_loop(self, clock_id: int) -> str:
        """Show the frames of another loop, including past ones; returns a sentence if it cannot.

        This replaces the log. Recordings have the frames of all loops and continue.
        """
        loops = self._sorter.loops
        clocks = self.timeline.clocks
        branch = self.timeline.branch(clock_id) if clock_id in clocks else [clock_id]
        found = [each for each in branch if loops.ended(each)]
        if not found:
            name = clocks[clock_id].name if clock_id in clocks else "this clock"
            return f"No frames of “{name}” or of a clock below it have been seen."
        loop = loops.loop_of(found[0])
        if loop == loops.shown or (found[0] != clock_id and loops.shown in found):
            return ""
        self._act_on_breakpoints()
        sorter = self._sorter
        sorter.choose(loop)
        self.timeline = sorter.timeline
        self.log = sorter.shown_log
        self.history = self._whole_history if sorter.other is None else sorter.other.history
        self.timeline.set_present(sorter.at_ns)
        if self.breakpoints.is_watching:
            self.breakpoints.watch(self.log, self.timeline)
        return ""

    def detach(self) -> None:
        if self._end:
            return
        names = ", ".join(f"“{each.name}”" for each in self._joined.attached()) or f"“{self.title}”"
        at_ns = self.now_ns
        self._end = f"Detached from {names}; what was held goes on."
        for program in self._joined.attached():
            self._detach(program, "detached by the inspector", at_ns)
        self.acceptor.close("detached")
        self._finish(self._end, at_ns)

    @property
    def can_end_program(self) -> bool:
        return self._opened is not None and self._opened.pid is not None and not self._end

    @property
    def about_end(self) -> str:
        return self._opened.note if self._opened is not None and self._is_ending else ""

    def end_program(self) -> None:
        """End the launched program with all that it has started; from any thread."""
        if self._opened is None:
            return
        if self._joined.wants_hold:
            # An orderly end takes time, which must not be held.
            self.submit(Run())
        self._is_ending = True
        self._opened.end()

    def close(self) -> None:
        if self._is_closed:
            return
        self.acceptor.close()
        self.recorder.close()
        self._is_closed = True
