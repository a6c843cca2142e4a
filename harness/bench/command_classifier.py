"""`harness bench classifier`: parse, call, print."""

from __future__ import annotations

import click


@click.command("classifier", short_help="LSHBloom as what it is: a yes or no.")
@click.option("--corpus", metavar="NAME", default="catalogue", help="As for tune.")
@click.option("--fields", metavar="A,B", help="As for tune.")
@click.option("--threshold", metavar="J", type=float, default=0.8, help="In (0, 1) (0.8).")
@click.option(
    "--fp", metavar="P", type=float, default=0.01, help="Of each filter, 1e-9 to 0.5 (0.01)."
)
@click.option(
    "--num-perm", metavar="N", type=int, default=128, help="Rows of MinHash, by 64 (128)."
)
@click.option("--shingle-size", metavar="N", type=int, default=3, help="Characters (3).")
@click.option(
    "--seed",
    metavar="N",
    type=click.IntRange(0, 2**32 - 1),
    default=123,
    help="Of hashes and data (123).",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    corpus: str,
    fields: str | None,
    threshold: float,
    fp: float,
    num_perm: int,
    shingle_size: int,
    seed: int,
    as_json: bool,
) -> None:
    """Ask LSHBloom whether a corpus holds a near duplicate of each query.

    Truth is exact Jaccard of character shingles at or above --threshold; documents that are
    queries themselves are not inserted.
    """
    import orjson

    from harness.bench.classifier import classify, table
    from harness.collection import source

    joined = None if fields is None else tuple(part.strip() for part in fields.split(","))
    found = classify(
        source.open_corpus(corpus, joined, seed=seed),
        threshold,
        fp,
        num_perm=num_perm,
        shingle_size=shingle_size,
        seed=seed,
    )
    click.echo(orjson.dumps(found).decode() if as_json else table(found))
