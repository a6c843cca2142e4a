"""One family of fingerprints a module, found by its file name."""
