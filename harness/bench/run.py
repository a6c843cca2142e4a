"""One comparison from its flags to its output."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from harness.bench.choices import Choice, choices
from harness.bench.compare import Compared, Sides, compare, default_variant
from harness.bench.config import BenchConfig, bench_config
from harness.bench.document import document
from harness.bench.grid import Cell, grid
from harness.bench.grid_sizes import Plan, plans, unknown_targets
from harness.bench.hashing import SEED
from harness.bench.left_out import LeftOut
from harness.bench.output import make_folder
from harness.bench.rows import rows
from harness.bench.scoring import Task
from harness.bench.table import lines
from harness.bench.write import write
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
    chosen, waiting = choices(config)
    if config.grid and (problems := unknown_targets(config, [one.family for one in chosen])):
        raise SettingError(*problems)
    assert config.corpus is not None
    seed = SEED if config.seed is None else config.seed
    pools = open_pools(config.corpus, config.fields, seed=seed)
    task = _task(config, pools)
    if config.out is not None:
        make_folder(config.out)
    left_out = LeftOut(progress.say, *waiting)
    ready, sides = _prepared(config, chosen, pools.corpus, left_out, progress)
    compared = _compared(task, ready, sides, config, left_out, progress)
    found = [
        row for one in compared for row in rows(task, one, seed=seed, resamples=config.resamples)
    ]
    cells = _cells(task, compared, ready, sides, left_out, progress)
    settings = {
        "command": command,
        "seed": config.seed,
        "resamples": config.resamples,
        "vectors": "given" if config.vectors else "encoded" if config.model else None,
    }
    return document(task, compared, found, cells, left_out.lines, settings)


@dataclass(frozen=True, slots=True)
class _Ready:
    """A family that can be measured; `plan` is None without a grid or sizes."""

    choice: Choice
    plan: Plan | None


def _prepared(
    config: BenchConfig,
    chosen: Sequence[Choice],
    corpus: Corpus,
    left_out: LeftOut,
    progress: Progress,
) -> tuple[dict[str, _Ready], Sides]:
    """The families that can be measured, in their order, and what they hash."""
    sides = Sides(corpus.texts, corpus.query_texts)
    by_source: dict[str, list[Choice]] = {"text": [], "vector": []}
    for choice in chosen:
        by_source[registry.family(choice.family).source].append(choice)
    # before vectors are made for nothing
    ready = _ready(by_source["text"], sides, config, left_out)
    if config.has_vectors:
        from harness.bench.vectors import with_vectors

        sides = with_vectors(config, corpus, progress)
    ready |= _ready(by_source["vector"], sides, config, left_out)
    sized = config.num_tables or config.hash_length
    if not ready or (sized and not any(one.plan for one in ready.values())):
        raise SettingError(*left_out.lines)
    return {one.family: ready[one.family] for one in chosen if one.family in ready}, sides


def _ready(
    chosen: Sequence[Choice], sides: Sides, config: BenchConfig, left_out: LeftOut
) -> dict[str, _Ready]:
    """Those of the families that can hash as they were asked to."""
    able = []
    for choice in chosen:
        with left_out.unless(choice.named):
            default_variant(choice, sides, config.hashing)
            able.append(choice)
    planned = plans(config, able, sides, left_out) if config.grid else []
    by_family = {plan.family: plan for plan in planned}
    return {one.family: _Ready(one, by_family.get(one.family)) for one in able}


def _compared(
    task: Task,
    ready: Mapping[str, _Ready],
    sides: Sides,
    config: BenchConfig,
    left_out: LeftOut,
    progress: Progress,
) -> list[Compared]:
    """Every family measured; those that cannot be, and were not asked for by name, are told."""
    found: list[Compared] = []
    for name in _counted(list(ready), "families", progress):
        choice = ready[name].choice
        with left_out.unless(choice.named):
            found.append(compare(task, choice, sides, config.hashing))
            left_out.add(*found[-1].left_out)
    if not found:
        raise SettingError(*left_out.lines)
    return found


def _cells(
    task: Task,
    compared: Sequence[Compared],
    ready: Mapping[str, _Ready],
    sides: Sides,
    left_out: LeftOut,
    progress: Progress,
) -> list[Cell]:
    """The grid of every family that was compared and has sizes."""
    planned = {one.family: plan for one in compared if (plan := ready[one.family].plan)}
    cells: list[Cell] = []
    for name in _counted(list(planned), "grids", progress):
        with left_out.unless(planned[name].named):
            cells += list(grid(task, planned[name], sides))
    return cells


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
            f"(greatest {pools.gains.max():g}); set --relevant-from{_skipped(pools)}"
        )
    if config.protocol == "pool" and _always_perfect(pools, since):
        raise SettingError(
            "the pools hold documents of one kind alone, all relevant or none: every order of "
            f"them scores the same; choose --protocol corpus, or --relevant-from{_skipped(pools)}"
        )
    more: Sequence[int] = () if config.cutoff is None else (config.cutoff,)
    return Task(pools, config.protocol, since, tuple(sorted({*CUTOFFS, *more})))


def _skipped(pools: Pools) -> str:
    """What was left out of the pools, behind a refusal that it may explain."""
    told = ", ".join(f"{n} × {reason}" for reason, n in pools.corpus.skipped.items())
    return f" (skipped while reading: {told}; ids must be those of the corpus)" if told else ""


def _always_perfect(pools: Pools, since: float) -> bool:
    """Whether no pool holds both relevant documents and others."""
    relevant = np.add.reduceat(pools.gains >= since, pools.indptr[:-1])
    return not ((relevant > 0) & (relevant < pools.sizes)).any()
