"""Results of the refresh-rate lab as pictures and tables."""
