"""Two or three texts side by side."""
