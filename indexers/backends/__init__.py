"""One backend a module, found by its file name."""
