"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])

_VECTORS = (
    click.option(
        "--vectors",
        metavar="FILE[:COLUMN]",
        help=".npy in the order of the corpus file, or Parquet: a vector a document.",
    ),
    click.option("--query-vectors", metavar="FILE[:COLUMN]", help="The same for the queries."),
    click.option("--model", metavar="NAME", help="Encoder of the texts: a name or a folder."),
    click.option("--pooling", metavar="HOW", help="Of the encoder: cls (default) or mean."),
    click.option("--query-instruction", metavar="TEXT", help="Put before each query's text."),
    click.option("--max-length", metavar="N", help="Tokens of a text that are encoded (512)."),
    click.option("--batch-size", metavar="N", help="Texts encoded at a time."),
    click.option("--device", metavar="NAME", help="cuda, mps, npu or cpu (the first there is)."),
)

_KEEPING = (
    click.option("--shards", metavar="SIZES", help="Engines: primary shards (1)."),
    click.option("--replicas", metavar="SIZES", help="Engines: copies of each shard (0)."),
    click.option("--codec", metavar="A,B", help="Engines: codec of stored fields."),
    click.option("--refresh-interval", metavar="A,B", help="Engines: -1 (until built) or 1s."),
    click.option("--translog", metavar="A,B", help="Engines: async (default) or request."),
    click.option("--segments", metavar="SIZES", help="Engines: merged to (1); 0: as they came."),
)
_ASKING = (
    click.option("--vector-type", metavar="A,B", help="bit, float, byte, int8, int4, bbq (float)."),
    click.option("--knn-engine", metavar="A,B", help="OpenSearch hnsw: lucene (default), faiss."),
    click.option("--window-size", metavar="SIZES", help="Candidates of --rerank window (100)."),
    click.option("--fetch", metavar="A,B", help="Answers as ids (default), source, or both."),
    click.option("--replay", metavar="HOW", help="unique (default), zipf or zipf:S."),
    click.option("--indexing-rate", metavar="N", help="Documents indexed a second meanwhile."),
    click.option(
        "--patience", metavar="S", help="Engines: seconds to wait for one that dies (120)."
    ),
    click.option(
        "--filter",
        metavar="FIELD=…",
        multiple=True,
        help="Answers must pass: FIELD=VALUE, FIELD=LOW..HIGH, FIELD=SHARE% or none. Repeatable.",
    ),
)


_ACCESS = (
    click.option("--opensearch-url", metavar="URL", help="Also HARNESS_OPENSEARCH_URL."),
    click.option("--elasticsearch-url", metavar="URL", help="Also HARNESS_ELASTICSEARCH_URL."),
    click.option("--opensearch-ca", metavar="FILE", help="PEM of its authority (the system's)."),
    click.option("--elasticsearch-ca", metavar="FILE", help="PEM of its authority (the system's)."),
    click.option(
        "--credentials",
        metavar="FILE",
        help="YAML, chmod 600: user, password, api_key, … an engine. Also HARNESS_CREDENTIALS.",
    ),
    click.option(
        "--no-verify-tls",
        "verify_tls",
        flag_value=False,
        type=bool,
        default=None,
        help="Trust any certificate: what is sent can be read and changed on the way.",
    ),
)


def access_options(command: Command) -> Command:
    """Where the engines are, and what opens them (`harness.access`)."""
    for option in reversed(_ACCESS):
        command = option(command)
    return command


_EXISTING = (
    click.option(
        "--index", metavar="NAME", help="Read the corpus from this index, ENGINE:NAME or NAME."
    ),
    click.option("--text-field", metavar="A,B", help="Of --index: fields joined into the text."),
    click.option("--id-field", metavar="NAME", help="Of --index and --attach: the id (_id)."),
    click.option("--queries", metavar="FILE", help="Of --index: JSONL of _id and text (drawn)."),
    click.option("--judgments", metavar="FILE", help="Of --queries: TSV as BEIR's, or qrels."),
    click.option(
        "--attach",
        metavar="NAME",
        help="Measure this index, too, as it is (with --kind attached alone).",
    ),
    click.option(
        "--body",
        metavar="FILE",
        multiple=True,
        help="Of --attach: a search body with {{text}} in it, a row each. Repeatable.",
    ),
)


def index_options(command: Command) -> Command:
    """Indices that are there already."""
    for option in reversed(_EXISTING):
        command = option(command)
    return command


def engine_options(command: Command) -> Command:
    """How an engine's index is kept and asked."""
    for option in reversed((*_KEEPING, *_ASKING)):
        command = option(command)
    return command


def vector_options(command: Command) -> Command:
    """Where vectors come from, on a command that hashes them."""
    for option in reversed(_VECTORS):
        command = option(command)
    return command
