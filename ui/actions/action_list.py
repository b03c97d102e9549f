"""Everything that can be done: menus, toolbar, palette and keys page are made from this."""

from __future__ import annotations

from typing import Final

from .annotation_action_list import ANNOTATION_ACTIONS
from .descriptions import ActionDescription, Needs
from .look_action_list import LOOK_ACTIONS
from .menus import MenuId
from .panels import PANELS
from .selection_action_list import SELECTION_ACTIONS


def _frame_rate(text: str) -> ActionDescription:
    return ActionDescription(
        f"frame-rate-{text}",
        f"{text} frames per second",
        MenuId.FRAME_RATE,
        "set_frame_rate",
        needs=Needs.FRAME_RATE,
        argument=text,
        is_checkable=True,
    )


_SCENE_ACTIONS: Final = (
    ActionDescription(
        "open",
        "&Open scene …",
        MenuId.SCENE,
        "open_scene",
        ("Ctrl+O",),
        "open",
        tip="Choose a Python file that defines build(stage), or a recording (.tlrec); "
        "both can also be dropped on the window.",
    ),
    ActionDescription(
        "reload",
        "&Reload scene",
        MenuId.SCENE,
        "reload",
        ("F5", "Ctrl+Shift+R"),
        "reload",
        Needs.RELOAD,
        "Rebuild the scene from its file, at time 0.",
        starts_section=True,
    ),
    ActionDescription(
        "record",
        "Re&cord to a new file",
        MenuId.SCENE,
        "toggle_recording",
        ("Ctrl+R",),
        "record",
        Needs.RECORD,
        "Record the session to a file (.tlrec), including the past that is still in the log.",
        is_checkable=True,
        starts_section=True,
    ),
    ActionDescription(
        "record-to",
        "Recor&d to …",
        MenuId.SCENE,
        "ask_where_to_record",
        needs=Needs.RECORD,
        tip="Choose the file to record to.",
    ),
    ActionDescription(
        "save-last",
        "&Save the last 30 seconds",
        MenuId.SCENE,
        "save_last",
        ("Ctrl+Shift+S",),
        needs=Needs.RECORD,
        tip="Save the last 30 seconds of session time as a separate recording.",
    ),
    ActionDescription(
        "save-last-exact",
        "Save the &last …",
        MenuId.SCENE,
        "ask_how_much_to_save",
        needs=Needs.RECORD,
        tip="Save a chosen length of the past as a separate recording.",
    ),
    ActionDescription(
        "export",
        "&Export frame times …",
        MenuId.SCENE,
        "export_frames",
        ("Ctrl+E",),
        "export",
        Needs.FRAMES,
        "Export the graph as PNG, SVG or PDF, or its data as CSV or JSON.",
    ),
    ActionDescription(
        "quit",
        "&Quit",
        MenuId.SCENE,
        "close_window",
        ("Ctrl+Q",),
        "quit",
        starts_section=True,
    ),
)

