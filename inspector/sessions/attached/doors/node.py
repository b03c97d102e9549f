"""Enter Node programs: by an option that Node reads from the environment as it starts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

#: The probe for Node and for pages.
PROBE_JS: Final = Path(__file__).resolve().parents[3] / "probe" / "js" / "probe.js"


def node_options(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variable by which Node loads the probe, beside the options that are there."""
    # Node takes a part in double quotes as one option, and knows no other quotes.
    path = str(PROBE_JS).replace("\\", "\\\\").replace('"', '\\"')
    ours = f'--require "{path}"'
    given = environment.get("NODE_OPTIONS", "")
    return {"NODE_OPTIONS": given if ours in given else f"{given} {ours}".strip()}
