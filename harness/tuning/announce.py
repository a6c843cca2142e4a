"""What a study is about to do, and the facts that its report tells later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from harness.config import StudyConfig
from harness.environment import environment
from harness.progress import Progress, duration
from harness.tuning.connect import Connected
from harness.tuning.effects import without_effect
from harness.tuning.plan import Plan, Planned, expected_s, load_profile
from harness.tuning.store import Store
from loadtest.recorder import needed, tells

if TYPE_CHECKING:
    from harness.collection.types import Corpus


def announce(
    config: StudyConfig, plan: Plan, missing: Sequence[Planned], corpus: Corpus, progress: Progress
) -> None:
    """Say how much is to be measured, what does not exist, and which flags do nothing."""
    asked = _asked(corpus)
    left_s = expected_s(config, tuple(missing), asked)
    kept = len(plan.trials) - len(missing)
    resumed = f" ({kept} of {len(plan.trials)} are stored)" if kept else ""
    trials = "trial" if len(missing) == 1 else "trials"
    progress.say(
        f"study {plan.name}: {len(missing)} {trials} to measure{resumed} on {len(corpus.ids):,} "
        f"documents and {len(corpus.query_ids):,} queries, about {duration(left_s)} of load"
    )
    if plan.impossible:
        count = sum(number for _, number in plan.impossible)
        places = ", ".join(f"{n} × {reason.split(', such as')[0]}" for reason, n in plan.impossible)
        told = "combination does" if count == 1 else "combinations do"
        progress.say(f"{count} {told} not exist and are left out: {places}")
    for line in without_effect(config):
        progress.say(line)
    samples = max(config.measured_samples, asked)
    if not tells(config.sla_stat, samples):
        progress.say(
            f"{samples} requests a trial cannot bound a {config.sla_stat}, so nothing will meet "
            f"the SLA: give --samples {needed(config.sla_stat)} or more, or another --sla-stat"
        )


def put_facts(
    store: Store, config: StudyConfig, corpus: Corpus, connected: Mapping[str, Connected]
) -> None:
    """What the report tells and a later pick needs, so that the corpus need not be read again."""
    judgments = corpus.judgments
    store.put_meta(
        "corpus",
        {
            "name": corpus.name,
            "documents": len(corpus.ids),
            "queries": len(corpus.query_ids),
            "skipped": corpus.skipped,
        },
    )
    store.put_meta("source", corpus.source)
    store.put_meta("judged_pairs", None if judgments is None else len(judgments.documents))
    judged = 0 if judgments is None else int(np.count_nonzero(np.diff(judgments.indptr)))
    store.put_meta("judged_queries", judged)
    store.put_meta("environment", environment())
    store.put_meta(
        "backends",
        {
            **(store.meta("backends") or {}),
            **{name: asdict(one.info) for name, one in connected.items()},
        },
    )
    store.put_meta(
        "load",
        {name: asdict(load_profile(config, name, _asked(corpus))) for name in config.backends},
    )


def _asked(corpus: Corpus) -> int:
    """Queries that have a text to ask for."""
    return sum(bool(text.strip()) for text in corpus.query_texts)
