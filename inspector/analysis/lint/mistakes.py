"""Rules about mistakes in how timers are set and clocks are named."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from inspector.analysis.lint.call_rules import NEVER_FIRED_NS, finding_of, never_called
from inspector.analysis.lint.findings import DEADLOCK, LATE_BOUND, MILLISECONDS, SAME_NAME, Finding
from inspector.analysis.lint.surveyed import Survey, SurveyedTimer
from inspector.calls.blockers import Blocker, BlockerKind, clock_blockers
from inspector.calls.call import short_site
from inspector.clocks.callbacks import label_of
from inspector.clocks.clock import Clock
from inspector.display_text import counted, listed
from inspector.timebase import NS_PER_MS, NS_PER_SECOND, format_duration, format_instant

#: Delays from this many seconds on that are multiples of the step, but not whole minutes, look like
#: milliseconds.
_LEAST_MISTAKEN_S: Final = 100
_MISTAKEN_STEP_S: Final = 50
_MINUTE_S: Final = 60
#: The label of a timer that resumes a clock.
_RESUME: Final = label_of(Clock.resume)
#: Timers that a loop sets are set within this time of each other.
_TOGETHER_NS: Final = NS_PER_MS
#: Longer source files are not read.
_LONGEST_FILE: Final = 1 << 20


def stuck(survey: Survey) -> Iterator[Finding]:
    """Find timers that wait for a clock that only they could resume, and others never called."""
    deadlocked: set[int] = set()
    if survey.timeline.scene_path:
        for blocker, timers in _blocked_by_scene(survey):
            deadlocked.update(timer.number for timer in timers)
            yield _deadlock(survey, blocker, timers)
    yield from never_called(survey, deadlocked)


def _blocked_by_scene(survey: Survey) -> Iterator[tuple[Blocker, list[SurveyedTimer]]]:
    timeline = survey.timeline
    of_clocks: dict[int, Blocker | None] = {}
    waiting: dict[int, tuple[Blocker, list[SurveyedTimer]]] = {}
    # A frame callback or a call of a scheduler may resume anything.
    may_go_on = bool(timeline.members.by_id)
    for number in timeline.timers.ids():
        timer = survey.timers.get(number)
        if timer is None or timer.clock_id not in timeline.clocks:
            continue
        clock_id = timer.clock_id
        if clock_id not in of_clocks:
            found = clock_blockers(timeline, clock_id)
            may_go_on |= not found or any(each.cause for each in found)
            paused = (each for each in found if each.kind is BlockerKind.CLOCK_PAUSED)
            of_clocks[clock_id] = next((each for each in paused if not each.cause), None)
        if (blocker := of_clocks[clock_id]) is not None:
            waiting.setdefault(blocker.clock_id, (blocker, []))[1].append(timer)
    for blocker, timers in waiting.values():
        waited_ns = timeline.at_ns - (blocker.since_ns or 0)
        resuming = [timer for timer in timers if _is_resume(survey, timer)]
        if resuming and waited_ns >= NEVER_FIRED_NS:
            yield blocker, resuming
        elif not may_go_on and waited_ns >= NS_PER_SECOND and _paused_itself(survey, blocker):
            # Only timers set at the instant of the pause were meant to continue during it.
            set_then = [timer for timer in timers if timer.added_ns == blocker.since_ns]
            if set_then:
                yield blocker, resuming or set_then


def _paused_itself(survey: Survey, blocker: Blocker) -> bool:
    """Return whether a timer of a clock's branch was called at the instant of the clock's pause."""
    branch = set(survey.timeline.branch(blocker.clock_id))
    return any(
        timer.calls and timer.last_ns == blocker.since_ns and timer.clock_id in branch
        for timer in survey.timers.values()
    )


def _is_resume(survey: Survey, timer: SurveyedTimer) -> bool:
    return survey.text(timer.label) == _RESUME


def _deadlock(survey: Survey, blocker: Blocker, timers: list[SurveyedTimer]) -> Finding:
    first, clock = timers[0], survey.timeline.clocks[blocker.clock_id]
    above = survey.timeline.clocks.get(clock.parent_id)
    since = format_instant(blocker.since_ns or 0)
    where = f"“{blocker.name}”, which the scene paused at {since}"
    instead = "a clock that runs" if above is None else f"a clock that runs, such as “{above.name}”"
    if _is_resume(survey, first):
        text = (
            f"{survey.name(first)}{_set_at(survey, first)} waits for the time of {where}, so it "
            f"cannot resume it. Set it on {instead}."
        )
    else:
        names = listed(list(dict.fromkeys(survey.name(timer) for timer in timers)))
        wait = "waits" if len(timers) == 1 else "wait"
        text = (
            f"{names} {wait} for the time of {where}, and nothing else is called that could resume "
            f"it. Set what resumes it on {instead}."
        )
    return finding_of(
        survey, DEADLOCK, text, first, max(first.added_ns, 0), first.cursor, None, clock.id
    )


def same_names(survey: Survey) -> Iterator[Finding]:
    """Find clocks of a scene that cannot be told apart by their names."""
    timeline = survey.timeline
    if not timeline.scene_path:
        return
    counts = Counter((clock.parent_id, clock.name) for clock in timeline.clocks.values())
    for (parent_id, name), count in counts.items():
        if count < 2:  # noqa: PLR2004 - of two, one is taken for the other
            continue
        alike = (parent_id, name)
        *_, last = (
            each for each in timeline.clocks.values() if (each.parent_id, each.name) == alike
        )
        text = (
            f"{counted(count, 'clock')} below {survey.clock_name(parent_id)} are named “{name}”: "
            "commands, breakpoints and recordings cannot tell them apart by name. Give each a name "
            "of its own."
        )
        yield Finding(SAME_NAME, text, last.created_ns, None, 0, last.id)


def milliseconds(survey: Survey) -> Iterator[Finding]:
    """Find delays in seconds that were probably meant as milliseconds."""
    if not survey.timeline.scene_path:
        return
    named: set[tuple[int, int, int]] = set()
    for timer in survey.timers.values():
        delay_ns = timer.interval_ns or timer.delay_ns
        seconds, rest_ns = divmod(delay_ns, NS_PER_SECOND)
        if timer.calls or timer.ended or rest_ns or seconds < _LEAST_MISTAKEN_S:
            continue
        key = timer.label, timer.site, delay_ns
        if seconds % _MISTAKEN_STEP_S or not seconds % _MINUTE_S or key in named:
            continue
        named.add(key)
        what, call = "is due after", "set_timeout"
        if timer.interval_ns:
            what, call = "repeats every", "set_interval"
        text = (
            f"{survey.name(timer)}{_set_at(survey, timer)} {what} {format_duration(delay_ns)} and "
            f"has not been called yet: times are in seconds. If {seconds:,} milliseconds are "
            f"meant, write {call}({seconds / 1000:g}, …)."
        )
        yield finding_of(survey, MILLISECONDS, text, timer, max(timer.added_ns, 0), timer.cursor)


def late_bound(survey: Survey) -> Iterator[Finding]:
    """Find lambdas set in a loop that all see the last values of its variables."""
    latest: dict[tuple[int, int], SurveyedTimer] = {}
    counts: Counter[tuple[int, int]] = Counter()
    are_lambdas: dict[int, bool] = {}
    for timer in survey.timers.values():
        if not are_lambdas.setdefault(timer.label, "lambda" in survey.text(timer.label)):
            continue
        key = timer.label, timer.site
        before = latest.get(key)
        latest[key] = timer
        if before is not None and 0 <= timer.added_ns - before.added_ns <= _TOGETHER_NS:
            counts[key] += 1
    for key, count in counts.items():
        timer = latest[key]
        site = survey.text(timer.site)
        if not (names := _late_names(site)):
            continue
        name = names[0]
        text = (
            f"{counted(count + 1, 'timer')} set in a loop at {short_site(site)} share the "
            f"variable{'s' if names[1:] else ''} {listed([f'“{each}”' for each in names])}: "
            f"when they are called, the loop has gone on, and all see the last value. Bind it with "
            f"“lambda {name}={name}: …”, or pass it as an argument of the timer."
        )
        yield finding_of(survey, LATE_BOUND, text, timer, max(timer.added_ns, 0), timer.cursor)


def _set_at(survey: Survey, timer: SurveyedTimer) -> str:
    site = survey.text(timer.site)
    return f", set at {short_site(site)}," if site else ""


def _late_names(call_site: str) -> list[str]:
    """Return the variables of a loop that a lambda in a call in its body reads later.

    Empty if there is no such lambda at the call site, or its file is not on this machine.
    """
    path, _, line = call_site.partition(" in ")[0].rpartition(":")
    file = Path(path)
    try:
        if not line.isdecimal() or file.stat().st_size > _LONGEST_FILE:
            return []
        tree = ast.parse(file.read_bytes())
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: list[str] = []
    for loop in ast.walk(tree):
        if isinstance(loop, (ast.For, ast.AsyncFor)):
            inside: list[ast.AST] = list(loop.body)
            scope = [loop.target, *inside]
        elif isinstance(loop, (ast.ListComp, ast.SetComp)):
            inside = [loop.elt]
            scope = [each.target for each in loop.generators]
        else:
            continue
        names = {
            each.id
            for each in _in_scope(scope)
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
        }
        for call in _in_scope(inside):
            if isinstance(call, ast.Call) and call.lineno <= int(line) <= (call.end_lineno or 0):
                arguments = [*call.args, *(each.value for each in call.keywords)]
                found += [
                    name
                    for each in arguments
                    if isinstance(each, ast.Lambda)
                    for name in _read_by(each)
                    if name in names
                ]
    return list(dict.fromkeys(found))


def _in_scope(nodes: list[ast.AST]) -> Iterator[ast.AST]:
    waiting = list(nodes)
    while waiting:
        node = waiting.pop(0)
        yield node
        if not isinstance(
            node, (ast.Lambda, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ListComp)
        ):
            waiting += ast.iter_child_nodes(node)


def _read_by(function: ast.Lambda) -> list[str]:
    arguments = function.args
    own = {
        each.arg
        for each in (
            *arguments.posonlyargs,
            *arguments.args,
            *arguments.kwonlyargs,
            *filter(None, (arguments.vararg, arguments.kwarg)),
        )
    }
    return [
        each.id
        for each in ast.walk(function.body)
        if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load) and each.id not in own
    ]
