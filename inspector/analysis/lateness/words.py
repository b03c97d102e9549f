"""Causes of a late call in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from inspector.analysis.lateness.attribution import (
    Cause,
    Lateness,
    LatenessShare,
    is_finalizer,
    loop_file,
    own_places,
)
from inspector.analysis.lateness.samples import Place
from inspector.display_text import counted
from inspector.timebase import NS_PER_MS, format_duration
from inspector.vocabulary import CallKind

if TYPE_CHECKING:
    from inspector.analysis.lateness.blocks import Block, DelayedCall
    from inspector.analysis.lateness.late_calls import LateCall

#: A share of at least this much counts as the whole time.
_WHOLE: Final = 0.95
_MOST_NAMED: Final = 4
_MOST_FRAMES: Final = 12
#: Shorter times are not mentioned.
_LEAST_NS: Final = NS_PER_MS

#: Causes that are work of a function in the loop's thread, which could be moved to another thread.
_MOVABLE: Final = frozenset({Cause.CALLBACK, Cause.TASK_STEP, Cause.BLOCKING_CALL})
#: By part of the path of a loop's file: how to call a function in a thread, from a coroutine and
#: from elsewhere, and how to sleep without keeping the loop. Empty if there is no way.
_THREADS: Final = {
    "/asyncio/": (
        "await asyncio.to_thread({})",
        "loop.run_in_executor(None, {})",
        "await asyncio.sleep()",
    ),
    "/trio/": ("await trio.to_thread.run_sync({})", "", "await trio.sleep()"),
    "/twisted/": ("deferToThread({})", "deferToThread({})", ""),
}

_PLAIN: Final = {
    Cause.GARBAGE_COLLECTION: "garbage was collected",
    Cause.GIL: "another thread had the interpreter, which is not known,",
    Cause.PROCESSOR: "its thread was ready but had no processor",
    Cause.STOPPED: "the process was stopped",
    Cause.AWAITING: "the job waited for something before it set this call",
    Cause.DRIFT: "the job worked before it set this call",
    Cause.HELD: "the inspector held it",
}
#: Texts for causes whose time is not part of a call of the loop.
_NOT_OF_LOOP: Final = {
    Cause.GARBAGE_COLLECTION: "garbage was collected by {where}",
    Cause.GIL: "the thread “{thread}” had the interpreter, in {where},",
}
#: Of a collection in which a finalizer had most of the time.
_FINALIZED: Final = "garbage was collected, mostly in {where},"


def lateness_text(lateness: Lateness, *, so_far: bool = False) -> str:
    """Return what made a call late as a sentence: ``258 ms late: task “rebuild” was in …``."""
    late = f"{format_duration(lateness.late_ns)} late{' so far' if so_far else ''}"
    spent = spent_text(lateness) or "what kept it was not measured"
    return f"{late}: {spent}."


def spent_text(lateness: Lateness) -> str:
    """Return what the time was spent on; empty if it was not measured."""
    shares = [share for share in lateness.shares if share.ns >= _LEAST_NS]
    if not shares:
        return ""
    first = shares[0]
    if first.ns >= _WHOLE * lateness.late_ns:
        return f"{share_text(first, lateness)} the whole time{_looks(first, lateness)}"
    parts = [
        f"{share_text(share, lateness)} for {format_duration(share.ns)}{_looks(share, lateness)}"
        for share in shares[:_MOST_NAMED]
    ]
    others_ns = sum(share.ns for share in shares[_MOST_NAMED:])
    if others_ns >= _LEAST_NS:
        parts.append(f"others took {format_duration(others_ns)}")
    if lateness.unknown_ns >= _LEAST_NS:
        parts.append(f"{format_duration(lateness.unknown_ns)} are not known")
    return "; ".join(parts)


def late_call_text(call: LateCall) -> str:
    """Return which call was late and why, or what keeps it waiting."""
    text = lateness_text(call.lateness, so_far=not call.is_made)
    return f"“{call.name}” on “{call.clock}”: {text}"


def _looks(share: LatenessShare, lateness: Lateness) -> str:
    if not share.samples or not lateness.samples:
        return ""
    after = ", taken right afterwards" if share.is_after else ""
    return f", {share.samples} of {max(lateness.samples, share.samples)} samples{after}"


def share_text(share: LatenessShare, lateness: Lateness) -> str:
    culprit = share.culprit
    if share.cause is Cause.MANY_SHORT:
        names = [
            f"“{family.name}” ({format_duration(family.ns)})"
            for family in lateness.families[:_MOST_NAMED]
        ]
        return f"at least {share.calls} short calls were made, mostly {', '.join(names)},"
    if culprit is None:
        if share.cause is Cause.GIL and share.name:
            return f"the thread “{share.name}” had the interpreter, at what is not known,"
        return _PLAIN.get(share.cause, str(share.cause.value))
    where = culprit.place.short
    if share.cause in _NOT_OF_LOOP:
        text = _NOT_OF_LOOP[share.cause]
        if share.cause is Cause.GARBAGE_COLLECTION and is_finalizer(culprit.place):
            text = _FINALIZED
        return text.format(where=where, thread=culprit.thread)
    who = "the frame"
    if culprit.task:
        who = f"task “{culprit.task}”"
    elif share.name:
        who = f"“{share.name}”"
    elif share.kind is CallKind.CALLBACK:
        who = "a callback"
    if share.cause is Cause.BLOCKING_CALL:
        what = f" for {culprit.what}" if culprit.what else ""
        return f"{who} waited{what} in {where}"
    return f"{who} was in {where}"


def block_text(block: Block) -> str:
    """Return what blocked a loop: ``blocked by crunch() 1.38 s so far (server.py:4)``."""
    thread = f" in the thread “{block.culprit.thread}”" if block.culprit.thread else ""
    so_far = " so far" if block.lasts else ""
    _, _, where = block.culprit.place.short.partition(" (")
    where = f" ({where}" if where else ""
    return f"{block_name(block)} {format_duration(block.took_ns)}{so_far}{where}{thread}"


def block_name(block: Block) -> str:
    """Return what blocked a loop, without how long and where: ``blocked by crunch()``."""
    return f"blocked by {block.culprit.place.call}"


def advice_text(share: LatenessShare) -> str:
    """Return how to keep a function from blocking its loop; empty if unknown.

    There is no advice for code in C that keeps the interpreter: a thread would not help.
    """
    file, culprit = loop_file(share.stack), share.culprit
    ways = next((each for part, each in _THREADS.items() if part in file), None)
    if ways is None or culprit is None or share.is_after or share.cause not in _MOVABLE:
        return ""
    from_coroutine, from_elsewhere, sleep = ways
    if culprit.place.kind == "async" and culprit.what == "time.sleep" and sleep:
        return f"Sleep without keeping the loop: {sleep}."
    # A coroutine can await only what it calls itself.
    places = own_places(share.stack)
    kinds = [place.kind for place in places]
    called = len(kinds) - kinds[::-1].index("async") if "async" in kinds else -1
    way = from_elsewhere if called < 0 else from_coroutine
    moved = culprit.place if called < 0 else next(iter(places[called:]), culprit.place)
    name = moved.function.rpartition(".")[2]
    if moved.kind or name.startswith("<") or not way:
        return ""
    is_culprit = moved.function == culprit.place.function
    return f"Call {'it' if is_culprit else f'{name}()'} in a thread: {way.format(name)}."


def block_evidence(block: Block) -> str:
    """Return how many samples have seen what blocked a loop, with the commonest stack."""
    seen = "told by the processor time of its thread"
    if block.looks:
        seen = f"seen by {block.samples:,} of {counted(block.looks, 'sample')}"
    if block.starved_ns >= _LEAST_NS:
        seen += f", no processor for {format_duration(block.starved_ns)}"
    return f"{seen}: {stack_text(block.stack)}" if block.stack else seen


def delayed_text(delayed: Sequence[DelayedCall]) -> str:
    """Return which calls a block delayed, the most delayed first, empty for none."""
    if not delayed:
        return ""
    longest: dict[str, int] = {}
    for each in delayed:
        longest.setdefault(each.call.name, each.ns)
    named = [f"{name} by {format_duration(ns)}" for name, ns in longest.items()]
    more = ["others"] if len(named) > _MOST_NAMED else []
    return f"delayed {counted(len(delayed), 'call')}: {', '.join(named[:_MOST_NAMED] + more)}"


def stack_text(stack: Sequence[str]) -> str:
    """Return a stack in a line, the innermost frame last."""
    places = [Place.of(text) for text in stack]
    shown = places[-_MOST_FRAMES:]
    more = "… → " if len(shown) < len(places) else ""
    return more + " → ".join(place.short for place in shown)
