"""The report of a run, as text and as plain values for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from inspector.analysis.interval_shares import UNKNOWN, named_shares, shares_text
from inspector.analysis.statistics.frame_budget import FrameBudget
from inspector.analysis.statistics.frame_statistics import OverBudget, percentile_frame_time_ns
from inspector.cli.call_tally import CallCount, CallTally, SystemLine, TimerCount
from inspector.display_text import counted, one_line
from inspector.events.states import Failure
from inspector.events.timeline import Timeline
from inspector.formats.frame_times import FrameTimes, NsColumn
from inspector.timebase import (
    NS_PER_MS,
    NS_PER_SECOND,
    format_duration,
    format_instant,
    ns_to_seconds,
)
from inspector.vocabulary import Measure, Share, typed_rate, what_was_raised

_LISTED_FAILURES: Final = 5
_LISTED_CLOCKS: Final = 40
_LONG_NS: Final = 120 * NS_PER_SECOND
_WIDEST_CELL: Final = 80
#: Names of the times of a frame in the table.
_MEASURE_NAMES: Final[dict[Measure, str]] = {
    "interval": "frame time",
    "busy": "work in it",
    "delta": "delta",
}


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of a time over all frames: nearest-rank percentiles."""

    mean_ns: int  # Arithmetic mean, rounded
    median_ns: int  # Not exceeded by half of the frames
    p99_ns: int  # Not exceeded by 99 % of the frames
    max_ns: int


@dataclass(frozen=True, slots=True)
class ClockLine:
    """A clock at the end."""

    depth: int
    name: str
    local_ns: int
    rate: str
    effective_rate: str  # Local seconds per session second
    state: str  # running, or why not
    pending: int
    fired: int


#: The state of a program that has not ended.
ATTACHED: Final = "attached"


@dataclass(frozen=True, slots=True)
class ProbeLine:
    """An attached program, and what its probe cost."""

    name: str
    pid: int | None  # Its process; None for a page of a browser
    runtime: str
    adapters: tuple[str, ...]  # The libraries whose clocks and timers were read
    cpu_ns: int  # Processor time of the probe
    interval_ns: int  # The time over which it was measured
    events: int
    lost: int
    state: str  # ATTACHED, or how it ended


