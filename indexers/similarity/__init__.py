"""One similarity a module, found by its file name."""
