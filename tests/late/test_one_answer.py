"""All that is said of a late call names the same cause, the same functions and the same times."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from collections import Counter
from contextlib import closing, redirect_stdout
from typing import TYPE_CHECKING, Any, Final

import pytest
from msgspec import Struct

from inspector.analysis.explain.explain import explain
from inspector.analysis.lanes.lanes import LaneStore
from inspector.analysis.lateness.attribution import BLOCKING
from inspector.analysis.lateness.late_calls import late_calls
from inspector.analysis.lateness.words import block_text, lateness_text, spent_text
from inspector.analysis.lint.findings import BLOCKED_LOOP
from inspector.analysis.lint.rules import findings
from inspector.analysis.lint.survey import LATE_NS
from inspector.calls.call import CallId
from inspector.cli import main as cli
from inspector.cli.late_report import late_values
from inspector.events.recording import open_recording
from inspector.timebase import NS_PER_MS, format_duration
from tests.late.programs import programs
from ui.why.frame_rows import Heaviest
from ui.why.reason_rows import WhyRows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from inspector.analysis.lateness.attribution import Lateness
    from inspector.analysis.lateness.late_calls import LateCall
    from inspector.events.history import History

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="times of threads are Linux's")

_PROGRAMS: Final = {program.name: program for program in programs()}
#: Calls that are less late are only counted.
_OVER_NS: Final = 50 * NS_PER_MS
_NAMED: Final = re.compile(r"([\w.<>]+)\(\) ")
_LATE: Final = re.compile(r"(\S+ m?s) late")
#: A scene that is slow in real time, in a timer and in its frame.
_SCENE: Final = """
import time
def crunch(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass
def rebuild():
    crunch(0.12)
def rest():
    time.sleep(0.12)
def build(scene):
    scene.root.set_interval(0.03, lambda: None, name="tick")
    scene.root.set_timeout(0.3, rebuild, name="rebuild")
    scene.root.set_timeout(0.7, rest, name="rest")
"""


class Recorded(Struct):
    """What was recorded of a program, and what was reported of it then."""

    history: History
    report: dict[str, Any]
    measure: str  # What its frames are judged by
    calls: list[LateCall]


@pytest.fixture(
    scope="module",
    params=[
        *("computes/asyncio-task", "mixes/twisted", "collects/asyncio-task"),
        *("thread-in-c/asyncio-callback", "scene"),
    ],
)
def recorded(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Recorded]:
    folder = tmp_path_factory.mktemp("late")
    path, file = folder / "program.py", folder / "program.tlrec"
    if request.param == "scene":
        path.write_text(_SCENE)
        measure = "interval"
        command = f"run {path} --real-time --seconds 1.2"
    else:
        pytest.importorskip(request.param.partition("/")[2].partition("-")[0])
        path.write_text(_PROGRAMS[request.param].code)
        measure = "busy"
        command = f"attach --seconds 100 --grant read-only -- {shlex.quote(sys.executable)} {path}"
    name, _, rest = command.partition(" ")
    out = io.StringIO()
    with redirect_stdout(out):
        assert cli.main(shlex.split(f"{name} --json --record {file} {rest}")) == 0
    with closing(open_recording(file)) as history:
        made = [call for call in late_calls(history, NS_PER_MS) if call.is_made]
        yield Recorded(history, json.loads(out.getvalue()), measure, made)


def culprits(lateness: Lateness, least: float = 0.0) -> set[str]:
    """Return the functions that had so much of a lateness."""
    sums: Counter[str] = Counter()
    for share in lateness.shares:
        if share.culprit is not None and share.cause in BLOCKING:
            sums[share.culprit.place.function] += share.ns
    return {name for name, ns in sums.items() if ns >= least * lateness.late_ns}


def test_that_all_that_is_said_of_a_late_call_is_the_same(recorded: Recorded) -> None:
    history = recorded.history
    heaviest = Heaviest()
    late = [call for call in recorded.calls if call.lateness.late_ns > _OVER_NS]
    assert late
    values: Any = late_values(late)["late"]
    for call, value in zip(late, values, strict=True):
        lateness, main = call.lateness, call.lateness.main
        text = lateness_text(lateness)
        # `explain` and *Why*
        state = history.state_before(call.cursor + 1)
        call_id = CallId(call.timer_id)
        told = WhyRows().rows(history, state, call_id, is_live=False, is_whole=True)
        reasons = explain(history, call_id, state.at_ns, timeline=state).reasons
        for sentences in (
            [reason.text for reason in reasons],
            [told.answer, *("".join(link.text for link in row.links) for row in told.chain)],
        ):
            of_it = [each for each in sentences if _LATE.search(each)]
            assert of_it
            assert {_LATE.findall(each)[0] for each in of_it} == {format_duration(lateness.late_ns)}
            if spent_text(lateness):
                plain = [each.replace("“", "").replace("”", "") for each in of_it]
                assert f"It was {text}".replace("“", "").replace("”", "") in plain
        # `late --json`
        assert value["cause"] == lateness.cause.value
        named = value["culprit"] and value["culprit"]["function"]
        assert named == (main.culprit.place.function if main and main.culprit else None)
        # *Frame*
        frames, edge_ns = state.frames, lateness.late_ns // 5
        same = [
            index
            for index in range(frames.first, frames.end)
            if abs(frames.frame(index).at_ns - lateness.begin_ns) < edge_ns
            and abs(frames.frame(index).at_ns + frames.frame(index).busy_ns - lateness.end_ns)
            < edge_ns
        ]
        for index in same:
            seen, _helps, _kept = heaviest.seen(history, state, index)
            if seen:
                assert _NAMED.findall(seen)[0] in culprits(lateness, 0.3)


def test_that_findings_count_the_calls_that_functions_made_late(recorded: Recorded) -> None:
    history = recorded.history
    late = [call.lateness for call in recorded.calls if call.lateness.late_ns > LATE_NS]
    mainly = Counter(name for lateness in late for name in culprits(lateness, 0.5))
    ever = {name for call in recorded.calls for name in culprits(call.lateness)}
    for finding in findings(history):
        if finding.kind == BLOCKED_LOOP:
            (name,) = _NAMED.findall(finding.text)
            (count,) = re.findall(r"([\d,]+|no) calls? w", finding.text)
            assert name in ever
            assert int(count.replace("no", "0")) == mainly[name]
    store = LaneStore()
    while store.read(history, history.state_before(history.end)):
        pass
    for clock_id in {call.clock_id for call in recorded.calls}:
        blocks = store.blocks.within(clock_id, 0, 1 << 62)
        assert {block.culprit.place.function for block in blocks} <= ever
        assert all(block_text(block).startswith("blocked by ") for block in blocks)


def test_that_a_report_is_of_the_same_lateness_and_knows_what_a_loop_is(
    recorded: Recorded,
) -> None:
    worst: Counter[str] = Counter()
    for call in recorded.calls:
        if call.lateness.samples or not call.site.endswith(" in job"):
            worst[call.name] = max(worst[call.name], call.lateness.late_ns)
    reported = {each["label"]: each["max_lateness_ns"] for each in recorded.report["timers"]}
    assert {name: reported[name] for name in worst} == worst
    assert recorded.report["over_budget"]["measure"] == recorded.measure
