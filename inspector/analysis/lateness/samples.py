"""Samples of loops, assembled from their events."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct, structs

from inspector.events.handlers import handlers_of
from inspector.events.history import History
from inspector.events.schema import EventGroup, kinds_with
from inspector.timebase import NS_PER_MS
from inspector.vocabulary import (
    COLLECTED_HERE,
    COLLECTING_LINE_SHIFT,
    SAW_AFTER_GAP,
    SAW_AFTERWARDS,
    SAW_BETWEEN_TURNS,
    SAW_EARLIER,
    SAW_END,
    SAW_FROM_HERE,
    SAW_NO_TIMES,
    SAW_WAIT,
    CallKind,
    RawEvent,
    SampleForm,
)

SAMPLE_KINDS: Final = kinds_with(group=EventGroup.SAMPLES)
#: Samples this far outside of a window may stand for a part of it, or correct its times.
AROUND_NS: Final = 1_000 * NS_PER_MS
#: A probe sends the whole stack at least at this interval.
_WHOLE_NS: Final = 700 * NS_PER_MS
_MOST_EVENTS: Final = 100_000
#: The whole stack is sent once in this many samples.
_WHOLE_EVERY: Final = 32

_at_ns: Final = attrgetter("at_ns")
_end_ns: Final = attrgetter("end_ns")
_PLACE: Final = re.compile(r"(.*):(\d+) in (?:(async|generator) )?(.*)", re.DOTALL)


class Place(Struct, frozen=True):
    file: str
    line: int
    function: str
    kind: str = ""  # “async” or “generator” for functions that are resumed, if the probe says so

    @classmethod
    def of(cls, text: str) -> Place:
        found = _PLACE.fullmatch(text)
        if found is None:
            return cls("", 0, text)
        return cls(found[1], int(found[2]), found[4], found[3] or "")

    @property
    def file_name(self) -> str:
        return self.file.replace("\\", "/").rpartition("/")[2]

    @property
    def call(self) -> str:
        """The function in a sentence: ``crunch()``."""
        name = self.function.rpartition("<locals>.")[2]
        return name if name.startswith("<") else f"{name}()"

    @property
    def short(self) -> str:
        """The place in a sentence: ``crunch() (server.py:4)``."""
        return f"{self.call} ({self.file_name}:{self.line})" if self.line else self.call


class Sample(Struct, frozen=True):
    """A look at the thread of a loop, which stands for the time before it."""

    at_ns: int  # Session instant of the look
    covers_ns: int  # The time before the look for which it stands
    executed_ns: int  # Processor time of the thread
    ready_ns: int  # How long the thread was ready to run without a processor
    other_ns: int  # Processor time of another thread of the program, 0 if little
    other: str  # The other thread and where it was, as name: place
    stack: tuple[str, ...]  # The places on the stack, outermost first; empty if not known
    name: str  # The task or callback that the loop was calling; empty for the loop's own frame
    kind: CallKind  # The kind of this call
    form: SampleForm  # What else was seen
    # How much more it stood for than session time, which leaves most of a long stall out
    left_out_ns: int = 0

    @property
    def begin_ns(self) -> int:
        """Session instant at which the time begins for which it stands."""
        return self.at_ns - self.covers_ns

    @property
    def is_between_turns(self) -> bool:
        """Whether the loop was not in a long turn."""
        return bool(self.form.flags & SAW_BETWEEN_TURNS)

    @property
    def waits(self) -> bool:
        """Whether the innermost frame calls something that waits."""
        return bool(self.form.flags & SAW_WAIT)

    @property
    def is_look(self) -> bool:
        """Whether the thread was looked at; otherwise the sample is for the rest of a turn."""
        return not self.form.flags & (SAW_END | SAW_BETWEEN_TURNS)

    @property
    def is_end(self) -> bool:
        """Whether it stands for the rest of a turn that is over."""
        return bool(self.form.flags & SAW_END)

    @property
    def is_told_later(self) -> bool:
        """Whether it is from a scene, and was recorded when the turn was over."""
        return bool(self.form.flags & SAW_FROM_HERE)

    @property
    def has_times(self) -> bool:
        return not self.form.flags & SAW_NO_TIMES

    @property
    def is_after_gap(self) -> bool:
        """Whether no look was possible for most of the time for which it stands."""
        return bool(self.form.flags & SAW_AFTER_GAP)

    @property
    def is_afterwards(self) -> bool:
        """Whether the stack is from the first moment after the interpreter was free again."""
        return bool(self.form.flags & SAW_AFTERWARDS)


class Span(Struct, frozen=True):
    """A stretch of session time in which the program as a whole stood still."""

    begin_ns: int
    end_ns: int
    line: int = 0  # The line of the program that called gc.collect, 0 for none


class Samples:
    """Samples, collections and stops of all loops, in the order of their events.

    The time of a scene stands still during a turn, and ``max_delta`` limits how much of it follows.
    Once that is known, the samples of the turn share what session time saw of it.
    """

    def __init__(self, strings: Sequence[str]) -> None:
        self.by_clock: defaultdict[int, list[Sample]] = defaultdict(list)
        self.collections: defaultdict[int, list[Span]] = defaultdict(list)
        # When processes were stopped, by the number of their program's clock
        self.stops: defaultdict[int, list[Span]] = defaultdict(list)
        self.strings = strings  # The string table of the events
        self.shortened: defaultdict[int, int] = defaultdict(int)  # How many turns, by clock
        self._open: defaultdict[int, _Open] = defaultdict(_Open)
        self._steps = handlers_of(self)

    def fold(self, events: Iterable[RawEvent]) -> None:
        """Handle the events of samples among some events."""
        steps = self._steps
        for at_ns, kind, subject, a, b in events:
            step = steps.get(kind)
            if step is not None:
                step(at_ns, subject, a, b)

    def _text(self, number: int) -> str:
        return self.strings[number] if 0 <= number < len(self.strings) else ""

    def _on_stack_frame(self, _at_ns: int, clock_id: int, place: int, site: int) -> None:
        stack = self._open[clock_id].stack
        if 0 <= place <= len(stack):
            if place == len(stack):
                stack.append(self._text(site))
            else:
                stack[place] = self._text(site)

    def _on_running_call(self, _at_ns: int, clock_id: int, name: int, kind: int) -> None:
        opened = self._open[clock_id]
        opened.name = self._text(name)
        opened.kind = CallKind(kind) if kind in set(CallKind) else CallKind.CALLBACK

    def _on_other_thread(self, _at_ns: int, clock_id: int, ran_ns: int, text: int) -> None:
        opened = self._open[clock_id]
        opened.other_ns, opened.other = ran_ns, self._text(text)

    def _on_sample_times(self, _at_ns: int, clock_id: int, run_ns: int, ready_ns: int) -> None:
        self._open[clock_id].times = run_ns, ready_ns

    def _on_sampled(self, at_ns: int, clock_id: int, covers_ns: int, form: int) -> None:
        opened = self._open[clock_id]
        seen = SampleForm.of(form)
        if seen.flags & SAW_FROM_HERE:
            if not seen.number:
                self._shorten(clock_id, at_ns)
                opened.began_ns, opened.passed_ns = at_ns, 0
            opened.passed_ns += covers_ns
            at_ns += opened.passed_ns
        if seen.flags & SAW_EARLIER:
            ready_ns, earlier_ns = opened.times
            at_ns -= earlier_ns
            ran_ns = 0 if seen.flags & SAW_WAIT else max(covers_ns - ready_ns, 0)
            opened.times = ran_ns, ready_ns
        sample, mine = opened.sample(at_ns, covers_ns, seen), self.by_clock[clock_id]
        # A sample before the latest one is out of order, and dropped.
        if not mine or at_ns >= mine[-1].at_ns:
            mine.append(sample)

    def _on_delta_cut(self, at_ns: int, _subject: int, _cut_ns: int, _b: int) -> None:
        for clock_id in self._open:
            self._shorten(clock_id, at_ns)

    def _shorten(self, clock_id: int, end_ns: int) -> None:
        """Let the last turn of a scene end by an instant, with each part of it shorter alike."""
        opened = self._open[clock_id]
        began_ns, passed_ns = opened.began_ns, opened.passed_ns
        left_ns = max(end_ns - began_ns, 0)
        if left_ns >= passed_ns:
            return

        def seen_at(at_ns: int) -> int:
            return min(at_ns, began_ns + max(at_ns - began_ns, 0) * left_ns // passed_ns)

        mine = self.by_clock[clock_id]
        for place in range(bisect_right(mine, began_ns, key=_at_ns), len(mine)):
            each = mine[place]
            at_ns = seen_at(each.at_ns)
            covers_ns = at_ns - seen_at(each.begin_ns)
            mine[place] = structs.replace(
                each,
                at_ns=at_ns,
                covers_ns=covers_ns,
                executed_ns=each.executed_ns * left_ns // passed_ns,
                ready_ns=each.ready_ns * left_ns // passed_ns,
                other_ns=each.other_ns * left_ns // passed_ns,
                left_out_ns=each.left_out_ns + each.covers_ns - covers_ns,
            )
        spans = self.collections[clock_id]
        for place in range(bisect_right(spans, began_ns, key=_end_ns), len(spans)):
            span = spans[place]
            begin_ns, end_ns = seen_at(span.begin_ns), seen_at(span.end_ns)
            spans[place] = structs.replace(span, begin_ns=begin_ns, end_ns=end_ns)
        opened.passed_ns = left_ns
        self.shortened[clock_id] += 1

    def _on_collected(self, at_ns: int, clock_id: int, took_ns: int, generation: int) -> None:
        if generation & COLLECTED_HERE:
            at_ns += self._open[clock_id].passed_ns + took_ns
        line = generation >> COLLECTING_LINE_SHIFT
        self.collections[clock_id].append(Span(at_ns - took_ns, at_ns, line))

    def _on_process_stopped(self, at_ns: int, clock_id: int, lasted_ns: int, _b: int) -> None:
        self.stops[clock_id].append(Span(at_ns - lasted_ns, at_ns))


class _Open:
    """The sample of a loop that is being assembled from its events."""

    __slots__ = (
        *("began_ns", "expected", "kind", "name"),
        *("other", "other_ns", "passed_ns", "stack", "times"),
    )

    def __init__(self) -> None:
        self.stack: list[str] = []
        self.name = ""
        self.kind = CallKind.CALLBACK
        self.other = ""
        self.other_ns = 0
        self.times = (0, 0)
        #: In a scene: the instant of the present turn, and for how long its samples stand so far.
        self.began_ns = self.passed_ns = 0
        #: Number of the sample that can continue the stack; -1 if the stack is no longer known.
        self.expected = -1

    def sample(self, at_ns: int, covers_ns: int, form: SampleForm) -> Sample:
        """Return the finished sample, and begin the next one."""
        name, kind, stack = self.name, self.kind, self.stack
        if form.flags & SAW_BETWEEN_TURNS:
            name, stack = "", []
        elif form.flags & SAW_END:
            stack = stack if form.number == self.expected else []
        else:
            is_whole = form.number % _WHOLE_EVERY == 0
            if (is_whole or form.number == self.expected) and len(stack) >= form.depth:
                del stack[form.depth :]
                self.expected = form.number + 1
            else:
                # Events before it are missing, so the frames may be from different stacks.
                self.expected = -1
                stack.clear()
        found = Sample(
            at_ns, covers_ns, *self.times, self.other_ns, self.other, tuple(stack), name, kind, form
        )
        self.other, self.other_ns, self.times = "", 0, (0, 0)
        return found


def samples_around(
    history: History, begin_ns: int, end_ns: int, next_ns: int | None = None
) -> Samples:
    """Return the samples that stand for a span of session time, and some around it.

    With ``next_ns``, only what was told before that instant.
    """
    found = Samples(history.strings)
    start = history.cursor_at(begin_ns - AROUND_NS - _WHOLE_NS - 1)
    end = history.cursor_at(end_ns + AROUND_NS if next_ns is None else next_ns - 1)
    start = max(start, history.first, end - _MOST_EVENTS)
    found.fold(history.events(start, end))
    return found
