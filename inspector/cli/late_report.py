"""Late calls as text and as plain values for programs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median_low

from inspector.analysis.lateness.attribution import Cause, Lateness, LatenessShare
from inspector.analysis.lateness.late_calls import LateCall, LongestDelays
from inspector.analysis.lateness.samples import Place
from inspector.analysis.lateness.words import late_call_text, stack_text
from inspector.display_text import counted
from inspector.timebase import format_duration, format_instant

#: Causes of calls that are on time, but were set late.
SET_LATE = {
    Cause.AWAITING: "the job waits for something before it sets the next",
    Cause.DRIFT: "the job works before it sets the next",
}
#: Most calls that are listed; JSON has all.
_MOST_LISTED = 40


def late_values(calls: Sequence[LateCall]) -> dict[str, object]:
    """Return late calls as JSON-compatible data, as the help page “Why late” documents it."""
    late_ns: Counter[str] = Counter()
    count: Counter[str] = Counter()
    for call in calls:
        count[call.lateness.cause.value] += 1
        late_ns[call.lateness.cause.value] += call.lateness.late_ns
    return {
        "late": [_call_value(call) for call in calls],
        "causes": {
            cause: {"calls": count[cause], "late_ns": late_ns[cause]} for cause in sorted(count)
        },
    }


def _call_value(call: LateCall) -> dict[str, object]:
    lateness, common = call.lateness, _common(call)
    main = lateness.main
    others = [share for share in lateness.shares if share is not main]
    return {
        **common,
        **_share_value(main, lateness),
        "others": [
            {**common, **_share_value(share, lateness), "others": []}
            for share in (*others, *lateness.families)
        ],
    }


def _common(call: LateCall) -> dict[str, object]:
    site = Place.of(call.site) if call.site else None
    set_at = None
    if site is not None and site.line:
        set_at = {"file": site.file, "line": site.line, "function": site.function}
    return {
        "timer": call.name,
        "clock": call.clock,
        "set_at": set_at,
        "due_ns": call.lateness.begin_ns,
        "late_ns": call.lateness.late_ns,
        "so_far": not call.is_made,
    }


def _share_value(share: LatenessShare | None, lateness: Lateness) -> dict[str, object]:
    if share is None:
        return {"cause": Cause.UNKNOWN.value, "culprit": None, "share": 0.0, "samples": 0}
    culprit = share.culprit
    named = None
    if culprit is not None:
        named = {
            "function": culprit.place.function,
            "file": culprit.place.file,
            "line": culprit.place.line,
            "task": culprit.task,
            "thread": culprit.thread,
        }
    return {
        "cause": share.cause.value,
        "culprit": named,
        "share": round(min(share.ns / lateness.late_ns, 1.0), 4) if lateness.late_ns else 0.0,
        "samples": share.samples,
    }


def late_text(found: Sequence[LateCall], over_ns: int) -> str:
    calls = [call for call in found if call.lateness.cause not in SET_LATE]
    over = format_duration(over_ns)
    lines = [f"No call was later than {over}."]
    if calls:
        lines = [f"{counted(len(calls), 'call')} later than {over}, worst first:"]
    stacks = {""}
    for call in calls[:_MOST_LISTED]:
        lines.append(_line_of(call))
        main = call.lateness.main
        stack = "" if main is None else stack_text(main.stack)
        if stack not in stacks:
            stacks.add(stack)
            lines.append(f"      {stack}")
    if len(calls) > _MOST_LISTED:
        lines.append(f"  … and {len(calls) - _MOST_LISTED:,} more; --json lists all.")
    return "\n".join([*lines, *_culprit_lines(calls), *_set_late_lines(found)]) + "\n"


def _line_of(call: LateCall) -> str:
    return f"  {format_instant(call.lateness.end_ns)}  {late_call_text(call)}"


def delays_text(delays: LongestDelays) -> str:
    """Return a line for the worst call of each of the longest delays; empty without any."""
    if not delays.count:
        return ""
    calls = counted(delays.count, "call was", "calls were")
    more = " The longest delays, each by its worst call:" if delays.count > 1 else ""
    heading = f"{calls} later than {format_duration(delays.over_ns)}.{more}"
    return "\n".join([heading, *map(_line_of, delays.worst)])


def delays_values(delays: LongestDelays) -> dict[str, object]:
    """Return the longest delays as JSON-compatible data."""
    return {
        "over_ns": delays.over_ns,
        "calls": delays.count,
        "longest": [_call_value(call) for call in delays.worst],
    }


def _culprit_lines(calls: Sequence[LateCall]) -> list[str]:
    """Return one line for each function that made several calls late, the worst first."""
    by_function: dict[tuple[str, str], tuple[Place, list[int]]] = {}
    for call in calls:
        main = call.lateness.main
        if main is not None and main.culprit is not None:
            place = main.culprit.place
            found = by_function.setdefault((place.file, place.function), (place, []))
            found[1].append(call.lateness.late_ns)
    return [
        f"{place.short} made {len(late)} of them late, {format_duration(sum(late))} altogether."
        for place, late in sorted(by_function.values(), key=lambda each: -sum(each[1]))
        if len(late) > 1
    ]


def _set_late_lines(found: Sequence[LateCall]) -> list[str]:
    """Return one line for each job whose calls are on time but were set late."""
    jobs: dict[tuple[str, str, str, Cause], list[int]] = {}
    for call in found:
        if call.lateness.cause in SET_LATE:
            key = call.name, call.clock, call.site, call.lateness.cause
            jobs.setdefault(key, []).append(call.lateness.late_ns)
    return [
        f"“{name}” on “{clock}” is on time, but "
        f"{counted(len(late), 'call was', 'calls were')} set "
        f"{format_duration(median_low(late))} late: {SET_LATE[cause]}."
        for (name, clock, _, cause), late in jobs.items()
    ]
