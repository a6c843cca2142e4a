"""Re-rankings that need the number of tables that found a document."""

WINDOWED = "window"
"""By the code, the documents that most tables found."""
COUNTED = "none"
"""By that number alone."""
COLLISION_RERANKS = (WINDOWED, COUNTED)
