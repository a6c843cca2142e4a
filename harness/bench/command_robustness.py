"""`harness bench robustness`: parse, call, print."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

SMALL = "catalogue:2000"


@click.command("robustness", short_help="How near changed texts stay to their originals.")
@click.option("--corpus", metavar="NAME", default=SMALL, help=f"As for tune ({SMALL}).")
@click.option("--fields", metavar="A,B", help="As for tune.")
@click.option("--sample", metavar="N", type=int, default=200, help="Documents changed (200).")
@click.option("--perturbation", metavar="A,B", default="all", help="By name, or all (default).")
@click.option("--family", metavar="A,B", default="all", help="Families, or all (default).")
@click.option("--similarity", metavar="A,B", help="Similarities (each family's own).")
@click.option("--model", metavar="NAME", help="Encoder, for the embedding families.")
@click.option("--pooling", metavar="HOW", help="Of the encoder: cls or mean.")
@click.option("--max-length", metavar="N", type=int, help="Tokens of a text that are encoded.")
@click.option("--batch-size", metavar="N", type=int, help="Texts the encoder takes at once.")
@click.option("--device", metavar="NAME", help="Of the encoder: cuda, mps, npu or cpu.")
@click.option("--bits", metavar="N", type=int, help="Of codes and signatures (each family's own).")
@click.option("--unit", metavar="U", help="Shingles of: word or char (each family's default).")
@click.option("--shingle-size", metavar="N", type=int, help="Units a shingle, 1 to 7.")
@click.option("--weighting", metavar="W", help="Of shingles: tf or idf.")
@click.option("--window", metavar="N", type=int, help="Hashes a Winnowing window spans.")
@click.option("--seed", metavar="N", type=int, help="Of sample, changes, hashes (123; flyhash 55).")
@click.option("--out", metavar="DIR", type=click.Path(path_type=Path), help="JSON, CSV and plots.")
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def command(sample: int, perturbation: str, as_json: bool, **flags: Any) -> None:
    """Change documents and look how near they stay: similarity to the original, and its rank.

    Texts are shortened by 20 to 80 % (extract: the most central sentences stay; drop-sentences;
    drop-words) and changed in other ways (typos, reorder-sentences, reorder-words, case,
    punctuation, nfc, nfd, nfkc, full-width). The rank is that among all documents of the corpus,
    in expectation over ties.

    Codes are told by the share of their bits that are equal, so that they can be read beside the
    others: two codes that have nothing to do with each other share about half of their bits, and
    sparse ones (flyhash) nearly all. The JSON keeps the mean of 1/(1+distance) beside it. Of the
    other similarities, levenshtein and manhattan are 1/(1+distance), mahalanobis is an exponent,
    0 or less, the rest are 0 to 1, cosine of vectors -1 to 1.
    """
    from harness.bench.config import bench_config
    from harness.bench.robustness.measure import measure
    from harness.bench.robustness.table import lines
    from harness.progress import Progress

    progress = Progress()
    names = [name.strip() for name in perturbation.split(",") if name.strip()]
    found = measure(bench_config(flags), names, sample, progress)
    if (out := flags["out"]) is not None:
        from harness.bench.robustness.write import write

        write(found, out)
        progress.say(f"written: {out}")
    if as_json:
        import orjson

        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        for line in lines(found):
            click.echo(line)
