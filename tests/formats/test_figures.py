"""Figures for slides, articles and cards: in pixels, readable, and in words."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from msgspec import structs
from PySide6.QtGui import QImage

from inspector.errors import ExportError
from inspector.formats.arrangement.figures import FIGURE_FORMATS, FigureData, Shown, figure
from inspector.formats.drawing.display_list import DisplayList, Group, Item, Polyline
from inspector.formats.file_formats import write_file
from inspector.formats.frame_times import Provenance
from inspector.formats.options import FIGURES, PRESETS, ExportOptions, FigureName
from tests.formats.conftest import MakeFrames

MS = 1_000_000


def options_of(preset: str, name: FigureName) -> ExportOptions:
    return PRESETS[preset].applied_to(ExportOptions(figure=name, budgets_ms=(16.7,)))


@pytest.fixture(scope="module")
def shown(make_frames: MakeFrames, provenance: Provenance) -> tuple[Shown, Shown]:
    """Return two captures, of which the second is the slower one."""
    dice = random.Random(3)
    found = []
    for name, around_ms in (("before.csv", 12.0), ("after.csv", 22.0)):
        times = [round(dice.gauss(around_ms, 1.0) * MS) for _ in range(600)]
        found.append(Shown(name, make_frames(times), structs.replace(provenance, scene=name)))
    return found[0], found[1]


@pytest.mark.parametrize("is_side_by_side", [False, True])
@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("preset", PRESETS)
def test_that_a_preset_is_in_pixels_and_its_text_can_be_read(
    shown: tuple[Shown, Shown],
    provenance: Provenance,
    preset: str,
    name: FigureName,
    is_side_by_side: bool,
) -> None:
    options, size = options_of(preset, name), PRESETS[preset]
    data = FigureData(shown, is_side_by_side)
    if name == "frames" and is_side_by_side and preset != "slide":
        # Two columns of frames with their headers need the width of a slide or a card.
        options = structs.replace(options, width_pt=max(options.width_pt, 800.0))

    picture = figure(data, provenance, options)

    pixels = options.dots_per_inch / 72
    assert picture.height * pixels == pytest.approx(size.height)
    if options == options_of(preset, name):
        assert picture.width * pixels == pytest.approx(size.width)
    assert min(each.size for each in picture.texts()) >= picture.height / 45 - 1e-9
    assert all(0 <= each.at.x <= picture.width for each in picture.texts())
    assert all(0 <= each.at.y <= picture.height for each in picture.texts())


@pytest.mark.parametrize("preset", PRESETS)
def test_that_a_file_for_a_use_has_its_size_in_pixels(
    qapp: object,
    shown: tuple[Shown, Shown],
    provenance: Provenance,
    tmp_path: Path,
    preset: str,
) -> None:
    assert qapp is not None
    (as_svg, as_png), size = (tmp_path / "figure.svg", tmp_path / "figure.png"), PRESETS[preset]
    data, options = FigureData(shown), options_of(preset, "frames")

    write_file(data, provenance, options, as_png, FIGURE_FORMATS)
    write_file(data, provenance, options, as_svg, FIGURE_FORMATS)
    used = as_svg.read_text().partition("viewBox")[0]
    write_file(data, provenance, ExportOptions(), as_svg, FIGURE_FORMATS)

    image = QImage(str(as_png))
    assert (image.width(), image.height()) == (size.width, size.height)
    assert f'width="{size.width}" height="{size.height}"' in used
    assert 'width="720pt" height="' in as_svg.read_text()


def test_that_samples_are_drawn_over_time_only(
    shown: tuple[Shown, Shown], provenance: Provenance
) -> None:
    one, other = shown
    sampled = structs.replace(other.frames, samples="The log holds samples.")
    data = FigureData((one, other._replace(frames=sampled)))

    with pytest.raises(ExportError, match=r"after.csv: The log holds samples. Only the graph of"):
        figure(data, provenance, options_of("slide", "percentiles"))
    drawn = figure(data, provenance, options_of("slide", "frames"))
    assert "600 samples, mean 2" in drawn.description


def test_that_figures_say_their_numbers_to_those_who_cannot_see_them(
    qapp: object, shown: tuple[Shown, Shown], provenance: Provenance, tmp_path: Path
) -> None:
    assert qapp is not None
    options = options_of("slide", "distribution")
    data = FigureData(shown)

    for suffix in ("png", "svg"):
        write_file(data, provenance, options, tmp_path / f"a.{suffix}", FIGURE_FORMATS)

    said = "before.csv: 600 frames, P50 11.9 ms, P99 14.0 ms, longest "
    text = (tmp_path / "a.svg").read_text()
    assert "<title>before.csv and after.csv</title>" in text
    assert said in text.partition("<desc>")[2].partition("</desc>")[0]
    assert said in QImage(str(tmp_path / "a.png")).text("Description")


def _labels(picture: DisplayList, low: float, high: float) -> list[str]:
    found = [each for each in picture.texts() if low <= each.at.x < high and each.at.y > 100]
    return sorted(each.text for each in found if each.text[:1].isdigit())


@pytest.mark.parametrize("name", ["percentiles", "distribution", "l-shape"])
def test_that_charts_side_by_side_have_the_same_axes(
    shown: tuple[Shown, Shown], provenance: Provenance, name: FigureName
) -> None:
    picture = figure(FigureData(shown, True), provenance, options_of("slide", name))

    half = picture.width / 2
    left, right = _labels(picture, 0, half), _labels(picture, half, picture.width)
    assert [each for each in left if "longer" not in each] == [
        each for each in right if "longer" not in each
    ]
    names = [each.text for each in picture.texts() if each.is_bold]
    assert names == ["before.csv and after.csv", "before.csv", "after.csv"]


def _lines(items: tuple[Item, ...]) -> list[Polyline]:
    found: list[Polyline] = []
    for each in items:
        if isinstance(each, Group):
            found += _lines(each.items)
        elif isinstance(each, Polyline) and len(each.points) > 20:
            found.append(each)
    return found


def test_that_overlaid_captures_have_a_line_and_a_name_each(
    shown: tuple[Shown, Shown], provenance: Provenance
) -> None:
    for name in ("frames", "percentiles"):
        picture = figure(FigureData(shown), provenance, options_of("card", name))

        lines = _lines(picture.items)
        assert len({each.stroke.color for each in lines}) == 2
        texts = [each.text for each in picture.texts()]
        assert {"before.csv", "after.csv"} <= set(texts)


def test_that_more_columns_than_have_room_and_captures_without_frames_are_refused(
    shown: tuple[Shown, Shown], make_frames: MakeFrames, provenance: Provenance
) -> None:
    with pytest.raises(ExportError, match="frames of 2 captures side by side, not 4"):
        figure(FigureData((*shown, *shown), True), provenance, options_of("slide", "frames"))
    empty = Shown("empty.csv", make_frames([]), provenance)
    with pytest.raises(ExportError, match=r"empty\.csv has no frames"):
        figure(FigureData((shown[0], empty)), provenance, options_of("slide", "l-shape"))
