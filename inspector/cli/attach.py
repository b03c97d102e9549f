"""The command ``attach``, after its arguments are parsed."""

from __future__ import annotations

import os
import shlex
import signal
from argparse import Namespace
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from threading import Event
from typing import TextIO

from inspector.analysis.lateness.late_calls import longest_delays
from inspector.cli.call_tally import CallTally
from inspector.cli.commands.late import DEFAULT_OVER_NS
from inspector.cli.progress import Progress
from inspector.cli.run import check_outputs, put_out, set_rate, start_recording
from inspector.cli.run_report import ATTACHED, ProbeLine, table
from inspector.cli.terminal import write_json, write_notes
from inspector.commands.transport import Hold, Run
from inspector.display_text import one_line
from inspector.errors import AttachError
from inspector.exit_codes import ExitCode
from inspector.formats.captures.capture import stream_named
from inspector.launcher import open_window
from inspector.sessions.attached.doors.door import Door, Opened, ProbeAcceptor
from inspector.sessions.attached.doors.hosts.host import hosts_named, programs_on
from inspector.sessions.attached.doors.late_python import INSTEAD
from inspector.sessions.attached.doors.launch import BOOTSTRAP, GRACE_S, Launch, Launched
from inspector.sessions.attached.doors.programs import described, running_programs
from inspector.sessions.attached.doors.ways import Way
from inspector.sessions.attached.program import JoinedProgram
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.runs.virtual import RunOutcome
from inspector.timebase import NS_PER_SECOND

_TOKEN = "TIMELINE_PROBE_TOKEN"  # noqa: S105 - the name of the variable
#: Longest time between two refreshes of the session, when nothing arrives.
_TURN_S = 0.02
#: Most delays of calls that are listed.
_MOST_DELAYS = 3


@dataclass(slots=True)
class _KeptDoor:
    """A door that keeps what it opened, and prints the note on that, if there is one."""

    door: Door
    err: TextIO
    opened: Opened | None = field(default=None, init=False)

    @property
    def title(self) -> str:
        return self.door.title

    def open(self, acceptor: ProbeAcceptor) -> Opened:
        self.opened = opened = self.door.open(acceptor)
        if note := getattr(opened, "note", ""):
            write_notes(self.err, note)
        return opened


def attach(options: Namespace, out: TextIO, err: TextIO) -> int:
    """List programs, watch one without a window, or open the window on it."""
    found = None if options.list else _door(options, err)
    if found is None:
        return _list_programs(options, out)
    door = _KeptDoor(found, err)
    if options.seconds is not None:
        check_outputs(options)
        return _Watch(door, options, out, err).run()
    # Until the window handles it, SIGTERM ends the process at once: there is nothing to save.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    code = open_window(door)
    return _after_window(door.opened, code, err)


def _door(options: Namespace, err: TextIO) -> Door | None:
    token = os.environ.get(_TOKEN, "")
    if options.dial and not token:
        message = f"The token of the program that listens is missing. Put it into {_TOKEN}."
        raise AttachError(message)
    way = Way(
        Launch(()) if options.pid is not None else _launch(options),
        options.pid or 0,
        tuple(options.ssh),
        tuple(options.exec),
        options.dial or "",
        token,
        options.listen or "",
        options.browser or "",
        options.headless,
        options.listen_websocket,
        tuple(options.origin),
        options.hold,
        options.grant,
    )
    return way.door(partial(write_notes, err), _variables_writer(err))


def _launch(options: Namespace) -> Launch:
    return Launch(
        tuple(options.program),
        hold=options.hold or options.hold_at == 0,
        grant=options.grant,
        output_to_errors=options.json,
        # A program that is used through the window may hold unsaved work, so it may outlive us.
        is_bound=options.seconds is not None,
        grace_s=GRACE_S if options.grace is None else options.grace / NS_PER_SECOND,
    )


def _variables_writer(err: TextIO) -> Callable[[str, str], None]:
    def write_variables(address: str, token: str) -> None:
        write_notes(err, "Start the program with these variables in its environment:")
        err.write(
            f"  TIMELINE_PROBE_CONNECT={address}\n"
            f"  {_TOKEN}={token}\n"
            f"  PYTHONPATH={shlex.quote(str(BOOTSTRAP))}  # or where the probe is there\n"
        )
        err.flush()

    return write_variables


