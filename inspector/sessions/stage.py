"""The stage: the argument of a scene's ``build(stage)``, with which it sets itself up."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from random import Random
from time import perf_counter_ns
from typing import TYPE_CHECKING, Final, TypeVar

from typing_extensions import override

from inspector.clocks.callbacks import label_of
from inspector.clocks.clock import Clock
from inspector.clocks.rate import DEFAULT_FRAME_RATE, checked_frame_rate
from inspector.clocks.refusals import checked_clock
from inspector.clocks.transport import Transport
from inspector.frames.director import Director, FrameCallback
from inspector.frames.scheduler.scheduler import Scheduler
from inspector.frames.scheduling import Overshoot
from inspector.frames.state_machine import ORIGINAL, Edge, MachineRules, StateMachine
from inspector.pictures.pictures import Drawing
from inspector.pictures.shapes import Shapes
from inspector.timebase import NS_PER_SECOND, seconds_to_ns
from inspector.vocabulary import MARK, Phase

if TYPE_CHECKING:
    from inspector.engines.cocos.dialects import Dialect
    from inspector.engines.cocos.scheduler import DialectScheduler
    from inspector.engines.creator.director import CreatorDirector
    from inspector.engines.creator.versions import ComponentDialect
    from inspector.engines.egret.ticker import Ticker

StateT = TypeVar("StateT", bound="Hashable")


#: The longest title to show, in characters.
_LONGEST_TITLE: Final = 120


class Stage:
    """The root clock, the director of the frames, and a few conveniences.

    A scene is deterministic as long as it takes its time from clocks and its random numbers from
    :attr:`random`; then all runs with the same frame times are the same.

    Most methods have these parameters: the ``clock`` whose time is used, by default the root; the
    ``phase`` of the frame in which something runs; and the ``name`` under which it is shown, by
    default that of its kind or of the original.

    Attributes:
        root: The root clock; hang branches under it with ``root.child(name)``.
        director: Runs the frames; join a phase with ``director.on(phase, callback)``.
        random: Random numbers, with the same seed in every run.
        title: The title of the scene, or an empty text.
        front_panels: Titles of the panels that show the scene best; see :meth:`front`.
        drawing: How the scene draws its picture, ``None`` without one; see :meth:`picture`.
        worked_ns: Virtual time that :meth:`work` has taken outside of frames since the host last
            reset it to 0.
    """

    def __init__(
        self,
        transport: Transport,
        director: Director,
        pass_work_ns: Callable[[int], bool],
        *,
        seed: int = 1,
    ) -> None:
        """Set up an empty stage for one scene.

        ``pass_work_ns`` lets the virtual time of a callback's work pass, and returns ``False`` in
        real time.
        """
        self._transport = transport
        self._pass_work_ns = pass_work_ns
        self.root: Clock = transport.tree.root
        self.director = director
        self.random = Random(seed)  # noqa: S311 - dice, not keys
        self.title = ""
        self.front_panels: tuple[str, ...] = ()
        self.drawing: Drawing | None = None
        self.worked_ns = 0
        self.frame_rate = DEFAULT_FRAME_RATE

    @override
    def __repr__(self) -> str:
        return f"<Stage {self.title!r}>"

    def name(self, title: str) -> None:
        """Give the scene a title for the window and for exported graphs.

        Raises:
            TypeError: It is not a text.
        """
        if not isinstance(title, str):
            message = f"a title has to be a text: {title!r}"  # type: ignore[unreachable]
            raise TypeError(message)
        line = " ".join(title.split())
        self.title = line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1]}…"

    def front(self, *panels: str) -> None:
        """Name the panels that show the scene best, such as ``"State machines"``.

        The window opens them with the scene, the first in front. This replaces panels named before.

        Raises:
            TypeError: One of them is not a text.
        """
        for panel in panels:
            if not isinstance(panel, str):
                message = f"a panel is named by its title: {panel!r}"  # type: ignore[unreachable]
                raise TypeError(message)
        self.front_panels = panels

    def picture(
        self,
        draw: Callable[[], Shapes],
        *,
        width: float = 320.0,
        height: float = 180.0,
        background: str = "#14181d",
    ) -> None:
        """Have the scene drawn, for the panel *Scene* and for exported pictures.

        ``draw`` returns shapes of :mod:`inspector.pictures.shapes`, back to front, in a picture of
        ``width`` by ``height`` units whose upper left corner is (0, 0). It is called after each
        frame while the picture is shown, and must only read: it must not change clocks, timers or
        machines, or use random numbers. This replaces a former picture.

        Raises:
            TypeError: ``draw`` cannot be called.
            ValueError: A side is not above 0, or the background is not a colour.
        """
        self.drawing = Drawing.of(draw, width, height, background)

    def mark(self, text: str, *, clock: Clock | None = None) -> None:
        """Mark the present instant with a text, on a clock if it belongs to one."""
        tree = self._transport.tree
        tree.sync()
        if tree.record is not None:
            clock_id = 0 if clock is None else clock.id
            tree.record((tree.now_ns, MARK, clock_id, tree.intern(str(text)), 0))

    @property
    def frame_rate(self) -> Fraction:
        """Target frames per second of session time; 60 unless changed.

        May be set to an int, float or ``Fraction`` from 1/60 to 10 000.
        """
        return self._frame_rate

    @frame_rate.setter
    def frame_rate(self, frames_per_second: float | Fraction) -> None:
        rate = checked_frame_rate(frames_per_second)
        self._frame_rate = rate
        self._transport.frame_period_ns = round(NS_PER_SECOND / rate)

    def every_frame(
        self,
        callback: Callable[[float], object],
        clock: Clock | None = None,
        *,
        phase: Phase | str = Phase.UPDATE,
        name: str = "",
    ) -> FrameCallback:
        """Call ``callback(delta)`` in every frame.

        The callback gets the seconds since its last call. With a ``clock``, these are the clock's
        seconds, and the callback is skipped while the clock stands still.

        Returns:
            The registration, for ``director.remove``.

        Raises:
            TypeError: ``callback`` cannot be called, or ``clock`` is none.
        """
        second: object = clock
        if callable(second):
            label = label_of(second)
            raise TypeError(
                "every_frame(callback, clock): frames have no interval; write "
                f"every_frame({label}), or set_interval({callback!r}, {label}) of a clock"
            )
        if clock is not None:
            checked_clock("every_frame(callback, clock)", clock)
        return self.director.on(phase, callback, name=name, clock=clock)

    def scheduler(
        self,
        clock: Clock | None = None,
        *,
        name: str = "scheduler",
        phase: Phase | str = Phase.UPDATE,
        overshoot: Overshoot | str = "carry",
        max_calls_per_frame: int | None = 100,
    ) -> Scheduler:
        """Make a frame scheduler that runs in every frame.

        ``overshoot`` is the default for what its timers do when they are late, and
        ``max_calls_per_frame`` limits the calls of a timer that catches up in one frame.
        """
        made = Scheduler(
            self.root if clock is None else clock,
            overshoot=overshoot,
            max_calls_per_frame=max_calls_per_frame,
            name=name,
        )
        self.every_frame(made.run_frame, clock=clock, phase=phase, name=name)
        return made

    def dialect_scheduler(
        self,
        dialect: Dialect,
        clock: Clock | None = None,
        *,
        name: str = "",
        phase: Phase | str = Phase.UPDATE,
    ) -> DialectScheduler:
        """Make a scheduler that behaves like an original, including its faults.

        See :mod:`inspector.engines.cocos.dialects` for the originals.
        """
        from inspector.engines.cocos.scheduler import DialectScheduler  # noqa: PLC0415 - few use one

        made = DialectScheduler(dialect, clock=self.root if clock is None else clock, name=name)
        self.every_frame(made.run_frame, clock=clock, phase=phase, name=made.name)
        return made

    def component_director(
        self,
        clock: Clock | None = None,
        *,
        dialect: ComponentDialect | None = None,
        name: str = "",
        phase: Phase | str = Phase.UPDATE,
        is_debug: bool = False,
    ) -> CreatorDirector:
        """Make a director of nodes and components that runs its frame in every frame.

        The ``dialect`` says which version's rules it follows, by default those of Creator 2.4; see
        :mod:`inspector.engines.creator.versions`. ``is_debug`` makes it behave like a debug build.
        """
        from inspector.engines.creator.director import CreatorDirector  # noqa: PLC0415 - few use one

        made = CreatorDirector(
            clock=self.root if clock is None else clock,
            dialect=dialect,
            name=name,
            is_debug=is_debug,
        )
        self.every_frame(made.run_frame, clock=clock, phase=phase, name=made.name)
        return made

    def ticker(
        self, clock: Clock | None = None, *, name: str = "", phase: Phase | str = Phase.UPDATE
    ) -> Ticker:
        """Make a ticker for which every frame is a refresh of the display."""
        from inspector.engines.egret.ticker import Ticker  # noqa: PLC0415 - few use one

        made = Ticker(clock=self.root if clock is None else clock, name=name)
        self.every_frame(made.run_frame, clock=clock, phase=phase, name=made.name)
        return made

    def state_machine(
        self,
        initial: StateT,
        transitions: Mapping[str, Edge[StateT] | Sequence[Edge[StateT]]],
        *,
        clock: Clock | None = None,
        name: str = "",
        rules: MachineRules | None = None,
    ) -> StateMachine[StateT, str]:
        """Make a state machine that is shown under a clock.

        ``transitions`` are edges by name, or lists of edges that are tried in order. The ``rules``
        say how it differs from the original, for example that transitions wait for one another; by
        default it does not differ.
        """
        return StateMachine(
            initial,
            transitions,
            rules=ORIGINAL if rules is None else rules,
            clock=self.root if clock is None else clock,
            name=name,
        )

    def work(self, seconds: float | Fraction) -> None:
        """Keep the thread busy, as a long computation or a slow file does.

        In virtual time nothing is computed: the time just passes, and what was due meanwhile is
        late, as in real time.

        Raises:
            ValueError: ``seconds`` is negative or not a usable number.
        """
        duration_ns = seconds_to_ns(seconds)
        if duration_ns < 0:
            raise ValueError(f"work cannot take less than no time: {seconds!r}")
        if self._pass_work_ns(duration_ns):
            if not self.director.charge_work_ns(duration_ns):
                self.worked_ns += duration_ns
            return
        end_ns = perf_counter_ns() + duration_ns
        while perf_counter_ns() < end_ns:
            pass
