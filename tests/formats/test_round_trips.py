"""Every exporter that has an importer: what is written is read back, as far as the format goes."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import structs

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.markers import MARKER_KINDS, Marker
from inspector.analysis.statistics.frame_budget import ASKED_FRAME, USUAL_FRAME, FrameBudget
from inspector.formats.export import export_frames, exporters
from inspector.formats.frame_times import FrameTimes, NsColumn, Provenance
from inspector.formats.options import ExportOptions
from inspector.formats.traces.session_trace import Events
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.provenance import provenance_of
from inspector.sessions.scene import built_in_scenes
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import Phase, Share
from tests.light_scenes import light_scene

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inspector.formats.export import AnyExporter
    from inspector.sessions.hosted import HostedSession

_COLUMNS: Final = frozenset(
    {"index", "at_ns", "interval_ns", "delta_ns", "busy_ns", "phases", "shares"}
)
_ALL: Final = _COLUMNS | {"interventions", "markers", "provenance"}
#: What each format carries, by its key; nothing for those that are not read.
CARRIED: Final[dict[str, frozenset[str]]] = {
    **dict.fromkeys(("png", "svg", "pdf", "html", "report", "timeline", "page"), frozenset()),
    "csv": _COLUMNS,
    **dict.fromkeys(("json", "parquet", "arrow"), _ALL),
    **dict.fromkeys(("presentmon", "mangohud"), frozenset({"interval_ns"})),
    **dict.fromkeys(("trace", "pftrace"), frozenset({"events"})),
}
_READ: Final = [each for each in exporters() if "interval_ns" in CARRIED[each.key]]
_TRACES: Final = [each for each in exporters() if "events" in CARRIED[each.key]]
#: Captures skip frames that are longer.
_LONGEST_NS: Final = 100 * 10**9
_TEXT: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


@st.composite
def frames_and_provenance(draw: st.DrawFn) -> tuple[FrameTimes, Provenance]:
    """Frames with everything that a session may have."""
    intervals = draw(st.lists(st.integers(0, _LONGEST_NS), min_size=1, max_size=40))
    count = len(intervals)
    column = st.lists(st.integers(0, 10**15), min_size=count, max_size=count)
    kind = draw(st.sampled_from(MARKER_KINDS))
    end_ns = draw(st.integers(0, 10**15)) if kind == "range" else None
    marker = Marker(kind, draw(st.integers(0, 10**15)), 0, draw(_TEXT), draw(_TEXT), end_ns)
    intervention = Intervention(
        number=draw(st.integers(1, 10**6)),
        is_hit=draw(st.booleans()),
        at_ns=draw(st.integers(0, 10**15)),
        frame=draw(st.integers(0, count)),
        text=draw(_TEXT),
        refusal=draw(_TEXT),
        by=draw(_TEXT),
        clock_name=draw(_TEXT),
        local_ns=draw(st.none() | st.integers(0, 10**15)),
        host_ms=draw(st.integers(0, 4 * 10**12)),
        undone_by=draw(st.integers(0, 9)),
    )
    intervals_ns = np.array(intervals, dtype=np.int64)
    frames = FrameTimes.of_columns(
        np.arange(count, dtype=np.int64) + draw(st.integers(0, 10**9)),
        np.cumsum(intervals_ns) + draw(st.integers(0, 10**15)),
        intervals_ns,
        np.array(draw(column), dtype=np.int64),
        np.array(draw(column), dtype=np.int64),
        np.array([draw(column) for _ in Phase], dtype=np.int64),
        np.array([draw(column) for _ in Share], dtype=np.int64) if draw(st.booleans()) else None,
    )
    frames = structs.replace(
        frames,
        interventions=draw(st.sampled_from([(), (intervention,)])),
        markers=draw(st.sampled_from([(), (marker,)])),
    )
    created = datetime.fromtimestamp(draw(st.integers(0, 4 * 10**9)), UTC)
    rate = draw(st.sampled_from([None, Fraction(60), Fraction(60_000, 1_001)]))
    scene = draw(_TEXT) or "scene"
    usual = FrameBudget(20_000_000, origin=USUAL_FRAME)
    asked = FrameBudget(50_000_000, origin=ASKED_FRAME, rate=Fraction(1, 3))
    own = draw(st.sampled_from([None, usual, asked]))
    about = Provenance(scene, created, "0.1.0", draw(_TEXT), rate, draw(_TEXT), own_budget=own)
    return frames, about


def test_that_every_exporter_is_known_here() -> None:
    assert set(CARRIED) == {each.key for each in exporters()}
    of_other_tools = {"samples", "facts", "beside"}
    names = set(FrameTimes.__struct_fields__) - of_other_tools
    in_history = {"delta_ns", "busy_ns", "phases", "shares"}
    assert names - {"history", "has_shares"} | in_history == _ALL - {"provenance"}


def column(frames: FrameTimes, name: str) -> NsColumn:
    if name == "shares":
        return np.array([frames.share(each) for each in Share] if frames.has_shares else [])
    found: NsColumn = (
        np.stack([frames.phase(each) for each in Phase])
        if name == "phases"
        else getattr(frames, name)
    )
    return found


@pytest.mark.parametrize("exporter", _READ, ids=lambda each: each.key)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=frames_and_provenance())
def test_that_export_and_import_is_the_identity(
    tmp_path: Path, exporter: AnyExporter, data: tuple[FrameTimes, Provenance]
) -> None:
    if exporter.missing:
        pytest.skip(exporter.missing)
    frames, provenance = data
    path = tmp_path / f"frames{exporter.suffix}"

    export_frames(frames, provenance, ExportOptions(), path)
    read = read_frame_file(path)

    assert not read.notes
    assert not read.samples
    carried = CARRIED[exporter.key]
    for name in carried & _COLUMNS:
        assert np.array_equal(column(read.frames, name), column(frames, name)), name
    if "provenance" in carried:
        assert read.provenance == provenance
        assert read.frames.markers == frames.markers
        assert read.frames.interventions == frames.interventions


@pytest.fixture(
    scope="module", params=[each.path for each in built_in_scenes()], ids=lambda p: p.stem
)
def played(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[HostedSession]:
    session = virtual_session(light_scene(request.param, tmp_path_factory.mktemp("scene")))
    pass_seconds(session, 0.5)
    session.refresh()
    yield session
    session.close()


@pytest.mark.parametrize("exporter", _TRACES, ids=lambda each: each.key)
def test_that_frames_of_a_trace_begin_when_they_did(
    tmp_path: Path, exporter: AnyExporter, played: HostedSession
) -> None:
    frames = FrameTimes.from_timeline(played.timeline)
    target = tmp_path / f"scene{exporter.suffix}"

    export_frames(
        *(frames, provenance_of(played), ExportOptions(), target),
        events=Events(played.history),
    )
    read = read_frame_file(target, stream=f"frame ({played.title} (1), frames")

    begun = read.frames.at_ns - read.frames.at_ns[0]
    assert begun.tolist() == (frames.at_ns - frames.at_ns[0]).tolist()
