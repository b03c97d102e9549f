"""Rules about calls: failures, leaks, storms, herds, orphans, skipped ones, timers never called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import chain, pairwise
from typing import Final

from inspector.analysis.lint.findings import (
    FAILS,
    HERD,
    LEAK,
    NEVER_FIRED,
    ORPHAN,
    SKIPPED_TICKS,
    STORM,
    Finding,
    FindingKind,
)
from inspector.analysis.lint.surveyed import (
    Caller,
    Load,
    Survey,
    SurveyedMember,
    SurveyedTimer,
    TimerGroup,
)
from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers, member_blockers
from inspector.calls.call import short_site
from inspector.display_text import counted, listed
from inspector.events.members import FRAME_TIMERS
from inspector.timebase import NS_PER_SECOND, format_duration, format_instant
from inspector.vocabulary import MemberKind, TimerKind, what_was_raised

#: A leak has at least this many pending timers,
LEAK_TIMERS: Final = 30
#: of which at most this share was cleared,
LEAK_CLEARED_SHARE: Final = 0.1
#: and timeouts leak on a clock that has been stopped for at least this long.
LEAK_STOPPED_NS: Final = 20 * NS_PER_SECOND
#: A blocked timer is reported after this wait.
NEVER_FIRED_NS: Final = 30 * NS_PER_SECOND
#: A timer, or one-shots of one name, called more often than this in one frame are a storm.
STORM_PER_FRAME: Final = 20
#: A herd has at least this many times the calls of an average frame.
HERD_TIMES_AVERAGE: Final = 4

_OF_TARGETS: Final = frozenset({MemberKind.FRAME_TIMER, MemberKind.UPDATE})


def timers_of(survey: Survey) -> Iterator[SurveyedTimer | SurveyedMember]:
    frame_timers = (each for each in survey.members.values() if each.kind in FRAME_TIMERS)
    return chain(survey.timers.values(), frame_timers)


def finding_of(  # noqa: PLR0913, PLR0917 - the values of a finding
    survey: Survey,
    kind: FindingKind,
    text: str,
    call: SurveyedTimer | SurveyedMember,
    at_ns: int,
    cursor: int,
    frame: int | None = None,
    clock_id: int = 0,
) -> Finding:
    """Return a finding about a call, by default in the frame of the instant and on its clock."""
    return Finding(
        kind,
        text,
        at_ns,
        cursor,
        0 if call.is_member else call.number,
        clock_id or call.clock_id,
        survey.frame_of(at_ns) if frame is None else frame,
        call.number if call.is_member else 0,
    )


def failing(survey: Survey) -> Iterator[Finding]:
    for name, failures in survey.failures.items():
        timer = survey.timers.get(failures.timer_id)
        raised = what_was_raised(survey.text(failures.raised))
        times = "once" if failures.count == 1 else f"{counted(failures.count, 'time')}, at first"
        where = "" if timer is None else f" It is a timer of {survey.caller_name(timer)}."
        named = survey.text(name)
        said = f"“{named}” failed {times} with {raised.removesuffix('.')}.{where}"
        # What is wrong with a scene is a sentence that begins with its name.
        text = raised if raised.startswith(f"{named} ") else said
        yield Finding(
            FAILS,
            text,
            failures.at_ns,
            failures.cursor,
            failures.timer_id,
            0 if timer is None else timer.clock_id,
            survey.frame_of(failures.at_ns),
        )


def leaks(survey: Survey) -> Iterator[Finding]:
    """Find growing numbers of repeating timers, or of timers on a stopped clock."""
    for group in survey.groups.values():
        marks, call = group.marks, group.first
        if group.pending < LEAK_TIMERS or len(marks) < 4:  # noqa: PLR2004 - one a quarter
            continue
        grows = all(earlier < later for earlier, later in pairwise(marks))
        why = _leaking(survey, group)
        if not grows or group.cleared > LEAK_CLEARED_SHARE * group.added or not why:
            continue
        site = survey.text(call.site) if isinstance(call, SurveyedTimer) else ""
        where = f", set at {short_site(site)}," if site else ""
        wait = "belong to" if call.is_member else "wait on"
        counts = ", ".join(f"{count:,}" for count in marks)
        text = (
            f"{group.pending:,} timers {survey.name(call)}{where} {wait} "
            f"{survey.caller_name(call)}, and their number grows: {counts} after each "
            f"quarter of the time; {why}."
        )
        at_ns = max(call.added_ns, 0)
        frame = survey.frame_of(call.added_ns)
        yield finding_of(survey, LEAK, text, call, at_ns, call.cursor, frame)


def _leaking(survey: Survey, group: TimerGroup) -> str:
    """Return why the timers of a group stay; empty when they end by themselves."""
    call = group.first
    if isinstance(call, SurveyedMember):
        return "few of them are ever unscheduled" if call.calls_left < 0 else ""
    if call.interval_ns:
        return "none of them is ever cleared"
    stopped_ns = 0
    if call.clock_id in survey.timeline.clocks:
        since = [reason.since_ns for reason in survey.timeline.pause_reasons(call.clock_id)]
        stopped_ns = survey.timeline.at_ns - min(since, default=survey.timeline.at_ns)
    if stopped_ns < LEAK_STOPPED_NS:
        return ""
    return f"their clock has been stopped for {format_duration(stopped_ns)}"


def never_called(survey: Survey, known: Collection[int]) -> Iterator[Finding]:
    """Find timers blocked since before they were set, except ``known`` ones."""
    groups: dict[tuple[int, int], tuple[Blocker, list[SurveyedTimer | SurveyedMember]]] = {}
    of_clocks: dict[int, tuple[Blocker, ...]] = {}
    timeline = survey.timeline
    for call in timers_of(survey):
        waited_ns = timeline.at_ns - call.added_ns
        if call.ended or call.calls or call.added_ns < 0 or waited_ns < NEVER_FIRED_NS:
            continue
        if isinstance(call, SurveyedMember):
            member = timeline.members.by_id.get(call.number)
            blockers = () if member is None else member_blockers(timeline, member)
        elif call.number in timeline.timers and call.number not in known:
            if call.clock_id not in of_clocks:
                of_clocks[call.clock_id] = clock_blockers(timeline, call.clock_id)
            blockers = of_clocks[call.clock_id]
        else:
            continue
        for blocker in blockers:
            if blocker.since_ns is not None and blocker.since_ns <= call.added_ns:
                key = blocker.clock_id, blocker.member_id
                groups.setdefault(key, (blocker, []))[1].append(call)
                break
    for blocker, calls in groups.values():
        yield _never_called(survey, blocker, calls)


def _never_called(
    survey: Survey, blocker: Blocker, calls: list[SurveyedTimer | SurveyedMember]
) -> Finding:
    first = min(calls, key=lambda call: call.added_ns)
    one = len(calls) == 1
    count = f"{survey.title(first)} has" if one else f"{len(calls):,} timers have"
    what = f"“{blocker.name}”"
    if blocker.member_id:
        what = f"{survey.timeline.members.by_id[blocker.member_id].kind.text} {what}"
    stopped = "had rate 0" if blocker.kind is BlockerKind.CLOCK_RATE else "been paused"
    text = (
        f"{count} waited for {format_duration(survey.timeline.at_ns - first.added_ns)} without "
        f"ever {'being called' if first.is_member else 'firing'}: {what} has {stopped} since "
        f"{format_instant(blocker.since_ns or 0)}, before {'it' if one else 'the first of them'} "
        "was set."
    )
    kind, at_ns = NEVER_FIRED, first.added_ns
    return finding_of(survey, kind, text, first, at_ns, first.cursor, clock_id=blocker.clock_id)


def storms(survey: Survey) -> Iterator[Finding]:
    """Find timers that are called too often in one frame."""
    for ((is_member, _), _), load in survey.storms.items():
        if load.count <= STORM_PER_FRAME:
            continue
        call = _calls_of(survey, is_member, load)[0]
        if load.own < load.count:
            helps = "They set one another, or are set in a loop: is a delay of 0 intended?"
        elif call.interval_ns:
            helps = (
                f"Its interval is {format_duration(call.interval_ns)} of the time of "
                f"{survey.caller_name(call)}: use a longer interval, and loop over what is due."
            )
        else:
            helps = "It was called repeatedly; is its delay too short?"
        title = (
            survey.title(call)
            if is_member
            else f"{survey.name(call)} on {survey.caller_name(call)}"
        )
        fired = "was called" if is_member else "fired"
        text = f"{title} {fired} {load.count:,} times in frame {load.frame:,}. {helps}"
        yield finding_of(survey, STORM, text, call, load.at_ns, load.cursor, load.frame)


def herds(survey: Survey) -> Iterator[Finding]:
    """Find many timers of one clock or scheduler that are called in the same frame."""
    frames = max(1, len(survey.frame_starts))
    calls: Counter[Caller] = Counter()
    for call in timers_of(survey) if survey.crowds else ():
        calls[call.caller] += call.calls
    for caller, load in survey.crowds.items():
        if load.count * frames >= HERD_TIMES_AVERAGE * calls[caller]:
            yield _herd(survey, caller, load)


def _herd(survey: Survey, caller: Caller, load: Load) -> Finding:
    calls = _calls_of(survey, caller[0], load)
    interval_ns, same = Counter(call.interval_ns for call in calls).most_common(1)[0]
    names = listed(list(dict.fromkeys(survey.name(call) for call in calls)))
    fired = "were called" if caller[0] else "fired"
    text = (
        f"{load.count:,} timers of {survey.caller_name(calls[0])} {fired} together in frame "
        f"{load.frame:,}: {names}."
    )
    if interval_ns and same > 1:
        step = format_duration(interval_ns // same)
        text += (
            f" {same:,} of them repeat every {format_duration(interval_ns)}: first delays "
            f"{step} apart would spread them evenly."
        )
    elif survey.frame_ns:
        spread = format_duration(survey.frame_ns)
        text += f" Delays {spread} apart would spread them over as many frames."
    return finding_of(survey, HERD, text, calls[0], load.at_ns, load.cursor, load.frame)


def _calls_of(survey: Survey, is_member: bool, load: Load) -> list[SurveyedTimer | SurveyedMember]:  # noqa: FBT001 - as in CallId
    if is_member:
        return [survey.members[number] for number in load.numbers]
    return [survey.timers[number] for number in load.numbers]


def skipped(survey: Survey) -> Iterator[Finding]:
    for call in timers_of(survey):
        if not call.missed or call.missed_at == (0, 0):
            continue
        cursor, at_ns = call.missed_at
        noun = "call" if call.is_member else "tick"
        were = f"{noun} of {survey.name(call)} was"
        if call.missed > 1:
            were = f"{noun}s of {survey.name(call)} were"
        if isinstance(call, SurveyedTimer):
            why = (
                "because the program returned too late: its kind is "
                f"“{TimerKind(call.kind).text}”. The previous frame shows what took so long."
            )
        else:
            why = (
                f"by {survey.caller_name(call)}: more time had passed than it makes up for. The "
                "frame shows what took so long."
            )
        text = f"{call.missed:,} {were} skipped {why}"
        yield finding_of(survey, SKIPPED_TICKS, text, call, at_ns, cursor)


def orphans(survey: Survey) -> Iterator[Finding]:
    """Find calls that are still scheduled for destroyed nodes and components."""
    of_owner: dict[int, list[SurveyedMember]] = {}
    for call in survey.members.values():
        target = survey.members.get(call.known.parent_id)
        if call.ended or call.kind not in _OF_TARGETS or target is None or not target.owner_id:
            continue
        owner = survey.members.get(target.owner_id)
        if owner is not None and owner.ended_at is not None:
            of_owner.setdefault(owner.number, []).append(call)
    for owner_id, calls in of_owner.items():
        owner, first = survey.members[owner_id], calls[0]
        assert owner.ended_at is not None, "only such owners are listed"
        cursor, at_ns = owner.ended_at
        names = listed(list(dict.fromkeys(survey.name(call) for call in calls)))
        verb = "is" if len(calls) == 1 else "are"
        gone_ns = survey.timeline.at_ns - at_ns
        text = (
            f"{names} of {survey.caller_name(first)} {verb} still scheduled for the "
            f"{owner.known.kind_text} “{owner.name}”, which was destroyed "
            f"{format_duration(gone_ns)} ago, at {format_instant(at_ns)}"
        )
        called = [call for call in calls if call.last_ns > at_ns]
        if called:
            last = max(called, key=lambda call: call.last_ns)
            text += f"; {survey.name(last)} was last called at {format_instant(last.last_ns)}"
        text += ". Unschedule it in on_destroy."
        yield finding_of(survey, ORPHAN, text, first, at_ns, cursor)
