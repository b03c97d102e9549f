"""The contents of help: every page with its title."""

from __future__ import annotations

from typing import Final, NamedTuple


class PageEntry(NamedTuple):
    name: str  # Its file in resources/help, without the suffix
    title: str  # Its title there, so that the contents can be shown before any page is read


# fmt: off
CONTENTS: Final[tuple[tuple[str, tuple[PageEntry, ...]], ...]] = (
    ("First steps", (
        PageEntry("getting-started", "Getting started"),
        PageEntry("window", "The window"),
        PageEntry("explain", "Diagnosing timers"),
        PageEntry("late", "Why late"),
        PageEntry("tasks", "Tasks"),
        PageEntry("words", "Glossary"),
    )),
    ("Scenes", (
        PageEntry("scenes", "Writing scenes"),
        PageEntry("schedulers", "Schedulers"),
        PageEntry("components", "Components"),
        PageEntry("tickers", "Tickers"),
        PageEntry("loops", "Fixed-rate loops"),
        PageEntry("state-machines", "State machines"),
        PageEntry("lab", "Refresh-rate lab"),
    )),
    ("Stopping and looking back", (
        PageEntry("breakpoints", "Breakpoints"),
        PageEntry("recordings", "Recordings"),
        PageEntry("events", "Events"),
    )),
    ("Your own programs", (
        PageEntry("attach", "Attaching to programs"),
        PageEntry("attach-launching", "Launching a program with the probe inside"),
        PageEntry("attach-hosts", "Programs on other hosts and in containers"),
        PageEntry("attach-late", "Attaching to a program that runs"),
        PageEntry("attach-serving", "A call in the program"),
        PageEntry("attach-javascript", "JavaScript: Node and pages"),
        PageEntry("embedding", "Embedding the clocks"),
        PageEntry("libraries", "Libraries"),
    )),
    ("Measurements", (
        PageEntry("captures", "Captures of other programs"),
        PageEntry("statistics", "Statistics and comparisons"),
        PageEntry("exporting", "Exporting"),
    )),
    ("Reference", (
        PageEntry("remote", "By remote"),
        PageEntry("testing", "Tests in virtual time"),
        PageEntry("extending", "Extending"),
        PageEntry("architecture", "How it works inside"),
        PageEntry("protocol", "Protocol"),
    )),
)
# fmt: on

#: The page that describes the panels, each in a section of its title.
WINDOW_PAGE: Final = "window"
