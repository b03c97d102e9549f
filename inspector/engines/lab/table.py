"""The results of the refresh-rate lab as a table (CSV) and in full (JSON).

Columns of the CSV, one row per timer, display and subject; times are whole nanoseconds, early is
below 0, and missing values are empty:

* ``timer``, ``display``, ``subject``, ``subject_title``
* ``verdict``: exact, within a frame, too early, too late, nothing expected
* ``fired``, ``expected``: number of actual and expected firings
* ``mean_period_ns``: mean time from firing to firing, rounded
* ``lateness_min_ns``, ``lateness_median_ns``, ``lateness_max_ns``: of its firings, each against the
  expected firing of that number
* ``drift_at_end_ns``: lateness of the last firing
* ``diverges_at_firing``: number of the first firing that is more than a frame off, from 1
* ``diverges_expected_ns``, ``diverges_actual_ns``: its expected and actual instants
* ``known_fault``: fault of the subject, on this display or on others

The JSON has the same per result, and ``expected_ns`` and ``fired_ns`` with every instant.
"""

import csv
import json
from collections.abc import Sequence
from io import StringIO
from typing import BinaryIO, Final

from inspector.engines.lab.refresh_lab import LabResult
from inspector.formats.csv_cells import text_cell
from inspector.formats.frame_times import Provenance

LAB_FORMAT: Final = "timeline-inspector refresh-rate lab"
LAB_VERSION: Final = 1


def lab_values(result: LabResult) -> dict[str, str | int | None]:
    lateness, divergence = result.lateness, result.divergence
    period_ns = result.mean_period_ns
    return {
        "timer": result.timer.title,
        "display": result.display.name,
        "subject": result.subject.name,
        "subject_title": result.subject.title,
        "verdict": result.verdict.value,
        "fired": result.count,
        "expected": result.expected_count,
        "mean_period_ns": None if period_ns is None else round(period_ns),
        "lateness_min_ns": None if lateness is None else lateness.min_ns,
        "lateness_median_ns": None if lateness is None else lateness.median_ns,
        "lateness_max_ns": None if lateness is None else lateness.max_ns,
        "drift_at_end_ns": None if lateness is None else lateness.last_ns,
        "diverges_at_firing": None if divergence is None else divergence.index + 1,
        "diverges_expected_ns": None if divergence is None else divergence.expected_ns,
        "diverges_actual_ns": None if divergence is None else divergence.actual_ns,
        "known_fault": result.subject.fault_sentence,
    }


def write_lab_csv(
    results: Sequence[LabResult], _provenance: Provenance, _options: object, stream: BinaryIO
) -> None:
    text = StringIO(newline="")
    writer = csv.writer(text)
    rows = [lab_values(result) for result in results]
    if rows:
        writer.writerow(rows[0])
    for row in rows:
        writer.writerow(text_cell(v) if isinstance(v, str) else v for v in row.values())
    stream.write(text.getvalue().encode(errors="backslashreplace"))


def write_lab_json(
    results: Sequence[LabResult], provenance: Provenance, _options: object, stream: BinaryIO
) -> None:
    """Write the results with their provenance, one result per line."""
    head = {
        "format": LAB_FORMAT,
        "version": LAB_VERSION,
        "provenance": {
            "scene": provenance.scene,
            "created": provenance.created_iso,
            "inspector_version": provenance.version,
            "note": provenance.note,
        },
    }
    text = json.dumps(head, ensure_ascii=False, indent=2).removesuffix("\n}")
    stream.write(text.encode(errors="backslashreplace"))
    separator = ',\n  "results": [\n    '
    for result in results:
        value = lab_values(result) | {
            "expected_ns": result.expected_ns,
            "fired_ns": result.fired_ns,
        }
        line = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        stream.write(f"{separator}{line}".encode(errors="backslashreplace"))
        separator = ",\n    "
    stream.write(b"\n  ]\n}\n" if results else b',\n  "results": []\n}\n')
