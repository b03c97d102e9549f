"""Help: its pages, and the window that shows them."""
