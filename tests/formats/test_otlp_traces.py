"""Traces of OpenTelemetry, as the collector and exporters of SDKs write them."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture
from inspector.formats.captures.otlp_trace import OtlpReader
from inspector.sessions.frame_files import open_frame_file

_BASE_NS = 1_544_712_660_000_000_000


def _span(name: str, start: int, end: int, **more: object) -> dict[str, Any]:
    times = {"startTimeUnixNano": str(_BASE_NS + start), "endTimeUnixNano": str(_BASE_NS + end)}
    return {"traceId": "5b8e", "spanId": name, "name": name, **times, **more}


def _document(*spans: object, service: str = "shop") -> dict[str, Any]:
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    scope = {"scope": {"name": "library"}, "spans": list(spans)}
    resource = {"resource": {"attributes": attributes}, "scopeSpans": [scope]}
    return {"resourceSpans": [resource]}


def _read(path: Path) -> Capture:
    reader = open_frame_file(path)
    assert isinstance(reader, OtlpReader)
    while reader.read_on():
        pass
    return reader.capture()


def _written(folder: Path, *documents: object, indent: int | None = None) -> Path:
    path = folder / "spans.json"
    path.write_text("\n".join(json.dumps(each, indent=indent) for each in documents))
    return path


def _slices(capture: Capture) -> list[tuple[str, str, str, int, int]]:
    slices = capture.slices
    assert slices is not None
    return sorted(
        (slices.tracks[track].process, slices.tracks[track].name, slices.names[name], start, took)
        for start, took, track, name in zip(
            slices.start_ns.tolist(),
            slices.took_ns.tolist(),
            slices.track.tolist(),
            slices.name.tolist(),
            strict=True,
        )
    )


@pytest.mark.parametrize("indent", [None, 2])
def test_spans_lie_within_their_parents_and_beside_others(
    tmp_path: Path, indent: int | None
) -> None:
    document = _document(
        _span("query", 20, 60, parentSpanId="request"),
        _span("request", 0, 100),
        _span("other request", 50, 120),
    )
    capture = _read(_written(tmp_path, document, indent=indent))
    assert _slices(capture) == [
        ("shop", "spans 1", "query", 20, 40),
        ("shop", "spans 1", "request", 0, 100),
        ("shop", "spans 2", "other request", 50, 70),
    ]
    assert capture.format == "OpenTelemetry trace"


def test_each_line_may_be_a_document_and_a_service_a_process(tmp_path: Path) -> None:
    documents = (
        _document(_span("request", 0, 100)),
        _document(_span("charge", 30, 40, parentSpanId="request"), service="payment"),
        _document(_span("late batch", 10, 20, parentSpanId="request")),
    )
    assert _slices(_read(_written(tmp_path, *documents))) == [
        ("payment", "spans 1", "charge", 30, 10),
        ("shop", "spans 1", "late batch", 10, 10),
        ("shop", "spans 1", "request", 0, 100),
    ]


def test_attributes_status_and_identity_are_arguments(tmp_path: Path) -> None:
    span = _span(
        "request",
        0,
        100,
        parentSpanId="above",
        attributes=[
            {"key": "http.status", "value": {"intValue": "500"}},
            {"key": "tags", "value": {"arrayValue": {"values": [{"stringValue": "a"}]}}},
        ],
        status={"code": 2, "message": "no stock"},
    )
    slices = _read(_written(tmp_path, _document(span))).slices
    assert slices is not None
    assert dict(slices.extras.arguments.of(0)) == {
        "http.status": 500,
        "tags": ["a"],
        "error": "no stock",
        "trace": "5b8e",
        "span": "request",
        "parent": "above",
    }


def test_a_damaged_span_costs_that_span_and_is_counted(tmp_path: Path) -> None:
    backwards = _span("backwards", 10, 5)
    document = _document(_span("good", 0, 10), backwards, {"name": 5}, {"name": "no times"})
    path = _written(tmp_path, document, _document(_span("second", 20, 30)))
    path.write_text(path.read_text() + "\n{cut off")
    capture = _read(path)
    assert [each[2] for each in _slices(capture)] == ["good", "second"]
    assert capture.damaged == 4


def test_a_document_that_is_cut_off_is_refused_with_its_place(tmp_path: Path) -> None:
    path = _written(tmp_path, _document(_span("good", 0, 10)))
    path.write_text(path.read_text()[:-9])
    with pytest.raises(CaptureError, match=r"OpenTelemetry that is damaged: .*byte|truncated"):
        _read(path)


def test_a_trace_without_spans_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="OpenTelemetry without spans"):
        _read(_written(tmp_path, {"resourceSpans": []}))


_ids = st.sampled_from("abcdefgh")


@given(
    spans=st.lists(
        st.tuples(_ids, _ids, st.integers(0, 50), st.integers(0, 50)), min_size=1, max_size=30
    )
)
def test_slices_of_a_track_are_apart_or_within_each_other(
    tmp_path_factory: pytest.TempPathFactory, spans: list[tuple[str, str, int, int]]
) -> None:
    folder = tmp_path_factory.mktemp("spans")
    document = _document(
        *(_span(name, at, at + took, parentSpanId=parent) for name, parent, at, took in spans)
    )
    found = _slices(_read(_written(folder, document)))
    assert len(found) == len(spans)
    by_track: dict[str, list[tuple[int, int]]] = {}
    for _, track, _, start, took in found:
        by_track.setdefault(track, []).append((start, start + took))
    for spans_of in by_track.values():
        for start, end in spans_of:
            for other_start, other_end in spans_of:
                is_apart = end <= other_start or other_end <= start
                is_within = (start, end) == (other_start, other_end) or (
                    start <= other_start and other_end <= end
                )
                is_around = other_start <= start and end <= other_end
                assert is_apart or is_within or is_around
