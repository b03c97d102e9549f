"""The report of a run, as text and as plain values for programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal
from math import isfinite
from typing import Final, TypeVar

from msgspec import Struct, structs

from inspector.analysis.interval_shares import UNKNOWN, named_shares, shares_text
from inspector.analysis.lateness.late_calls import LongestDelays
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import over_budget, percentile_frame_time_ns
from inspector.calls.call import short_site
from inspector.cli.call_tally import CallCount, CallTally, SystemLine, TimerCount
from inspector.cli.late_report import delays_text, delays_values
from inspector.clocks.rate import local_ns
from inspector.display_text import counted, one_line
from inspector.events.states import StoppedClock
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import FrameTimes, NsColumn
from inspector.sessions.runs.virtual import RunOutcome
from inspector.timebase import (
    NS_PER_MS,
    NS_PER_SECOND,
    format_duration,
    format_instant,
    format_local_time,
    ns_to_seconds,
)
from inspector.vocabulary import RATE_DENOMINATOR, Measure, Share, typed_rate

_LISTED_FAILURES: Final = 5
_LISTED_CLOCKS: Final = 40
_LONG_NS: Final = 120 * NS_PER_SECOND
_WIDEST_CELL: Final = 80
#: Most call sites in the line of a timer.
_PLACES: Final = 2
_MEASURE_NAMES: Final[dict[Measure, str]] = {
    "interval": "frame time",
    "busy": "work in it",
    "delta": "delta",
}
#: The columns that are aligned to the right in every table.
_NUMBERS: Final = frozenset(
    {"local time", "rate", "effective", "pending", "fired", "delay", "expected", "skipped"}
    | {"max late", "scale", "holds", "called", "took, ms", "longest", "process", "events"}
    | {"probe, ms", "of time"}
)
#: For products of rates: more digits than a double has, but limited, since the exact product of
#: thousands of rates would be very long.
_DIGITS: Final = Context(prec=40)
#: The state of a program that has not ended.
ATTACHED: Final = "attached"

_RowT = TypeVar("_RowT")


class ClockLine(Struct, frozen=True):
    depth: int
    name: str
    local_ns: int
    rate: str
    effective_rate: str  # Local seconds per session second
    state: str  # “running”, or why it stands still
    pending: int
    fired: int


class ProbeLine(Struct, frozen=True):
    """An attached program, and what its probe cost."""

    name: str
    pid: int | None  # Its process; None for a page of a browser
    runtime: str
    adapters: tuple[str, ...]  # The libraries whose clocks and timers were read
    not_followed: str  # What no adapter followed; empty for nothing
    cpu_ns: int  # Processor time of the probe
    interval_ns: int  # The time over which it was measured
    events: int
    lost: int
    state: str  # ATTACHED, or how it ended


class RunReport(Struct, frozen=True):
    title: str
    scene: str
    how: str  # How time passed
    run: RunOutcome
    timeline: Timeline
    tally: CallTally
    whole: FrameTimes  # All frames
    frames: FrameTimes  # The frames that count in the statistics
    left_out: int | None  # Frames over the first budget due to the inspector; None if they count
    measure: Measure  # The time of a frame that is compared with budgets
    budgets: Sequence[FrameBudget]
    probes: tuple[ProbeLine, ...] = ()
    late: LongestDelays | None = None  # Of attached programs

    @property
    def timers(self) -> list[TimerCount]:
        return self.tally.timers(self.timeline, is_complete=self.run.is_complete)

    @property
    def clocks(self) -> list[ClockLine]:
        timeline, fired = self.timeline, self.tally.fired_by_clock()
        root_id = timeline.root_id
        lines: list[ClockLine] = []
        # By clock: depth, local time, effective rate, and why clocks below it stand still (“” if
        # they do not).
        known = {0: (-1, timeline.at_ns, Decimal(1), "")}
        # Depth first, so that the parent of each clock is known before it.
        for number in [] if root_id is None else timeline.branch(root_id):
            clock = timeline.clocks[number]
            depth, above_ns, above_rate, stopped = known[clock.parent_id]
            now_ns = local_ns(above_ns, clock.n, clock.off)
            rate = _DIGITS.multiply(above_rate, _DIGITS.divide(clock.n, RATE_DENOMINATOR))
            state = stopped or "running"
            if clock.n == 0:
                state = _stop_text(timeline.stop_of(clock, of=number))
                stopped = _stop_text(timeline.stop_of(clock, of=0))
            known[number] = depth + 1, now_ns, rate, stopped
            line = ClockLine(
                depth=depth + 1,
                name=clock.name,
                local_ns=now_ns,
                rate=typed_rate(clock.rate_n),
                effective_rate=_rate_text(rate),
                state=state,
                pending=clock.pending,
                fired=fired.get(number, 0),
            )
            lines.append(line)
        return lines

    @property
    def commands_refused(self) -> list[str]:
        refused = (each for each in self.timeline.commands if each.refusal)
        return [f"Could not {each.text}: {each.refusal}" for each in refused]

    @property
    def lost_events(self) -> int:
        return self.tally.lost + sum(probe.lost for probe in self.probes)


def report_text(report: RunReport, *, most_timers: int) -> str:
    """Return the report as a page of text; timers that are not exact come first."""
    timers = report.timers
    tables = (
        _clock_table(report.clocks),
        _timer_table(timers, most_timers),
        delays_text(report.late) if report.late is not None else "",
        _system_table(report),
        _call_table(report, most_timers),
        _probe_table(report.probes),
    )
    return "\n\n".join(filter(None, (_head(report), *tables, _closing(report, timers))))


def report_values(report: RunReport) -> dict[str, object]:
    run, frames, timeline = report.run, report.frames, report.timeline
    left_out = {"budget_ns": report.budgets[0].budget_ns, "frames": report.left_out}
    over = [over_budget(frames.measured(report.measure), each) for each in report.budgets]
    return {
        "title": report.title,
        "scene": report.scene,
        "how": report.how,
        "is_complete": run.is_complete,
        "frames": run.frames,
        "began_ns": run.began_ns,
        "session_ns": run.session_ns,
        "took_ns": run.took_ns,
        "interval": _spread(frames.interval_ns),
        "busy": _spread(frames.busy_ns),
        "cut_ns": sum(timeline.frames.cut_ns),
        "cut_frames": sum(map(bool, timeline.frames.cut_ns)),
        "shares": _share_values(report.whole) if report.whole.has_shares else None,
        "left_out": None if report.left_out is None else left_out,
        "over_budget": {"measure": report.measure, "budgets": [each.values() for each in over]},
        "clocks": [structs.asdict(clock) for clock in report.clocks],
        "timers": [
            {**structs.asdict(timer), "kind": timer.kind.text, "is_exact": timer.is_exact}
            for timer in report.timers
        ],
        "keepers": [structs.asdict(line) for line in report.tally.systems(timeline)],
        # In JSON, an owner keeps its former name, so that programs can rely on it.
        "calls": [
            {
                ("keeper" if name == "owner" else name): each
                for name, each in structs.asdict(count).items()
            }
            for count in report.tally.calls(timeline)
        ],
        "failures": [structs.asdict(failure) for failure in timeline.failures],
        "commands_refused": report.commands_refused,
        "lost_events": report.lost_events,
        **({"programs": [structs.asdict(line) for line in report.probes]} if report.probes else {}),
        **({"late": delays_values(report.late)} if report.late is not None else {}),
    }


def _spread(times_ns: NsColumn) -> dict[str, int] | None:
    """Return mean and nearest-rank percentiles of a time over all frames; ``None`` without any."""
    if not len(times_ns):
        return None
    return {
        "mean_ns": round(float(times_ns.mean())),
        "median_ns": percentile_frame_time_ns(times_ns, 50),
        "p99_ns": percentile_frame_time_ns(times_ns, 99),
        "max_ns": int(times_ns.max()),
    }


def _total_shares(frames: FrameTimes) -> dict[str, int]:
    names = (*(share.text for share in Share), UNKNOWN)
    totals = (int(each.sum()) for each in frames.share_columns.values())
    return dict(zip(names, totals, strict=True))


def _longest(frames: FrameTimes) -> tuple[int, int, dict[str, int]]:
    at = int(frames.interval_ns.argmax())
    interval_ns = int(frames.interval_ns[at])
    shares = named_shares([int(frames.share(each)[at]) for each in Share], interval_ns)
    return int(frames.index[at]), interval_ns, shares


def _share_values(frames: FrameTimes) -> dict[str, object]:
    def named(times_ns: dict[str, int]) -> dict[str, int]:
        return {f"{name.replace(' ', '_')}_ns": time_ns for name, time_ns in times_ns.items()}

    index, interval_ns, shares = _longest(frames)
    longest = {"frame": index, "interval_ns": interval_ns}
    return {"total": named(_total_shares(frames)), "longest": longest | named(shares)}


def _head(report: RunReport) -> str:
    run, frames = report.run, report.frames
    passed, took = ns_to_seconds(run.session_ns), run.took_ns / NS_PER_SECOND
    faster = f", {passed / took:,.0f} times real time" if took and passed / took >= 2 else ""  # noqa: PLR2004
    # A session begins before its first program is attached, and local times count from there.
    edges = (format_instant(each) for each in (run.began_ns, run.began_ns + run.session_ns))
    since = f", from {' to '.join(edges)} of the session" if run.began_ns else ""
    # Attached programs that only wait run no frames.
    has_frames = run.frames or not report.probes
    loops = report.timeline.loops
    of = f" of “{loops[report.timeline.frames_of].name}”" if len(loops) > 1 else ""
    frames_in = f"{counted(run.frames, 'frame')}{of} in " if has_frames else ""
    lines = [
        # The place is not repeated if it is the title, as for a program that was not launched.
        *dict.fromkeys((report.title, report.scene)),
        "",
        f"{frames_in}{format_instant(run.session_ns)}, {report.how}",
        f"took {format_duration(run.took_ns)}{faster}{since}",
    ]
    if len(frames):
        times = [_spread(frames.interval_ns) or {}, _spread(frames.busy_ns) or {}]
        rows = zip(("frame time", "work in it"), times, strict=True)
        spreads = [(name, *map(_ms, each.values())) for name, each in rows]
        lines += [
            "",
            table(("ms", "mean", "median", "99 %", "longest"), spreads, right={1, 2, 3, 4}),
        ]
        for budget in report.budgets:
            over = over_budget(frames.measured(report.measure), budget)
            share = f" ({over.share:.1%})" if over.count else ""
            what = f"{_MEASURE_NAMES[report.measure]} {budget.over_text}"
            lines.append(f"{what}: {counted(over.count, 'frame')}{share}")
    if report.whole.has_shares:
        lines += _share_lines(report.whole)
    if report.left_out is not None:
        lines.append(
            f"left out: {counted(report.left_out, 'frame')} "
            f"{report.budgets[0].over_text} because of the inspector alone"
        )
    if cut := [each for each in report.timeline.frames.cut_ns if each]:
        text = format_duration(sum(cut))
        lines.append(f"{text} cut from {counted(len(cut), 'frame')} longer than max_delta")
    return "\n".join(lines)


def _share_lines(frames: FrameTimes) -> list[str]:
    totals = _total_shares(frames)
    whole_ns = sum(totals.values()) or 1
    total = ", ".join(f"{name} {time_ns / whole_ns:.1%}" for name, time_ns in totals.items())
    index, interval_ns, shares = _longest(frames)
    longest = shares_text(shares) or "not measured"
    return [
        f"time between frames: {total}",
        f"the longest, frame {index:,}, {format_duration(interval_ns)}: {longest}",
    ]


def _clock_table(clocks: Sequence[ClockLine]) -> str:
    columns: dict[str, Callable[[ClockLine], str]] = {
        "clock": lambda clock: "  " * clock.depth + clock.name,
        "local time": lambda clock: format_local_time(clock.local_ns),
        "rate": lambda clock: clock.rate,
        "effective": lambda clock: (
            clock.effective_rate if clock.effective_rate != clock.rate else ""
        ),
        "pending": lambda clock: f"{clock.pending:,}",
        "fired": lambda clock: f"{clock.fired:,}",
        "state": lambda clock: clock.state,
    }
    return _table_of(clocks, columns, _LISTED_CLOCKS, "more clocks")


def _timer_table(timers: Sequence[TimerCount], most: int) -> str:
    ordered = sorted(timers, key=lambda count: (count.is_exact, -count.fired))
    wrong = sum(not count.is_exact for count in ordered[most:])
    judgement = f"{wrong:,} not exact" if wrong else "all exact"
    columns: dict[str, Callable[[TimerCount], str]] = {
        "timer": lambda count: count.label,
        "clock": lambda count: count.clock,
        "delay": _delay,
        "schedule": _schedule,
        "fired": lambda count: f"{count.fired:,}",
        "expected": lambda count: "–" if count.expected is None else f"{count.expected:,}",
        "count": _difference,
        "skipped": lambda count: f"{count.left_out:,}" if count.left_out else "",
        "max late": lambda count: format_duration(count.max_lateness_ns) if count.late else "",
        "set at": _set_at,
    }
    return _table_of(ordered, columns, most, f"more, {judgement} (--timers N shows more)")


def _set_at(count: TimerCount) -> str:
    places = {short_site(site).partition(" in ")[0]: None for site in count.set_at}
    return ", ".join(list(places)[:_PLACES]) + (", …" if len(places) > _PLACES else "")


def _system_table(report: RunReport) -> str:
    columns: dict[str, Callable[[SystemLine], str]] = {
        "scheduler or machine": lambda line: "  " * line.depth + line.name,
        "kind": lambda line: line.kind,
        "clock": lambda line: line.clock,
        "scale": lambda line: line.rate,
        "holds": lambda line: f"{line.members:,}" if line.members else "",
        "called": lambda line: f"{line.calls:,}" if line.calls else "",
        "state": lambda line: line.state,
    }
    return _table_of(report.tally.systems(report.timeline), columns, _LISTED_CLOCKS)


def _call_table(report: RunReport, most: int) -> str:
    columns: dict[str, Callable[[CallCount], str]] = {
        "call": lambda count: count.label,
        "kind": lambda count: count.kind,
        "of": lambda count: count.owner,
        "schedule": _call_schedule,
        "called": lambda count: f"{count.calls:,}",
        "took, ms": lambda count: _ms(count.took_ns),
        "longest": lambda count: _ms(count.longest_ns),
    }
    calls = report.tally.calls(report.timeline)
    return _table_of(calls, columns, most, "more (--timers N shows more)")


def _probe_table(probes: Sequence[ProbeLine]) -> str:
    columns: dict[str, Callable[[ProbeLine], str]] = {
        "program": lambda line: line.name,
        "process": lambda line: "page" if line.pid is None else str(line.pid),
        "runs on": lambda line: line.runtime,
        "reads": lambda line: ", ".join(line.adapters) or "–",
        "events": lambda line: f"{line.events:,}",
        "probe, ms": lambda line: _ms(line.cpu_ns),
        "of time": lambda line: (
            f"{line.cpu_ns / line.interval_ns:.1%}" if line.interval_ns else "–"
        ),
        "state": lambda line: line.state,
    }
    return _table_of(probes, columns, _LISTED_CLOCKS, "more programs")


def _table_of(
    rows: Sequence[_RowT],
    columns: Mapping[str, Callable[[_RowT], str]],
    most: int,
    more: str = "more",
) -> str:
    """Return a table of the columns that say anything, empty without rows."""
    if not rows:
        return ""
    cells = {title: [cell(row) for row in rows[:most]] for title, cell in columns.items()}
    cells = {title: column for title, column in cells.items() if any(column)}
    right = {place for place, title in enumerate(cells) if title in _NUMBERS}
    left_out = max(0, len(rows) - most)
    more = f"{left_out:,} {more}" if left_out else ""
    return table(tuple(cells), list(zip(*cells.values(), strict=True)), right=right, more=more)


def _closing(report: RunReport, timers: Sequence[TimerCount]) -> str:
    repeating = [count for count in timers if count.expected is not None]
    exact = sum(count.is_exact for count in repeating)
    lines = []
    if repeating:
        lines.append(f"{exact:,} of {len(repeating):,} repeating timers have their exact count.")
    if report.lost_events:
        lost = counted(report.lost_events, "event was", "events were")
        lines.append(f"{lost} lost; the counts are too low.")
    not_followed = dict.fromkeys(filter(None, (each.not_followed for each in report.probes)))
    lines.extend(f"Not followed: {each}." for each in not_followed)
    lines.extend(report.commands_refused)
    failures = report.timeline.failures
    if failures:
        lines.append(f"{counted(len(failures), 'failure')}:")
        for failure in failures[:_LISTED_FAILURES]:
            label = short_line(failure.label)
            lines.append(f"  {format_instant(failure.at_ns)}  “{label}”  {failure.raised}")
        more = len(failures) - _LISTED_FAILURES
        if more > 0:
            lines.append(f"  … and {more:,} more")
    elif not report.probes:
        lines.append("No callback failed.")
    if not report.run.is_complete:
        if any(probe.state == ATTACHED for probe in report.probes):
            lines.append("Watching was interrupted before the time was over.")
        elif report.probes:
            lines.append("The program ended before the time was over.")
        else:
            lines.append("The run was stopped before its end.")
    return "\n".join(lines)


def table(
    heading: Sequence[str], rows: Sequence[Sequence[str]], *, right: set[int], more: str = ""
) -> str:
    """Return rows under a heading with aligned columns; ``more`` names what is left out."""
    # Only the last column is not shortened.
    rows = [[*map(short_line, row[:-1]), one_line(row[-1])] for row in rows]
    widths = [max(len(line[i]) for line in (heading, *rows)) for i in range(len(heading))]
    rule = ["─" * width for width in widths]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heading, rule, *rows)
    ]
    return "\n".join([*lines, f"… and {more}"] if more else lines)


def short_line(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _WIDEST_CELL else f"{line[: _WIDEST_CELL - 1]}…"


def _ms(ns: int) -> str:
    return f"{ns / NS_PER_MS:,.3f}"


def _delay(count: TimerCount) -> str:
    """Return the range of delays; empty if it is that of the intervals."""
    least_ns, most_ns = count.delay_ns, count.longest_delay_ns
    is_interval = (least_ns, most_ns) == (count.interval_ns, count.longest_interval_ns)
    return (
        "" if least_ns is None or most_ns is None or is_interval else _range_text(least_ns, most_ns)
    )


def _range_text(least_ns: int, most_ns: int) -> str:
    least, most = _seconds_text(least_ns), _seconds_text(most_ns)
    return least if least == most else f"{least} to {most}"


def _seconds_text(ns: int) -> str:
    """Return a duration; long ones in seconds, which exposes mistaken milliseconds."""
    is_long = ns >= _LONG_NS
    return f"{ns / NS_PER_SECOND:,.0f} s" if is_long else format_duration(ns)


def _schedule(count: TimerCount) -> str:
    if not count.interval_ns:
        return "once" if count.timers == 1 else f"once, {count.timers:,} set"
    policy = count.kind.text.removeprefix("interval").strip()
    text = f"every {_range_text(count.interval_ns, count.longest_interval_ns)}"
    text = f"{text} {policy}" if policy else text
    return text if count.timers == 1 else f"{text}, {count.timers:,} set"


def _call_schedule(count: CallCount) -> str:
    several = "" if count.members == 1 else f"{count.members:,} of them"
    if not count.interval_ns:
        return several
    text = f"every {_range_text(count.interval_ns, count.longest_interval_ns)}"
    return f"{text}, {several}" if several else text


def _difference(count: TimerCount) -> str:
    if count.expected is None:
        return ""
    forced = f", {count.forced} by hand" if count.forced else ""
    difference = count.fired - count.forced - count.expected
    # Ticks skipped by policy have their own column.
    return ("exact" if count.is_exact else f"{difference:+,}") + forced


def _rate_text(rate: Decimal) -> str:
    number = float(rate)
    # Hundreds of nested clocks may be too fast or too slow for a double.
    is_within = isfinite(number) and bool(number) == bool(rate)
    return f"{number if is_within else rate.normalize():.4g}"


def _stop_text(reason: StoppedClock) -> str:
    since = format_instant(reason.since_ns)
    if reason.is_own:
        return f"{reason.what} since {since}"
    has = "has had rate 0" if reason.is_rate_zero else "has been paused"
    if reason.is_detached:
        has = "has not been attached"
    return f"stopped: “{reason.clock_name}” {has} since {since}"
