"""`harness bench pair`: parse, call, print."""

from __future__ import annotations

from typing import Any

import click


@click.command("pair", short_help="Two or three texts: every fingerprint and similarity.")
@click.argument("texts", nargs=-1, metavar="A B [C]")
@click.option("--file", "files", is_flag=True, help="A, B and C are files; - is standard input.")
@click.option("--family", metavar="A,B", help="Families (all).")
@click.option("--model", metavar="NAME", help="Encoder, for the embedding families.")
@click.option("--pooling", metavar="HOW", default="cls", help="Of the encoder: cls or mean (cls).")
@click.option("--device", metavar="NAME", help="Of the encoder: cuda, mps, npu or cpu.")
@click.option("--bits", metavar="N", type=int, help="Of codes and signatures (each family's own).")
@click.option("--unit", metavar="U", help="Shingles of: char or word (char).")
@click.option("--shingle-size", metavar="N", type=int, help="Units a shingle, 1 to 7 (3).")
@click.option("--window", metavar="N", type=int, help="Hashes a Winnowing window spans (5).")
@click.option("--seed", metavar="N", type=int, help="Of hashes (123; flyhash 55).")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    texts: tuple[str, ...],
    files: bool,
    family: str | None,
    model: str | None,
    pooling: str,
    device: str | None,
    as_json: bool,
    **hashing: Any,
) -> None:
    """Print every family's fingerprint of two or three texts and every similarity that fits.

    A text that leaves nothing to hash has a status in place of a similarity, never a score.
    hamming, levenshtein and manhattan are 1/(1+distance); mahalanobis is an exponent, 0 or less;
    the others are 0 to 1, cosine of vectors -1 to 1. Levenshtein compares texts of at most 20,000
    hashes, as its time grows with the product of two lengths.
    """
    import sys

    import orjson

    from harness.bench.pair.compare import compare, read_texts
    from harness.bench.pair.table import table
    from indexers.encoder import EncoderParams

    stdin = sys.stdin.buffer.read() if files and "-" in texts else None
    found = compare(
        read_texts(texts, files=files, stdin=stdin),
        families=[name.strip() for name in family.split(",")] if family else (),
        encoder=None if model is None else EncoderParams(model, pooling, device=device),
        **hashing,
    )
    click.echo(orjson.dumps(found).decode() if as_json else table(found))
