"""Entry of the probe into a Python program: at its start, later, and into its children."""