def _after_window(opened: Opened | None, code: int, err: TextIO) -> int:
    """Wait for the end of a program that was launched; return its exit code.

    Ctrl+C and SIGTERM end it and what it has started, even if the window received them.
    """
    if not isinstance(opened, Launched):
        return code
    if code in {ExitCode.HUNG_UP, ExitCode.INTERRUPTED, ExitCode.TERMINATED}:
        opened.end()
    if code != ExitCode.OK:
        return code
    try:
        if opened.poll() is None:
            write_notes(err, f"{opened.title} goes on; Ctrl+C ends it.")
        return opened.wait() or ExitCode.OK
    except KeyboardInterrupt:
        opened.end()
        raise


# ------------------------------------------------------------- without a window


class _Watch:
    """A program that is watched for some time, without a window."""

    def __init__(self, door: _KeptDoor, options: Namespace, out: TextIO, err: TextIO) -> None:
        self._door = door
        self._options = options
        self._out = out
        self._progress = Progress(err)
        self._err = err
        self._news = Event()
        self._session = AttachedSession(door)
        self._session.acceptor.on_news = self._news.set
        self._tally = CallTally(self._session.log)
        self._scaled: set[int] = set()
        self._begun_ns: int | None = None
        self._asked_to_hold = self._asked_to_run = False

    def run(self) -> int:
        """Watch until the time is over, the program has ended or Ctrl+C; return the exit code."""
        session = self._session
        is_over, stop = False, None
        try:
            if self._options.record is not None:
                start_recording(session.recorder, self._options)
            try:
                is_over = self._watch()
            except KeyboardInterrupt as interrupt:
                # Report what was seen until then first.
                stop = interrupt
            finally:
                if not self._has_screen:
                    self._progress.close()
            # Before the report is written, so that the program is done with the terminal.
            self._end()
            if stop is None or self._begun_ns is not None:
                self._report(is_complete=is_over)
            said = getattr(self._door.opened, "note", "")
            write_notes(self._err, *(note for note in session.notes if note != said))
            if stop is not None:
                raise stop
            if not is_over:
                write_notes(self._err, session.status.message)
        finally:
            self._end()
            session.close()
        return ExitCode.OK if is_over else self._exit_code()

    def _end(self) -> None:
        """End the program, with its clocks back at rate 1: ending in good order takes time."""
        session = self._session
        for _, clock_id in session.own_clocks():
            if session.timeline.clocks[clock_id].rate != 1:
                set_rate(session, clock_id, Fraction(1))
        session.end_program()

    @property
    def _has_screen(self) -> bool:
        return isinstance(self._door.opened, Launched) and self._door.opened.has_terminal

    def _watch(self) -> bool:
        """Watch; return whether the time passed before the program ended.

        Raises:
            AttachError: The door could not be opened.
        """
        session, wanted_ns = self._session, self._options.seconds
        while True:
            self._news.wait(_TURN_S)
            self._news.clear()
            session.refresh()
            self._tally.update()
            if session.opening_problem is not None:
                raise session.opening_problem
            if session.programs and self._begun_ns is None:
                self._begun_ns = session.now_ns
            if self._begun_ns is not None:
                passed_ns = session.present_ns - self._begun_ns
                if passed_ns >= wanted_ns:
                    return True
                # A program that draws on the terminal has begun to by then.
                if passed_ns >= NS_PER_SECOND and not self._has_screen:
                    self._progress.update(passed_ns / wanted_ns)
                self._control(passed_ns)
            if not session.expects_news:
                return False

    def _control(self, passed_ns: int) -> None:
        options, session = self._options, self._session
        if options.rate is not None:
            for _, clock_id in session.own_clocks():
                if clock_id not in self._scaled:
                    self._scaled.add(clock_id)
                    set_rate(session, clock_id, options.rate)
        hold_at_ns = 0 if options.hold else options.hold_at
        if hold_at_ns is None:
            return
        if not self._asked_to_hold and passed_ns >= hold_at_ns and session.own_clocks():
            self._asked_to_hold = True
            session.submit(Hold())
        if options.hold_for is None or self._asked_to_run:
            return
        if passed_ns >= hold_at_ns + options.hold_for:
            self._asked_to_run = True
            session.submit(Run())

    def _report(self, *, is_complete: bool) -> None:
        session = self._session
        if (wanted := self._options.stream) is not None:
            loops = session.loops
            place = stream_named(wanted, [each.name for each in loops], self._door.title)
            session.choose_loop(loops[place].clock_id)
        # A program that ends at once may have ended before its beginning was seen.
        began_ns = min(self._begun_ns or 0, session.present_ns)
        passed_ns = session.present_ns - began_ns
        outcome = RunOutcome(
            *(session.frames_run, passed_ns, passed_ns, is_complete), began_ns=began_ns
        )
        put_out(
            session,
            self._tally,
            outcome,
            "attached, in real time",
            self._place(),
            self._options,
            self._out,
            probe_lines(self._session.programs.values()),
            longest_delays(session.history, DEFAULT_OVER_NS, _MOST_DELAYS),
        )

    def _place(self) -> str:
        program = self._options.program
        is_launch = program and self._options.pid is None
        return one_line(shlex.join(program)) if is_launch else self._door.title

    def _exit_code(self) -> int:
        opened = self._door.opened
        return (None if opened is None else opened.poll()) or ExitCode.OK


