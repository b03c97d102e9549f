"""The programs that have joined a session, by their numbers and their clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from inspector.sessions.attached.session_numbers import ROOT_ID, is_above_programs, program_of_clock

if TYPE_CHECKING:
    from inspector.sessions.attached.event_sorter import EventSorter
    from inspector.sessions.attached.program import JoinedProgram


class JoinedPrograms:
    def __init__(self, sorter: EventSorter) -> None:
        self._sorter = sorter
        # Every program that was attached, by its number in the session
        self.by_number: dict[int, JoinedProgram] = {}
        self.wants_hold = False
        self.is_running = False

    def attached(self) -> list[JoinedProgram]:
        return [each for each in self.by_number.values() if each.is_attached]

    def of_clock(self, clock_id: int) -> JoinedProgram | None:
        program = self.by_number.get(program_of_clock(clock_id))
        return None if is_above_programs(clock_id) else program

    def own_clocks(self) -> list[tuple[JoinedProgram, int]]:
        clocks = self._sorter.timeline.clocks
        found = []
        waiting = [ROOT_ID] if ROOT_ID in clocks else []
        while waiting:
            clock_id = waiting.pop()
            program = self.of_clock(clock_id)
            if is_above_programs(clock_id):
                waiting += reversed(clocks[clock_id].children)
            elif program is not None and program.is_attached:
                found.append((program, clock_id))
        return found

    def family(self, clock_id: int) -> list[tuple[JoinedProgram, int]]:
        """Return a program and its children that are attached, by the clock above them."""
        children = set(self._sorter.timeline.clocks[clock_id].children)
        return [each for each in self.own_clocks() if each[1] in children]

    def parent_of(self, program: JoinedProgram) -> JoinedProgram | None:
        """Return the program of which one is a child process, a thread or a frame of a page."""
        if not program.parent_pid:
            return None
        parent = (program.host, program.parent_pid)
        return next((each for each in self.attached() if (each.host, each.pid) == parent), None)

    @property
    def file_stem(self) -> str:
        name = next((each.name for each in self.by_number.values()), "attached")
        return "".join(c if c.isalnum() or c in "-_." else " " for c in name).strip() or "attached"
