"""How a frame of a hosted scene gets from the time source to its director."""

import sys
from pathlib import Path
from types import FrameType

import inspector
from inspector.clocks import ManualTimeSource
from inspector.frames.director import Director
from inspector.sessions.hosted import HostedSession
from inspector.testing import scene_file

#: More means that somebody has to go through more files to understand what a frame does.
MOST_CHANGES = 18

SCENE = """
    def build(stage):
        stage.every_frame(lambda delta: None, name="move")
"""
PACKAGE = str(Path(inspector.__file__).parent)
RUN_FRAME = Director.run_frame.__code__


def files_on_the_way(source: ManualTimeSource) -> list[str]:
    """Advance a source by a frame; return the files on its way."""
    files: list[str] = []
    has_arrived = False

    def note(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal has_arrived
        reached = frame.f_back if event == "return" else frame
        if has_arrived or event not in ("call", "return") or reached is None:
            return
        file = reached.f_code.co_filename
        if file.startswith(PACKAGE) and files[-1:] != [file]:
            files.append(file)
        has_arrived = reached.f_code is RUN_FRAME

    former = sys.getprofile()
    sys.setprofile(note)
    try:
        source.advance_ns(16_666_667)
    finally:
        sys.setprofile(former)
    assert has_arrived
    return files


def test_that_a_frame_takes_a_short_way_from_the_source_to_its_director(tmp_path: Path) -> None:
    source = ManualTimeSource()
    session = HostedSession(scene_file(tmp_path, SCENE), source)
    for _ in range(5):
        source.advance_ns(16_666_667)

    changes = len(files_on_the_way(source)) - 1

    assert changes <= MOST_CHANGES
    session.close()
