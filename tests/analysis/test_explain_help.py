"""What the help about explanations and findings says can be done."""

import re
import shlex

from inspector.analysis.lint.rules import kinds
from inspector.cli.commands.explain import EXPLAIN_EPILOG, LINT_EPILOG
from inspector.cli.main import build_parser
from inspector.resources import resource_path

PAGE = resource_path("help", "explain.md").read_text(encoding="utf-8")


def test_that_every_command_of_the_help_is_understood() -> None:
    text = PAGE + EXPLAIN_EPILOG + LINT_EPILOG
    commands = re.findall(r"^ *(timeline-inspector (?:explain|lint).*)$", text, re.MULTILINE)

    assert len(commands) >= 9
    for command in commands:
        options = build_parser().parse_args(shlex.split(command)[1:])
        assert options.command in {"explain", "lint"}


def test_that_every_kind_of_finding_is_described_in_the_help_and_on_the_command_line() -> None:
    for kind in kinds():
        assert f"| {kind.name} |" in PAGE
        assert f"\n  {kind.name} " in LINT_EPILOG
        assert kind.summary.endswith(".")
