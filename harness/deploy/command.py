"""What the scripts of a deploy folder share: their options, and one line for what goes wrong."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.deploy.deployment import Deployment
from harness.deploy.files import read_queries
from indexers.errors import HarnessError
from indexers.index_types import Queries, SearchParams


@contextmanager
def plainly() -> Iterator[None]:
    """End the process with one line where something cannot be done."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:  # whoever reads has enough, and the end has nothing to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(128 + signal.SIGPIPE)
    except HarnessError as error:
        sys.exit(f"{Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def engine_options(parser: argparse.ArgumentParser) -> None:
    """Which index of which server."""
    parser.add_argument("--url", help="of the server, without credentials")
    parser.add_argument("--index", required=True, help="name of the index")


def folder_option(parser: argparse.ArgumentParser) -> None:
    """Which folder."""
    parser.add_argument("--folder", type=Path, default=Path("index"), help="of the index (index)")


def ingest_options(parser: argparse.ArgumentParser) -> None:
    """What is indexed."""
    parser.add_argument("--vectors", help=".npy in the order of the documents, or Parquet with ids")
    parser.add_argument("--model", help="folder of the model that makes the vectors")
    parser.add_argument("documents", type=Path, help='JSON lines: {"_id": "1", "text": "…"}')


def query_options(parser: argparse.ArgumentParser) -> None:
    """What is asked, and how answers are shown."""
    parser.add_argument("--queries", type=Path, help='JSON lines: {"_id": "1", "text": "…"}')
    parser.add_argument("--vectors", help="of the queries, in their order")
    parser.add_argument("--model", help="folder of the model that makes the vectors")
    parser.add_argument("--k", type=int, help="answers to each; those of the study by default")
    parser.add_argument("--filter", help="FIELD=VALUE, FIELD=LOW..HIGH or none")
    parser.add_argument("--json", action="store_true", help="one JSON object a query")
    parser.add_argument("text", nargs="?", help="one query")


def query_arguments(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """The arguments of a query script: either one text or a file of queries."""
    given = parser.parse_args()
    if (given.text is None) == (given.queries is None):
        parser.error("give one text, or --queries FILE")
    return given


def asked(
    deployment: Deployment, given: argparse.Namespace
) -> tuple[list[str], Queries, SearchParams]:
    """Ids of the queries, the queries, and how they are searched.

    Raises:
        InputError: queries, vectors or an option cannot be used.
    """
    ids, texts = read_queries(given.queries) if given.queries else (["query"], [given.text])
    queries = deployment.queries(texts, given.vectors)
    return ids, queries, deployment.search(given.k, given.filter)
