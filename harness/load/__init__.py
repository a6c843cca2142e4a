"""Load on one setting of a study, or on an index that someone else built."""
