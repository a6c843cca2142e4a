"""Query load. Knows requests and latencies, never relevance."""