_TIME_ACTIONS: Final = (
    ActionDescription(
        "run-or-hold",
        "&Run or hold",
        MenuId.TIME,
        "toggle_running",
        ("Space",),
        "run",
        Needs.TRANSPORT,
        "Let session time follow the time source, or hold it.",
        is_checkable=True,
    ),
    ActionDescription(
        "step",
        "&Step one frame",
        MenuId.TIME,
        "step_one",
        (".", "F10"),
        "step",
        Needs.STEP,
        "Run one frame; a running scene is held first.",
    ),
    ActionDescription(
        "step-n",
        "Step &n frames",
        MenuId.TIME,
        "step_many",
        ("Shift+.",),
        "step-n",
        Needs.STEP,
        "Run the number of frames in the field beside the button.",
    ),
    ActionDescription(
        "next-timer",
        "Step to the next &timer",
        MenuId.TIME,
        "step_to_next_timer",
        ("N",),
        "next-timer",
        Needs.STEP,
        "Let time pass up to the instant at which the next timer fires.",
    ),
    ActionDescription(
        "step-by",
        "Step &by or go to …",
        MenuId.TIME,
        "ask_where_to_go",
        ("Ctrl+G",),
        "go-to",
        Needs.STEP,
        "Let a duration pass, or go to an instant of session time.",
    ),
    ActionDescription(
        "step-back",
        "Step bac&k one frame",
        MenuId.TIME,
        "step_back",
        (",",),
        "step-back",
        Needs.REWIND,
        "Rebuild the scene and replay it up to the previous frame.",
        starts_section=True,
    ),
    ActionDescription(
        "rewind",
        "Re&wind to the playhead",
        MenuId.TIME,
        "rewind_to_playhead",
        ("Shift+,",),
        "rewind",
        Needs.REWIND_TO_PLAYHEAD,
        "Take the scene back to the playhead; it can continue differently from there.",
    ),
    *LOOK_ACTIONS,
    ActionDescription(
        "slower",
        "S&lower",
        MenuId.TIME,
        "slow_down",
        ("-",),
        "slower",
        Needs.ROOT_RATE,
        "Set the root clock to the next lower preset rate.",
        starts_section=True,
    ),
    ActionDescription(
        "faster",
        "&Faster",
        MenuId.TIME,
        "speed_up",
        ("+", "="),
        "faster",
        Needs.ROOT_RATE,
        "Set the root clock to the next higher preset rate.",
    ),
    ActionDescription(
        "normal-rate",
        "Normal spee&d",
        MenuId.TIME,
        "set_normal_rate",
        ("0",),
        "normal-rate",
        Needs.ROOT_RATE,
        "Run the root clock at rate 1.",
    ),
    ActionDescription(
        "undo",
        "&Undo last intervention",
        MenuId.TIME,
        "undo_last",
        ("Ctrl+Z",),
        needs=Needs.UNDO,
        tip="Undo the last command that can be undone; repeat to undo earlier ones.",
        starts_section=True,
    ),
    ActionDescription(
        "mark",
        "&Mark this instant …",
        MenuId.TIME,
        "ask_for_mark",
        ("M",),
        "mark",
        Needs.MARK,
        "Add a named mark to the events and the plots.",
    ),
    *(_frame_rate(text) for text in ("30", "60", "120", "144", "240")),
    ActionDescription(
        "frame-rate-exact",
        "&Other frame rate …",
        MenuId.FRAME_RATE,
        "edit_frame_rate",
        needs=Needs.FRAME_RATE,
        icon="frame-rate",
        tip="Type any frame rate into the field in the transport bar.",
        starts_section=True,
    ),
    ActionDescription(
        "failure-continue",
        "&Continue",
        MenuId.FAILURE_POLICY,
        "set_failure_policy",
        needs=Needs.FAILURE_POLICY,
        tip="Record a callback that raises, and continue the scene.",
        argument="continue",
        is_checkable=True,
    ),
    ActionDescription(
        "failure-pause-branch",
        "&Pause its branch",
        MenuId.FAILURE_POLICY,
        "set_failure_policy",
        needs=Needs.FAILURE_POLICY,
        tip="Record a callback that raises, and pause the clock that called it.",
        argument="pause branch",
        is_checkable=True,
    ),
    ActionDescription(
        "failure-stop",
        "&Stop",
        MenuId.FAILURE_POLICY,
        "set_failure_policy",
        needs=Needs.FAILURE_POLICY,
        tip="Record a callback that raises, and hold the scene.",
        argument="stop",
        is_checkable=True,
    ),
    ActionDescription(
        "precision-economical",
        "&Economical",
        MenuId.PRECISION,
        "set_precision",
        tip="Wake about 0.6 ms late, using almost no processor time.",
        argument="economical",
        is_checkable=True,
    ),
    ActionDescription(
        "precision-fine",
        "&Fine",
        MenuId.PRECISION,
        "set_precision",
        icon="precision",
        tip="Wake 1 to 2 µs late, using some processor time.",
        argument="fine",
        is_checkable=True,
    ),
)

