"""Windows of their own beside the main window, each made when it is first asked for."""
