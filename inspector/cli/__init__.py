"""The commands of ``timeline-inspector`` that need no window; see :mod:`inspector.cli.main`."""