def probe_lines(programs: Iterable[JoinedProgram]) -> tuple[ProbeLine, ...]:
    """Return the lines of a report on programs, in the order in which they connected.

    A connection that ended before it told its cost is left out if its process connected again.
    """
    lines: list[ProbeLine] = []
    unheard: dict[tuple[str, int], ProbeLine] = {}
    for program in programs:
        line = ProbeLine(
            name=program.name,
            pid=None if program.is_page else program.pid,
            runtime=f"{program.runtime.language} {program.runtime.version}".strip(),
            adapters=tuple(
                each.library or each.name for each in program.adapters if each.state == "active"
            ),
            not_followed=program.not_followed,
            cpu_ns=program.cost_cpu_ns,
            interval_ns=program.cost_interval_ns,
            events=program.events,
            lost=program.lost.total(),
            state=program.ended or ATTACHED,
        )
        process = program.host, program.pid
        if process in unheard:
            lines.remove(unheard.pop(process))
        lines.append(line)
        if program.ended and not (program.is_page or program.cost):
            unheard[process] = line
    return tuple(lines)


# ---------------------------------------------------------------- the list


def _list_programs(options: Namespace, out: TextIO) -> int:
    hosts = hosts_named(options.ssh, options.exec)
    found = programs_on(hosts[0]) if hosts else [described(each) for each in running_programs()]
    programs = sorted(found, key=lambda each: (bool(each["reason"]), each["pid"]))
    if options.json:
        write_json(out, programs)
        return ExitCode.OK
    if not programs:
        where = f" on {hosts[0].name}" if hosts else ""
        out.write(f"No program of yours runs on Python or Node{where}.\n{INSTEAD}\n")
        return ExitCode.OK
    rows = [
        (
            str(each["pid"]),
            one_line(each["program"]),
            one_line(each["runtime"]),
            f"no: {one_line(each['reason'])}"
            if each["reason"]
            else "listens"
            if each["is_listening"]
            else "yes",
        )
        for each in programs
    ]
    out.write(f"{table(('process', 'program', 'runs on', 'can be attached'), rows, right={0})}\n")
    can = next((each for each in programs if not each["reason"]), None)
    if can is not None:
        out.write(f"\nAttach one by “{_way(options)} {can['pid']}”.\n")
    if any(each["reason"] for each in programs):
        out.write(f"\n{INSTEAD}\n")
    return ExitCode.OK


def _way(options: Namespace) -> str:
    """Return the beginning of a command line that reaches the same host."""
    words = [f"--ssh {shlex.quote(each)}" for each in options.ssh]
    words += [f"--exec {shlex.quote(each)}" for each in options.exec]
    return " ".join(["timeline-inspector attach", *words])
