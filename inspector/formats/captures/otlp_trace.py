"""Reads traces of OpenTelemetry as OTLP JSON: one document, or one on each line.

The collector's file exporter writes a document for each batch, so a file may have many. Fields
are those of OTLP's ``TracesData`` (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding).
A service is a process; its spans are on as many tracks as run at a time, each within its parent
where that is of the same service.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec

from inspector.errors import CaptureError
from inspector.formats.captures.capture import Capture
from inspector.formats.captures.source import CaptureSource
from inspector.formats.captures.trace import TraceBuilder
from inspector.timebase import MAX_NS

_KEY: Final = re.compile(rb'^(?:\xef\xbb\xbf)?\s*\{\s*"resource_?[sS]pans"\s*:')
#: Longer documents are not read: their spans would not fit into memory.
_LONGEST_DOCUMENT: Final = 1 << 30
_LONGEST_NAME: Final = 400
_SERVICE: Final = "service.name"
_ERROR: Final = 2
_PROBLEMS: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError, ValueError)


class _Attribute(msgspec.Struct, gc=False):
    key: str = ""
    value: dict[str, Any] = {}


class _Resource(msgspec.Struct):
    attributes: list[_Attribute] = []


class _Status(msgspec.Struct, gc=False):
    code: Any = 0
    message: str = ""


class _Moment(msgspec.Struct, gc=False):
    name: str = ""
    time: Any = msgspec.field(default=None, name="timeUnixNano")


class _Span(msgspec.Struct, gc=False, rename="camel"):
    trace_id: str = ""
    span_id: str = ""
    parent_span_id: str = ""
    name: str = ""
    start_time_unix_nano: Any = None
    end_time_unix_nano: Any = None
    attributes: list[_Attribute] = []
    events: list[_Moment] = []
    links: list[msgspec.Raw] = []
    status: _Status = msgspec.field(default_factory=_Status)


class _Scope(msgspec.Struct):
    # Decoded one by one, so that a damaged span costs only itself.
    spans: list[msgspec.Raw] = []


class _ResourceSpans(msgspec.Struct, rename="camel"):
    resource: _Resource = msgspec.field(default_factory=_Resource)
    scope_spans: list[_Scope] = []
    #: The name of ``scopeSpans`` until OTLP 0.15.
    instrumentation_library_spans: list[_Scope] = []


class _Document(msgspec.Struct, rename="camel"):
    resource_spans: list[_ResourceSpans] = []


_decode_document = msgspec.json.Decoder(_Document).decode
_decode_span = msgspec.json.Decoder(_Span).decode
_encode = msgspec.json.Encoder().encode


class _Known(msgspec.Struct, gc=False):
    """A span whose instants are known, in nanoseconds."""

    start_ns: int
    end_ns: int
    span: _Span


def is_otlp(head: bytes) -> bool:
    return _KEY.match(head) is not None


class OtlpReader:
    """Reads spans; they are put on tracks once all are known, because they come in any order."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._source = CaptureSource(path)
        self._builder = TraceBuilder()
        self._lines = self._documents()
        self._services: defaultdict[str, list[_Known]] = defaultdict(list)
        self._documents_read = 0
        self._has_ended = False
        self._has_spans = False

    @property
    def done(self) -> float:
        return self._source.done

    def read_on(self) -> bool:
        """Read a document; returns whether there are more."""
        if self._has_ended:
            return False
        text = next(self._lines, None)
        if text is not None:
            self._read(text)
            return True
        self._has_ended = True
        for service, spans in self._services.items():
            self._place(service, spans)
            self._has_spans = self._has_spans or bool(spans)
        self._services.clear()
        return False

    def capture(self) -> Capture:
        """Return all spans; none before all documents were read."""
        if self._has_ended and not self._has_spans:
            message = f"{self._path} is a trace of OpenTelemetry without spans. Choose another."
            raise CaptureError(message)
        notes = tuple(self._source.notes)
        return self._builder.capture(
            self._path, "OpenTelemetry trace", notes, is_last=self._has_ended
        )

    def _documents(self) -> Iterator[bytes]:
        """Yield each line, or the whole text if its first line is not a document by itself."""
        has_lines: bool | None = None
        pending = bytearray()
        for piece in self._source.pieces():
            pending += piece
            if len(pending) > _LONGEST_DOCUMENT:
                size = _LONGEST_DOCUMENT >> 30
                message = f"{self._path} has a document of more than {size} GiB. Split the file."
                raise CaptureError(message)
            if has_lines is None and b"\n" in piece:
                first, _, _ = pending.partition(b"\n")
                has_lines = first.rstrip().endswith(b"}")
            if has_lines and b"\n" in piece:
                *lines, pending = pending.split(b"\n")
                yield from (bytes(line) for line in lines if line.strip())
        if pending.strip():
            yield bytes(pending)

    def _read(self, text: bytes) -> None:
        self._documents_read += 1
        try:
            document = _decode_document(text.removeprefix(b"\xef\xbb\xbf"))
        except _PROBLEMS as error:
            if self._documents_read == 1 and self.done >= 1:
                reason = str(error)[:_LONGEST_NAME]
                message = f"{self._path} is a trace of OpenTelemetry that is damaged: {reason}."
                raise CaptureError(message) from error
            self._builder.note_damage(f"document {self._documents_read:,}")
            return
        for resource in document.resource_spans:
            spans = self._services[_service_name(resource.resource)]
            for scope in (*resource.scope_spans, *resource.instrumentation_library_spans):
                for raw in scope.spans:
                    try:
                        spans.append(_known(_decode_span(raw)))
                    except _PROBLEMS:
                        self._builder.note_damage(f"document {self._documents_read:,}")

    def _place(self, service: str, spans: list[_Known]) -> None:
        """Put the spans of a service on tracks on which they nest."""
        builder = self._builder
        builder.name_process(service, service)
        spans.sort(key=lambda each: (each.start_ns, -each.end_ns))
        # The spans of each track that have not ended, the outermost first.
        tracks: list[list[_Known]] = []
        for known in spans:
            place = _track_for(known, tracks)
            tracks[place].append(known)
            track = builder.track((service, place), service, f"spans {place + 1}")
            span = known.span
            name = builder.text(span.name[:_LONGEST_NAME] or "(no name)")
            took_ns = known.end_ns - known.start_ns
            builder.add(track, name, known.start_ns, took_ns, _arguments(span))
            for moment in span.events:
                self._add_moment(service, moment)
            for _ in span.links:
                builder.ignored["span link"] += 1
            builder.pack()

    def _add_moment(self, service: str, moment: _Moment) -> None:
        try:
            at_ns = _ns(moment.time)
        except ValueError:
            self._builder.note_damage("an event of a span")
            return
        track = self._builder.track((service, "events"), service, "events")
        self._builder.add(track, self._builder.text(moment.name[:_LONGEST_NAME]), at_ns, 0)


