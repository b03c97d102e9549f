"""Qt item models over a timeline: raw values by role, text by need."""
