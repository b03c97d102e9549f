"""The commands of ``timeline-inspector`` that need no window; :mod:`inspector.cli.main` finds them.

Each reads its arguments, does its work with what :mod:`inspector.sessions` offers, prints what
came of it and returns an exit code.
"""
