"""What a pause or a rate would do, shown before it is applied."""
