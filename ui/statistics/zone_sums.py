"""The sums of zones that Tracy writes without instants, as a table in a window of its own."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from operator import attrgetter
from pathlib import Path
from typing import Final

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QWidget
from typing_extensions import override

from inspector.display_text import as_plain, one_line
from inspector.formats.captures.tracy_csv import ZoneSums, zone_sums
from inspector.timebase import format_duration

from ..kit.layouts import button_box, fill
from ..kit.table.columns import Column, ColumnEnum
from ..kit.table.models import ListTableModel
from ..kit.table.table_panel import TablePanel
from ..kit.table.table_view import TableView
from ..kit.theme import Theme

_ABOUT: Final = (
    "Sums by tracy-csvexport, without instants: there is nothing to show over time. For a "
    "timeline, export with -u for each zone, -g for those of the GPU, or -m for messages."
)
_column = Column[ZoneSums]


def _name(row: ZoneSums) -> str:
    return f"{one_line(row.name)}\n{one_line(row.place)}"


class ZoneColumn(ColumnEnum):
    # fmt: off
    ZONE = _column("Zone", lambda row: one_line(row.name), "Name of the zone", _name,
                   sample="renderer::draw_everything", is_searched=True)
    CALLS = _column("Calls", lambda row: f"{row.calls:,}", "How often it was entered", _name,
                    lambda row: row.calls, "1,000,000", is_number=True)
    TOTAL = _column("Total", lambda row: format_duration(row.total_ns), "Time in all calls",
                    _name, lambda row: row.total_ns, "00:00:00.000", is_number=True)
    SHARE = _column("Share", lambda row: f"{row.share:.2f} %", "Of the time of the capture",
                    _name, lambda row: row.share, "100.00 %", is_number=True)
    MEAN = _column("Mean", lambda row: format_duration(row.mean_ns), "Mean of a call", _name,
                   lambda row: row.mean_ns, "999.9 µs", is_number=True)
    LEAST = _column("Shortest", lambda row: format_duration(row.min_ns), "The shortest call",
                    _name, lambda row: row.min_ns, "999.9 µs", is_number=True)
    MOST = _column("Longest", lambda row: format_duration(row.max_ns), "The longest call", _name,
                   lambda row: row.max_ns, "999.9 µs", is_number=True)
    DEVIATION = _column("Deviation", lambda row: format_duration(round(row.deviation_ns)),
                        "Standard deviation of the calls", _name, lambda row: row.deviation_ns,
                        "999.9 µs", is_number=True)
    PLACE = _column("Place", lambda row: one_line(row.place), "File and line", _name,
                    sample="source/render.cpp:1000", is_searched=True, yields=1)
    # fmt: on


class ZoneTable(TablePanel):
    def __init__(self, choices: MutableMapping[str, str], theme: Theme, parent: QWidget) -> None:
        key = attrgetter("name", "place")
        self.model = ListTableModel[ZoneSums](ZoneColumn, theme, key, is_sortable=True)
        view = TableView(self.model, "Sums of zones", choices)
        super().__init__(view, theme, parent, filter_hint="Filter zones")
        self.lay_out()

    def set_zones(self, zones: Iterable[ZoneSums]) -> None:
        self.model.set_rows(zones)
        self.update_counts()

    @override
    def why_empty(self) -> str:
        return "There are no zones."


class ZoneSumsWindow(QDialog):
    """Shows the sums of a file beside what is open."""

    def __init__(
        self, path: Path, choices: MutableMapping[str, str], theme: Theme, parent: QWidget
    ) -> None:
        """Read a file; raises InspectorError if it cannot be read."""
        zones, notes = zone_sums(path) or ([], ())
        super().__init__(parent)
        self.setObjectName("zone_sums")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(f"Sums of zones – {one_line(path.name)}")
        about = QLabel(as_plain(" ".join((_ABOUT, *notes))))
        about.setWordWrap(True)
        self.table = ZoneTable(choices, theme, self)
        self.table.set_zones(zones)
        buttons = button_box(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.close)
        fill(self, about, (self.table, 1), buttons, spacing=6)
        self.setContentsMargins(8, 8, 8, 8)
        self.resize(1060, 560)
