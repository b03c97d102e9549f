"""What the subjects of events are called: remembered while events are read, in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from inspector.events.member_names import MemberNames
from inspector.events.schema import ABOUT_MEMBERS, ABOUT_TIMERS
from inspector.events.sentences import describe
from inspector.vocabulary import NEVER, EventKind, MemberKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from inspector.events.member_names import KnownMember
    from inspector.events.timeline import Timeline
    from inspector.vocabulary import RawEvent

#: Names of members that are gone are forgotten when there are so many more than needed.
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


class EventNames:
    """The names of timers and members, as of the event that was noted last.

    Attributes:
        strings: The string table of the log.
    """

    def __init__(self) -> None:
        """Begin with no names."""
        self._labels: dict[int, str] = {}
        self._members = MemberNames(("",))
        # What members are called with what they are, as far as somebody has asked.
        self._texts: dict[int, str] = {}
        # Their last event may still have to be put into words.
        self._gone: list[int] = []
        self.strings: Sequence[str] = ("",)
        self._timeline: Timeline | None = None

    def set_source(self, strings: Sequence[str], timeline: Timeline | None) -> None:
        """Forget everything; read from another log.

        Args:
            strings: Its string table.
            timeline: Knows those who came before the first event that is read.
        """
        self.strings, self._timeline = strings, timeline
        self._labels.clear()
        self._members = MemberNames(strings)
        self._texts.clear()
        self._gone.clear()

    # ------------------------------------------------------------------ reading

    def note(self, event: RawEvent) -> None:
        """Take what an event says about names."""
        _, kind, subject, _, b = event
        if kind in ABOUT_MEMBERS:
            self._note_member(event)
        elif kind == EventKind.TIMER_ADDED:
            self._labels[subject] = self.strings[b]
        elif kind == EventKind.TIMER_CLEARED or (kind == EventKind.TIMER_FIRED and b == NEVER):
            self._gone.append(subject)

    def _note_member(self, event: RawEvent) -> None:
        subject = event[2]
        if event[1] != EventKind.MEMBER_ADDED:
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
        """Return what is known of a member; the timeline knows who came before."""
        known = self._members.get(number)
        if known is None and self._timeline is not None:
            state = self._timeline.members.by_id.get(number)
            if state is not None:
                known = self._members.learn(state)
        return known

    def kind_of(self, number: int) -> MemberKind | None:
        """Return what a member is, ``None`` when that is not known."""
        known = self._known(number)
        return None if known is None else known.kind

    # ------------------------------------------------------------------ words

    def label_of(self, event: RawEvent) -> str:
        """Return what the subject of an event is called; empty for clocks and what is unknown."""
        _, kind, subject, _, _ = event
        if kind in ABOUT_MEMBERS:
            return self.member_text(subject)
        if kind in ABOUT_TIMERS or kind == EventKind.CALLBACK_FAILED:
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
        """Return what happened, with names instead of numbers.

        Args:
            event: The event.
            label: What :meth:`label_of` has returned for it.
        """
        _, kind, subject, _, _ = event

        def named(what: str, number: int) -> str:
            if what == "clock":
                return self._clock_text(event, number)
            if what == "timer":
                return f"timer “{label}”" if label else ""
            name = label if number == subject and label else self.member_text(number)
            if kind == EventKind.MEMBER_ORIGIN:
                # Its second half says what it is.
                return name[name.find("“") :] if "“" in name else ""
            return name

        return describe(event, self.strings, named)

    def _clock_text(self, event: RawEvent, number: int) -> str:
        _, kind, subject, _, b = event
        if kind == EventKind.CLOCK_ADDED and number == subject:
            return f"clock “{self.strings[b]}”"
        clock = None if self._timeline is None else self._timeline.clocks.get(number)
        return "" if clock is None else f"clock “{clock.name}”"
