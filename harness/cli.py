"""The command line: parse, call, print."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

import click

from harness import __version__
from harness.bench.commands import bench
from harness.cleaning_command import clean
from harness.cli_options import access_options, engine_options, index_options, vector_options
from harness.engine.commands import engine
from harness.load.command import load
from indexers.address import masked
from indexers.errors import (
    EngineUnavailable,
    HarnessError,
    InputError,
    MissingPackage,
    SettingError,
)

INTERRUPTED = 130
USAGE = 2
BROKEN = 1


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Tunes nearest-neighbour search by hash fingerprints against a latency limit."""


@cli.command()
@click.option("--sla-ms", metavar="MS", help="Latency limit in milliseconds.")
@click.option("--sla-stat", metavar="STAT", help="p99 (default), p95, p90, p50 or mean.")
@click.option("--objective", metavar="MEASURE", help="Such as nDCG, R, AP or ANNRecall.")
@click.option("--tolerance", metavar="X", help="Objectives this close are equal (0.005).")
@click.option("--rate", metavar="N", help="Requests a second: 1,000 in process, 100 on engines.")
@click.option("--users", metavar="N", help="Users of the closed-loop burst (4).")
@click.option("--samples", metavar="N", help="Requests measured in a trial (1,000).")
@click.option("--thorough", is_flag=True, help="Measure 10,000 requests in a trial.")
@click.option("--cutoff", metavar="K", help="Answers asked for and judged (10).")
@click.option("--relevant-from", metavar="LABEL", help="Least label that counts as relevant.")
@click.option(
    "--corpus", metavar="NAME", help="catalogue:N, a BEIR folder or a JSONL file (catalogue:20000)."
)
@click.option("--fields", metavar="A,B", help="Fields joined into a document's text (title,text).")
@click.option(
    "--backend",
    metavar="A,B",
    help="tables, faiss, hnswlib, opensearch, elasticsearch, exact (tables,faiss).",
)
@click.option(
    "--family",
    metavar="A,B",
    help="simhash, minhash (both), winnowing, fuzzyhash, flyhash; over vectors: lsh, bihash, "
    "lshash, bge.",
)
@click.option(
    "--kind",
    metavar="A,B",
    help="lsh, flat, multihash, hnsw, tokens, bm25, more_like_this, min_hash (all; hnsw only where "
    "a backend has no other).",
)
@click.option("--num-tables", metavar="SIZES", multiple=True, help="5,20 or minhash=5,20.")
@click.option("--hash-length", metavar="SIZES", multiple=True, help="8,12 or minhash=2,4.")
@click.option("--bits", metavar="SIZES", multiple=True, help="Width of the code: 128,256.")
@click.option("--shingle-size", metavar="SIZES", multiple=True, help="Units a shingle (3).")
@click.option("--unit", metavar="UNIT", help="Of shingles: char (default) or word.")
@click.option("--weighting", metavar="HOW", help="Of shingles: tf (default) or idf.")
@click.option("--window", metavar="SIZES", multiple=True, help="Of winnowing (5).")
@click.option("--m", metavar="SIZES", multiple=True, help="hnsw: links of a node (16).")
@click.option(
    "--ef-construction", metavar="SIZES", multiple=True, help="hnsw: candidates in building (200)."
)
@click.option(
    "--ef-search",
    metavar="SIZES",
    multiple=True,
    help="hnsw: candidates in searching (32,64,128,256); raised to the cut-off.",
)
@click.option(
    "--rerank", metavar="A,B", help="exact (default), signature; on engines window, none."
)
@click.option("--reference", metavar="NAME", help="Similarity of the neighbours: jaccard, cosine.")
@vector_options
@engine_options
@index_options
@click.option("--build", metavar="HOW", help="shared (default) or per-setting.")
@click.option("--seed", metavar="N", help="Seed of hashes, generated data and load (123).")
@access_options
@click.option("--config", type=click.Path(path_type=Path), help="YAML study; flags win over it.")
@click.option("--out", metavar="DIR", help="Folder (reports/<study>).")
@click.option("--fresh", is_flag=True, help="Measure everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Print summary.json.")
@click.pass_context
def tune(
    context: click.Context, /, config: Path | None, fresh: bool, as_json: bool, **flags: Any
) -> None:
    """Sweep settings, measure quality and latency under load, and pick the best within the SLA.

    The same command resumes a study that was interrupted; another --sla-ms picks again from
    what was measured.
    """
    from harness.config_sources import study_config
    from harness.progress import Progress
    from harness.report.terminal import show
    from harness.tuning.study import tune as run_study
    from harness.tuning.summary import failures

    flags["thorough"] = flags["thorough"] or None
    study = study_config(flags, config)
    outcome = run_study(study, command=_command(), fresh=fresh, progress=Progress())
    failed = tuple(failures(outcome.summary))
    show(outcome.summary, outcome.folder, failed, as_json=as_json)
    context.exit(outcome.exit_code)


@cli.command()
@click.option("--corpus", metavar="NAME", default="catalogue", help="As for tune.")
@click.option("--fields", metavar="A,B", help="As for tune.")
@click.option("--min-similarity", metavar="J", type=float, default=0.5, help="In (0, 1] (0.5).")
def truth(corpus: str, fields: str | None, min_similarity: float) -> None:
    """Print the pairs at or above an exact Jaccard, beside their labels.

    Tab-separated query, document, similarity and label; a judged pair below the minimum has no
    similarity.
    """
    from harness.collection import source
    from harness.collection.pairs import judged_pairs

    joined = None if fields is None else tuple(part.strip() for part in fields.split(","))
    pairs = judged_pairs(source.open_corpus(corpus, joined), min_similarity)
    first = next(pairs, None)  # faults come before anything is printed
    click.echo("query-id\tcorpus-id\tjaccard\tlabel")
    for pair in () if first is None else (first, *pairs):
        similarity = "" if pair.similarity is None else f"{pair.similarity:.6f}"
        label = "" if pair.label is None else f"{pair.label:g}"
        click.echo(f"{pair.query_id}\t{pair.document_id}\t{similarity}\t{label}")


for _command_of in (bench, clean, engine, load):
    cli.add_command(_command_of)


def _command() -> str:
    """The command line as it may be printed."""
    return masked(shlex.join(["harness", *sys.argv[1:]]))


def main() -> NoReturn:
    """Entry point: every error is one line and an exit code."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        code = cli.main(standalone_mode=False)
        code = code if isinstance(code, int) else 0
    except click.ClickException as error:
        code = _tell(error.format_message(), USAGE)
    except (KeyboardInterrupt, click.Abort):
        code = _tell(_interrupted(), INTERRUPTED)
    except SettingError as error:
        for problem in error.problems:
            _tell(problem, USAGE)
        code = USAGE
    except (InputError, EngineUnavailable, MissingPackage) as error:
        code = _tell(str(error), USAGE)
    except HarnessError as error:
        code = _tell(str(error), BROKEN)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = BROKEN
    except Exception as error:
        if os.environ.get("HARNESS_DEBUG"):
            raise
        what = f"{type(error).__name__}: {error}".splitlines()[0]
        code = _tell(f"internal error ({what}); HARNESS_DEBUG=1 shows where", BROKEN)
    sys.exit(code)


def _interrupted() -> str:
    if "tune" not in sys.argv[1:2]:
        return "interrupted"
    if "--fresh" in sys.argv:
        return "interrupted; the same command without --fresh goes on where it stopped"
    return "interrupted; the same command goes on where it stopped"


def _as_interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt


def _tell(line: str, code: int) -> int:
    click.echo(f"harness: {line}", err=True)
    return code
