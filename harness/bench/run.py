"""One comparison from its flags to its output."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import click
import numpy as np

from harness.bench.choices import Choice, choices
from harness.bench.compare import Compared, Sides, compare, default_variant
from harness.bench.config import BenchConfig, bench_config
from harness.bench.document import document
from harness.bench.grid import Cell, grid
from harness.bench.hashing import SEED
from harness.bench.rows import Row, rows
from harness.bench.scoring import Task
from harness.bench.table import lines
from harness.bench.write import made, write
from harness.collection.facets import open_pools
from harness.collection.pools import Pools
from harness.collection.types import Corpus, Judgments
from harness.measures.pooled import CUTOFFS
from harness.measures.relevance import default_relevant_from
from harness.progress import Progress, duration
from indexers import registry
from indexers.errors import SettingError


def run(*, command: str, as_json: bool, **flags: Any) -> None:
    """Compare, print, and write what was asked for.

    Args:
        command: the command line as it may be printed.
        as_json: print the JSON object instead of the table.
        flags: of `bench_config`.

    Raises:
        SettingError: a flag, or what fits together, with every problem found.
        CorpusError: documents or queries cannot be used.
        JudgmentsError: judgments cannot be used.
    """
    config = bench_config(flags)
    progress = Progress()
    found = measure(config, progress, command)
    if config.out is not None:
        from harness.bench.page import render

        write(found, render(found), config.out)
        progress.say(f"written: {config.out}")
    if as_json:
        import orjson

        click.echo(orjson.dumps(found, option=orjson.OPT_INDENT_2).decode())
    else:
        for line in lines(found):
            click.echo(line)


def measure(config: BenchConfig, progress: Progress, command: str = "") -> dict[str, Any]:
    """The comparison as its JSON object.

    Args:
        config: what is compared.
        progress: told how far it is.
        command: the command line as it may be printed.

    Raises:
        SettingError, CorpusError, JudgmentsError: as `run`.
    """
    chosen, left_out = choices(config)
    assert config.corpus is not None
    seed = SEED if config.seed is None else config.seed
    pools = open_pools(config.corpus, config.fields, seed=seed)
    task = _task(config, pools)
    if config.out is not None:
        made(config.out)  # before anything is measured for nothing
    sides = _sides(config, pools.corpus, progress)
    compared = _compared(task, chosen, sides, config, left_out, progress)
    found: list[Row] = []
    for one in compared:
        found += rows(task, one, seed=seed, resamples=config.resamples)
    cells: list[Cell] = []
    if config.grid:
        sized = [one.family for one in compared if registry.family(one.family).max_num_tables]
        for name in _counted(sized, "grids", progress):
            cells += grid(task, config, name, sides)
    settings = {
        "command": command,
        "seed": config.seed,
        "resamples": config.resamples,
        "vectors": "given" if config.vectors else "encoded" if config.model else None,
    }
    return document(task, compared, found, cells, left_out, settings)


def _compared(
    task: Task,
    chosen: Sequence[Choice],
    sides: Sides,
    config: BenchConfig,
    left_out: list[str],
    progress: Progress,
) -> list[Compared]:
    """Every family measured; those that cannot be, and were not asked for by name, are told."""
    for line in left_out:
        progress.say(f"left out: {line}")
    servable = []
    for choice in chosen:
        try:
            default_variant(choice, sides, config.hashing)
        except SettingError as error:
            if choice.named:
                raise
            left_out += error.problems
            progress.say(f"left out: {error}")
        else:
            servable.append(choice)
    if not servable:
        raise SettingError(*left_out)
    by_name = {choice.family: choice for choice in servable}
    return [
        compare(task, by_name[name], sides, config.hashing)
        for name in _counted(list(by_name), "families", progress)
    ]


def _counted(names: Sequence[str], what: str, progress: Progress) -> Iterator[str]:
    """The names, each told with the time left once it is done."""
    started = time.monotonic()
    for done, name in enumerate(names, 1):
        yield name
        left_s = (time.monotonic() - started) / done * (len(names) - done)
        told = f", about {duration(left_s)} left" if done < len(names) else ""
        progress.say(f"{done}/{len(names)} {what} ({name}){told}")


def _task(config: BenchConfig, pools: Pools) -> Task:
    since = config.relevant_from
    if since is None:
        judged = Judgments(pools.indptr, pools.candidates, pools.gains)
        since = default_relevant_from(judged)
    if not (pools.gains >= since).any():
        raise SettingError(
            f"no judgment reaches {since:g}, from where documents count as relevant "
            f"(greatest {pools.gains.max():g}); set --relevant-from"
        )
    if config.protocol == "pool" and _always_perfect(pools, since):
        raise SettingError(
            "the pools hold documents of one kind alone, all relevant or none: every order of "
            "them scores the same; choose --protocol corpus, or --relevant-from"
        )
    more: Sequence[int] = () if config.cutoff is None else (config.cutoff,)
    return Task(pools, config.protocol, since, tuple(sorted({*CUTOFFS, *more})))


def _always_perfect(pools: Pools, since: float) -> bool:
    """Whether no pool holds both relevant documents and others."""
    relevant = np.add.reduceat(pools.gains >= since, pools.indptr[:-1])
    return not ((relevant > 0) & (relevant < pools.sizes)).any()


def _sides(config: BenchConfig, corpus: Corpus, progress: Progress) -> Sides:
    if not config.has_vectors:
        return Sides(corpus.texts, corpus.query_texts)
    from harness.bench.vectors import with_vectors

    return with_vectors(config, corpus, progress)
