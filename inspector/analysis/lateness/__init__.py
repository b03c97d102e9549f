"""Causes of late calls: samples of the loops, and the shares of each lateness."""
