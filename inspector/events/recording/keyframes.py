"""Keyframes: the state of a session as text and columns, and back.

A keyframe holds the present (clocks, members, pending timers) in full, and of the lists that only
grow (commands, marks, failures, hits, states of machines) the additions since the previous
keyframe. Frames have a table of their own.
"""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeVar

import msgspec
import numpy as np
from msgspec import Struct, field, structs

from inspector.clocks.rate import MAX_RATE
from inspector.events.blocks.packed_columns import Block
from inspector.events.loop_frames import LoopFrames
from inspector.events.members import MemberState, StateHistory
from inspector.events.recording.layout import TIMER_COLUMNS
from inspector.events.recording.reading.soundness import Soundness
from inspector.events.states import BreakHit, ClockState, CommandRecord, Failure, Held, Mark
from inspector.events.tasks import TaskState
from inspector.events.timeline import Timeline
from inspector.events.timer_table import UNKNOWN
from inspector.timebase import MAX_NS
from inspector.vocabulary import RATE_DENOMINATOR, LoopKind, MemberKind, Share, TaskWait, TimerKind

#: Whole numbers small enough for columns and for sums computed from them.
_Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-MAX_NS, le=MAX_NS)]
_Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_NS)]
_Number: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=MAX_NS)]
_Rate: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MAX_RATE * RATE_DENOMINATOR)]
_Clock: TypeAlias = tuple[
    _Number, str, _Count, _Rate, _Rate, int, _Whole, list[_Number], bool, _Whole, _Count, _Count
]
_Column: TypeAlias = list[_Whole]


class _Member(msgspec.Struct, array_like=True):
    """A member as it is written; keyframes of older versions lack ``timed_ns``."""

    id: _Number
    name: str
    parent_id: _Count
    added_ns: _Whole
    clock_id: _Count
    kind: int
    children: list[_Number]
    fields: list[tuple[int, int]]
    calls: _Count
    took_ns: _Whole
    paused_since_ns: _Whole
    turn: _Count
    timed_ns: _Whole = 0


class _State(msgspec.Struct):
    """The full part of a keyframe as stored, without timers."""

    at_ns: _Count
    events_folded: _Count
    is_running: bool
    scene_path: str
    scene_generation: _Count
    root_id: _Number | None
    structure_version: _Count
    mapping_version: _Count
    timers_version: _Count
    frames: _Count
    frame: _Column
    last_order: _Count
    last_turn: _Count
    clocks: list[_Clock]
    members: list[_Member]
    of_clock: list[tuple[_Number, list[_Number]]]
    versions: tuple[_Count, _Count]
    lengths: dict[str, _Count]
    histories: list[tuple[_Number, _Count]]
    # Since version 4: the loop whose frames these are, and of every other loop its clock, name,
    # kind, number of completed frames and open frame.
    frames_of: _Count = 0
    loops: list[tuple[_Number, str, int, _Count, _Column]] = []
    asked: list[tuple[_Number, _Number]] = []
    tasks: list[TaskState] = []
    tasks_told: list[tuple[_Number, _Whole]] = []


class _Command(msgspec.Struct, array_like=True):
    """A command as it is written; keyframes of older versions lack its form."""

    at_ns: _Whole
    number: _Count
    text: str
    refusal: str
    clock_id: _Count
    local_ns: _Whole
    host_ms: _Whole
    by: str
    frame: _Count
    form: str | None = None


class _News(msgspec.Struct):
    commands: list[_Command]
    marks: list[tuple[_Whole, str, _Count]]
    failures: list[tuple[_Whole, _Count, str, str, _Count]]
    hits: list[tuple[_Whole, _Count, str, _Whole]]
    holds: list[tuple[_Whole]]
    histories: list[tuple[_Number, _Column, _Column, _Column]]


_T = TypeVar("_T", _State, _News)

_LISTS: Final[dict[str, type[Any]]] = {
    "commands": CommandRecord,
    "marks": Mark,
    "failures": Failure,
    "hits": BreakHit,
    "holds": Held,
}
#: The fields that are attributes of a timeline, which come first.
_PLAIN: Final = _State.__struct_fields__[: _State.__struct_fields__.index("frames")]


class Grown(Struct):
    lists: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_LISTS, 0))
    histories: dict[int, int] = field(default_factory=dict)  # By machine: the number of its states


