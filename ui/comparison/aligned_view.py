"""The frame times of several runs, aligned at their beginnings."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from typing_extensions import override

from inspector.formats.aligned_chart import AlignedRun, aligned_chart
from inspector.timebase import NS_PER_MS

from ..kit.guards import guarded
from ..plotting.chart_view import ChartView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QWidget

    from inspector.analysis.statistics.runs import ComparedRun
    from inspector.formats.display_list import Item

    from ..kit.theme import Theme


@guarded
class AlignedView(ChartView):
    """Shows runs in one plot or below each other, by time or by frame."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "Frame times of what is compared", parent)
        self._runs: tuple[AlignedRun, ...] = ()
        self._budgets_ms: tuple[float, ...] = ()
        self._is_stacked = self._by_frame = False
        self._items: Sequence[Item] | None = None

    def show_runs(self, runs: Sequence[ComparedRun], budgets_ms: Sequence[float]) -> None:
        """Show other runs."""
        self._runs = tuple(AlignedRun(each.name, each.times_ns) for each in runs)
        self._budgets_ms = tuple(budgets_ms)
        counts = ", ".join(f"{each.name}: {len(each.times_ns):,} frames" for each in runs)
        self.setAccessibleDescription(counts)
        self.forget_chart()

    def arrange(self, *, is_stacked: bool, by_frame: bool) -> None:
        """Show the runs below each other or in one plot, by frame or by time."""
        self._is_stacked, self._by_frame = is_stacked, by_frame
        self.forget_chart()

    @override
    def forget_chart(self) -> None:
        self._items = None
        super().forget_chart()

    @override
    def items(self) -> Sequence[Item]:
        if self._items is None:
            self._items = (
                ()
                if not self._runs
                else aligned_chart(
                    *(self._runs, self.box(), self._theme.name),
                    is_stacked=self._is_stacked,
                    by_frame=self._by_frame,
                    budgets_ms=self._budgets_ms,
                )
            )
        return self._items

    @override
    def rows(self) -> list[tuple[str, ...]]:
        columns = [[f"{each / NS_PER_MS:.6f}" for each in run.times_ns] for run in self._runs]
        numbered = enumerate(zip_longest(*columns, fillvalue=""))
        titles = ("frame", *(f"{run.name} (ms)" for run in self._runs))
        return [titles, *((str(number), *row) for number, row in numbered)]
