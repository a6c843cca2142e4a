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
        "--filter",
        metavar="FIELD=…",
        multiple=True,
        help="Answers must pass: FIELD=VALUE, FIELD=LOW..HIGH or FIELD=SHARE%. Repeatable.",
    ),
)


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
