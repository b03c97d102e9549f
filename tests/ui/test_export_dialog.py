"""The export dialog: what it offers, what it writes, and what it refuses to write."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QMessageBox,
    QWidget,
)
from pytestqt.qtbot import QtBot

from inspector.analysis.intervention_list import Intervention
from inspector.analysis.markers import Marker
from inspector.analysis.statistics.frame_budget import DEFAULT_BUDGETS_MS
from inspector.analysis.statistics.runs import ComparedRun
from inspector.events.frame_history import FrameHistory
from inspector.formats.frame_times import CAPTURED, Provenance
from inspector.formats.options import (
    ExportOptions,
    budgets_to_text,
    parse_budgets_ms,
)
from inspector.formats.report.comparison import shown_of
from inspector.formats.traces.session_trace import Events
from inspector.sessions.frame_files import read_frame_file
from inspector.sessions.provenance import provenance_of
from inspector.sessions.scene import find_scene
from inspector.testing import pass_seconds, virtual_session
from inspector.vocabulary import Phase, Share
from ui.export.export_dialog import (
    ExportChoices,
    ExportDialog,
    ExportSource,
    FrameRange,
)
from ui.kit.theme import Theme
from ui.window.handlers.export_setup import choices_of

FRAMES = 200


def history() -> FrameHistory:
    """Return frames of 16 ms with one of 40 ms among them."""
    frames = FrameHistory()
    times = [40_000_000 if index == 120 else 16_000_000 for index in range(FRAMES)]
    starts = range(0, FRAMES * 16_000_000, 16_000_000)
    phases = [[500_000] * FRAMES for _ in Phase]
    frames.extend([starts, times, times, times, times, *phases, *(times for _ in Share)])
    return frames


@pytest.fixture
def dialog(qtbot: QtBot, tmp_path: Path) -> ExportDialog:
    source = ExportSource(
        history(),
        (
            FrameRange("all", "All frames", 0, FRAMES),
            FrameRange("visible", "Frames in view", 100, 150),
        ),
        Provenance("A game", datetime(2026, 1, 2, tzinfo=UTC), "1.0"),
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def box(dialog: ExportDialog, name: str) -> QComboBox:
    return next(each for each in dialog.findChildren(QComboBox) if each.accessibleName() == name)


def line(dialog: ExportDialog, name: str) -> QLineEdit:
    return next(each for each in dialog.findChildren(QLineEdit) if each.accessibleName() == name)


def choose(dialog: ExportDialog, name: str, data: object) -> None:
    chooser = box(dialog, name)
    chooser.setCurrentIndex(chooser.findData(data))
    dialog.refresh_preview()


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf", ".csv", ".json"])
def test_that_every_format_is_written(
    qtbot: QtBot, dialog: ExportDialog, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"frames{suffix}"

    with qtbot.waitSignal(dialog.exported) as exported:
        assert dialog.export_to(path)

    assert exported.args == [path]
    starts = {".png": b"\x89PNG", ".svg": b"<", ".pdf": b"%PDF", ".json": b"{"}
    assert path.read_bytes().startswith(starts.get(suffix, b""))
    assert not dialog.isVisible()


def test_that_the_chosen_range_is_written_and_nothing_else(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    choose(dialog, "Frames", "visible")

    dialog.export_to(tmp_path / "frames.csv")

    rows = [
        row
        for row in (tmp_path / "frames.csv").read_text(encoding="utf-8").splitlines()
        if row and not row.startswith("#")
    ]
    assert len(rows) == 1 + 50
    assert "100" in rows[1]


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [("100:110", 100, 10), ("1.6s:2s", 100, 25), ("190:", 190, 10), ("", 0, FRAMES)],
)
def test_that_a_range_can_be_typed(
    dialog: ExportDialog, tmp_path: Path, text: str, first: int, count: int
) -> None:
    assert not dialog.part_line.isVisible()
    choose(dialog, "Frames", "typed")
    dialog.part_line.setText(text)
    dialog.refresh_preview()

    assert dialog.part_line.isVisible()
    assert dialog.export_to(tmp_path / "frames.csv")

    rows = (tmp_path / "frames.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert (len(rows), int(rows[0].split(",")[0])) == (count, first)


def test_that_what_is_no_range_is_said(dialog: ExportDialog, tmp_path: Path) -> None:
    choose(dialog, "Frames", "typed")
    dialog.part_line.setText("from the boss on")
    dialog.refresh_preview()

    assert "is not a range. Write frames as 120:600" in dialog.problem
    assert not dialog.save_button.isEnabled()
    assert not dialog.export_to(tmp_path / "frames.csv")
    assert list(tmp_path.iterdir()) == []


def test_that_the_title_and_budgets_are_in_the_picture(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    line(dialog, "Title").setText("Before the change")
    line(dialog, "Budgets").setText("20 ms")

    dialog.export_to(tmp_path / "frames.svg")

    text = (tmp_path / "frames.svg").read_text(encoding="utf-8")
    assert "Before the change" in text
    assert ">50 fps<" in text


def test_that_a_bad_budget_is_named_and_nothing_is_written(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    line(dialog, "Budgets").setText("16.7 fast")
    dialog.refresh_preview()

    assert not dialog.export_to(tmp_path / "frames.png")

    assert "“fast”" in dialog.problem
    assert dialog.isVisible()
    assert not dialog.save_button.isEnabled()
    assert list(tmp_path.iterdir()) == []


def test_that_the_chosen_format_is_written_under_a_name_that_does_not_tell_it(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    choose(dialog, "Format", "PresentMon")

    dialog.export_to(tmp_path / "frames.csv")

    assert (tmp_path / "frames.csv").read_text(encoding="utf-8").startswith("Application,")


def test_that_the_events_of_the_chosen_range_are_written(qtbot: QtBot, tmp_path: Path) -> None:
    session = virtual_session(find_scene("small_game"))
    pass_seconds(session, 3)
    session.refresh()
    source = ExportSource(
        session.timeline.frames,
        (FrameRange("chosen", "Selected frames", 60, 120),),
        provenance_of(session),
        events=Events(session.history, end_ns=session.history.last_ns),
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)
    choose(dialog, "Format", "Perfetto")

    assert dialog.export_to(tmp_path / "a.pftrace")

    # The frame with which the first of 60 intervals begins is there too.
    assert len(read_frame_file(tmp_path / "a.pftrace").frames) == 61
    session.close()


@pytest.mark.parametrize("name", ["HTML", "PDF report"])
def test_that_a_report_has_the_options_of_its_graph(dialog: ExportDialog, name: str) -> None:
    choose(dialog, "Format", name)

    assert line(dialog, "Title").isEnabled()
    assert box(dialog, "Colours").isEnabled()
    assert any("The picture shows the graph" in each.text() for each in dialog.findChildren(QLabel))


def test_that_pages_of_interventions_are_announced(qtbot: QtBot, tmp_path: Path) -> None:
    pauses = tuple(
        Intervention(number, False, number * 16_000_000, number, "pause “game”", "", "you")
        for number in range(1, 9)
    )
    ranges = (FrameRange("all", "All frames", 0, FRAMES),)
    provenance = Provenance("A game", datetime(2026, 1, 2, tzinfo=UTC), "1.0")
    source = ExportSource(history(), ranges, provenance, pauses)
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    shown = [each.text() for each in dialog.findChildren(QLabel)]
    dialog.export_to(tmp_path / "a.png")

    assert any("All interventions are on a page of their own beside it." in each for each in shown)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-2.png", "a.png"]


def test_that_traces_are_not_offered_without_events(dialog: ExportDialog) -> None:
    assert box(dialog, "Format").findData("Perfetto") == -1


def test_that_a_folder_that_is_not_there_is_said(dialog: ExportDialog, tmp_path: Path) -> None:
    assert not dialog.export_to(tmp_path / "nowhere" / "frames.png")

    assert "nowhere" in dialog.problem
    assert dialog.isVisible()


def test_that_another_folder_can_be_chosen_after_a_file_could_not_be_written(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    dialog.export_to(tmp_path / "nowhere" / "frames.png")

    assert dialog.save_button.isEnabled()
    assert dialog.export_to(tmp_path / "frames.png")


def test_that_what_is_typed_is_looked_at_before_it_is_written(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    line(dialog, "Budgets").setText("fast")

    dialog.export_to(tmp_path / "frames.png")

    assert "“fast”" in dialog.problem
    assert not dialog.save_button.isEnabled()


def test_that_the_label_of_the_budgets_names_what_is_accepted(dialog: ExportDialog) -> None:
    labels = [each.text() for each in dialog.findChildren(QLabel)]

    assert "&Budgets, fps or ms" in labels
    assert line(dialog, "Budgets").text() == "60fps 120fps 30fps"


def test_that_a_file_is_asked_about_as_it_will_be_named(
    qtbot: QtBot, dialog: ExportDialog, tmp_path: Path
) -> None:
    (tmp_path / "over.png").write_text("old", encoding="utf-8")
    dialog.save_button.click()
    asking = dialog.findChild(QFileDialog)
    assert isinstance(asking, QFileDialog)
    name_line = asking.findChild(QLineEdit, "fileNameEdit")
    assert isinstance(name_line, QLineEdit)
    name_line.setText(str(tmp_path / "over"))

    qtbot.keyClick(name_line, Qt.Key.Key_Return)

    assert (tmp_path / "over.png").read_text(encoding="utf-8") == "old"
    question = dialog.findChild(QMessageBox)
    assert isinstance(question, QMessageBox)
    question.button(QMessageBox.StandardButton.Yes).click()
    assert (tmp_path / "over.png").read_bytes().startswith(b"\x89PNG")


def test_that_data_formats_switch_off_what_only_pictures_have(dialog: ExportDialog) -> None:
    choose(dialog, "Format", "JSON")

    assert not line(dialog, "Title").isEnabled()
    assert not box(dialog, "Resolution").isEnabled()
    choose(dialog, "Format", "SVG")
    assert line(dialog, "Title").isEnabled()
    assert not box(dialog, "Resolution").isEnabled()


def test_that_a_figure_for_a_use_is_previewed_and_written_in_its_pixels(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    choose(dialog, "Graph", "distribution")
    choose(dialog, "Use", "card")
    dialog.refresh_preview()

    assert dialog.problem == ""
    assert "Distribution of frame times" in dialog.preview.accessibleDescription()
    assert not box(dialog, "Resolution").isEnabled()
    assert dialog.export_to(tmp_path / "a.png")
    image = QImage(str(tmp_path / "a.png"))
    assert (image.width(), image.height()) == (1200, 630)
    kept = choices_of(dialog)
    assert (kept["figure"], kept["preset"]) == ("distribution", "card")
    choose(dialog, "Format", "CSV")
    assert not box(dialog, "Graph").isEnabled()
    assert not box(dialog, "Use").isEnabled()


def test_that_the_size_of_a_use_stays_when_it_is_given_up(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    choose(dialog, "Use", "slide")
    choose(dialog, "Use", "")

    assert (dialog.options.width_pt, dialog.options.height_pt) == (880, 495)
    assert box(dialog, "Resolution").isEnabled()
    assert dialog.export_to(tmp_path / "a.png")
    image = QImage(str(tmp_path / "a.png"))
    assert (image.width(), image.height()) == (1920, 1080)
    kept = choices_of(dialog)
    assert (kept["preset"], kept["width_pt"], kept["height_pt"]) == ("", "880", "495")


def test_that_several_captures_are_drawn_over_each_other_or_side_by_side(
    qtbot: QtBot, tmp_path: Path
) -> None:
    about = Provenance("", datetime(2026, 1, 2, tzinfo=UTC), "1.0")
    runs = [
        ComparedRun(f"{name}.csv", np.full(300, ms * 1_000_000, dtype=np.int64))
        for name, ms in (("before", 16), ("after", 12))
    ]
    source = ExportSource(
        FrameHistory(), (), about, figures=tuple(shown_of(each, about) for each in runs)
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)
    dialog.show()

    assert dialog.windowTitle() == "Export a figure"
    assert box(dialog, "Measure").isHidden()
    assert [box(dialog, "Format").itemData(n) for n in range(3)] == ["PNG", "SVG", "PDF"]
    overlaid = dialog.preview.accessibleDescription()
    assert "before.csv: 300 frames" in overlaid
    (beside,) = (
        each for each in dialog.findChildren(QCheckBox) if each.text().startswith("Side by side")
    )
    beside.click()
    dialog.refresh_preview()
    assert "room for the frames of 1 capture side by side, not 2" in dialog.problem
    choose(dialog, "Use", "slide")
    assert dialog.export_to(tmp_path / "a.svg")
    assert choices_of(dialog)["side_by_side"] == "yes"
    said = (tmp_path / "a.svg").read_text()
    assert "before.csv" in said
    assert "after.csv" in said


def test_that_interventions_are_exported_unless_switched_off(qtbot: QtBot, tmp_path: Path) -> None:
    pause = Intervention(1, False, 1_600_000_000, 100, "pause “game”", "", "you")
    ranges = (
        FrameRange("all", "All frames", 0, FRAMES),
        FrameRange("visible", "Frames in view", 120, 150),
    )
    provenance = Provenance("A game", datetime(2026, 1, 2, tzinfo=UTC), "1.0")
    source = ExportSource(history(), ranges, provenance, (pause,))
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)
    assert dialog.interventions_box.isChecked()
    assert dialog.interventions_box.isEnabled()

    dialog.export_to(tmp_path / "with.json")
    dialog.interventions_box.setChecked(False)
    dialog.export_to(tmp_path / "without.json")
    choose(dialog, "Frames", "visible")

    assert not dialog.interventions_box.isEnabled()
    assert "pause “game”" in (tmp_path / "with.json").read_text(encoding="utf-8")
    assert "interventions" not in json.loads((tmp_path / "without.json").read_bytes())


def test_that_bookmarks_are_exported_unless_switched_off(qtbot: QtBot, tmp_path: Path) -> None:
    bookmark = Marker("bookmark", 1_600_000_000, 100, "the boss is late")
    ranges = (FrameRange("all", "All frames", 0, FRAMES),)
    provenance = Provenance("A game", datetime(2026, 1, 2, tzinfo=UTC), "1.0")
    source = ExportSource(history(), ranges, provenance, markers=(bookmark,))
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)
    assert dialog.markers_box.isEnabled()
    assert choices_of(dialog)["landmarks"] == "yes"

    dialog.export_to(tmp_path / "with.svg")
    dialog.markers_box.setChecked(False)
    dialog.export_to(tmp_path / "without.svg")

    assert choices_of(dialog)["landmarks"] == "no"
    assert "the boss is late" in (tmp_path / "with.svg").read_text(encoding="utf-8")
    assert "the boss is late" not in (tmp_path / "without.svg").read_text(encoding="utf-8")


def test_that_the_preview_shows_the_same_description_as_the_file(
    dialog: ExportDialog, tmp_path: Path
) -> None:
    shown = dialog.preview.accessibleDescription()

    dialog.export_to(tmp_path / "frames.svg")

    assert "200 frames" in shown
    assert shown in (tmp_path / "frames.svg").read_text(encoding="utf-8")


def test_that_json_says_where_the_frames_come_from(dialog: ExportDialog, tmp_path: Path) -> None:
    dialog.export_to(tmp_path / "frames.json")

    assert "A game" in json.dumps(json.loads((tmp_path / "frames.json").read_bytes()))


def test_that_everything_has_an_accessible_name(dialog: ExportDialog) -> None:
    fields = [
        field
        for field in dialog.findChildren(QWidget)
        if isinstance(field, QComboBox | QLineEdit)
        and field.focusPolicy() & Qt.FocusPolicy.TabFocus
        and not field.objectName().startswith("qt_")
    ]

    assert fields
    assert all(field.accessibleName() for field in fields)


@pytest.mark.parametrize(
    ("text", "budgets_ms"),
    [
        ("", ()),
        ("16.7", (16.7,)),
        ("16.7, 8", (16.7, 8.0)),
        ("60fps 120 fps", (1000 / 60, 1000 / 120)),
        ("20 ms;50Hz", (20.0,)),
    ],
)
def test_that_budgets_can_be_typed_in_several_ways(
    text: str, budgets_ms: tuple[float, ...]
) -> None:
    assert parse_budgets_ms(text) == budgets_ms


@pytest.mark.parametrize("text", ["0", "-5", "fps", "1e3x", "nan"])
def test_that_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a budget"):
        parse_budgets_ms(text)


@given(st.lists(st.floats(0.01, 1e6), max_size=5, unique=True))
def test_that_budgets_read_again_are_the_same(budgets_ms: list[float]) -> None:
    assert parse_budgets_ms(budgets_to_text(budgets_ms)) == tuple(budgets_ms)
    assert parse_budgets_ms(budgets_to_text(DEFAULT_BUDGETS_MS)) == DEFAULT_BUDGETS_MS


def test_that_the_title_names_what_the_format_holds(qtbot: QtBot, tmp_path: Path) -> None:
    session = virtual_session(find_scene("4"))
    pass_seconds(session, 1)
    frames = session.timeline.frames
    source = ExportSource(
        frames,
        (FrameRange("all", "All frames", 0, frames.end),),
        provenance_of(session),
        events=Events(session.history),
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    found = {}
    for name in ("PNG", "CSV", "HTML", "PDF report", "Timeline SVG", "Page", "Perfetto"):
        choose(dialog, "Format", name)
        dialog.refresh_preview()
        found[name] = dialog.windowTitle(), dialog._suggested_path().name

    stem = "the-smallest-scene-worth-looking-at"
    assert found == {
        "PNG": ("Export frame times", f"{stem}-frame-times.png"),
        "CSV": ("Export frame times", f"{stem}-frame-times.csv"),
        "HTML": ("Export a report", f"{stem}.html"),
        "PDF report": ("Export a report", f"{stem}.report.pdf"),
        "Timeline SVG": ("Export the timeline", f"{stem}.timeline.svg"),
        "Page": ("Export a page", f"{stem}.page.html"),
        "Perfetto": ("Export events", f"{stem}.pftrace"),
    }


def test_that_what_a_page_has_is_said_in_place_of_a_picture_of_something_else(
    qtbot: QtBot, tmp_path: Path
) -> None:
    session = virtual_session(find_scene("small_game"))
    session.pictures.is_watched = True
    pass_seconds(session, 1)
    frames = session.timeline.frames
    source = ExportSource(
        frames,
        (FrameRange("all", "All frames", 0, frames.end),),
        provenance_of(session),
        events=Events(session.history, pictures=session.pictures),
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    choose(dialog, "Format", "Page")
    dialog.refresh_preview()

    said = dialog.preview.accessibleDescription()
    assert "60 frames" in said
    assert "pictures of the scene" in said
    assert "There is no preview." in said
    assert dialog._title_line.isEnabled()
    assert not dialog._width_box.isEnabled()
    assert dialog.export_to(tmp_path / "game.page.html")
    assert 'id="pictures"' in (tmp_path / "game.page.html").read_text()


def test_that_a_capture_leaves_its_suffix_out_of_the_name(qtbot: QtBot, tmp_path: Path) -> None:
    about = Provenance("csgo.csv", datetime(2026, 1, 2, tzinfo=UTC), "1.0", CAPTURED)
    source = ExportSource(history(), (FrameRange("all", "All frames", 0, FRAMES),), about)
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    assert dialog._suggested_path() == tmp_path / "csgo-frame-times.png"


def test_that_samples_are_refused_where_every_frame_is_needed(qtbot: QtBot, tmp_path: Path) -> None:
    source = ExportSource(
        history(),
        (FrameRange("all", "All frames", 0, FRAMES),),
        Provenance("A game", datetime(2026, 1, 2, tzinfo=UTC), "1.0"),
        samples="One of every second.",
    )
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    assert not dialog.export_to(tmp_path / "a.presentmon.csv")

    assert "samples" in dialog.problem


def test_that_a_timeline_that_needs_more_height_says_its_true_size(
    qtbot: QtBot, tmp_path: Path
) -> None:
    session = virtual_session(find_scene("1"))
    pass_seconds(session, 5)
    frames = session.timeline.frames
    whole = (FrameRange("all", "All frames", 0, frames.end),)
    source = ExportSource(frames, whole, provenance_of(session), events=Events(session.history))
    dialog = ExportDialog(source, ExportChoices(ExportOptions(), tmp_path), Theme("light"))
    qtbot.addWidget(dialog)

    choose(dialog, "Format", "Timeline SVG")
    dialog.refresh_preview()

    picture = dialog.preview._picture
    assert picture is not None
    assert picture.height > 405
    assert f"720 × {picture.height:,.0f} points" in dialog._note.text()
    assert "more height than was chosen" in dialog._note.text()
