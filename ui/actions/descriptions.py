"""Actions as data: what they need, and why one is not possible now.

An action names the method that carries it out, of a class that is bound to it later, and
what it needs to be possible. Why it is not possible is a sentence, shown wherever the action
is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Final, Generic, TypeVar

from msgspec import Struct, field
from PySide6.QtGui import QKeySequence

from inspector.commands.command import Capability

from .menus import MenuId

#: The class whose methods carry out an action.
HandlerT = TypeVar("HandlerT")


class Needs(Enum):
    NOTHING = "nothing", None
    TRANSPORT = "a session that can run and be held", Capability.TRANSPORT
    STEP = "a session that can be stepped", Capability.STEP
    STEP_TIME = "a session that can be stepped by a time", Capability.STEP_TIME
    STEP_TIMER = "a session that can be stepped to the next timer", Capability.STEP_TIMER
    ROOT_RATE = "a session whose rates can be changed", Capability.RATE
    EVERYTHING_RATE = "a session whose root clock can be changed", Capability.RATE
    FRAME_RATE = "a session whose frame rate can be changed", Capability.FRAME_RATE
    FAILURE_POLICY = "a session that accepts a failure policy", Capability.FAILURE_POLICY
    MARK = "a session that accepts marks", Capability.MARK
    RELOAD = "a session that can be reloaded", Capability.RELOAD
    RECORD = "a session that can be recorded", Capability.RECORD
    SAVE = "a session whose past can be saved", Capability.RECORD
    CLOCK_PAUSE = "a selected clock that can be paused", Capability.PAUSE
    CLOCK_RATE = "a selected clock whose rate can be changed", Capability.RATE
    TIMER = "a selected timer that can be cleared", Capability.TIMERS
    FIRED_TIMER = "a selected timer that can be fired", Capability.FIRE
    PAUSABLE_MEMBER = "a selected target, call, component or ticker", Capability.MEMBERS
    CALL = "a selected call or target", Capability.MEMBERS
    SCHEDULER = "a selected scheduler", Capability.MEMBERS
    MACHINE = "a selected state machine", Capability.MEMBERS
    UNDO = "a session that can undo commands", Capability.UNDO
    REDO = "a session that can redo commands", Capability.UNDO
    SESSION = "an open session", None
    FRAMES = "frames", None
    EXPORT = "frames, or a comparison", None
    PAST = "a session with frames", None
    LOOKING_BACK = "a session in which you look back", None
    REWIND = "a session that can go back in time", Capability.REWIND
    PROGRAM = "an attached program", Capability.PROGRAM
    PROGRAM_CLOCK = "a selected clock of an attached program", Capability.PROGRAM
    REWIND_TO_PLAYHEAD = "a session that can be rewound to the playhead", Capability.REWIND

    def __init__(self, text: str, capability: Capability | None) -> None:
        self.text = text
        self.capability = capability


class ActionFacts(Struct, frozen=True):
    has_session: bool = False  # A scene is open, be it a failed one
    has_failed: bool = False  # The scene could not be loaded
    has_ended: bool = False  # The attached programs have ended
    is_recording: bool = False  # A recording has begun, and must be ended even then
    possible: frozenset[Needs] = frozenset()  # The needs that the session's capabilities cover
    # Why other needs are not met with what is selected.
    reasons: Mapping[Needs, str] = field(default_factory=dict)
    has_clock: bool = False  # A clock is selected, by itself or through a timer or member on it
    has_timer: bool = False  # A pending timer is selected
    has_frames: bool = False  # At least one frame was run
    is_comparing: bool = False  # A comparison is shown in place of the session
    has_undo: bool = False  # Something was changed from outside that can be undone
    has_redo: bool = False  # Something was undone that can be done again
    is_looking_back: bool = False  # What is shown is not the present
    # The needs that the selected scheduler, call, component or machine covers.
    fulfilled: frozenset[Needs] = frozenset()
    # What to call the file of a session that can only be viewed, such as "recording"; empty for a
    # session that runs.
    file_word: str = ""


_ABOUT_SELECTION: Final = frozenset(
    {
        Needs.CLOCK_PAUSE,
        Needs.CLOCK_RATE,
        Needs.TIMER,
        Needs.FIRED_TIMER,
        Needs.PAUSABLE_MEMBER,
        Needs.CALL,
        Needs.SCHEDULER,
        Needs.MACHINE,
    }
)
_CLOCK_NEEDS: Final = frozenset({Needs.CLOCK_PAUSE, Needs.CLOCK_RATE, Needs.PROGRAM_CLOCK})
_NOT_BACK: Final = "the present is already shown"
_AT_END: Final = "the end of the {} is already shown"
#: Why something is not possible with a file, unless there is a closer reason.
NOT_CHANGED: Final = "a {} cannot be changed"
_NOT_IN_FILE: Final = {
    Needs.PROGRAM_CLOCK: "this {} has the frames of one loop only",
    Needs.RECORD: "it is a {} already",
    Needs.SAVE: "it is a {} already",
    Needs.RELOAD: "only scenes can be reloaded, and this is a {}",
    Needs.PROGRAM: "this is a {}, not an attached program",
}
_NOT_SELECTED: Final = {
    Needs.PAUSABLE_MEMBER: "no target, call, component or ticker is selected",
    Needs.CALL: "no call or target is selected",
    Needs.SCHEDULER: "no scheduler, and nothing that belongs to one, is selected",
    Needs.MACHINE: "no state machine is selected",
}


@cache
def _native_texts(shortcuts: tuple[str, ...]) -> tuple[str, ...]:
    native = QKeySequence.SequenceFormat.NativeText
    return tuple(QKeySequence(keys).toString(native) for keys in shortcuts)


def why_not(needs: Needs, facts: ActionFacts) -> str:  # noqa: C901, PLR0911, PLR0912 - one after another
    if needs is Needs.NOTHING or (needs is Needs.EXPORT and facts.is_comparing):
        return ""
    if not facts.has_session:
        return "no scene is open"
    if needs is Needs.SESSION:
        return ""
    if needs in (Needs.FRAMES, Needs.EXPORT, Needs.PAST):
        return "" if facts.has_frames else "no frame has run yet"
    if needs is Needs.LOOKING_BACK:
        not_back = _AT_END.format(facts.file_word) if facts.file_word else _NOT_BACK
        return "" if facts.is_looking_back else not_back
    if needs in facts.reasons or needs not in facts.possible:
        return facts.reasons.get(needs) or _not_in_session(needs, facts.file_word)
    is_stop = needs is Needs.RECORD and facts.is_recording
    if facts.has_failed and not is_stop and needs not in (Needs.RELOAD, Needs.PROGRAM):
        return "the scene could not be loaded: fix the file and reload it"
    if facts.has_ended and not is_stop and needs is Needs.RECORD:
        return "the program has ended; what is in the log can be saved instead"
    if needs in _CLOCK_NEEDS and not facts.has_clock:
        return "no clock is selected; click one, or one of its timers"
    if needs in (Needs.REWIND, Needs.REWIND_TO_PLAYHEAD) and not facts.has_frames:
        return "no frame has run yet"
    if needs is Needs.REWIND_TO_PLAYHEAD and not facts.is_looking_back:
        return _NOT_BACK
    if needs is Needs.UNDO and not facts.has_undo:
        return "there is no intervention to undo"
    if needs is Needs.REDO and not facts.has_redo:
        return "nothing was undone since the last intervention"
    if needs in _NOT_SELECTED and needs not in facts.fulfilled:
        return _NOT_SELECTED[needs]
    if needs in (Needs.TIMER, Needs.FIRED_TIMER) and not facts.has_timer:
        return "no pending timer is selected"
    return ""


def _not_in_session(needs: Needs, file_word: str) -> str:
    if file_word:
        return _NOT_IN_FILE.get(needs, NOT_CHANGED).format(file_word)
    return f"not possible in this session: it needs {needs.text}"


class ActionDescription(Struct, Generic[HandlerT], frozen=True):
    id: str  # Its name for the program
    title: str  # Its name for people, & before the access key
    menu: MenuId  # The menu it stands in
    # Carries out the action, given the handler; None for an action that submits the command it
    # stands for with what is selected.
    callback: Callable[[HandlerT], object] | None = None
    shortcuts: tuple[str, ...] = ()  # Keys in Qt's portable notation; the first one is shown
    icon: str = ""  # Name of its icon, or empty
    needs: Needs = Needs.NOTHING  # What must be there
    tip: str = ""  # One sentence more, for tooltip and keys page
    # The tip for sessions that can only be viewed, where the action does something else; {} stands
    # for what the file is, such as a recording.
    file_tip: str = ""
    file_title: str = ""  # The title for such sessions, if it differs
    # Which of the choices of its menu it stands for; None if it is no choice.
    choice: str | None = None
    label: str = ""  # What a button says beside its icon; the title if empty
    is_checkable: bool = False  # It shows a state, which is set by DescribedAction.set_checked
    starts_section: bool = False  # A line is drawn above it in its menu

    @property
    def plain_title(self) -> str:
        """The title without the sign for its access key."""
        return self.title.replace("&", "")

    @property
    def full_title(self) -> str:
        """The title as it is understood without its menu: of several choices, what is chosen."""
        title = self.plain_title
        if self.choice is None:
            return title
        if self.menu is MenuId.PANELS:
            return f"Show {title}"
        return f"{self.menu.plain_title}: {title[:1].lower()}{title[1:]}"

    @property
    def concerns_selection(self) -> bool:
        return self.needs in _ABOUT_SELECTION

    @property
    def shortcut_texts(self) -> tuple[str, ...]:
        return _native_texts(self.shortcuts)
