"""Duration of random tests."""

import os


def rounds(few: int) -> range:
    """Return the seeds to try: ``few``, the same every time, unless more are requested.

    The environment variable TIMELINE_INSPECTOR_FUZZ says how many times as many.
    """
    return range(round(few * float(os.environ.get("TIMELINE_INSPECTOR_FUZZ", "1"))))
