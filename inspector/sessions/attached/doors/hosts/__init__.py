"""Programs on other hosts and in containers, reached by a command that gives a pipe.

``host.py`` and ``line.py`` are the inspector's side. On the other host, the command runs
``end_of_line.py``, which starts ``relay.py`` and may end before it. ``records.py`` is the protocol
between both sides.
"""
