"""Where panels are: the arrangement, the side column, the tray and its tabs."""
