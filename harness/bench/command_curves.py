"""`harness bench curves`: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

FILE = click.Path(path_type=Path)
COUNT = click.IntRange(1)
SEED = click.IntRange(0, 2**32 - 1)


@click.command("curves", short_help="Precision and recall by Hamming radius and by rank.")
@click.option("--codes", metavar="FILE", type=FILE, help=".npy (n, bits): 0/1, -1/1, or --packed.")
@click.option("--query-codes", metavar="FILE", type=FILE, help="Of the queries; else --split.")
@click.option(
    "--packed",
    is_flag=True,
    default=None,
    help="Each value is a byte of 8 bits, first bit highest.",
)
@click.option("--bits", metavar="B", type=int, help="Width of packed codes, or of families.")
@click.option("--labels", metavar="FILE", type=FILE, help="Equal labels are relevant: .npy, text.")
@click.option("--query-labels", metavar="FILE", type=FILE, help="Labels of the queries.")
@click.option("--judgments", metavar="FILE", type=FILE, help="Qrels by row number or --ids.")
@click.option("--ids", metavar="FILE", type=FILE, help="Document ids of --judgments, one a line.")
@click.option("--query-ids", metavar="FILE", type=FILE, help="Query ids of --judgments.")
@click.option("--relevant-from", metavar="LABEL", type=float, help="Least relevant label.")
@click.option("--neighbours", metavar="FILE", type=FILE, help=".npy (queries, K) of row numbers.")
@click.option("--vectors", metavar="FILE", help=".npy (n, D): tells who is near, or is hashed.")
@click.option("--query-vectors", metavar="FILE", help="Vectors of the queries.")
@click.option(
    "--rule",
    type=click.Choice(["ball", "neighbours"]),
    help="Near by --vectors: within Dball (default), or the --k nearest by cosine.",
)
@click.option("--k", metavar="K", type=COUNT, help="Neighbours a query (50).")
@click.option("--ball-rank", metavar="N", type=COUNT, help="Of the ball rule (50).")
@click.option("--split", metavar="X", type=float, help="Share or number of query points (0.1).")
@click.option("--corpus", metavar="NAME", help="As for tune; its texts are hashed by --family.")
@click.option("--fields", metavar="A,B", help="As for tune.")
@click.option("--family", metavar="A,B", help="Families with codes (all; with --vectors, one).")
@click.option(
    "--truth",
    type=click.Choice(["judgments", "neighbours", "vectors"]),
    help="Of a --corpus: judgments where it has them, else the --k nearest by exact Jaccard; "
    "or its vectors by --rule.",
)
@click.option("--model", metavar="NAME", help="Encoder of a --corpus without --vectors.")
@click.option("--pooling", metavar="HOW", help="Of the encoder: cls or mean.")
@click.option("--query-instruction", metavar="TEXT", help="Put before a query for the encoder.")
@click.option("--device", metavar="NAME", help="Of the encoder: cuda, mps, npu or cpu.")
@click.option("--seed", metavar="N", type=SEED, help="Of the split and of hashes (123).")
@click.option(
    "--empty",
    type=click.Choice(["zero", "skip"]),
    default="zero",
    help="Macro precision of an empty ball: 0 (default), or left out.",
)
@click.option(
    "--ties",
    type=click.Choice(["expected", "id"]),
    default="expected",
    help="Documents of one distance by rank: in expectation (default), or by id.",
)
@click.option("--out", metavar="DIR", type=FILE, help="Write curves.json, CSV and PNG there.")
@click.option("--json", "as_json", is_flag=True, help="Print the curves as JSON.")
def command(**flags: Any) -> None:
    """Precision, recall and retrieved share by Hamming radius 0 to B, and by rank.

    Of raw codes (--codes), of vectors hashed by a family (--vectors and --family), or of a
    corpus (--corpus) whose texts, or --vectors, are hashed. Without --query-codes, queries are
    drawn from the codes (--split). The radius includes its bound; micro pools pairs, macro
    averages queries; null in JSON is 0/0.
    """
    from harness.bench.curves.run import run

    run(**flags)
