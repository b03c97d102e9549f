"""An attached session as its recordings see it."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Final

from inspector import __version__
from inspector.clocks.rate import DEFAULT_FRAME_RATE
from inspector.events.history import LogHistory
from inspector.events.recording import RecordingInfo
from inspector.sessions.sources.time_sources import ATTACHED, ATTACHED_LOOP
from inspector.vocabulary import LoopKind

if TYPE_CHECKING:
    from inspector.sessions.annotations import Annotations
    from inspector.sessions.attached.event_sorter import EventSorter
    from inspector.sessions.attached.joined import JoinedPrograms


class WholeSession:
    """The source of recordings, with the frames of every loop, whichever is shown."""

    generation: Final = 0  # 0: programs are not reloaded
    can_wait: Final = False  # False: other processes cannot wait for the disk

    # Frame times are compared with this rate, as programs do not report their own
    frame_rate: Final[Fraction] = DEFAULT_FRAME_RATE

    def __init__(
        self,
        title: str,
        annotations: Annotations,
        sorter: EventSorter,
        history: LogHistory,
        joined: JoinedPrograms,
    ) -> None:
        # log: the events; its frame events are those of the first loop
        # history: the past of that log
        self.annotations, self.log, self.history = annotations, sorter.log, history
        self._title, self._sorter, self._joined = title, sorter, joined

    @property
    def frames_run(self) -> int:
        loops = self._sorter.loops
        return loops.ended(loops.first)

    @property
    def present_ns(self) -> int:
        return self._sorter.at_ns

    @property
    def about(self) -> RecordingInfo:
        loop = self._sorter.timeline.loops.get(self._sorter.loops.first)
        waits = loop is not None and loop.kind is LoopKind.WAITS_FOR_EVENTS
        return RecordingInfo(
            title=self._title,
            tool_version=__version__,
            frame_rate=str(self.frame_rate),
            source=(ATTACHED_LOOP if waits else ATTACHED).name,
        )

    @property
    def file_stem(self) -> str:
        return self._joined.file_stem
