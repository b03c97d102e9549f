"""What made calls late: samples of the loops, and the shares of each lateness."""
