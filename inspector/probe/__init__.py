"""What runs inside the program that is inspected, where it is imported as ``timeline_probe``.

It needs the standard library of Python 3.9 or newer and nothing else, and imports nothing of the
inspector outside of this folder.
"""

from __future__ import annotations