def state_text(timeline: Timeline, frames: int, of_loops: Mapping[int, int]) -> str:
    """Return the full part of a keyframe, without timers; ``of_loops`` by their clocks."""
    members = timeline.members
    values = {name: getattr(timeline, name) for name in _PLAIN} | {
        "frames": frames,
        "frame": timeline.open_frame,
        "last_order": timeline._last_order,
        "last_turn": members._last_turn,
        "clocks": [structs.astuple(clock) for clock in timeline.clocks.values()],
        "members": [_member_values(member) for member in members.by_id.values()],
        "of_clock": [[clock_id, ids] for clock_id, ids in members.of_clock.items()],
        "versions": [members.structure_version, members.values_version],
        "frames_of": timeline.frames_of,
        "loops": [
            [clock_id, loop.name, loop.kind, of_loops.get(clock_id, 0), loop.open_frame]
            for clock_id, loop in timeline.loops.items()
        ],
        "asked": [
            [clock_id, loop.asked_ns] for clock_id, loop in timeline.loops.items() if loop.asked_ns
        ],
        "tasks": [structs.astuple(task) for task in timeline.tasks.by_id.values()],
        "tasks_told": list(timeline.tasks.told_ns.items()),
        **_lengths(timeline),
    }
    return json.dumps(values, separators=(",", ":"))


def _member_values(member: MemberState) -> list[Any]:
    values = list(member.values)
    values[_FIELDS] = list(member.fields.items())
    return values


#: Place of the fields among the values of a member.
_FIELDS: Final = MemberState.__struct_fields__.index("fields")


def _lengths(timeline: Timeline) -> dict[str, Any]:
    histories = timeline.members.histories
    return {
        "lengths": {name: len(getattr(timeline, name)) for name in _LISTS},
        "histories": [[machine, len(history)] for machine, history in histories.items()],
    }


def news_text(timeline: Timeline, since: Grown) -> str:
    """Return the additions since ``since``, and bring that up to date."""
    values: dict[str, Any] = {}
    for name in _LISTS:
        found = getattr(timeline, name)
        values[name] = [structs.astuple(each) for each in found[since.lists[name] :]]
        since.lists[name] = len(found)
    histories = timeline.members.histories
    values["histories"] = []
    for machine, history in histories.items():
        start = since.histories.get(machine, 0)
        added = (column[start:].tolist() for column in history.columns)
        values["histories"].append([machine, *added])
    since.histories = {machine: len(history) for machine, history in histories.items()}
    return json.dumps(values, separators=(",", ":"))


def timer_block(timeline: Timeline) -> Block:
    table = timeline.timers
    return np.array([table.numpy(name) for name in TIMER_COLUMNS], np.int64)


class Growth:
    """The lists that only grow, up to the last keyframe read."""

    def __init__(self, sound: Soundness, form_of: Callable[[int], str]) -> None:
        self.sound = sound
        self._form_of = form_of
        self._lists: dict[str, list[Any]] = {name: [] for name in _LISTS}
        self._histories: dict[int, StateHistory] = {}
        self._at: dict[int, Grown] = {}

    def add(self, cursor: int, text: str) -> None:
        """Add the additions of the next keyframe.

        Raises:
            ValueError, TypeError, KeyError: They are invalid.
        """
        values = _decoded(text, _News)
        for command in values.commands:
            if command.form is None:
                command.form = self._form_of(command.number)
        news = {
            name: [kind(*_values_of(each)) for each in getattr(values, name)]
            for name, kind in _LISTS.items()
        }
        histories = []
        for machine, at_ns, states, transitions in values.histories:
            if not len(at_ns) == len(states) == len(transitions):
                raise ValueError(f"the history of machine {machine} is incomplete")
            texts = [[self.sound.text(number) for number in each] for each in (states, transitions)]
            histories.append((machine, [array("q", column) for column in (at_ns, *texts)]))
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
        """Add what damaged keyframes have lost, from the state at the next readable one."""
        lengths, new = _decoded(state, _State), _decoded(news, _News)
        for name, own in self._lists.items():
            before = lengths.lengths[name] - len(getattr(new, name))
            own.extend(getattr(timeline, name)[len(own) : before])
        added = {machine: len(column) for machine, column, *_ in new.histories}
        for machine, length in lengths.histories:
            history = timeline.members.histories.get(machine, StateHistory())
            before = length - added.get(machine, 0)
            for mine, column in zip(self._columns(machine), history.columns, strict=True):
                mine.extend(column[len(mine) : before])

    def _columns(self, machine: int) -> tuple[array[int], array[int], array[int]]:
        return self._histories.setdefault(machine, StateHistory()).columns

    def fill(self, timeline: Timeline, cursor: int, machines: Iterable[int]) -> None:
        grown = self._at[cursor]
        for name, length in grown.lists.items():
            setattr(timeline, name, self._lists[name][:length])
        for machine in machines:
            whole = self._histories.get(machine, StateHistory())
            history = whole.until(grown.histories.get(machine, 0))
            timeline.members.histories[machine] = history


