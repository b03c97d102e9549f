"""The files that a run leaves besides its recording; loaded only for a run that leaves some."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import TextIO

from inspector.cli.graph_options import checked_part, part_in, refuse_existing
from inspector.display_text import counted
from inspector.errors import ExportError, InspectorError
from inspector.formats.export import PAGE, check_export, export_frames, exporter_for
from inspector.formats.file_formats import check_file, write_file
from inspector.formats.frame_times import FrameTimes, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.scene_picture import SCENE_PICTURE_FORMATS, PictureOptions
from inspector.formats.scene_shapes import SceneMoment
from inspector.formats.traces.session_trace import Events
from inspector.pictures.appearance import clock_appearances
from inspector.sessions.hosted import HostedSession
from inspector.sessions.provenance import provenance_of
from inspector.sessions.session import Session, pictures_of


def check_files(options: Namespace) -> None:
    for path in options.export:
        check_export(path)
        refuse_existing(path, options)
    if options.picture is not None:
        check_file(options.picture, SCENE_PICTURE_FORMATS)
        refuse_existing(options.picture, options)


def is_page(path: Path) -> bool:
    return exporter_for(path) is PAGE


def export_run(
    session: Session,
    provenance: Provenance,
    graph: ExportOptions,
    options: Namespace,
    out: TextIO | None,
) -> list[InspectorError]:
    """Export the frames of a run to each file; returns the failures, which do not stop the rest."""
    failed: list[InspectorError] = []
    whole = FrameTimes.from_timeline(session.timeline, annotations=session.annotations)
    part = part_in(options)
    exported = checked_part(whole, part, options.range)
    events = Events(session.history, *part.instants(whole), pictures_of(session))
    for path in options.export:
        try:
            written = export_frames(exported, provenance, graph, path, events=events)
        except InspectorError as error:
            failed.append(error)
            continue
        if out is not None:
            out.write(f"wrote {path} ({counted(len(exported), 'frame')})\n")
            out.writelines(f"wrote {page}\n" for page in written[1:])
    return failed


def write_picture(session: HostedSession, path: Path) -> None:
    session.hold()
    session.draw_picture()
    session.refresh()
    pictures = session.pictures
    if pictures.newest is None or pictures.failure:
        why = pictures.failure or "The scene has none: see stage.picture in the help on scenes."
        raise ExportError(f"There is no picture to write to {path}. {why}")
    looks = clock_appearances(session.timeline, pictures.newest.shapes)
    moment = SceneMoment(pictures.newest, looks, session.session_ns)
    write_file(moment, provenance_of(session), PictureOptions(), path, SCENE_PICTURE_FORMATS)
