"""The arrangement of frames and lanes on one time axis, laid out from plain data."""
