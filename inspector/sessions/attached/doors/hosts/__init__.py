"""Programs on other hosts and in containers, reached by a command that gives a pipe.

``host.py`` is the inspector's side. ``end_of_line.py`` is run there by that command and starts
``relay.py``, which outlives it; ``records.py`` is what both sides say to each other.
"""