@dataclass(frozen=True, slots=True)
class IntervalShares:
    """Where the time between frames went."""

    total_ns: dict[str, int]  # Of all frames, by the name of the share; what is left is unknown
    longest_ns: dict[str, int]  # Of the longest frame
    longest: int  # Its index
    interval_ns: int


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Frames that the statistics leave out: over budget because of the inspector alone."""

    budget: FrameBudget
    count: int


@dataclass(frozen=True, slots=True)
class RunReport:
    """The report of a run."""

    title: str
    scene: str
    how: str
    is_complete: bool  # Whether the run reached its end
    frames: int
    session_ns: int
    took_ns: int
    interval: Spread | None  # From frame to frame; None without frames
    busy: Spread | None  # Time in callbacks; None without frames
    cut_ns: int  # Time that max_delta cut from the deltas of all frames
    cut_frames: int
    measure: Measure  # The time of a frame that is compared with budgets
    over_budgets: tuple[OverBudget, ...]  # Number of frames over each budget
    clocks: tuple[ClockLine, ...]
    timers: tuple[TimerCount, ...]
    systems: tuple[SystemLine, ...]
    calls: tuple[CallCount, ...]  # Their calls, and the calls of every frame
    failures: tuple[Failure, ...]
    commands_refused: tuple[str, ...]
    lost_events: int  # Events that were not counted
    probes: tuple[ProbeLine, ...] = ()
    # Where the time between frames went; None if that was not measured.
    shares: IntervalShares | None = None
    # The frames that are in no number but their own; None if all are counted.
    left_out: LeftOut | None = None


def spread(times_ns: NsColumn) -> Spread | None:
    if not len(times_ns):
        return None
    return Spread(
        round(float(times_ns.mean())),
        percentile_frame_time_ns(times_ns, 50),
        percentile_frame_time_ns(times_ns, 99),
        int(times_ns.max()),
    )


def interval_shares(frames: FrameTimes) -> IntervalShares | None:
    if not frames.has_shares:
        return None
    names = (*(share.text for share in Share), UNKNOWN)
    longest = int(frames.interval_ns.argmax())
    interval_ns = int(frames.interval_ns[longest])
    return IntervalShares(
        dict(zip(names, (int(each.sum()) for each in frames.share_columns.values()), strict=True)),
        named_shares([int(frames.share(each)[longest]) for each in Share], interval_ns),
        int(frames.index[longest]),
        interval_ns,
    )


def clock_lines(timeline: Timeline, tally: CallTally) -> tuple[ClockLine, ...]:
    if timeline.root_id is None:
        return ()
    fired = tally.fired_by_clock()
    lines = []
    for number in timeline.branch(timeline.root_id):
        clock = timeline.clocks[number]
        lines.append(
            ClockLine(
                depth=len(timeline.path(number)) - 1,
                name=clock.name,
                local_ns=timeline.local_ns(number),
                rate=typed_rate(clock.rate_n),
                effective_rate=f"{float(timeline.effective_rate(number)):.4g}",
                state=_state(timeline, number),
                pending=clock.pending,
                fired=fired.get(number, 0),
            )
        )
    return tuple(lines)


def report_text(report: RunReport, *, most_timers: int = 20) -> str:
    """Return the report as a page of text.

    Args:
        most_timers: Number of lines of timers; inexact ones come first, then those that
            fired most.
    """
    parts = [_head(report)]
    if report.clocks:
        parts.append(_clock_table(report.clocks))
    if report.timers:
        parts.append(_timer_table(report.timers, most_timers))
    if report.systems:
        parts.append(_system_table(report.systems))
    if report.calls:
        parts.append(_call_table(report.calls, most_timers))
    if report.probes:
        parts.append(_probe_table(report.probes))
    parts.append(_closing(report))
    return "\n\n".join(filter(None, parts))


def report_values(report: RunReport) -> dict[str, object]:
    return {
        "title": report.title,
        "scene": report.scene,
        "how": report.how,
        "is_complete": report.is_complete,
        "frames": report.frames,
        "session_ns": report.session_ns,
        "took_ns": report.took_ns,
        "interval": None if report.interval is None else asdict(report.interval),
        "busy": None if report.busy is None else asdict(report.busy),
        "cut_ns": report.cut_ns,
        "cut_frames": report.cut_frames,
        "shares": None if report.shares is None else _share_values(report.shares),
        "left_out": None
        if report.left_out is None
        else {"budget_ns": report.left_out.budget.budget_ns, "frames": report.left_out.count},
        "over_budget": {
            "measure": report.measure,
            "budgets": [over.values() for over in report.over_budgets],
        },
        "clocks": [asdict(clock) for clock in report.clocks],
        "timers": [
            {**asdict(timer), "kind": timer.kind.text, "is_exact": timer.is_exact}
            for timer in report.timers
        ],
        "keepers": [asdict(line) for line in report.systems],
        "calls": [_call_values(count) for count in report.calls],
        "failures": [asdict(failure) for failure in report.failures],
        "commands_refused": list(report.commands_refused),
        "lost_events": report.lost_events,
        **({"programs": [asdict(line) for line in report.probes]} if report.probes else {}),
    }


def _share_values(shares: IntervalShares) -> dict[str, object]:
    def named(times_ns: dict[str, int]) -> dict[str, int]:
        return {f"{name.replace(' ', '_')}_ns": time_ns for name, time_ns in times_ns.items()}

    longest = {"frame": shares.longest, "interval_ns": shares.interval_ns}
    return {"total": named(shares.total_ns), "longest": longest | named(shares.longest_ns)}


def _call_values(count: CallCount) -> dict[str, object]:
    values = asdict(count)
    # The names of the JSON stay as they have always been.
    return {("keeper" if name == "owner" else name): value for name, value in values.items()}


def _head(report: RunReport) -> str:
    passed = ns_to_seconds(report.session_ns)
    took = report.took_ns / NS_PER_SECOND
    faster = f", {passed / took:,.0f} times real time" if took and passed / took >= 2 else ""  # noqa: PLR2004
    # Programs that only wait have no frames to speak of.
    has_frames = report.frames or not report.probes
    frames = f"{counted(report.frames, 'frame')} in " if has_frames else ""
    lines = [
        # Nothing but a launched program has a command line of its own.
        *dict.fromkeys((report.title, report.scene)),
        "",
        f"{frames}{format_instant(report.session_ns)}, {report.how}",
        f"took {format_duration(report.took_ns)}{faster}",
    ]
    if report.interval is not None and report.busy is not None:
        times: tuple[tuple[Measure, Spread], ...] = (
            ("interval", report.interval),
            ("busy", report.busy),
        )
        rows = [
            (
                _MEASURE_NAMES[name],
                *map(_ms, (each.mean_ns, each.median_ns, each.p99_ns, each.max_ns)),
            )
            for name, each in times
        ]
        lines += ["", table(("ms", "mean", "median", "99 %", "longest"), rows, right={1, 2, 3, 4})]
        for over in report.over_budgets:
            share = f" ({over.share:.1%})" if over.count else ""
            what = f"{_MEASURE_NAMES[report.measure]} {over.budget.over_text}"
            lines.append(f"{what}: {counted(over.count, 'frame')}{share}")
    if report.shares is not None:
        lines += _share_lines(report.shares)
    if report.left_out is not None:
        lines.append(
            f"left out: {counted(report.left_out.count, 'frame')} "
            f"{report.left_out.budget.over_text} because of the inspector alone"
        )
    if report.cut_frames:
        cut = format_duration(report.cut_ns)
        lines.append(f"{cut} cut from {counted(report.cut_frames, 'frame')} longer than max_delta")
    return "\n".join(lines)


def _share_lines(shares: IntervalShares) -> list[str]:
    whole_ns = sum(shares.total_ns.values()) or 1
    total = ", ".join(
        f"{name} {time_ns / whole_ns:.1%}" for name, time_ns in shares.total_ns.items()
    )
    longest = shares_text(shares.longest_ns) or "not measured"
    took = format_duration(shares.interval_ns)
    return [
        f"time between frames: {total}",
        f"the longest, frame {shares.longest:,}, {took}: {longest}",
    ]


def _clock_table(clocks: Sequence[ClockLine]) -> str:
    rows = [
        (
            "  " * clock.depth + clock.name,
            format_instant(clock.local_ns),
            clock.rate,
            clock.effective_rate,
            f"{clock.pending:,}",
            f"{clock.fired:,}",
            clock.state,
        )
        for clock in clocks
    ]
    heading = ("clock", "local time", "rate", "effective", "pending", "fired", "state")
    return table(heading, rows, right={1, 2, 3, 4, 5}, most=_LISTED_CLOCKS, more="more clocks")


def _timer_table(timers: Sequence[TimerCount], most: int) -> str:
    ordered = sorted(timers, key=lambda count: (count.is_exact, -count.fired))
    rows = [
        (
            count.label,
            count.clock,
            _delay(count),
            _schedule(count),
            f"{count.fired:,}",
            "–" if count.expected is None else f"{count.expected:,}",
            _difference(count),
            f"{count.left_out:,}" if count.left_out else "",
            format_duration(count.max_lateness_ns) if count.late else "",
        )
        for count in ordered
    ]
    heading = (
        "timer",
        "clock",
        "delay",
        "schedule",
        "fired",
        "expected",
        "count",
        "skipped",
        "max late",
    )
    wrong = sum(not count.is_exact for count in ordered[most:])
    judgement = f"{wrong:,} not exact" if wrong else "all exact"
    more = f"more, {judgement} (--timers N shows more)"
    return table(heading, rows, right={2, 4, 5, 7, 8}, most=most, more=more)


def _system_table(systems: Sequence[SystemLine]) -> str:
    rows = [
        (
            "  " * line.depth + line.name,
            line.kind,
            line.clock,
            line.rate,
            f"{line.members:,}" if line.members else "",
            f"{line.calls:,}" if line.calls else "",
            line.state,
        )
        for line in systems
    ]
    heading = ("scheduler or machine", "kind", "clock", "scale", "holds", "called", "state")
    return table(heading, rows, right={3, 4, 5}, most=_LISTED_CLOCKS)


def _call_table(calls: Sequence[CallCount], most: int) -> str:
    rows = [
        (
            count.label,
            count.kind,
            count.owner,
            _call_schedule(count),
            f"{count.calls:,}",
            _ms(count.took_ns),
            _ms(count.longest_ns),
        )
        for count in calls
    ]
    heading = ("call", "kind", "of", "schedule", "called", "took, ms", "longest")
    more = "more (--timers N shows more)"
    return table(heading, rows, right={4, 5, 6}, most=most, more=more)


def _probe_table(probes: Sequence[ProbeLine]) -> str:
    rows = [
        (
            line.name,
            "page" if line.pid is None else str(line.pid),
            line.runtime,
            ", ".join(line.adapters) or "–",
            f"{line.events:,}",
            _ms(line.cpu_ns),
            f"{line.cpu_ns / line.interval_ns:.1%}" if line.interval_ns else "–",
            line.state,
        )
        for line in probes
    ]
    heading = ("program", "process", "runs on", "reads", "events", "probe, ms", "of time", "state")
    return table(heading, rows, right={1, 4, 5, 6}, most=_LISTED_CLOCKS, more="more programs")


def _closing(report: RunReport) -> str:
    repeating = [count for count in report.timers if count.expected is not None]
    exact = sum(count.is_exact for count in repeating)
    lines = []
    if repeating:
        lines.append(f"{exact:,} of {len(repeating):,} repeating timers have their exact count.")
    if report.lost_events:
        lines.append(f"{report.lost_events:,} events were lost; the counts are too low.")
    lines.extend(report.commands_refused)
    if report.failures:
        lines.append(f"{counted(len(report.failures), 'failure')}:")
        for failure in report.failures[:_LISTED_FAILURES]:
            what = what_was_raised(failure.traceback)
            lines.append(
                f"  {format_instant(failure.at_ns)}  “{short_line(failure.label)}”  {what}"
            )
        more = len(report.failures) - _LISTED_FAILURES
        if more > 0:
            lines.append(f"  … and {more:,} more")
    elif not report.probes:
        lines.append("No callback failed.")
    if not report.is_complete:
        if any(probe.state == ATTACHED for probe in report.probes):
            lines.append("Watching was interrupted before the time was over.")
        elif report.probes:
            lines.append("The program ended before the time was over.")
        else:
            lines.append("The run was stopped before its end.")
    return "\n".join(lines)


def table(
    heading: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: set[int],
    most: int | None = None,
    more: str = "more",
) -> str:
    """Return rows under a heading, columns aligned.

    Args:
        heading: Names of the columns.
        right: Columns aligned to the right.
        most: How many rows are listed; by default all.
        more: What the others are called, behind their number.
    """
    left_out = 0 if most is None else len(rows) - most
    # The last column has all the room there is.
    rows = [[*map(short_line, row[:-1]), one_line(row[-1])] for row in rows[:most]]
    widths = [max(len(line[i]) for line in (heading, *rows)) for i in range(len(heading))]
    rule = ["─" * width for width in widths]
    lines = [
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in (heading, rule, *rows)
    ]
    return "\n".join(lines + [f"… and {left_out:,} {more}"] * (left_out > 0))


def short_line(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= _WIDEST_CELL else f"{line[: _WIDEST_CELL - 1]}…"


def _ms(ns: int) -> str:
    return f"{ns / NS_PER_MS:,.3f}"


def _delay(count: TimerCount) -> str:
    """Return the delay of one-shots; nothing for timers with a schedule."""
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


def _state(timeline: Timeline, clock_id: int) -> str:
    reasons = timeline.pause_reasons(clock_id)
    if not reasons:
        return "running"
    reason = reasons[0]
    since = format_instant(reason.since_ns)
    if reason.is_own:
        return f"{reason.what} since {since}"
    has = "has had rate 0" if reason.is_rate_zero else "has been paused"
    if reason.is_detached:
        has = "has not been attached"
    return f"stopped: “{reason.clock_name}” {has} since {since}"
