"""The probe's copies of the inspector's numbers."""

from inspector import vocabulary
from inspector.clocks import rate
from inspector.events.schema import SCHEMA
from inspector.probe import kinds
from inspector.vocabulary import CallKind, EventKind, Mode, Phase, TaskWait, TimerKind


def test_that_every_number_is_that_of_the_vocabulary() -> None:
    for name, number in vars(kinds).items():
        if not name.isupper() or name == "VOCABULARY_VERSION":
            continue
        if name.startswith("MODE_"):
            assert number == Mode[name.removeprefix("MODE_")], name
        elif name.startswith("PHASE_") and name != "PHASE_ENDED":
            assert number == Phase[name.removeprefix("PHASE_")], name
        elif name.startswith("WAITS_"):
            assert number == TaskWait[name.removeprefix("WAITS_")], name
        elif name.startswith("RUNS_"):
            assert number == CallKind[name.removeprefix("RUNS_")], name
        elif name in TimerKind.__members__:
            assert number == TimerKind[name], name
        elif name == "MAX_RATE":
            assert number == rate.MAX_RATE
        else:
            assert number == getattr(vocabulary, name), name
            if name in EventKind.__members__:
                assert EventKind(number) in SCHEMA, name


def test_that_the_probe_knows_no_version_that_the_inspector_does_not() -> None:
    assert kinds.VOCABULARY_VERSION <= vocabulary.VOCABULARY_VERSION


def test_that_no_phase_or_kind_of_timer_is_missing() -> None:
    phases = {f"PHASE_{phase.name}" for phase in Phase}

    assert phases | set(TimerKind.__members__) <= set(vars(kinds))
