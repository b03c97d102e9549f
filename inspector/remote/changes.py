"""Methods that do something: open and close sessions, wait, control, write files."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, Literal

from inspector.cli.export import scene_moment
from inspector.cli.names import considered_command
from inspector.clocks.sources.system_source import SystemTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.errors import InspectorError
from inspector.events.annotations import Annotation
from inspector.foreign.files import is_recording
from inspector.foreign.paths import expanded
from inspector.formats.export import check_export, export_frames
from inspector.formats.file_formats import check_file, write_file
from inspector.formats.frame_times import FrameTimes
from inspector.formats.options import PRESETS, ExportOptions, FigureName
from inspector.formats.scene_picture import SCENE_PICTURE_FORMATS, PictureOptions
from inspector.formats.traces.session_trace import Events
from inspector.probe.requests import FULL, GRANTS, READ_ONLY
from inspector.remote.methods import (
    BAD_PARAMS,
    REFUSED,
    Grant,
    Instant,
    Offset,
    Port,
    ProcessNumber,
    RemoteError,
    Seconds,
    SessionNumber,
    Text,
    declare_commands,
    method,
)
from inspector.remote.opened import OpenSession
from inspector.remote.request_handler import NOT_YET, Asked, Later, submit
from inspector.sessions.attached.doors.door import Door
from inspector.sessions.attached.doors.launch import GRACE_S, Launch
from inspector.sessions.attached.doors.ways import Way
from inspector.sessions.attached.session import AttachedSession
from inspector.sessions.captured import CapturedSession
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.recorded import RecordedSession
from inspector.sessions.recorder import Recorder
from inspector.sessions.runs.virtual import run_virtual
from inspector.sessions.scene import find_scene
from inspector.sessions.session import (
    AttachesPrograms,
    Session,
    SessionPhase,
    ShowsCapture,
    ShowsLoops,
    pictures_of,
)
from inspector.timebase import NS_PER_SECOND

_MOST_OUTPUT: Final = 1_000_000
#: Commands that would not end, or need this server's own input and output.
_ENDLESS: Final = frozenset({"serve", "mcp"})

declare_commands(submit)


def _add(asked: Asked, session: Session, kind: str, *, keep: bool, **more: Any) -> OpenSession:  # noqa: ANN401 - of OpenSession
    owner = None if keep else asked.client
    try:
        number = asked.handler.next_number()
    except RemoteError:
        session.close()
        raise
    opened = OpenSession(number, session, kind, owner, asked.worker, **more)
    asked.shown = asked.worker.opened = asked.handler.sessions[number] = opened
    return opened


def _joined(
    asked: Asked, door: Door, timeout_s: float, *, keep: bool, needed: Mapping[str, str]
) -> Later:
    """Open a door; the answer comes when a program has joined, or is told what it needs."""
    session = AttachedSession(door)
    session.acceptor.on_news = asked.worker.wake
    opened = _add(asked, session, "attached", keep=keep)

    def poll() -> object:
        session.refresh()
        if session.opening_problem is not None or session.status.phase is SessionPhase.ENDED:
            problem = session.opening_problem or InspectorError(session.status.message)
            asked.worker.remove()
            raise problem
        if needed:
            return {"session": opened.number, "title": session.title, "environment": needed}
        if not session.own_clocks():
            return NOT_YET
        return {"session": opened.number, "pid": session.pid, "title": session.title}

    return Later(poll, timeout_s, f"{session.title} has not joined yet; session.state says more.")


@method("session.launch", opens=True)
def launch(
    asked: Asked,
    argv: list[Text] = [],  # noqa: B006 - msgspec copies it
    ssh: list[Text] = [],  # noqa: B006
    exec: list[Text] = [],  # noqa: A002, B006 - the option is called so
    folder: Text | None = None,
    hold: bool = False,
    grant: Grant = "full",
    keep: bool = False,
    timeout_s: Seconds = 20.0,
) -> object:
    """Launch a command line with the probe inside; without one, the program of the server.

    It ends with its session, and that with its client unless ``keep`` is given.
    """
    own = asked.handler.program
    command = tuple(argv) or own
    if not command:
        raise RemoteError(BAD_PARAMS, "Name a program in “argv”, with its arguments.")
    if command != own or folder is not None or ssh or exec:
        asked.check(FULL, f"launching {command[0]}")
    launch = Launch(
        command,
        None if folder is None else expanded(folder),
        hold=hold,
        grant=_least(grant, asked.handler.grant),
        output_to_errors=True,
        is_bound=True,
        grace_s=GRACE_S,
    )
    later = _by(asked, Way(launch, ssh=tuple(ssh), exec=tuple(exec)), timeout_s, keep=keep)
    if hold and asked.shown is not None:
        asked.shown.note_hold(asked.client)
    return later


def _by(asked: Asked, way: Way, timeout_s: float, *, keep: bool) -> Later:
    needed: dict[str, str] = {}

    def hand_over(address: str, token: str) -> None:
        needed.update(TIMELINE_PROBE_CONNECT=address, TIMELINE_PROBE_TOKEN=token)
        asked.worker.wake()

    door = way.door(len, hand_over)
    assert door is not None
    return _joined(asked, door, timeout_s, keep=keep, needed=needed)


def _least(asked: Grant, granted: str) -> Grant:
    found: Grant = asked if GRANTS.index(asked) <= GRANTS.index(granted) else "read-only"
    return "step" if granted == "step" and asked == "full" else found


@method("session.attach", opens=True)
def attach(
    asked: Asked,
    pid: ProcessNumber = 0,
    ssh: list[Text] = [],  # noqa: B006 - msgspec copies it
    exec: list[Text] = [],  # noqa: A002, B006 - the option is called so
    dial: Text = "",
    token: Text = "",
    listen: Literal["", "unix", "tcp"] = "",
    browser: Text = "",
    headless: bool = True,
    listen_websocket: Port | None = None,
    origin: list[Text] = [],  # noqa: B006
    hold: bool = False,
    grant: Grant = "full",
    keep: bool = False,
    timeout_s: Seconds = 20.0,
) -> object:
    """Attach to programs that run or will run, by the ways of the command “attach”.

    To a process, here or on a host; to one that listens; to a page; or to what dials: the answer
    then has what it needs in its environment.
    """
    hosts = (tuple(ssh), tuple(exec))
    way = Way(
        Launch(()),
        pid,
        *hosts,
        dial=dial,
        token=token,
        listen=listen,
        browser=browser,
        headless=headless,
        listen_websocket=listen_websocket,
        origin=tuple(origin),
        hold=hold,
        grant=_least(grant, asked.handler.grant),
    )
    if way.count != 1:
        message = "Give one of “pid”, “dial”, “listen”, “browser” and “listen_websocket”."
        raise RemoteError(BAD_PARAMS, message)
    if any(hosts) and not pid:
        message = "A host needs “pid”, or session.launch a program to be launched there."
        raise RemoteError(BAD_PARAMS, message)
    if browser:
        asked.check(FULL, "starting a browser")
    if any(hosts):
        asked.check(FULL, "reaching another host")
    if listen == "tcp" or listen_websocket is not None:
        asked.check(FULL, "opening a port")
    return _by(asked, way, timeout_s, keep=keep)


@method("session.open", opens=True)
def open_file(
    asked: Asked,
    path: Text,
    column: Text | None = None,
    source: Literal["system", "virtual"] = "system",
    hold: bool = False,
    keep: bool = False,
) -> object:
    """Open a recording, a capture of another program, or a scene, which then runs."""
    file = expanded(path)
    if is_recording(file):
        opened = _add(asked, RecordedSession(file), "recording", keep=keep, path=str(file))
    elif file.is_file() and file.suffix != ".py":
        opened = _add(asked, CapturedSession(file, column), "capture", keep=keep, path=str(file))
    else:
        asked.check(FULL, "running a scene")
        with asked.handler.scenes:
            opened = _scene(asked, path, is_real=source == "system", hold=hold, keep=keep)
    opened.session.refresh()
    return {"session": opened.number, "title": opened.session.title}


def _scene(asked: Asked, path: str, *, is_real: bool, hold: bool, keep: bool) -> OpenSession:
    scene = find_scene(path)
    if any(each.kind == "scene" for each in list(asked.handler.sessions.values())):
        raise RemoteError(REFUSED, "A scene is open already. Close its session first.")
    host = SystemTimeSource() if is_real else None
    session = HostedSession(scene, host or VirtualTimeSource(), autorun=is_real and not hold)
    if session.problem is not None:
        session.close()
        raise session.problem
    return _add(asked, session, "scene", keep=keep, host=host)


@method("session.list")
def list_sessions(asked: Asked) -> object:
    """List the open sessions."""
    return asked.handler.states(asked.client)


@method("session.close")
def close(asked: Asked, session: SessionNumber = 0) -> object:
    """Close a session: a program that was launched ends, others are let go."""
    opened = asked.session(session)
    asked.worker.remove()
    return {"closed": opened.number}


@method("session.detach")
def detach(asked: Asked, session: SessionNumber = 0) -> object:
    """Let the programs of a session go; what was seen can still be asked for."""
    of = asked.session(session).session
    if not isinstance(of, AttachesPrograms):
        raise RemoteError(REFUSED, "No program is attached in this session.")
    of.detach()
    return {"message": of.status.message}


@method("session.end_program", FULL)
def end_program(asked: Asked, session: SessionNumber = 0) -> object:
    """End the program that was launched."""
    of = asked.session(session).session
    if not isinstance(of, AttachesPrograms) or not of.can_end_program:
        raise RemoteError(REFUSED, "No program that was launched runs in this session.")
    of.end_program()
    return {"message": of.status.message}


@method("session.wait")
def wait(
    asked: Asked, seconds: Seconds, session: SessionNumber = 0, timeout_s: Seconds = 600.0
) -> object:
    """Let session time pass, or the program end; a scene in virtual time runs at once."""
    opened = asked.session(session)
    of = opened.session
    wanted_ns = int(seconds * NS_PER_SECOND)
    if isinstance(of, HostedSession) and opened.host is None:
        asked.check("step", "running a scene")
        run = run_virtual(of, duration_ns=wanted_ns)
        # Otherwise its state would be running, and commands would wait for its next frame.
        of.hold()
        of.refresh()
        return {"passed_ns": run.session_ns, "is_complete": run.is_complete}
    if of.is_recorded:
        raise RemoteError(REFUSED, f"A {opened.kind} has passed; no more time passes in it.")
    begun_ns = of.timeline.at_ns

    def poll() -> object:
        passed_ns = of.timeline.at_ns - begun_ns
        has_ended = of.status.phase in {SessionPhase.ENDED, SessionPhase.FAILED, SessionPhase.EMPTY}
        if passed_ns < wanted_ns and not has_ended:
            return NOT_YET
        return {"passed_ns": passed_ns, "is_complete": not has_ended}

    return Later(poll, timeout_s, f"Session time has not passed: {of.status.message}")


@method("session.change", "step")
def change(asked: Asked, change: Text, session: SessionNumber = 0) -> object:
    """Make a change in words: “pause enemies”, “resume enemies”, “rate game 1/2”."""
    timeline = asked.session(session).session.timeline
    return submit(asked, session, 30.0, considered_command(timeline, change))


@method("session.show_loop")
def show_loop(
    asked: Asked, clock_id: int = 0, stream: Text = "", session: SessionNumber = 0
) -> object:
    """Show the frames of another loop of a program, or another stream of a capture."""
    of = asked.session(session).session
    if isinstance(of, ShowsCapture):
        if stream not in dict(of.streams):
            raise RemoteError(REFUSED, f"There is no stream “{stream[:80]}”.")
        of.choose_stream(stream)
        return {"shown": of.stream}
    if not isinstance(of, ShowsLoops):
        raise RemoteError(REFUSED, "This session has one loop.")
    if why_not := of.choose_loop(clock_id):
        raise RemoteError(REFUSED, why_not)
    return {"shown": of.frames_of}


@method("session.annotate")
def annotate(
    asked: Asked,
    at_ns: Instant,
    kind: Literal["note", "bookmark", "range"] = "bookmark",
    end_ns: Instant | None = None,
    name: Text = "",
    text: Text = "",
    id: int = 0,  # noqa: A002 - what annotations call it
    session: SessionNumber = 0,
) -> object:
    """Add a bookmark, note or named range, or change the one with a number."""
    opened = _annotated(asked, session)
    wanted = Annotation(kind, at_ns, end_ns, name, text, id)
    kept = opened.session.annotations
    return kept.change(wanted) if id else kept.add(wanted)


@method("session.remove_annotation")
def remove_annotation(
    asked: Asked,
    id: int,  # noqa: A002 - what annotations call it
    session: SessionNumber = 0,
) -> object:
    """Remove a bookmark, note or named range."""
    return _annotated(asked, session).session.annotations.remove(id)


@method("session.undo_annotation")
def undo_annotation(asked: Asked, session: SessionNumber = 0) -> object:
    """Undo the last change of an annotation."""
    return {"text": _annotated(asked, session).session.annotations.undo()}


def _annotated(asked: Asked, session: int) -> OpenSession:
    opened = asked.session(session)
    asked.check(FULL if opened.kind == "recording" else READ_ONLY, "writing into a recording")
    return opened


@method("session.export", FULL)
def export(
    asked: Asked,
    path: Text,
    session: SessionNumber = 0,
    overwrite: bool = False,
    title: Text = "",
    measure: Literal["interval", "busy", "delta"] = "interval",
    theme: Literal["light", "dark"] = "light",
    figure: FigureName = "frames",
    preset: Literal["", "slide", "article", "card"] = "",
) -> object:
    """Write a graph, table, report, timeline, page or trace; the suffix of the file says which.

    A graph is a figure of frame times, with a preset in the size of a slide, an article or a card.
    """
    of = asked.session(session).session
    file = expanded(path)
    check_export(file)
    if file.exists() and not overwrite:
        raise RemoteError(REFUSED, f"{file} exists. Give “overwrite” to replace it.")
    frames = FrameTimes.from_timeline(of.timeline, annotations=of.annotations)
    about = provenance_of(of)
    options = ExportOptions(
        title=title,
        measure=measure,
        budgets_ms=about.budgets_ms,
        knows_refresh=about.has_budget,
        theme=theme,
        figure=figure,
    )
    if preset:
        options = PRESETS[preset].applied_to(options)
    written = export_frames(
        frames,
        about,
        options,
        file,
        events=Events(of.history, pictures=pictures_of(of)),
        replaces_pages=overwrite,
    )
    return {"written": [str(each) for each in written], "frames": len(frames)}


@method("session.export_picture", FULL)
def export_picture(
    asked: Asked,
    path: Text,
    frame: Offset | None = None,
    session: SessionNumber = 0,
    overwrite: bool = False,
) -> object:
    """Write what a scene drew of a frame, by default of the last; of a recording too."""
    opened = asked.session(session)
    file = expanded(path)
    check_file(file, SCENE_PICTURE_FORMATS)
    if file.exists() and not overwrite:
        raise RemoteError(REFUSED, f"{file} exists. Give “overwrite” to replace it.")
    moment, shown = scene_moment(opened.session, f"Session {opened.number}", frame)
    about = provenance_of(opened.session), PictureOptions()
    write_file(moment, *about, file, SCENE_PICTURE_FORMATS)
    return {"written": [str(file)], "frame": shown, "at_ns": moment.at_ns}


@method("session.record_pictures", FULL)
def record_pictures(asked: Asked, keep: bool, session: SessionNumber = 0) -> object:
    """Say whether recordings that begin from now on have the pictures of the scene."""
    recorder = getattr(asked.session(session).session, "recorder", None)
    if not isinstance(recorder, Recorder):
        raise RemoteError(REFUSED, "This session is not recorded.")
    recorder.keeps_pictures = keep
    return {"keep": keep}


@method("command_line.run", FULL)
def run_command(asked: Asked, arguments: list[Text], timeout_s: Seconds = 600.0) -> object:
    """Run another command of timeline-inspector, such as lab, stats, replay or doctor.

    The answer has its exit code and what it printed.
    """
    _ = asked
    is_window = not arguments or (arguments[0] == "attach" and "--seconds" not in arguments)
    if is_window or arguments[0] in _ENDLESS or arguments[0].startswith("-"):
        message = "Name a command that ends by itself; “server.commands” lists them."
        raise RemoteError(BAD_PARAMS, message)
    process = subprocess.Popen(  # noqa: S603 - a command of this program
        [sys.executable, "-P", "-m", "inspector", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    found: list[tuple[bytes, bytes]] = []

    def read() -> None:
        with suppress(ValueError, OSError):
            try:
                found.append(process.communicate(timeout=timeout_s))
            except subprocess.TimeoutExpired:
                process.terminate()
                found.append(process.communicate())
        asked.worker.wake()

    threading.Thread(target=read, name="remote: command line", daemon=True).start()

    def poll() -> object:
        if not found:
            return NOT_YET
        out, err = (each[:_MOST_OUTPUT].decode(errors="replace") for each in found[0])
        return {"exit_code": process.returncode, "out": out, "err": err}

    return Later(poll, timeout_s + 15, "The command has not ended.")
