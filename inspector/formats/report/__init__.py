"""Frame times as a report, in HTML and as PDF."""
