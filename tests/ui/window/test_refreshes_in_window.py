"""What a refresh of the whole window asks of a session."""

from __future__ import annotations

from inspector.commands.command import Capability
from tests.ui.looking_back import settle
from tests.ui.used_window import Lend
from tests.ui.world import PlayedSession
from ui.session.selection import Selection


class Counting(PlayedSession):
    """A session that counts how often its capabilities are read."""

    reads = 0
    _found: frozenset[Capability] = frozenset()

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it accepts."""
        self.reads += 1
        return self._found

    @capabilities.setter
    def capabilities(self, found: frozenset[Capability]) -> None:
        self._found = found


def test_that_a_refresh_reads_the_capabilities_once(lend: Lend) -> None:
    shell = lend(None)
    session = Counting()
    session.root.set_interval(0.05, lambda: None, name="tick")
    shell.bridge.set_session(session)
    shell.bridge.set_playhead(0)
    settle()
    for step in range(1, 11):
        session.run_to_ms(step * 20)
        session.run_frame()
    session.reads = refreshes = 0

    def count() -> None:
        nonlocal refreshes
        refreshes += 1

    shell.bridge.refreshed.connect(count)
    shell.bridge.refresh_now()
    settle()
    shell.bridge.select(Selection.clock(session.root.id))
    settle()

    assert refreshes > 0
    assert session.reads == refreshes
