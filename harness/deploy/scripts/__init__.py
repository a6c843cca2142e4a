"""Scripts that are copied into a deploy folder as they stand."""
