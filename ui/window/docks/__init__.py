"""Where panels are: side docks, the tabs below with their counts, and the middle."""
