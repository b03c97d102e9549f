"""Actions of the window, its menus, and the list of panels."""
