"""What a session can be asked for, and how it is carried out."""
