"""How the probe gets into a Python program: at its start, later, and into its children."""