_VIEW_ACTIONS: Final = (
    ActionDescription(
        "fit",
        "&Fit",
        MenuId.VIEW,
        "fit",
        ("F", "Home"),
        "fit",
        tip="Show the selected frames; press again for all frames.",
    ),
    ActionDescription(
        "follow",
        "F&ollow the newest frame",
        MenuId.VIEW,
        "toggle_following",
        ("End", "L"),
        "follow",
        tip="Keep the newest frame in view; return to the present when looking back.",
        is_checkable=True,
    ),
    ActionDescription(
        "find",
        "Fi&nd",
        MenuId.VIEW,
        "find",
        ("Ctrl+F", "/"),
        "find",
        tip="Go to the filter of the active panel, or of the clock tree.",
    ),
    ActionDescription(
        "palette",
        "&Commands …",
        MenuId.VIEW,
        "show_palette",
        ("Ctrl+Shift+P",),
        "palette",
        tip="Find any command by typing part of its name.",
    ),
    ActionDescription(
        "next-panel",
        "Ne&xt panel",
        MenuId.PANELS,
        "focus_next_panel",
        ("F6",),
        tip="Move the keyboard focus to the next panel.",
    ),
    *(
        ActionDescription(
            f"panel-{panel.id}",
            panel.title,
            MenuId.PANELS,
            "toggle_panel",
            # There are nine such keys.
            (f"Ctrl+{number}",) if number <= len("123456789") else (),
            tip=f"Show or hide the panel: {panel.summary}",
            argument=panel.id,
            is_checkable=True,
            starts_section=number == 1,
        )
        for number, panel in enumerate((p for p in PANELS if p.area is not None), 1)
    ),
    ActionDescription(
        "layout-live",
        "&Live",
        MenuId.LAYOUT,
        "use_layout",
        icon="layout",
        tip="All panels around the frame times, to watch and control a running scene.",
        argument="live",
    ),
    ActionDescription(
        "layout-analyse",
        "&Analyse",
        MenuId.LAYOUT,
        "use_layout",
        tip="Large frame times with details and events, to study what has happened.",
        argument="analyse",
    ),
    ActionDescription(
        "layout-look-back",
        "Look &back",
        MenuId.LAYOUT,
        "use_layout",
        tip="A large timeline below the frame times, to go back and ask why.",
        argument="look-back",
    ),
    ActionDescription(
        "layout-reset",
        "&Reset layout",
        MenuId.LAYOUT,
        "reset_layout",
        tip="Restore the default panels and the default columns of the clock tree.",
        starts_section=True,
    ),
    *(
        ActionDescription(
            f"theme-{choice}",
            title,
            MenuId.THEME,
            "set_theme",
            icon="theme" if choice == "system" else "",
            argument=choice,
            is_checkable=True,
        )
        for choice, title in (
            ("system", "&Follow the system"),
            ("light", "&Light"),
            ("dark", "&Dark"),
        )
    ),
)

_HELP_ACTIONS: Final = (
    ActionDescription(
        "help-start", "&Getting started", MenuId.HELP, "show_help", ("F1",), "help",
        argument="getting-started",
    ),
    ActionDescription(
        "help-window", "The &window", MenuId.HELP, "show_help", argument="window"
    ),
    ActionDescription(
        "help-scenes", "Writing &scenes", MenuId.HELP, "show_help", argument="scenes"
    ),
    ActionDescription(
        "help-explain", "Diagnosing &timers", MenuId.HELP, "show_help", argument="explain"
    ),
    ActionDescription(
        "help-breakpoints", "&Breakpoints", MenuId.HELP, "show_help", argument="breakpoints"
    ),
    ActionDescription(
        "help-recordings", "&Recordings", MenuId.HELP, "show_help", argument="recordings"
    ),
    ActionDescription(
        "help-lab", "Refresh-rate &lab", MenuId.HELP, "show_help", argument="lab"
    ),
    ActionDescription(
        "help-schedulers", "Sche&dulers and their originals", MenuId.HELP, "show_help",
        argument="schedulers",
    ),
    ActionDescription(
        "help-components", "&Components and their originals", MenuId.HELP, "show_help",
        argument="components",
    ),
    ActionDescription(
        "help-events", "&Events", MenuId.HELP, "show_help", argument="events"
    ),
    ActionDescription(
        "help-words", "Gl&ossary", MenuId.HELP, "show_help", argument="words"
    ),
    ActionDescription(
        "help-extending", "E&xtending", MenuId.HELP, "show_help", argument="extending"
    ),
    ActionDescription(
        "keys", "&Keys", MenuId.HELP, "show_keys", ("?",), "keys", starts_section=True
    ),
    ActionDescription(
        "extensions", "&Installed extensions", MenuId.HELP, "show_extensions",
        tip="What installed packages add, and why some of it does not work.",
    ),
    ActionDescription(
        "about", "&About Timeline Inspector", MenuId.HELP, "show_about", icon="about"
    ),
)  # fmt: skip

ACTIONS: Final = (
    *_SCENE_ACTIONS,
    *_TIME_ACTIONS,
    *ANNOTATION_ACTIONS,
    *SELECTION_ACTIONS,
    *_VIEW_ACTIONS,
    *_HELP_ACTIONS,
)
