"""Loads the probe as a program starts, then the ``sitecustomize`` that this one hides.

Python runs it at startup because its folder is first on PYTHONPATH. Children of the program
may be run by any Python, so it has no syntax newer than Python 2.7.
"""

import os
import sys

_FOLDER = os.path.dirname(os.path.abspath(__file__))

# The program's path is as it would be without us.
_OTHERS = [each for each in sys.path if os.path.abspath(each) != _FOLDER]

_IS_NEW_ENOUGH = sys.version_info >= (3, 9)

if "TIMELINE_PROBE_CONNECT" in os.environ:
    try:
        if _IS_NEW_ENOUGH:
            start = __import__("timeline_probe_start")
            sys.path[:] = _OTHERS
            start.from_environment()
        else:
            __import__("too_old").report_unable()
    except Exception as error:
        sys.stderr.write("timeline probe: not loaded, the program runs without it: %r\n" % (error,))

sys.path[:] = _OTHERS
if __name__ == "sitecustomize":
    # If no other is there, ``site`` passes over the ImportError, as it always does.
    del sys.modules["sitecustomize"]
    __import__("sitecustomize")
