"""An attached program: what it reports of itself, and what can be done with its clocks."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from inspector.commands.command import Capability
from inspector.display_text import counted
from inspector.probe.adapters import KEEPS_TIME
from inspector.sessions.attached.doors.processes import parent_of
from inspector.sessions.attached.messages import (
    FIRST_PAGE_PID,
    GRANT_TEXTS,
    AdapterMessage,
    ChangedMessage,
    ClockMessage,
    CostMessage,
    Grant,
    KeyframeMessage,
)
from inspector.sessions.attached.session_numbers import own_clock
from inspector.timebase import format_duration
from inspector.vocabulary import EventKind

if TYPE_CHECKING:
    from inspector.sessions.attached.link import Attached, Done
    from inspector.sessions.attached.translation import Translation

_NAMES: Final = {
    Capability.TRANSPORT: "pause",
    Capability.PAUSE: "pause",
    Capability.RATE: "rate",
    Capability.STEP: "step_frame",
    Capability.STEP_TIME: "step_time",
    Capability.STEP_TIMER: "step_timer",
    Capability.TIMERS: "clear_timer",
}
#: Capabilities that attached programs never have, and why.
NEVER_POSSIBLE: Final = {
    Capability.FRAME_RATE: "an attached program has its own frame rate",
    Capability.RELOAD: "an attached program cannot be reloaded: end it, and open it again",
    Capability.FAILURE_POLICY: "an attached program decides itself what follows a failure",
    Capability.REWIND: "an attached program cannot be rewound",
    Capability.MEMBERS: "the schedulers of an attached program cannot be controlled",
    Capability.FIRE: "a timer of an attached program cannot be fired",
}
_STEP_GRANT: Final = frozenset(
    {
        Capability.TRANSPORT,
        Capability.PAUSE,
        Capability.STEP,
        Capability.STEP_TIME,
        Capability.STEP_TIMER,
    }
)
_PERCENT: Final = 100
#: The probe's name for a process without a name of its own.
_OF_MULTIPROCESSING: Final = "child of multiprocessing"
#: The adapters whose loops wait for events; their frames are turns of such a loop.
_WAITING: Final = frozenset({"asyncio", "tkinter", "trio", "Twisted", "uvloop"})
_NOT_FOLLOWED: Final = "lock.acquire(timeout=…), which uses the system clock"
#: Spellings of implementations that report their names in lower case.
_IMPLEMENTATIONS: Final = {"cpython": "CPython", "pypy": "PyPy", "graalpy": "GraalPy"}
_STATES: Final = {"active": "seen", "failed": "cannot be seen"}


class JoinedProgram:
    def __init__(self, index: int, attached: Attached, translation: Translation) -> None:
        hello = attached.hello
        self.index = index  # Its number in the session
        self.host = attached.link.host  # The name of its host, empty for this one
        # name: Its name, with its host if that is another one; children may get a number
        # own_name: What it calls itself
        self.name = self.own_name = hello.name or f"process {hello.pid}"
        if self.host:
            self.name = f"{self.name} on {self.host}"
        self._namesakes = 0
        # The numbers of its process and of the parent process, on their host
        self.pid, self.parent_pid = hello.pid, hello.parent_pid
        peer_pid = attached.link.peer_pid
        if not self.host and peer_pid not in {0, hello.pid, os.getpid()}:
            # A container has its own process numbers. The parent of a thread is its process.
            is_thread = hello.pid == hello.parent_pid
            self.pid, self.parent_pid = peer_pid, peer_pid if is_thread else parent_of(peer_pid)
        self.argv = tuple(hello.argv)
        self.runtime = hello.runtime
        self.link = attached.link
        self._longest_turn_ns = self._tasks_every_ns = 0
        self.translation = translation  # Converts its events to the session's numbers and instants
        # By how much its instants may be wrong; 0 on the same clock
        self.error_ns = attached.error_ns
        self.drift_ns = 0  # By how much its clock has been corrected since
        self.adapters: tuple[AdapterMessage, ...] = tuple(hello.adapters)
        self.grant: Grant = hello.grant
        self.clocks: dict[int, ClockMessage] = {}  # Its clocks, by their number in the session
        self.cost: CostMessage | None = None  # The probe's last report of its cost, if any
        # cost_cpu_ns: The probe's processor time since it was attached
        # cost_interval_ns: The time in which that was measured
        self.cost_cpu_ns = self.cost_interval_ns = 0
        self.lost: Counter[str] = Counter()  # How many of its events were lost, by kind
        self.is_described = False  # Whether its state was described in full
        # The clocks whose timers are unknown because a thread is busy: for each the name of the
        # thread, and since when in session time, if reported
        self.waits_for: dict[int, tuple[str, int | None]] = {}
        # is_stepping: Whether a step was requested whose end is not in the timeline yet
        # has_step_begun: Whether the program has confirmed it
        self.is_stepping = self.has_step_begun = False
        # Session time up to which its events tell of a step that has ended, if one has
        self.step_ended_ns: int | None = None
        self.ended = ""  # Why it is no longer attached, as a sentence; empty while it is

    def name_for_namesake(self, name: str) -> str:
        """Return a numbered name for a child that has this program's name, as workers do.

        It is empty for a child with a name of its own.
        """
        if name not in {self.own_name, _OF_MULTIPROCESSING}:
            return ""
        self._namesakes += 1
        return f"{self.name}, child {self._namesakes}"

    @property
    def is_page(self) -> bool:
        """Whether it is a page of a browser, whose process is unknown.

        The inspector numbers pages that it reaches through a debugger; pages that dial have 0.
        """
        return self.pid >= FIRST_PAGE_PID or self.pid == 0

    @property
    def process_text(self) -> str:
        process = "page" if self.is_page else f"process {self.pid}"
        return f"{process} on {self.host}" if self.host else process

    @property
    def unseen(self) -> list[AdapterMessage]:
        """The adapters whose libraries are loaded, but cannot be seen."""
        return [each for each in self.adapters if each.state == "failed"]

    @property
    def unheld(self) -> list[AdapterMessage]:
        """Those unseen adapters whose loops continue while the program is held."""
        return [each for each in self.unseen if each.message == KEEPS_TIME]

    @property
    def is_attached(self) -> bool:
        return not self.ended

    def apply_change(self, changed: ChangedMessage) -> None:
        if changed.clocks is not None:
            translated = self.translation.clock_id
            self.clocks = {translated(each.clock): each for each in changed.clocks}
        if changed.adapters is not None:
            self.adapters = tuple(changed.adapters)
        if changed.grant is not None:
            self.grant = changed.grant

    def follow_clock(self, shift_ns: int, error_ns: int) -> None:
        """Correct its instants from now on, because its clock has drifted."""
        self.drift_ns += shift_ns - self.translation.shift_ns
        self.translation.shift_ns, self.error_ns = shift_ns, error_ns

    def note_busy(self, keyframe: KeyframeMessage) -> None:
        translated, shift_ns = self.translation.clock_id, self.translation.shift_ns
        self.waits_for = {translated(each): ("", None) for each in keyframe.waits_for}
        for each in keyframe.threads:
            self.waits_for[translated(each.clock)] = each.thread, each.since_ns + shift_ns

    def add_cost(self, cost: CostMessage) -> None:
        self.cost = cost
        self.cost_cpu_ns += cost.cpu_ns
        self.cost_interval_ns += cost.interval_ns

    @property
    def events(self) -> int:
        """How many events it has sent."""
        return self.link.received

    def count_lost(self, counts: Mapping[str, int]) -> int:
        """Count lost events by kind; returns how many are new."""
        for number, count in counts.items():
            self.lost[_kind_name(number)] += count
        return sum(counts.values())

    def why_not(self, capability: Capability, clock_id: int) -> str:
        if self.ended:
            return f"“{self.name}” is no longer attached"
        if self.grant == "read-only":
            return f"“{self.name}” allows reading only"
        if self.grant == "step" and capability not in _STEP_GRANT:
            return f"“{self.name}” allows pausing and stepping only"
        clock = self.clocks.get(clock_id)
        found = True if clock is None else clock.capabilities.get(_NAMES[capability], True)
        if isinstance(found, str):
            return found.rstrip(".") or f"“{self.name}” does not support it"
        return "" if found else f"“{self.name}” does not support it"

    def waits(self, clock_id: int) -> bool:
        clock = self.clocks.get(clock_id)
        if clock is not None and clock.adapter == "javascript":
            # A page draws its frames; Node waits for events.
            return "node" in self.runtime.implementation.lower()
        return clock is not None and clock.adapter in _WAITING

    def ask_clock(
        self, method: str, clock_id: int, more: Mapping[str, Any], done: Done | None = None
    ) -> None:
        self.link.request(method, {"clock": own_clock(clock_id), **more}, done)

    def watch_tasks(self, every_ns: int) -> None:
        """Make the program report its tasks at this interval, 0 for no more."""
        if every_ns != self._tasks_every_ns:
            self._tasks_every_ns = every_ns
            self.link.request("Program.tasks", {"every_ns": every_ns})

    def hold_after_turn(self, longest_ns: int, cause: int) -> None:
        """Make the program hold itself after a turn longer than this, 0 for none.

        A probe that cannot do this is held when the turn is known here.
        """
        if longest_ns != self._longest_turn_ns:
            self._longest_turn_ns = longest_ns
            self.link.request("Program.hold_after", {"turn_ns": longest_ns, "cause": cause})

    @property
    def is_silent(self) -> bool:
        return self.is_attached and self.link.is_silent

    @property
    def limited(self) -> list[AdapterMessage]:
        """The adapters that report what they do not see."""
        return [each for each in self.adapters if each.message]

    @property
    def state(self) -> str:
        if self.ended:
            return "no longer attached"
        return "silent" if self.is_silent else "attached"

    @property
    def brief(self) -> str:
        if self.is_silent:
            return f"{self.name} does not answer"
        parts = [self.name]
        states = Counter(each.state for each in self.adapters)
        if not states["active"] and not states["failed"]:
            parts.append("nothing to see yet")
        elif failed := [each.library or each.name for each in self.unseen]:
            parts.append(f"{', '.join(failed)} not seen")
        if self.cost is not None and self.cost.interval_ns:
            parts.append(f"probe {_PERCENT * self.cost.cpu_ns / self.cost.interval_ns:.1f} %")
        if self.lost:
            parts.append(f"{counted(self.lost.total(), 'event')} lost")
        return ", ".join(parts)

    @property
    def not_followed(self) -> str:
        """Waits that no adapter can slow or hold, as far as known; or an empty text."""
        reads = {each.name for each in self.adapters if each.state == "active"}
        return _NOT_FOLLOWED if "python_time" in reads else ""

    @property
    def facts(self) -> list[tuple[str, str]]:
        runtime = self.runtime
        name = _IMPLEMENTATIONS.get(runtime.implementation, runtime.implementation)
        found = [
            ("State", self.state),
            ("Process", self.process_text.removeprefix("process ")),
            ("Command", " ".join(self.argv)),
            ("Runs on", f"{name or runtime.language} {runtime.version}".strip()),
            ("Connection", self.link.text),
            ("Permissions", GRANT_TEXTS[self.grant]),
            ("Clock", self.clock_text),
            ("Probe", self.cost_text),
            ("Lost", self.loss_text or "no events"),
        ]
        if count := self.translation.unusable.total():
            found.append(("Left out", counted(count, "invalid event")))
        waiting = [each for each in self.adapters if each.state == "waiting"]
        for each in (each for each in self.adapters if each.state != "waiting"):
            name = " ".join(filter(None, (each.library or each.name, each.version)))
            said = _STATES[each.state] + (f": {each.message}" if each.message else "")
            found.append((f"{name}", said))
        found.append(("Not followed", self.not_followed))
        names = ((each.library or each.name).replace("_", " ") for each in waiting)
        found.append(("Not loaded", ", ".join(names)))
        return [(title, text) for title, text in found if text]

    def limits(self, clock_id: int) -> list[tuple[str, str]]:
        found = []
        for capability in _NAMES:
            if capability is not Capability.TRANSPORT:
                reason = self.why_not(capability, clock_id)
                if reason:
                    found.append((capability.value.capitalize(), f"not possible: {reason}"))
        return found

    @property
    def cost_text(self) -> str:
        cost = self.cost
        if cost is None or not cost.interval_ns:
            return ""
        return f"{_PERCENT * cost.cpu_ns / cost.interval_ns:.1f} % of a processor"

    @property
    def loss_text(self) -> str:
        if not self.lost:
            return ""
        listed = ", ".join(f"{count:,} {kind}" for kind, count in self.lost.most_common())
        return f"{counted(self.lost.total(), 'event was lost', 'events were lost')}: {listed}"

    @property
    def clock_text(self) -> str:
        if not self.error_ns:
            return "shared with the inspector"
        drift = f", corrected by {format_duration(abs(self.drift_ns))}" if self.drift_ns else ""
        return f"compared with the inspector's, ± {format_duration(self.error_ns)}{drift}"


def _kind_name(number: str) -> str:
    try:
        return EventKind(int(number)).name.lower()
    except ValueError:
        return "unknown"
