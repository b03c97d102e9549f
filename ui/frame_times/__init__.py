"""The plot of frame times, its overview and its marks."""
