"""Statistics of frames: their distribution, and what each tool makes of them."""
