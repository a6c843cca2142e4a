"""The search engines as they call themselves."""

FLAVOURS = {"opensearch": "OpenSearch", "elasticsearch": "Elasticsearch"}
"""Backend -> name of the server."""
