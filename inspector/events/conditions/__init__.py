"""Conditions on events, as breakpoints use them."""
