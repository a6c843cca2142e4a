"""Quality measures over one matrix of answers."""
