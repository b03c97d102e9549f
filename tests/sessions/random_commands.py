"""Commands that property tests draw, and the sources of time they try them with."""

from fractions import Fraction

from hypothesis import strategies as st

from inspector.clocks import FailurePolicy, ManualTimeSource
from inspector.clocks.sources.virtual_source import VirtualTimeSource
from inspector.commands.clocks import PauseClock, ResumeClock, SetRate
from inspector.commands.command import Command
from inspector.commands.scene import AddMark, Reload, SetFailurePolicy, SetFrameRate
from inspector.commands.timers import ClearTimer, FireTimer
from inspector.commands.transport import Hold, Run, StepBy, StepFrames, StepTo, StepToNextTimer

clock_ids = st.integers(1, 5)
timer_ids = st.integers(1, 60)
rates = st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(-1)])
commands: st.SearchStrategy[Command] = st.one_of(
    st.just(Run()),
    st.just(Hold()),
    st.builds(StepFrames, st.integers(0, 40)),
    st.builds(StepBy, st.integers(-5, 10**9)),
    st.builds(StepTo, st.integers(0, 5 * 10**9)),
    st.just(StepToNextTimer()),
    st.builds(PauseClock, clock_ids),
    st.builds(ResumeClock, clock_ids),
    st.builds(SetRate, clock_ids, rates),
    st.builds(ClearTimer, timer_ids),
    st.builds(FireTimer, timer_ids),
    st.builds(SetFrameRate, st.sampled_from([Fraction(30), Fraction(144), Fraction(0)])),
    st.builds(AddMark, st.text(max_size=5)),
    st.just(Reload()),
    st.builds(SetFailurePolicy, st.sampled_from(FailurePolicy)),
)
SOURCES: list[type[ManualTimeSource] | type[VirtualTimeSource]] = [
    ManualTimeSource,
    VirtualTimeSource,
]


def let_pass(source: ManualTimeSource | VirtualTimeSource, duration_ns: int) -> None:
    if isinstance(source, VirtualTimeSource):
        source.pass_ns(duration_ns)
    else:
        source.advance_ns(duration_ns)
