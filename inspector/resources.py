"""Finds the files in ``resources/``: icons, fonts, scenes and pages of help."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CANDIDATES = (_PACKAGE / "_resources", _PACKAGE.parent / "resources")


def resource_path(*parts: str) -> Path:
    """Return the path of a resource: ``resource_path("icons", "run.svg")``.

    A wheel has the resources inside the package; a checkout, also an editable installation, in the
    folder beside it.
    """
    root = next((folder for folder in _CANDIDATES if folder.is_dir()), _CANDIDATES[-1])
    return root.joinpath(*parts)
