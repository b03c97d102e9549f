"""Everything that can be done: menus, toolbar, palette and keys page are made from this."""

from __future__ import annotations

from typing import Final

from .action_descriptions import ActionDescription, Needs
from .annotation_action_list import ANNOTATION_ACTIONS
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
        "Build the scene anew from its file, at time 0.",
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
        "Write all that happens to a recording (.tlrec), with what is still known of the past.",
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
        tip="Write the last 30 seconds of session time to a recording of their own.",
    ),
    ActionDescription(
        "save-last-exact",
        "Save the &last …",
        MenuId.SCENE,
        "ask_how_much_to_save",
        needs=Needs.RECORD,
        tip="Write as much of the past as you say to a recording of its own.",
    ),
    ActionDescription(
        "export",
        "&Export frame times …",
        MenuId.SCENE,
        "export_frames",
        ("Ctrl+E",),
        "export",
        Needs.FRAMES,
        "Write the graph as PNG, SVG or PDF, or its data as CSV or JSON.",
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
        "Let session time follow the time source, or stand still.",
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
        "Run as many frames as the field beside the button says.",
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
        "Build the scene anew and let it do the same again, up to the frame before.",
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
        "Take the scene back to where you look; from there it can go on differently.",
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
        "Give the root clock the next lower of the usual rates.",
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
        "Give the root clock the next higher of the usual rates.",
    ),
    ActionDescription(
        "normal-rate",
        "Rate &1",
        MenuId.TIME,
        "set_normal_rate",
        ("0",),
        "normal-rate",
        Needs.ROOT_RATE,
        "Let the root clock run at rate 1.",
    ),
    ActionDescription(
        "undo",
        "&Undo last intervention",
        MenuId.TIME,
        "undo_last",
        ("Ctrl+Z",),
        needs=Needs.UNDO,
        tip="Put back what the last command changed that can be undone, one after the other.",
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
        "Leave a note in the events and on the plot.",
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
        tip="A callback that raises is recorded, and the scene goes on.",
        argument="continue",
        is_checkable=True,
    ),
    ActionDescription(
        "failure-pause-branch",
        "&Pause its branch",
        MenuId.FAILURE_POLICY,
        "set_failure_policy",
        needs=Needs.FAILURE_POLICY,
        tip="A callback that raises is recorded, and the clock it was called by is paused.",
        argument="pause branch",
        is_checkable=True,
    ),
    ActionDescription(
        "failure-stop",
        "&Stop",
        MenuId.FAILURE_POLICY,
        "set_failure_policy",
        needs=Needs.FAILURE_POLICY,
        tip="A callback that raises is recorded, and the scene is held.",
        argument="stop",
        is_checkable=True,
    ),
    ActionDescription(
        "precision-economical",
        "&Economical",
        MenuId.PRECISION,
        "set_precision",
        tip="Wake about 0.6 ms late, for next to no processor time.",
        argument="economical",
        is_checkable=True,
    ),
    ActionDescription(
        "precision-fine",
        "&Fine",
        MenuId.PRECISION,
        "set_precision",
        icon="precision",
        tip="Wake 1 to 2 µs late, for some processor time.",
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
        tip="Show the chosen frames; again, all frames.",
    ),
    ActionDescription(
        "follow",
        "F&ollow the newest frame",
        MenuId.VIEW,
        "toggle_following",
        ("End", "L"),
        "follow",
        tip="Keep the newest frame in view; back to the present, if you look back.",
        is_checkable=True,
    ),
    ActionDescription(
        "find",
        "Fi&nd",
        MenuId.VIEW,
        "find",
        ("Ctrl+F", "/"),
        "find",
        tip="Go to the filter of the panel that is in use, else of the clock tree.",
    ),
    ActionDescription(
        "palette",
        "&Commands …",
        MenuId.VIEW,
        "show_palette",
        ("Ctrl+Shift+P",),
        "palette",
        tip="Everything that can be done, found by typing a part of its name.",
    ),
    ActionDescription(
        "next-panel",
        "Ne&xt panel",
        MenuId.PANELS,
        "focus_next_panel",
        ("F6",),
        tip="Put the keyboard into the next panel.",
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
        tip="Large frame times with details and events, to look at what has happened.",
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
        tip="Put every panel, and every column of the clock tree, back where it was at first.",
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
        "help-explain", "W&hy, and what looks wrong", MenuId.HELP, "show_help", argument="explain"
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
        "help-words", "W&ords", MenuId.HELP, "show_help", argument="words"
    ),
    ActionDescription(
        "keys", "&Keys", MenuId.HELP, "show_keys", ("?",), "keys", starts_section=True
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
