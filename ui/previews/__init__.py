"""Previews of what a pause or a rate would do, before it is applied."""
