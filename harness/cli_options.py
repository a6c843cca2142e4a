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


def vector_options(command: Command) -> Command:
    """Where vectors come from, on a command that hashes them."""
    for option in reversed(_VECTORS):
        command = option(command)
    return command