def _track_for(known: _Known, tracks: list[list[_Known]]) -> int:
    """Return the number of the track of a span: its parent's, else the first that is free."""
    free = None
    parent = known.span.parent_span_id
    for place, running in enumerate(tracks):
        while running and running[-1].end_ns <= known.start_ns:
            running.pop()
        if not running:
            free = place if free is None else free
        elif parent and running[-1].span.span_id == parent and known.end_ns <= running[-1].end_ns:
            return place
    if free is None:
        tracks.append([])
        free = len(tracks) - 1
    return free


def _known(span: _Span) -> _Known:
    start_ns, end_ns = _ns(span.start_time_unix_nano), _ns(span.end_time_unix_nano)
    if end_ns < start_ns:
        raise ValueError
    return _Known(start_ns, end_ns, span)


def _ns(value: object) -> int:
    if type(value) not in (int, str):
        raise ValueError
    found = int(value if isinstance(value, int) else str(value)[:_LONGEST_NAME])
    if not 0 < found < MAX_NS:
        raise ValueError
    return found


def _service_name(resource: _Resource) -> str:
    names = (str(_plain(each.value)) for each in resource.attributes if each.key == _SERVICE)
    return next(names, "")[:_LONGEST_NAME] or "unknown service"


def _arguments(span: _Span) -> bytes:
    found: dict[str, object] = {each.key: _plain(each.value) for each in span.attributes}
    if span.status.code in (_ERROR, "STATUS_CODE_ERROR"):
        found["error"] = span.status.message or True
    found |= {"trace": span.trace_id, "span": span.span_id, "parent": span.parent_span_id}
    return bytes(_encode({key: value for key, value in found.items() if value not in ("", None)}))


def _plain(value: dict[str, Any]) -> object:
    for kind, inner in value.items():
        if kind == "intValue":
            return int(inner) if str(inner).lstrip("-").isdecimal() else str(inner)
        if kind == "arrayValue" and isinstance(inner, dict):
            return [_plain(each) for each in _dicts(inner.get("values"))]
        if kind == "kvlistValue" and isinstance(inner, dict):
            pairs = _dicts(inner.get("values"))
            return {str(each.get("key")): _plain(each.get("value") or {}) for each in pairs}
        return inner
    return None


def _dicts(values: object) -> Iterable[dict[str, Any]]:
    return (each for each in values if isinstance(each, dict)) if isinstance(values, list) else ()
