"""Keyframes: the state of a session as text and columns, and back.

A keyframe holds what is there (clocks, members, pending timers) in full, and of what only
ever grows (commands, marks, failures, hits, the states machines were in) the news since
the keyframe before. Frames are in a table of their own.
"""

from __future__ import annotations

import json
from array import array
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from inspector.trace.members import MemberState, StateHistory
from inspector.trace.recording.layout import TIMER_COLUMNS
from inspector.trace.states import BreakHit, ClockState, CommandRecord, Failure, Held, Mark
from inspector.trace.timeline import Timeline
from inspector.trace.timer_table import UNKNOWN
from inspector.vocabulary import MemberKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from inspector.trace.recording.columns import Block

#: Lists that only ever grow, and what is in them.
_LISTS: Final[dict[str, type[Any]]] = {
    "commands": CommandRecord,
    "marks": Mark,
    "failures": Failure,
    "hits": BreakHit,
    "holds": Held,
}
_PLAIN: Final = (
    "at_ns",
    "events_folded",
    "is_running",
    "scene_path",
    "scene_generation",
    "root_id",
    "structure_version",
    "mapping_version",
    "timers_version",
)


@dataclass(slots=True)
class Grown:
    """How long the lists are, that only ever grow.

    Attributes:
        lists: By the name of the list.
        histories: By machine: in how many states it was.
    """

    lists: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_LISTS, 0))
    histories: dict[int, int] = field(default_factory=dict)


def state_text(timeline: Timeline, frames: int) -> str:
    """Return what is there in full, timers left out.

    Args:
        timeline: The state.
        frames: How many frames have ended.
    """
    members = timeline.members
    values = {name: getattr(timeline, name) for name in _PLAIN} | {
        "frames": frames,
        "frame": [
            timeline._frame_at_ns,
            timeline._frame_delta_ns,
            timeline._frame_cut_ns,
            *timeline._frame_phases,
        ],
        "last_order": timeline._last_order,
        "last_turn": members._last_turn,
        "clocks": [astuple(clock) for clock in timeline.clocks.values()],
        "members": [_member_values(member) for member in members.by_id.values()],
        "of_clock": [[clock_id, ids] for clock_id, ids in members.of_clock.items()],
        "versions": [members.structure_version, members.values_version],
        **_lengths(timeline),
    }
    return json.dumps(values, separators=(",", ":"))


def _member_values(member: MemberState) -> list[Any]:
    return [
        member.id,
        member.name,
        member.parent_id,
        member.added_ns,
        member.clock_id,
        member.kind.value,
        member.children,
        list(member.fields.items()),
        member.calls,
        member.took_ns,
        member.paused_since_ns,
        member.turn,
    ]


def _lengths(timeline: Timeline) -> dict[str, Any]:
    histories = timeline.members.histories
    return {
        "lengths": {name: len(getattr(timeline, name)) for name in _LISTS},
        "histories": [[machine, len(history)] for machine, history in histories.items()],
    }


def news_text(timeline: Timeline, since: Grown) -> str:
    """Return what has been added to the lists since; ``since`` is brought up to date."""
    values: dict[str, Any] = {}
    for name in _LISTS:
        found = getattr(timeline, name)
        values[name] = [astuple(each) for each in found[since.lists[name] :]]
        since.lists[name] = len(found)
    histories = timeline.members.histories
    values["histories"] = []
    for machine, history in histories.items():
        start = since.histories.get(machine, 0)
        columns = (history.at_ns, history.state, history.transition)
        values["histories"].append([machine, *(column[start:].tolist() for column in columns)])
    since.histories = {machine: len(history) for machine, history in histories.items()}
    return json.dumps(values, separators=(",", ":"))


def timer_block(timeline: Timeline) -> Block:
    """Return the pending timers as columns."""
    table = timeline.timers
    return np.array([table.numpy(name) for name in TIMER_COLUMNS], np.int64)


