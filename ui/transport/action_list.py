"""The actions on time, as data."""

from __future__ import annotations

from typing import Final

from inspector.clocks.failures import FailurePolicy
from inspector.sessions.sources.time_sources import SYSTEM, TIME_SOURCES, TimeSourceKind

from ..actions.descriptions import ActionDescription, Needs
from ..actions.menus import MenuId
from ..session.qt_time_source import Precision
from .actions import TransportActions

# Tables, to be read across.
# fmt: off

def _frame_rate(text: str) -> ActionDescription[TransportActions]:
    return ActionDescription(
        f"frame-rate-{text}", f"{text} frames per second", MenuId.FRAME_RATE,
        lambda actions: actions.set_frame_rate(text),
        needs=Needs.FRAME_RATE, choice=text, is_checkable=True,
    )


def _failure_policy(
    name: str, title: str, policy: FailurePolicy, tip: str
) -> ActionDescription[TransportActions]:
    return ActionDescription(
        name, title, MenuId.FAILURE_POLICY, lambda actions: actions.set_failure_policy(policy),
        needs=Needs.FAILURE_POLICY, choice=policy.value, is_checkable=True,
        tip=f"Record a callback that raises, and {tip}.",
    )


def _precision(
    title: str, precision: Precision, tip: str, icon: str = ""
) -> ActionDescription[TransportActions]:
    return ActionDescription(
        f"precision-{precision.value}", title, MenuId.PRECISION,
        lambda actions: actions.set_precision(precision),
        icon=icon, choice=precision.value, is_checkable=True, tip=tip,
    )


def _time_source(kind: TimeSourceKind) -> ActionDescription[TransportActions]:
    return ActionDescription(
        f"time-source-{kind.name}", kind.name.replace("&", "&&"), MenuId.TIME_SOURCE,
        lambda actions: actions.set_time_source(kind.name),
        choice=kind.name, is_checkable=True,
        tip=f"Scenes opened from now on get their time from {kind.summary}.",
    )


#: Time sources of installed packages; without any there is nothing to choose.
_OTHER_SOURCES: Final = TIME_SOURCES[len(TIME_SOURCES.own) :]

RELOAD_ACTIONS: Final = (
    ActionDescription(
        "reload", "&Reload scene", MenuId.SCENE, TransportActions.reload,
        shortcuts=("F5", "Ctrl+Shift+R"), icon="reload", needs=Needs.RELOAD, starts_section=True,
        tip="Rebuild the scene from its file, at time 0.",
    ),
)

