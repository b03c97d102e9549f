"""``python -m inspector`` is the command ``timeline-inspector``."""

import sys

from inspector.launcher import main

if __name__ == "__main__":
    sys.exit(main())
