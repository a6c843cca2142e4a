"""The sweep, its trials and the pick."""