TIME_ACTIONS: Final[tuple[ActionDescription[TransportActions], ...]] = (
    ActionDescription(
        "run-or-hold", "&Run or hold", MenuId.TIME, TransportActions.toggle_running,
        shortcuts=("Space",), icon="run", needs=Needs.TRANSPORT,
        tip="Let session time follow the time source, or hold it.",
        file_tip="Play the {} from the instant that is shown, at its end from the beginning; press "
        "again to stop.",
    ),
    ActionDescription(
        "step", "&Step one frame", MenuId.TIME, TransportActions.step_one,
        shortcuts=(".", "F10"), icon="step", label="Step", needs=Needs.STEP,
        tip="Run one frame; a running scene is held first.",
        file_tip="Show the state one frame later.",
    ),
    ActionDescription(
        "step-n", "Step &n frames", MenuId.TIME, TransportActions.step_many,
        shortcuts=("Shift+.",), icon="step-n", needs=Needs.STEP,
        tip="Run as many frames as were asked for last.",
        file_tip="Show the state as many frames later as were asked for last.",
    ),
    ActionDescription(
        "step-n-exact", "Step a number of frames …", MenuId.TIME,
        TransportActions.ask_how_many_steps, needs=Needs.STEP,
        tip="Ask how many frames to run, and run them.",
        file_tip="Ask how many frames later to look.",
    ),
    ActionDescription(
        "next-timer", "Step to the next &timer", MenuId.TIME, TransportActions.step_to_next_timer,
        shortcuts=("N",), icon="next-timer", label="Timer", needs=Needs.STEP_TIMER,
        tip="Let time pass up to the instant at which the next timer fires.",
        file_tip="Show the state when the next timer fired.",
    ),
    ActionDescription(
        "step-by", "Go to …", MenuId.TIME, TransportActions.ask_where_to_go,
        shortcuts=("Ctrl+G",), icon="go-to", needs=Needs.STEP_TIME,
        tip="Let a duration pass, or go to an instant of session time.",
        file_tip="Show the state a duration later, or at an instant.",
    ),
    ActionDescription(
        "step-back", "Bac&k one frame", MenuId.TIME, TransportActions.step_back,
        shortcuts=(",",), icon="step-back", needs=Needs.REWIND, starts_section=True,
        tip="Rebuild the scene and replay it up to the previous frame. Alt+Left only looks at it, "
        "at once.",
        file_tip="Show the state one frame earlier.",
    ),
    ActionDescription(
        "step-back-n", "Back n frames", MenuId.TIME, TransportActions.step_back_many,
        shortcuts=("Alt+,",), icon="step-back-n", needs=Needs.REWIND,
        tip="Rebuild the scene and replay it, except for as many frames as were asked for last.",
        file_tip="Show the state as many frames earlier as were asked for last.",
    ),
    ActionDescription(
        "step-back-n-exact", "Back a number of frames …", MenuId.TIME,
        TransportActions.ask_how_many_steps_back, needs=Needs.REWIND,
        tip="Ask how many frames to go back, and go back.",
        file_tip="Ask how many frames earlier to look.",
    ),
    ActionDescription(
        "rewind", "Re&wind to the playhead", MenuId.TIME, TransportActions.rewind_to_playhead,
        shortcuts=("Shift+,",), icon="rewind", needs=Needs.REWIND_TO_PLAYHEAD,
        tip="Take the scene back to the playhead; it can continue differently from there.",
    ),
    ActionDescription(
        "look-at", "Look &at …", MenuId.LOOK_BACK, TransportActions.ask_where_to_look,
        shortcuts=("Ctrl+Shift+G",), icon="look-at", needs=Needs.PAST,
        tip="Show the state at an instant, a frame, or a number of timers away; the scene keeps "
        "running.",
        file_tip="Show the state at an instant, a frame, or a number of timers away.",
    ),
    ActionDescription(
        "look-frame-back", "One &frame back", MenuId.LOOK_BACK,
        TransportActions.show_previous_frame,
        shortcuts=("Alt+Left",), icon="frame-back", needs=Needs.PAST, starts_section=True,
        tip="Show the state one frame earlier.",
    ),
    ActionDescription(
        "look-frame-on", "One frame f&orward", MenuId.LOOK_BACK, TransportActions.show_next_frame,
        shortcuts=("Alt+Right",), icon="frame-on", needs=Needs.LOOKING_BACK,
        tip="Show the state one frame later; after the newest frame, the present.",
        file_tip="Show the state one frame later; after the last frame, the end.",
    ),
    ActionDescription(
        "look-timer-back", "Previous &timer firing", MenuId.LOOK_BACK,
        TransportActions.show_previous_firing,
        shortcuts=("Alt+Shift+Left",), icon="timer-back", needs=Needs.PAST,
        tip="Show the state when the previous timer fired.",
    ),
    ActionDescription(
        "look-timer-on", "Ne&xt timer firing", MenuId.LOOK_BACK, TransportActions.show_next_firing,
        shortcuts=("Alt+Shift+Right",), icon="timer-on", needs=Needs.LOOKING_BACK,
        tip="Show the state when the next timer fired.",
    ),
    ActionDescription(
        "look-live", "&Back to the present", MenuId.LOOK_BACK, TransportActions.show_present,
        shortcuts=("Alt+End",), icon="follow", needs=Needs.LOOKING_BACK, starts_section=True,
        tip="Show the present (also End, L or Escape).",
        file_title="To the &end", file_tip="Show the end of the {} (also End, L or Escape).",
    ),
    ActionDescription(
        "slower", "S&lower", MenuId.TIME,
        shortcuts=("-",), icon="slower", needs=Needs.ROOT_RATE, starts_section=True,
        tip="Set the selected clock, or the root if none is selected, to the next lower rate.",
    ),
    ActionDescription(
        "faster", "&Faster", MenuId.TIME,
        shortcuts=("+", "="), icon="faster", needs=Needs.ROOT_RATE,
        tip="Set the selected clock, or the root if none is selected, to the next higher rate.",
    ),
    ActionDescription(
        "normal-rate", "Normal spee&d", MenuId.TIME,
        shortcuts=("0",), icon="normal-rate", needs=Needs.ROOT_RATE,
        tip="Run the selected clock, or the root if none is selected, at rate 1.",
    ),
    ActionDescription(
        "rate-of-everything", "Rate of ever&ything …", MenuId.TIME,
        TransportActions.ask_for_rate_of_everything,
        shortcuts=("Shift+R",), needs=Needs.EVERYTHING_RATE,
        tip="Set the rate of the root clock, whatever is selected.",
    ),
)

HOW_TIME_PASSES_ACTIONS: Final = (
    ActionDescription(
        "mark", "&Mark this instant …", MenuId.TIME, TransportActions.ask_for_mark,
        shortcuts=("M",), icon="mark", needs=Needs.MARK,
        tip="Add a named mark to the events and the plots.",
    ),
    *map(_frame_rate, ("30", "60", "120", "144", "240")),
    ActionDescription(
        "frame-rate-exact", "&Other frame rate …", MenuId.FRAME_RATE,
        TransportActions.ask_for_frame_rate,
        icon="frame-rate", needs=Needs.FRAME_RATE, starts_section=True,
        tip="Type any frame rate, such as 59.94 or 60000/1001.",
    ),
    _failure_policy("failure-continue", "&Continue", FailurePolicy.CONTINUE, "continue the scene"),
    _failure_policy(
        "failure-pause-branch", "&Pause its branch", FailurePolicy.PAUSE_BRANCH,
        "pause the clock that called it",
    ),
    _failure_policy("failure-stop", "&Stop", FailurePolicy.STOP, "hold the scene"),
    _precision(
        "&Economical", Precision.ECONOMICAL,
        "Wake about 0.6 ms late, using almost no processor time.",
    ),
    _precision(
        "&Fine", Precision.FINE, "Wake 1 to 2 µs late, using some processor time.", "precision"
    ),
    *map(_time_source, _OTHER_SOURCES and (SYSTEM, *_OTHER_SOURCES)),
)

FOLLOW_ACTIONS: Final = (
    ActionDescription(
        "follow", "F&ollow the newest frame", MenuId.VIEW, TransportActions.toggle_following,
        shortcuts=("End", "L"), icon="follow", is_checkable=True,
        tip="Keep the newest frame in view; return to the present when looking back.",
        file_tip="Show the end of the {}, with its last frame in view.",
    ),
)
