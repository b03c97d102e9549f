"""Duration of random tests."""

import os


def rounds(few: int) -> range:
    """Return the seeds to try: half of ``few``, the same every time, unless others are requested.

    The environment variable TIMELINE_INSPECTOR_FUZZ says how many times ``few``, and
    TIMELINE_INSPECTOR_FUZZ_FROM which is the first.
    """
    first = int(os.environ.get("TIMELINE_INSPECTOR_FUZZ_FROM", "0"))
    times = float(os.environ.get("TIMELINE_INSPECTOR_FUZZ", "0.5"))
    return range(first, first + max(1, round(few * times)))
