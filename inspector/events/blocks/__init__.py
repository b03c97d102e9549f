"""Many events at once, as columns of numbers: packing, folding and collecting them."""
