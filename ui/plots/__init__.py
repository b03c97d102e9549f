"""What is drawn from long columns of numbers: frame times, their overview, their marks."""

from ..lean_imports import load_pyqtgraph

# Before any module in here imports it.
load_pyqtgraph()
