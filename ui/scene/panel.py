"""The scene panel: what the scene draws of itself, now or in a frame of the past."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property, partial
from pathlib import Path
from time import thread_time_ns
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QStackedWidget, QStyle, QWidget
from typing_extensions import override

from inspector.commands.timers import FireTimer
from inspector.events.timeline import Timeline
from inspector.formats.scene_shapes import SceneMoment
from inspector.pictures.appearance import clock_appearances, notes_of
from inspector.pictures.pictures import Picture
from inspector.sessions.session import (
    AttachesPrograms,
    FramePictures,
    Session,
    SessionPhase,
    pictures_of,
)
from inspector.timebase import NS_PER_MS

from ..kit.fonts import in_type, text_scale
from ..kit.guards import guarded
from ..kit.labels import ElidedLabel, plain_label
from ..kit.layouts import REST, bar, fill, hairline, open_menu
from ..kit.texts.run_states import run_state_of
from ..kit.theme import Theme
from ..kit.throttled_refresh import ThrottledRefresh, is_in_sight, single_shot
from ..selected.menus import MenuRequests, add_clock_actions, menu_text
from ..session.bridge import Selection, SelectionKind, SessionBridge
from .canvas import NOTHING, Marked, SceneCanvas, ShapeOwner

if TYPE_CHECKING:
    from .export import SceneExport
    from .program_card import ProgramCard

#: Least milliseconds between pictures: less than between refreshes, so that each refresh shows a
#: picture, in the same paint of the window as the plots.
_PICTURE_MS: Final = 20
#: Pictures that take long to paint are shown less often, so that they take at most a millisecond of
#: each frame at 60 frames a second; but this is the longest period, in milliseconds.
_SELDOM_MS: Final = 150
_FRAMES_PER_MS: Final = 16.7
#: Milliseconds for which a ring around a timer that has fired is shown.
_RING_MS: Final = 300
#: Milliseconds between pictures of rings while there are no refreshes.
_FADING_MS: Final = 33
#: Milliseconds for which the panel says where a picture was written.
_WRITTEN_MS: Final = 6_000

#: Pixels to the left and right of the contents.
_SIDE: Final = 16
#: Least heights of the window at 100 % text, each with the percentage a picture may take of it.
_MOST_PERCENT: Final = ((560, 45), (440, 20), (0, 12))
_LEAST_HEIGHT: Final = 48
#: Qt's upper limit of heights.
_ANY_HEIGHT: Final = 16_777_215

_NO_SESSION: Final = "No scene is open."
_CAPTURED: Final = "Captures have no picture. Open the scene itself to see one."
_RECORDED: Final = (
    "This recording has no pictures: its scene has none, it was recorded without, or by an older "
    "inspector."
)
_FAILED: Final = "The scene could not be loaded."
_NO_PICTURE: Final = (
    "This scene has no picture. It can draw one: call stage.picture(draw) in build(stage), "
    "with a function that returns shapes. See Help › Scenes."
)
_NOT_YET: Final = "The first frame has not been drawn yet."
_NEXT: Final = "The next frame will be drawn."
_NOT_RECORDED: Final = "No picture of this frame was recorded."
_NOT_KEPT: Final = "No picture of this frame was kept. Rewind to it to draw it again."


@guarded
class ScenePanel(QWidget):
    """Shows the picture of the frame that all panels show."""

    def __init__(self, bridge: SessionBridge, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._moment: SceneMoment | None = None
        self._fired: dict[int, int] = {}
        self._rings: dict[int, int] = {}
        moves_for = QStyle.StyleHint.SH_Widget_Animation_Duration
        self.has_motion = bool(self.style().styleHint(moves_for))
        self._wants_export = False
        self._fitted: object = None
        self._arrangement: object = None
        self._theme = theme
        self.canvas = SceneCanvas(theme)
        self.canvas.text_of = self.text_of
        self.notice = plain_label()  # Why there is none
        self.notice.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.notice.setWordWrap(True)
        self.notice.setMargin(12)
        # Takes the focus for keyboards and screen readers, which go from panel to panel.
        self.notice.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        # What is under the pointer, or which clocks stand still or run at another rate; it is above
        # the picture so that it covers nothing
        self.readout = ElidedLabel(" · ")
        in_type(self.readout, "small", is_muted=True)
        self.readout.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.title = plain_label("Scene")
        in_type(self.title, "strong")
        # Shown for a program, which has no picture; made for the first one.
        self.program: ProgramCard | None = None
        top = bar(self.title, 12, (self.readout, 1), margins=(_SIDE, 12, _SIDE, 8))
        self._picture_row = bar((self.canvas, 1), margins=(_SIDE, 0, _SIDE, 12))
        self._lent_to: QStackedWidget | None = None
        self._layout = fill(self, top, self._picture_row, self.notice, REST, hairline(), spacing=0)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self._throttle = ThrottledRefresh(self, bridge.refresh_timer, self.refresh, _PICTURE_MS)
        self._fading = single_shot(self, self._throttle.request, _FADING_MS)
        self._written = ""
        self._forgetting = single_shot(self, self._forget_written, _WRITTEN_MS)
        self._throttle.follow()
        bridge.facts_due.connect(self._watch)
        bridge.session_changed.connect(self._on_session_changed)
        bridge.playhead_changed.connect(self._throttle.request)
        bridge.selection_changed.connect(self._throttle.request)
        bridge.pointed_changed.connect(self._throttle.request)
        self.canvas.chosen.connect(self.select)
        self.canvas.double_clicked.connect(partial(bridge.action_wanted.emit, "enlarge-scene"))
        self.canvas.pointed.connect(self._point_at)
        self.canvas.menu_wanted.connect(self._open_menu)
        self._on_session_changed(bridge.session)
        self.refresh()

    # ---------------------------------------------------------------- what is shown

    @property
    def _pictures(self) -> FramePictures | None:
        return pictures_of(self._bridge.session)

    @Slot(object)
    def _on_session_changed(self, _session: object) -> None:
        self._fired.clear()
        self._rings.clear()
        self._watch()
        self._throttle.request()

    @Slot()
    def _watch(self) -> None:
        pictures = self._pictures
        if pictures is None:
            return
        is_watched = is_in_sight(self)
        if is_watched and not pictures.is_watched:
            # A scene that is held draws its picture only in a refresh.
            self._bridge.request_refresh()
        pictures.is_watched = is_watched

    @override
    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch()
        self._throttle.request()

    @override
    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if (pictures := self._pictures) is not None:
            pictures.is_watched = False

    @Slot()
    def refresh(self) -> None:
        """Show the picture of the frame that all panels show, or why there is none."""
        picture = self._picture()
        timeline = self._bridge.shown
        is_program = isinstance(self._bridge.session, AttachesPrograms)
        why = "" if picture is not None or is_program else self._why_none()
        arrangement = is_program, bool(why), picture is not None
        if arrangement != self._arrangement:
            self._arrangement = arrangement
            self._set_program(is_program=is_program)
            self.notice.setVisible(bool(why))
            self.canvas.setVisible(picture is not None)
        self._fit(picture)
        if why != self.notice.text():
            self.notice.setText(why)
            self.notice.setAccessibleName(why)
        if picture is None:
            if self._lent_to is not None:
                self._lent_to.setCurrentIndex(0)
            self._moment = None
            self._throttle.least_ms = _SELDOM_MS if why == _NO_PICTURE else _PICTURE_MS
            self.canvas.set_picture(None, {}, {}, NOTHING, NOTHING)
            self.readout.set_text("" if self.program is None else self.program.state)
            return
        began_ns = thread_time_ns()
        looks = clock_appearances(timeline, picture.shapes)
        self._moment = SceneMoment(picture, looks, self._bridge.shown_ns)
        self._note_firings(timeline, picture)
        marks = self._marked(self._bridge.selection), self._marked(self._bridge.pointed)
        self.canvas.set_picture(picture, looks, self._ring_shares(), *marks)
        took_ms = (thread_time_ns() - began_ns + self.canvas.painting_ns) / NS_PER_MS
        self._throttle.least_ms = round(min(max(took_ms * _FRAMES_PER_MS, _PICTURE_MS), _SELDOM_MS))
        self._update_readout()
        if self._wants_export:
            self._wants_export = False
            self.ask_for_export()

    def _set_program(self, *, is_program: bool) -> None:
        if is_program and self.program is None:
            from .program_card import ProgramCard  # noqa: PLC0415 - scenes do not need it

            self.program = ProgramCard(self._bridge, self._theme)
            self._layout.insertWidget(self._layout.count() - 1, self.program)
        elif not is_program and self.program is not None:
            self.program.deleteLater()
            self.program = None
        self.title.setText("Program" if is_program else "Scene")

    def _fit(self, picture: Picture | None) -> None:
        """Give the picture its own proportions, and at most its share of the window."""
        shape = None if picture is None else (picture.width, picture.height)
        window = self.window().height()
        room = window / text_scale(self)
        most = window * next(share for least, share in _MOST_PERCENT if room >= least) // 100
        fitted = (self.width(), most, shape)
        if fitted == self._fitted or shape is None or self._lent_to is not None:
            return
        self._fitted = fitted
        wide, high = shape
        height = round((self.width() - 2 * _SIDE) * high / max(wide, 1e-6))
        self.canvas.setFixedHeight(max(min(height, most), _LEAST_HEIGHT))

    @property
    def is_enlarged(self) -> bool:
        return self._lent_to is not None

    def enlarge(self, middle: QStackedWidget) -> None:
        """Show the picture in place of the frames until something else is shown there."""
        if self._moment is None:
            return
        self._lent_to = middle
        self.canvas.setMinimumHeight(_LEAST_HEIGHT)
        self.canvas.setMaximumHeight(_ANY_HEIGHT)
        middle.addWidget(self.canvas)
        middle.setCurrentWidget(self.canvas)
        self.canvas.setFocus()
        middle.currentChanged.connect(self._bring_back)

    @Slot()
    def _bring_back(self) -> None:
        middle = self._lent_to
        if middle is not None and middle.currentWidget() is not self.canvas:
            self._lent_to = self._fitted = self._arrangement = None
            middle.currentChanged.disconnect(self._bring_back)
            middle.removeWidget(self.canvas)
            self._picture_row.addWidget(self.canvas, 1)
            self.refresh()

    @override
    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit(self._picture())

    def _picture(self) -> Picture | None:
        pictures = self._pictures
        if pictures is None:
            return None
        if self._bridge.playhead_ns is None:
            return pictures.newest
        frames = self._bridge.timeline.frames
        place = bisect_right(frames.at_ns, self._bridge.shown_ns) - 1
        return pictures.at(frames.first + place)

    def _why_none(self) -> str:
        session = self._bridge.session
        if session is None:
            return _NO_SESSION
        pictures = self._pictures
        if pictures is None:
            return _CAPTURED
        has_failed = session.status.phase is SessionPhase.FAILED
        if pictures.failure or has_failed:
            return pictures.failure or _FAILED
        if not pictures.is_described:
            return _RECORDED if session.is_recorded else _NO_PICTURE
        return self._why_not_kept(session)

    def _why_not_kept(self, session: Session) -> str:
        if session.is_recorded:
            return _NOT_RECORDED
        if self._bridge.playhead_ns is not None:
            return _NOT_KEPT
        # There is no picture of frames that ran while the panel was out of sight.
        return _NEXT if len(self._bridge.timeline.frames) else _NOT_YET

    def _note_firings(self, timeline: Timeline, picture: Picture) -> None:
        """Begin a ring around each timer of the picture that was called since the last time."""
        table, now_ms = timeline.timers, self._bridge.refresh_timer.now_ns() // NS_PER_MS
        timers = {shape.timer for shape in picture.shapes}
        fired = {each: table.fired[table.index(each)] for each in timers if each in table}
        for timer_id, count in fired.items():
            if self.has_motion and count > self._fired.get(timer_id, count):
                self._rings[timer_id] = now_ms
        self._fired = fired

    def _ring_shares(self) -> dict[int, float]:
        now_ms = self._bridge.refresh_timer.now_ns() // NS_PER_MS
        self._rings = {
            number: at_ms for number, at_ms in self._rings.items() if now_ms - at_ms < _RING_MS
        }
        if self._rings and not self._bridge.refresh_timer.is_lively:
            self._fading.start()
        else:
            self._fading.stop()
        return {number: (now_ms - at_ms) / _RING_MS for number, at_ms in self._rings.items()}

    def _marked(self, thing: Selection) -> Marked:
        """Return what is marked for a selection; nothing for the root clock, which owns it all."""
        if thing.kind is SelectionKind.TIMER:
            return Marked(timer=thing.id)
        timeline = self._bridge.shown
        clock = timeline.clocks.get(thing.id) if thing.kind is SelectionKind.CLOCK else None
        if clock is None or not clock.parent_id:
            return NOTHING
        return Marked(frozenset(timeline.branch(clock.id)))

    # ---------------------------------------------------------------- in words

    @Slot()
    @Slot(object)
    def _update_readout(self, _owner: object = None) -> None:
        pictures, moment = self._pictures, self._moment
        failure = "" if pictures is None or moment is None else pictures.failure
        notes = "" if moment is None else " · ".join(notes_of(moment.looks))
        self.readout.set_text(failure or self.text_of(self.canvas.owner) or self._written or notes)

    @Slot(object)
    def _point_at(self, owner: ShapeOwner) -> None:
        self._bridge.point_at(self._thing_of(owner))
        self._update_readout()

    def _thing_of(self, owner: ShapeOwner) -> Selection:
        if owner.timer in self._bridge.shown.timers:
            return Selection.timer(owner.timer)
        if owner.clock in self._bridge.shown.clocks:
            return Selection.clock(owner.clock)
        return Selection()

    def text_of(self, owner: ShapeOwner) -> str:
        timeline = self._bridge.shown
        clock = timeline.clocks.get(owner.clock)
        if clock is None:
            return ""
        state = run_state_of(timeline, clock.id).text
        timer = timeline.timers.row(owner.timer).label if owner.timer in timeline.timers else ""
        return f"{timer} on {clock.name}: {state}" if timer else f"{clock.name}: {state}"

    # ---------------------------------------------------------------- what people do

    @Slot(object)
    def select(self, owner: ShapeOwner) -> None:
        thing = self._thing_of(owner)
        if thing != Selection():
            self._bridge.select(thing)

    def make_menu(self) -> QMenu:
        menu, timeline, owner = QMenu(self), self._bridge.timeline, self.canvas.owner
        requests = MenuRequests(self._bridge.submit, self._bridge.accepts)
        select = self._bridge.select
        if owner.timer in timeline.timers:
            title = f"Select {timeline.timers.row(owner.timer).label}"
            menu.addAction(menu_text(title), partial(select, Selection.timer(owner.timer)))
            requests.add(menu, "Fire now", FireTimer(owner.timer))
            menu.addSeparator()
        if owner.clock in timeline.clocks:
            title = f"Select {timeline.clocks[owner.clock].name}"
            menu.addAction(menu_text(title), partial(select, Selection.clock(owner.clock)))
            add_clock_actions(menu, timeline, owner.clock, requests)
            menu.addSeparator()
        export = menu.addAction("Export picture …", self.ask_for_export)
        export.setEnabled(self._moment is not None)
        return menu

    @Slot(object)
    def _open_menu(self, place: QPoint) -> None:
        open_menu(self.make_menu(), place)

    @cached_property
    def _export(self) -> SceneExport:
        # Imported late: showing a scene needs no fonts, file formats and dialog.
        from .export import SceneExport  # noqa: PLC0415

        return SceneExport()

    @Slot()
    def ask_for_export(self) -> None:
        """Ask where to write the picture that is shown, or else say why there is none."""
        self.refresh()
        session = self._bridge.session
        # A scene that was not drawn so far is drawn in a moment: ask again then.
        self._wants_export = self._moment is None and self.notice.text() in (_NOT_YET, _NEXT)
        if self._moment is None or session is None:
            return
        dialog = self._export.dialog(session, self)
        # Export the picture that was shown when the user asked, as the scene goes on.
        dialog.file_given.connect(partial(self.export_to, moment=self._moment))
        dialog.open()

    def export_to(self, path: Path, moment: SceneMoment | None = None) -> None:
        """Write a picture, the one that is shown if none is given, in the format of the suffix."""
        session, wanted = self._bridge.session, moment or self._moment
        if session is None or wanted is None:
            return
        self._written = self._export.write(wanted, session, path)
        self._update_readout()
        self._forgetting.start()

    @Slot()
    def _forget_written(self) -> None:
        self._written = ""
        self._update_readout()
