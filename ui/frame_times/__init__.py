"""The plot of frame times, its overview and its marks."""

from ..kit.lean_imports import load_pyqtgraph

# Before any module in here imports it.
load_pyqtgraph()