def timeline_from(
    strings: Sequence[str], cursor: int, text: str, timers: Block, growth: Growth
) -> tuple[Timeline, int]:
    """Return the state of a keyframe without its frames, and its number of completed frames.

    Args:
        growth: The lists that only grow, including this keyframe's additions.

    Raises:
        ValueError, KeyError: The keyframe is invalid.
    """
    values = _decoded(text, _State)
    timeline = Timeline(strings)
    for name in _PLAIN:
        setattr(timeline, name, getattr(values, name))
    timeline.newest_ns = timeline.at_ns
    timeline.open_frame = _open_frame(values.frame)
    timeline.frames_of = values.frames_of
    for clock_id, name, kind, count, frame in values.loops:
        loop = timeline.loops[clock_id] = LoopFrames(name, LoopKind(kind))
        loop.open_frame, loop.frames.first = _open_frame(frame), count
    for clock_id, asked_ns in values.asked:
        timeline.loops[clock_id].asked_ns = asked_ns
    tasks = timeline.tasks
    tasks.by_id = {task.id: _checked_task(task, growth.sound) for task in values.tasks}
    tasks.told_ns = dict(values.tasks_told)
    timeline._last_order = values.last_order
    timeline.clocks = {each[0]: ClockState(*each) for each in values.clocks}
    if timeline.root_id is not None and timeline.root_id not in timeline.clocks:
        raise ValueError(f"no root clock {timeline.root_id}")
    members = timeline.members
    members._last_turn = values.last_turn
    members.structure_version, members.values_version = values.versions
    members.by_id = {each.id: _member_from(each, growth.sound) for each in values.members}
    members.of_clock = {
        clock_id: [each for each in ids if each in members.by_id]
        for clock_id, ids in values.of_clock
    }
    _check_tree("clock", timeline.clocks)
    _check_tree("member", members.by_id)
    growth.fill(timeline, cursor, [machine for machine, _ in values.histories])
    _fill_timers(timeline, timers, growth.sound)
    return timeline, values.frames


def _open_frame(values: list[int]) -> list[int]:
    """Return the numbers of the open frame, with shares in any case."""
    whole = len(Timeline([]).open_frame)
    # Before version 3 there were no shares.
    if len(values) not in {whole - len(Share), whole}:
        raise ValueError(f"a frame that has not ended is {whole} numbers, not {len(values)}")
    return values + [0] * (whole - len(values))


def _checked_task(task: TaskState, sound: Soundness) -> TaskState:
    texts = task.name, task.created, task.defined, task.line, task.what
    if not all(0 <= text < sound.texts for text in texts):
        raise ValueError(f"task {task.id} has a text that is not in the string table")
    TaskWait(task.wait)
    return task


def _values_of(each: msgspec.Struct | tuple[Any, ...]) -> tuple[Any, ...]:
    return each if isinstance(each, tuple) else structs.astuple(each)


def _decoded(text: str, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(text, type=kind)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise ValueError(str(error)) from None


def _check_tree(what: str, found: Mapping[int, ClockState] | Mapping[int, MemberState]) -> None:
    """Check that parents and children agree and that nothing is its own ancestor."""
    waiting = [number for number, each in found.items() if not each.parent_id]
    seen = 0
    while waiting:
        number = waiting.pop()
        seen += 1
        for below in found[number].children:
            if below not in found or found[below].parent_id != number:
                raise ValueError(f"{what} {below} is not a child of {what} {number}")
            waiting.append(below)
        if seen > len(found):
            break
    if seen != len(found):
        raise ValueError(f"the tree of {what}s is inconsistent")


def _member_from(values: _Member, sound: Soundness) -> MemberState:
    member = MemberState(*_values_of(values))
    member.kind = MemberKind(values.kind)
    member.fields = {each: sound.value_of(each, value) for each, value in values.fields}
    return member


def _fill_timers(timeline: Timeline, timers: Block, sound: Soundness) -> None:
    columns = dict(zip(TIMER_COLUMNS, timers, strict=True))
    kinds = columns["kind"]
    if len(kinds) and not (kinds.min() >= min(TimerKind) and kinds.max() <= max(TimerKind)):
        raise ValueError("a timer has an unknown kind")
    for name in ("label", "site"):
        sound.repair_texts(columns[name])
    table = timeline.timers
    for name, column in columns.items():
        getattr(table, name).frombytes(column.tobytes())
    table.session_due.extend(array("q", [UNKNOWN]) * len(table.id))
    is_sound = table.find_rows()
    pending = Counter(table.clock)
    if not is_sound or not pending.keys() <= timeline.clocks.keys():
        raise ValueError("a timer is duplicated or on an unknown clock")
    for clock in timeline.clocks.values():
        clock.pending = pending[clock.id]
    timeline._has_many_unknown = True
