"""The places of panels: the arrangement, the side column, the tray and its tabs."""
