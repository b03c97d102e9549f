"""The programs that have joined a session, by their numbers and their clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.events.schema import clock_at_parent_time
from inspector.sessions.attached.session_numbers import ROOT_ID, is_above_programs, program_of_clock
from inspector.vocabulary import CLOCK_MOVED

if TYPE_CHECKING:
    from inspector.sessions.attached.event_sorter import EventSorter
    from inspector.sessions.attached.program import JoinedProgram
    from inspector.sessions.attached.translation import Translation


class JoinedPrograms:
    def __init__(self, sorter: EventSorter) -> None:
        self._sorter = sorter
        self.by_number: dict[int, JoinedProgram] = {}
        self.wants_hold = False
        self.is_running = False
        self._own: tuple[object, list[tuple[JoinedProgram, int]]] = None, []

    def attached(self) -> list[JoinedProgram]:
        return [each for each in self.by_number.values() if each.is_attached]

    def of_clock(self, clock_id: int) -> JoinedProgram | None:
        if is_above_programs(clock_id):
            return None
        return self.by_number.get(program_of_clock(clock_id))

    def own_clocks(self) -> list[tuple[JoinedProgram, int]]:
        timeline = self._sorter.timeline
        made_for = timeline, timeline.structure_version
        # Called dozens of times in each refresh.
        if self._own[0] == made_for:
            return self._own[1]
        clocks = timeline.clocks
        found = []
        waiting = [ROOT_ID] if ROOT_ID in clocks else []
        while waiting:
            clock_id = waiting.pop()
            if is_above_programs(clock_id):
                waiting += reversed(clocks[clock_id].children)
            elif (program := self.of_clock(clock_id)) is not None and program.is_attached:
                found.append((program, clock_id))
        self._own = made_for, found
        return found

    def family(self, clock_id: int) -> list[tuple[JoinedProgram, int]]:
        """Return the attached ones of a program and its children, by the clock above them."""
        children = set(self._sorter.timeline.clocks[clock_id].children)
        return [each for each in self.own_clocks() if each[1] in children]

    def parent_of(self, program: JoinedProgram) -> JoinedProgram | None:
        """Return the program whose child process, thread or frame of a page this program is."""
        if not program.parent_pid:
            return None
        parent = (program.host, program.parent_pid)
        return next((each for each in self.attached() if (each.host, each.pid) == parent), None)

    def detach(self, program: JoinedProgram, why: str) -> None:
        program.ended = why
        self._own = None, []

    def join(self, program: JoinedProgram, now_ns: int) -> None:
        """Add a new program; if its parent is attached, its clock will be beside the parent's."""
        translation = program.translation
        if program.host:
            translation.name = program.name
        if (parent := self.parent_of(program)) is not None:
            name = self._former_name(program) or parent.name_for_namesake(program.own_name)
            if name:
                program.name = translation.name = name
            self._put_below(parent, translation, now_ns)
        self.by_number[program.index] = program

    def _former_name(self, program: JoinedProgram) -> str:
        """Return the former name of a child that dials again, as daemons do after closing files."""
        process = program.host, program.pid, program.parent_pid, program.own_name
        if program.pid == program.parent_pid:
            # Threads have the number of their process as that of their parent.
            return ""
        earlier = self.by_number.values()
        known = {(e.host, e.pid, e.parent_pid, e.own_name): e.name for e in earlier}
        return known.get(process, "")

    def put_children_below(self, parent: JoinedProgram, now_ns: int) -> None:
        """Put children that dialled first beside a program whose own clock has just come."""
        for each in self.attached():
            if each.translation.above == ROOT_ID and self.parent_of(each) is parent:
                self._put_below(parent, each.translation, now_ns)

    def _put_below(self, parent: JoinedProgram, translation: Translation, now_ns: int) -> None:
        """Put the clock of a program beside its parent's, with both below a clock of the session.

        It is not below its parent's clock, as it does not stop with that. If the parent's clock is
        not known yet, :meth:`put_children_below` does this later.
        """
        above = parent.translation.above
        if above == ROOT_ID:
            if not parent.translation.top_clock_id:
                return
            above = parent.translation.family_id
            self.add_clock(above, ROOT_ID, f"{parent.name} with children", now_ns)
            self._move_below(above, parent.translation, now_ns)
        self._move_below(above, translation, now_ns)
        translation.last_ns = max(translation.last_ns, now_ns)

    def _move_below(self, above: int, translation: Translation, now_ns: int) -> None:
        translation.above = above
        if own := translation.top_clock_id:
            self._sorter.add((now_ns, CLOCK_MOVED, own, above, 0))

    def add_clock(self, clock_id: int, parent_id: int, name: str, now_ns: int) -> None:
        text = self._sorter.log.intern(name)
        self._sorter.add(*clock_at_parent_time(now_ns, clock_id, parent_id, text))

    @property
    def file_stem(self) -> str:
        name = next((each.name for each in self.by_number.values()), "attached")
        return "".join(c if c.isalnum() or c in "-_." else " " for c in name).strip() or "attached"
