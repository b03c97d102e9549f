"""Starts the bundled inspector, or one of its own helper processes.

The inspector starts further processes of itself by ``sys.executable``, which is this program here;
so what it uses of an interpreter's command line for that is understood: options, then ``-c``,
``-m inspector`` or a file.
"""

import runpy
import sys

_OPTIONS = {"-I", "-P", "-S"}


def main() -> int:
    """Run what the arguments ask for; return the exit code."""
    arguments = sys.argv[1:]
    is_helper = arguments[:1] == ["-c"] or arguments[:1] == ["-ISc"]
    while arguments[:1] and arguments[0] in _OPTIONS:
        del arguments[0]
        is_helper = True
    if not is_helper or arguments[:2] == ["-m", "inspector"]:
        from inspector.launcher import main as launch  # noqa: PLC0415 - helpers start without it

        return launch(arguments[2:] if is_helper else arguments)
    sys.argv = arguments
    if arguments[0].endswith("c") and arguments[0].startswith("-"):
        sys.argv = ["-c", *arguments[2:]]
        exec(arguments[1], {"__name__": "__main__"})  # noqa: S102 - our own program
    else:
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
