"""Everything that can be done, as data: menus, toolbar, palette and keys page are made from it.

An action names a method of whoever carries it out (the window, or the part of it
that speaks to the session) and what it needs to be possible. Why it is not
possible is a sentence, shown wherever the action is shown.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QKeySequence

from .menus import MenuId
from .panels import PANELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from .theme import Theme


class Needs(Enum):
    """What must be there for an action to make sense."""

    NOTHING = "nothing"
    TRANSPORT = "a session that can run and be held"
    STEP = "a session that can be stepped"
    ROOT_RATE = "a session whose rates can be changed"
    FRAME_RATE = "a session whose frame rate can be changed"
    FAILURE_POLICY = "a session that takes a failure policy"
    MARK = "a session that takes marks"
    RELOAD = "a session that can be built anew"
    CLOCK_PAUSE = "a selected clock that can be paused"
    CLOCK_RATE = "a selected clock whose rate can be changed"
    TIMER = "a selected timer that can be changed"
    FRAMES = "frames"


@dataclass(frozen=True, slots=True)
class Facts:
    """What decides which actions are possible.

    Attributes:
        has_session: A scene is open, be it a failed one.
        has_failed: The scene could not be loaded.
        possible: The needs that the session's capabilities cover.
        has_clock: A clock is selected, by itself or through its timer.
        has_timer: A pending timer is selected.
        has_frames: At least one frame was run.
    """

    has_session: bool = False
    has_failed: bool = False
    possible: frozenset[Needs] = frozenset()
    has_clock: bool = False
    has_timer: bool = False
    has_frames: bool = False


def why_not(needs: Needs, facts: Facts) -> str:  # noqa: PLR0911 - one reason after another
    """Return why something is not possible, or an empty text when it is."""
    if needs is Needs.NOTHING:
        return ""
    if not facts.has_session:
        return "no scene is open"
    if needs is Needs.FRAMES:
        return "" if facts.has_frames else "no frame has run yet"
    if needs not in facts.possible:
        return f"this session does not allow it: it takes {needs.value}"
    if facts.has_failed and needs is not Needs.RELOAD:
        return "the scene could not be loaded: mend the file and reload it"
    if needs in (Needs.CLOCK_PAUSE, Needs.CLOCK_RATE) and not facts.has_clock:
        return "no clock is selected"
    if needs is Needs.TIMER and not facts.has_timer:
        return "no pending timer is selected"
    return ""


@dataclass(frozen=True, slots=True)
class ActionDescription:
    """One thing that can be done.

    Attributes:
        id: Its name for the program.
        title: Its name for people, ``&`` before the access key.
        menu: The menu it stands in.
        callback: Name of the method that does it.
        shortcuts: Keys in Qt's portable notation; the first one is shown.
        icon: Name of its icon, or empty.
        needs: What must be there.
        tip: One sentence more, for tooltip and keys page.
        argument: What the method is given, ``None`` for no argument.
        is_checkable: It shows a state, which is set by :meth:`DescribedAction.show_checked`.
        starts_section: A line is drawn above it in its menu.
    """

    id: str
    title: str
    menu: MenuId
    callback: str
    shortcuts: tuple[str, ...] = ()
    icon: str = ""
    needs: Needs = Needs.NOTHING
    tip: str = ""
    argument: str | None = None
    is_checkable: bool = False
    starts_section: bool = False

    @property
    def plain_title(self) -> str:
        """The title without the sign for its access key."""
        return self.title.replace("&", "")

    @property
    def shortcut_texts(self) -> tuple[str, ...]:
        """The keys as this system writes them."""
        native = QKeySequence.SequenceFormat.NativeText
        return tuple(QKeySequence(keys).toString(native) for keys in self.shortcuts)


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
        tip="Choose a Python file that defines build(stage); it can also be dropped on the window.",
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
        "mark",
        "&Mark this instant …",
        MenuId.TIME,
        "ask_for_mark",
        ("M",),
        "mark",
        Needs.MARK,
        "Leave a note in the events and on the plot.",
        starts_section=True,
    ),
    *(_frame_rate(text) for text in ("30", "60", "120", "144", "240")),
    ActionDescription(
        "frame-rate-exact",
        "&Other …",
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
        tip="Wake about 0.75 ms late, for next to no processor time.",
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

_SELECTION_ACTIONS: Final = (
    ActionDescription(
        "pause-branch",
        "&Pause or resume branch",
        MenuId.BRANCH,
        "toggle_branch",
        ("P",),
        "pause-branch",
        Needs.CLOCK_PAUSE,
        "Pause the selected clock with everything below it, or undo its own pause.",
        is_checkable=True,
    ),
    ActionDescription(
        "set-rate",
        "Set &rate …",
        MenuId.BRANCH,
        "ask_for_rate",
        ("R",),
        "rate",
        Needs.CLOCK_RATE,
        "Choose how fast the selected clock runs.",
    ),
    ActionDescription(
        "clear-timer",
        "&Clear timer",
        MenuId.TIMER,
        "clear_timer",
        ("Del",),
        "clear-timer",
        Needs.TIMER,
        "Cancel the selected timer; it will not fire again.",
    ),
    ActionDescription(
        "fire-timer",
        "&Fire timer now",
        MenuId.TIMER,
        "fire_timer",
        ("Shift+F",),
        "fire-timer",
        Needs.TIMER,
        "Call the selected timer now; a repeating one keeps its schedule.",
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
        tip="Keep the newest frame in view.",
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
            (f"Ctrl+{number}",),
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
        "layout-reset",
        "&Reset layout",
        MenuId.LAYOUT,
        "reset_layout",
        tip="Put every panel back where it was at first.",
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
        "keys", "&Keys", MenuId.HELP, "show_keys", ("?",), "keys", starts_section=True
    ),
    ActionDescription(
        "about", "&About Timeline Inspector", MenuId.HELP, "show_about", icon="about"
    ),
)  # fmt: skip

ACTIONS: Final = (
    *_SCENE_ACTIONS,
    *_TIME_ACTIONS,
    *_SELECTION_ACTIONS,
    *_VIEW_ACTIONS,
    *_HELP_ACTIONS,
)

#: Said of everything that nobody has taken on yet.
_NOT_READY: Final = "the window is still being completed"


class DescribedAction(QAction):
    """A Qt action made from its description.

    Its check mark shows what :meth:`show_checked` was told, never the click.

    Attributes:
        description: What it was made from.
        reason: Why it is disabled, else empty.
    """

    def __init__(self, description: ActionDescription, parent: QObject) -> None:
        super().__init__(description.title, parent)
        self.description = description
        self.reason = _NOT_READY
        self._callback: Callable[..., object] | None = None
        self._is_shown_checked = False
        self._icon_name = description.icon
        self.setObjectName(description.id)
        self.setCheckable(description.is_checkable)
        self.setShortcuts([QKeySequence(keys) for keys in description.shortcuts])
        self.setEnabled(False)
        self.triggered.connect(self._perform)
        self._show_tip()

    def bind(self, target: object) -> None:
        """Let ``target`` carry it out if it has the method for it."""
        callback = getattr(target, self.description.callback, None)
        if callback is not None:
            self._callback = callback

    def show_checked(self, is_checked: bool) -> None:  # noqa: FBT001 - like setChecked
        """Show a state."""
        self._is_shown_checked = is_checked
        self.setChecked(is_checked)

    def show_text(self, text: str) -> None:
        """Use another text for the present state."""
        if text != self.text():
            self.setText(text)
            self._show_tip()

    @property
    def icon_name(self) -> str:
        """The icon for the present state, or empty."""
        return self._icon_name

    def show_icon(self, name: str, theme: Theme) -> None:
        """Use another icon for the present state."""
        if name != self._icon_name:
            self._icon_name = name
            self.setIcon(theme.icon(name))

    def apply(self, facts: Facts) -> None:
        """Be enabled or not, and say why not."""
        reason = why_not(self.description.needs, facts) if self._callback else _NOT_READY
        if reason != self.reason or self.isEnabled() == bool(reason):
            self.reason = reason
            self.setEnabled(not reason)
            self._show_tip()

    @Slot()
    def _perform(self) -> None:
        if self.isCheckable():
            self.setChecked(self._is_shown_checked)
        if self._callback is None:
            return
        if self.description.argument is None:
            self._callback()
        else:
            self._callback(self.description.argument)

    def _show_tip(self) -> None:
        title = self.text().replace("&", "").removesuffix(" …")
        keys = " or ".join(self.description.shortcut_texts)
        tip = f"{title} ({keys})" if keys else title
        if self.description.tip:
            tip = f"{tip}\n{self.description.tip}"
        if self.reason:
            tip = f"{tip}\nNot now: {self.reason}."
        self.setToolTip(tip)
        self.setStatusTip(self.description.tip)


class ActionSet(QObject):
    """All actions of a window, by id."""

    def __init__(
        self, parent: QObject, descriptions: Iterable[ActionDescription] = ACTIONS
    ) -> None:
        super().__init__(parent)
        self._actions = {each.id: DescribedAction(each, self) for each in descriptions}
        self._facts = Facts()

    def __getitem__(self, action_id: str) -> DescribedAction:
        """Return an action by its id."""
        return self._actions[action_id]

    @property
    def by_id(self) -> Mapping[str, DescribedAction]:
        """All actions, in the order of their menus."""
        return self._actions

    @property
    def facts(self) -> Facts:
        """What was last applied."""
        return self._facts

    def bind(self, target: object) -> None:
        """Let ``target`` carry out every action it has the method for."""
        for action in self._actions.values():
            action.bind(target)
            action.apply(self._facts)

    def apply(self, facts: Facts) -> None:
        """Enable what is possible now."""
        self._facts = facts
        for action in self._actions.values():
            action.apply(facts)

    def show_choice(self, callback: str, argument: str) -> None:
        """Check the one action of several that stands for a chosen value."""
        for action in self._actions.values():
            if action.description.callback == callback and action.isCheckable():
                action.show_checked(action.description.argument == argument)

    def set_icons(self, theme: Theme) -> None:
        """Draw all icons in the colours of a theme."""
        for action in self._actions.values():
            if action.icon_name:
                action.setIcon(theme.icon(action.icon_name))
