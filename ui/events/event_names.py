"""Names of the subjects of events, kept while events are read in their order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from inspector.events.handlers import handled_kinds, handlers_of
from inspector.events.member_names import MEMBER_NAMING_KINDS, KnownMember, MemberNames
from inspector.events.schema import (
    ABOUT_FIELDS,
    ABOUT_MEMBERS,
    ADDED,
    MAY_BE_ABOUT_TIMERS,
    Unit,
    kinds_with,
)
from inspector.events.sentences import describe
from inspector.events.timeline import Timeline
from inspector.vocabulary import NEVER, MemberKind, RawEvent

#: Names of members that are gone are forgotten when there are this many more than needed.
_SPARE_NAMES: Final = 5_000

#: What is called after the member that it hangs under as well: its own name says little.
_OWNED: Final = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.TIMEOUT,
        MemberKind.COMPONENT,
        MemberKind.PHASE,
        MemberKind.EDGE,
        MemberKind.HOOK,
    }
)
#: Kinds of events whose sentences say what a member is.
_SAY_KIND: Final = kinds_with(b=Unit.MEMBER_KIND)


class EventNames:
    """The names of timers and members, as of the event that was noted last."""

    def __init__(self) -> None:
        self._labels: dict[int, str] = {}
        self._members = MemberNames(("",))
        # What members are called with what they are, as far as was asked for.
        self._texts: dict[int, str] = {}
        # Their last event may still have to be put into words.
        self._gone: list[int] = []
        self.strings: Sequence[str] = ("",)
        self._timeline: Timeline | None = None
        self._steps = handlers_of(self)

    def set_source(self, strings: Sequence[str], timeline: Timeline | None) -> None:
        """Read another log by its string table; a timeline knows earlier names."""
        self.strings, self._timeline = strings, timeline
        self._labels.clear()
        self._members = MemberNames(strings)
        self._texts.clear()
        self._gone.clear()

    # ------------------------------------------------------------------ reading

    def note(self, event: RawEvent) -> None:
        at_ns, kind, subject, a, b = event
        if kind in ABOUT_MEMBERS:
            self._note_member(event)
        elif kind in self._steps:
            self._steps[kind](at_ns, subject, a, b)

    def _on_timer_added(self, _at_ns: int, timer_id: int, _clock_id: int, name: int) -> None:
        self._labels[timer_id] = self.strings[name]

    def _on_timer_fired(self, _at_ns: int, timer_id: int, _late_ns: int, next_ns: int) -> None:
        if next_ns == NEVER:
            self._gone.append(timer_id)

    def _on_timer_cleared(self, _at_ns: int, timer_id: int, _site: int, _cause: int) -> None:
        self._gone.append(timer_id)

    def _note_member(self, event: RawEvent) -> None:
        subject = event[2]
        if event[1] != ADDED[Unit.MEMBER]:
            self._known(subject)
        if self._members.note(event) is not None:
            # The text of who hangs under it has its name as well.
            for number in (subject, *self._members.below(subject)):
                self._texts.pop(number, None)

    def forget_gone(self) -> None:
        """Forget whom no later event can be about, once all that was noted is put into words."""
        for timer_id in self._gone:
            self._labels.pop(timer_id, None)
        self._gone.clear()
        alive = {} if self._timeline is None else self._timeline.members.by_id
        if len(self._members) > 2 * len(alive) + _SPARE_NAMES:
            for number in [each for each in self._members if each not in alive]:
                self._members.forget(number)
            self._texts.clear()

    def _known(self, number: int) -> KnownMember | None:
        known = self._members.get(number)
        if known is None and self._timeline is not None:
            state = self._timeline.members.by_id.get(number)
            if state is not None:
                known = self._members.learn(state)
        return known

    def kind_of(self, number: int) -> MemberKind | None:
        known = self._known(number)
        return None if known is None else known.kind

    # ------------------------------------------------------------------ words

    def label_of(self, event: RawEvent) -> str:
        """Return what the subject of an event is called; empty for clocks and what is unknown."""
        _, kind, subject, _, _ = event
        if kind in ABOUT_MEMBERS:
            return self.member_text(subject)
        if kind in MAY_BE_ABOUT_TIMERS:
            return self._labels.get(subject, "")
        return ""

    def member_text(self, number: int) -> str:
        """Return what a member is called, with what it is; empty when it is not known.

        For example ``frame timer “shoot” of “boss”``.
        """
        text = self._texts.get(number)
        if text is None:
            known = self._known(number)
            if known is None:
                return ""
            text = f"{known.kind_text} “{known.name}”" if known.name else known.kind_text
            above = self._known(known.parent_id) if known.parent_id else None
            if above is not None and known.kind in _OWNED and above.name:
                text += f" of “{above.name}”"
            self._texts[number] = text
        return text

    def sentence(self, event: RawEvent, label: str) -> str:
        """Return what happened, with names; ``label`` is from :meth:`label_of`."""
        _, kind, subject, _, _ = event

        def named(what: str, number: int) -> str:
            if what == "clock":
                return self._clock_text(event, number)
            if what == "timer":
                return f"timer “{label}”" if label else ""
            name = label if number == subject and label else self.member_text(number)
            if kind in _SAY_KIND:
                # Its second half says what it is.
                return name[name.find("“") :] if "“" in name else ""
            return name

        return describe(event, self.strings, named)

    def _clock_text(self, event: RawEvent, number: int) -> str:
        _, kind, subject, _, b = event
        if kind == ADDED[Unit.CLOCK] and number == subject:
            return f"clock “{self.strings[b]}”"
        clock = None if self._timeline is None else self._timeline.clocks.get(number)
        return "" if clock is None else f"clock “{clock.name}”"


#: Kinds that have to be read for the names of others, also when they are not shown; of those that
#: set fields, the ones that set names.
NAMING_KINDS: Final = MEMBER_NAMING_KINDS - ABOUT_FIELDS | handled_kinds(EventNames)
