"""What the subjects of events are called: remembered while events are read, in their order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from inspector.vocabulary import NEVER, EventKind, Field, MemberKind, describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.trace.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: Names of members that are gone are forgotten when there are so many more than needed.
_SPARE_NAMES: Final = 5_000

_NUMBERED: Final = re.compile(r"\b(clock|timer) (\d+)( “[^”]*”)?")
#: What is quoted is a text of somebody else, and left as it is.
_NUMBERED_MEMBER: Final = re.compile(r"\b(clock|member|machine) (\d+)( “[^”]*”)?|“[^”]*”")
#: Everything whose numbers may be put into words outside of quotes only.
_MEMBER_EVENTS: Final = frozenset(
    {
        EventKind.MEMBER_ADDED,
        EventKind.MEMBER_ORIGIN,
        EventKind.MEMBER_SET,
        EventKind.MEMBER_MOVED,
        EventKind.MEMBER_REMOVED,
        EventKind.CALL_ENDED,
        EventKind.STATE_ENTERED,
        EventKind.TRANSITION_REFUSED,
        EventKind.COMMAND_CONTEXT,
    }
)
#: What is called after the member that it hangs under as well: its own name says little.
_OWNED: Final = frozenset(
    {
        MemberKind.UPDATE,
        MemberKind.FRAME_TIMER,
        MemberKind.TICKER_TIMER,
        MemberKind.COMPONENT,
        MemberKind.PHASE,
        MemberKind.EDGE,
    }
)
#: Kinds that have to be read for the names of others, also when they are not shown.
NAMING_KINDS: Final = frozenset(
    {
        int(EventKind.TIMER_ADDED),
        int(EventKind.TIMER_FIRED),
        int(EventKind.TIMER_CLEARED),
        int(EventKind.MEMBER_ADDED),
        int(EventKind.MEMBER_ORIGIN),
        int(EventKind.MEMBER_MOVED),
    }
)


class _Known:
    """What is known of a member: name, what it hangs under, what it is."""

    __slots__ = ("kind", "name", "parent_id", "text")

    def __init__(self, name: str, parent_id: int, kind: MemberKind | None) -> None:
        self.name = name
        self.parent_id = parent_id
        self.kind = kind
        self.text = ""


class EventNames:
    """The names of timers and members, as of the event that was noted last."""

    def __init__(self) -> None:
        """Begin with no names."""
        self._labels: dict[int, str] = {}
        self._members: dict[int, _Known] = {}
        # Their last event may still have to be put into words.
        self._gone: list[int] = []
        self._strings: Sequence[str] = ("",)
        self._timeline: Timeline | None = None

    def set_source(self, strings: Sequence[str], timeline: Timeline | None) -> None:
        """Forget everything; read from another log.

        Args:
            strings: Its string table.
            timeline: Knows those who came before the first event that is read.
        """
        self._strings, self._timeline = strings, timeline
        self._labels.clear()
        self._members.clear()
        self._gone.clear()

    # ------------------------------------------------------------------ reading

    def note(self, event: RawEvent) -> None:
        """Take what an event says about names."""
        _, kind, subject, a, b = event
        if kind >= EventKind.MEMBER_ADDED:
            self._note_member(kind, subject, a, b)
        elif kind == EventKind.TIMER_ADDED:
            self._labels[subject] = self._strings[b]
        elif kind == EventKind.TIMER_CLEARED or (kind == EventKind.TIMER_FIRED and b == NEVER):
            self._gone.append(subject)

    def _note_member(self, kind: int, subject: int, a: int, b: int) -> None:
        if kind == EventKind.MEMBER_ADDED:
            self._members[subject] = _Known(self._strings[b], a, None)
            return
        known = self._known(subject)
        if known is None:
            return
        if kind == EventKind.MEMBER_ORIGIN:
            known.kind = MemberKind(b)
        elif kind == EventKind.MEMBER_MOVED:
            known.parent_id = a
        elif kind == EventKind.MEMBER_SET and a == Field.NAME:
            known.name = self._strings[b]
        known.text = ""

    def forget_gone(self) -> None:
        """Forget whom no later event can be about, once all that was noted is put into words."""
        for timer_id in self._gone:
            self._labels.pop(timer_id, None)
        self._gone.clear()
        alive = {} if self._timeline is None else self._timeline.members.by_id
        if len(self._members) > 2 * len(alive) + _SPARE_NAMES:
            self._members = {
                number: known for number, known in self._members.items() if number in alive
            }

    def _known(self, number: int) -> _Known | None:
        """Return what is known of a member; the timeline knows who came before."""
        known = self._members.get(number)
        if known is None and self._timeline is not None:
            state = self._timeline.members.by_id.get(number)
            if state is not None:
                known = self._members[number] = _Known(state.name, state.parent_id, state.kind)
        return known

    def kind_of(self, number: int) -> MemberKind | None:
        """Return what a member is, ``None`` when that is not known."""
        known = self._known(number)
        return None if known is None else known.kind

    # ------------------------------------------------------------------ words

    def label_of(self, event: RawEvent) -> str:
        """Return what the subject of an event is called; empty for clocks and what is unknown."""
        _, kind, subject, _, _ = event
        if kind >= EventKind.MEMBER_ADDED:
            known = self._known(subject)
            return "" if known is None else self._text(known)
        if EventKind.TIMER_ADDED <= kind <= EventKind.TICKS_MISSED:
            return self._labels.get(subject, "")
        return self._labels.get(subject, "") if kind == EventKind.CALLBACK_FAILED else ""

    def member_text(self, number: int) -> str:
        """Return what a member is called, with what it is; empty when it is not known.

        For example ``frame timer “shoot” of “boss”``.
        """
        known = self._known(number)
        return "" if known is None else self._text(known)

    def _text(self, known: _Known) -> str:
        if not known.text:
            kind = "member" if known.kind is None else known.kind.text
            known.text = f"{kind} “{known.name}”" if known.name else kind
            above = self._known(known.parent_id) if known.parent_id else None
            if above is not None and known.kind in _OWNED and above.name:
                known.text += f" of “{above.name}”"
        return known.text

    def sentence(self, event: RawEvent, label: str) -> str:
        """Return what happened, with names instead of numbers.

        Args:
            event: The event.
            label: What :meth:`label_of` has returned for it.
        """
        text = describe(event, self._strings)
        kind = event[1]
        if kind in _MEMBER_EVENTS:
            return self._member_sentence(event, label, text)
        if kind >= EventKind.FRAME_BEGAN:
            return text

        def named(match: re.Match[str]) -> str:
            if match[3]:
                return f"{match[1]}{match[3]}"
            if match[1] == "timer":
                return f"timer “{label}”" if label else match[0]
            return self._clock_text(match)

        return _NUMBERED.sub(named, text)

    def _member_sentence(self, event: RawEvent, label: str, text: str) -> str:
        _, kind, subject, _, _ = event

        def named(match: re.Match[str]) -> str:
            if match[1] is None:
                return match[0]
            if match[1] == "clock":
                return self._clock_text(match)
            number = int(match[2])
            name = label if number == subject and label else self.member_text(number)
            if not name:
                return match[0]
            if kind == EventKind.MEMBER_ORIGIN:
                # Its second half says what it is.
                return name[name.find("“") :] if "“" in name else match[0]
            return name

        return _NUMBERED_MEMBER.sub(named, text)

    def _clock_text(self, match: re.Match[str]) -> str:
        timeline = self._timeline
        clock = None if timeline is None else timeline.clocks.get(int(match[2]))
        return match[0] if clock is None else f"clock “{clock.name}”"