class Growth:
    """What the lists hold that only ever grow, as far as the keyframes have told."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
        self._histories: dict[int, StateHistory] = {}
        self._at: dict[int, Grown] = {}

    def add(self, cursor: int, text: str) -> None:
        """Add what one keyframe says, in the order of the keyframes.

        Raises:
            ValueError, TypeError, KeyError: It makes no sense.
        """
        values = json.loads(text)
        news = {name: [kind(*each) for each in values[name]] for name, kind in _LISTS.items()}
        histories = [
            (machine, [array("q", column) for column in columns])
            for machine, *columns in values["histories"]
        ]
        for name, new in news.items():
            self._lists[name].extend(new)
        for machine, columns in histories:
            for column, new_ones in zip(self._columns(machine), columns, strict=True):
                column.extend(new_ones)
        self._at[cursor] = Grown(
            {name: len(each) for name, each in self._lists.items()},
            {machine: len(history) for machine, history in self._histories.items()},
        )

    def add_lost(self, timeline: Timeline, state: str, news: str) -> None:
        """Add what damaged keyframes would have told before the next one.

        Args:
            timeline: The state at the next one, as far as the events tell it.
            state: The next keyframe's.
            news: The next keyframe's, which has yet to be added.

        Raises:
            ValueError, TypeError, KeyError: It makes no sense.
        """
        lengths, new = json.loads(state), json.loads(news)
        for name, own in self._lists.items():
            before = lengths["lengths"][name] - len(new[name])
            own.extend(getattr(timeline, name)[len(own) : before])
        added = {machine: len(column) for machine, column, *_ in new["histories"]}
        for machine, length in lengths["histories"]:
            history = timeline.members.histories.get(machine, StateHistory())
            before = length - added.get(machine, 0)
            columns = (history.at_ns, history.state, history.transition)
            for mine, column in zip(self._columns(machine), columns, strict=True):
                mine.extend(column[len(mine) : before])

    def _columns(self, machine: int) -> tuple[array[int], array[int], array[int]]:
        history = self._histories.setdefault(machine, StateHistory())
        return history.at_ns, history.state, history.transition

    def fill(self, timeline: Timeline, cursor: int, machines: Iterable[int]) -> None:
        """Give a timeline what its lists held at a keyframe.

        Args:
            timeline: The timeline.
            cursor: Of the keyframe, which was added.
            machines: The machines that were there.
        """
        grown = self._at[cursor]
        for name, length in grown.lists.items():
            setattr(timeline, name, self._lists[name][:length])
        for machine in machines:
            whole, history = self._histories.get(machine, StateHistory()), StateHistory()
            length = grown.histories.get(machine, 0)
            history.at_ns = whole.at_ns[:length]
            history.state = whole.state[:length]
            history.transition = whole.transition[:length]
            timeline.members.histories[machine] = history


def timeline_from(
    strings: Sequence[str], cursor: int, text: str, timers: Block, growth: Growth
) -> tuple[Timeline, int]:
    """Return the state of a keyframe without its frames, and how many frames had ended.

    Args:
        strings: The string table.
        cursor: Of the keyframe.
        text: Its state.
        timers: Its pending timers.
        growth: What the lists hold, the news of the keyframe included.

    Raises:
        ValueError, TypeError, KeyError: It makes no sense.
    """
    values = json.loads(text)
    timeline = Timeline(strings)
    for name in _PLAIN:
        setattr(timeline, name, values[name])
    timeline.newest_ns = timeline.at_ns
    at_ns, delta_ns, cut_ns, *phases = values["frame"]
    timeline._frame_at_ns, timeline._frame_delta_ns = at_ns, delta_ns
    timeline._frame_cut_ns, timeline._frame_phases = cut_ns, phases
    timeline._last_order = values["last_order"]
    timeline.clocks = {each[0]: ClockState(*each) for each in values["clocks"]}
    members = timeline.members
    members._last_turn = values["last_turn"]
    members.structure_version, members.values_version = values["versions"]
    members.of_clock = dict(values["of_clock"])
    members.by_id = {each[0]: _member_from(each) for each in values["members"]}
    growth.fill(timeline, cursor, [machine for machine, _ in values["histories"]])
    _fill_timers(timeline, timers)
    return timeline, values["frames"]


def _member_from(values: list[Any]) -> MemberState:
    member = MemberState(*values)
    member.kind, member.fields = MemberKind(values[5]), dict(values[7])
    return member


def _fill_timers(timeline: Timeline, timers: Block) -> None:
    table = timeline.timers
    for name, column in zip(TIMER_COLUMNS, timers, strict=True):
        getattr(table, name).frombytes(column.tobytes())
    table.session_due.extend(array("q", [UNKNOWN]) * len(table.id))
    table._row_by_id = {timer_id: row for row, timer_id in enumerate(table.id)}
    timeline._unknown = set(table.id)
