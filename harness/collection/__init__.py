"""Documents, queries and what is known to be relevant."""
