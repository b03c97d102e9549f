"""What is drawn from long columns of numbers: frame times, their overview, their marks."""
