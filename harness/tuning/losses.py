"""What is lost on the way from a similarity to an answer: by hashing, by the code, by the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from harness.config import StudyConfig
from harness.config_sizes import GRAPH
from harness.report.model import LossSplit
from harness.tuning.hashing import Hashing, hashing_of
from harness.tuning.names import exact_name, under
from harness.tuning.space import NESTED
from harness.tuning.trial import Summary, Trial
from indexers.registry import family
from indexers.reranks import WINDOWED


def signature_notes(
    config: StudyConfig, trials: Sequence[Trial], summary: Summary
) -> Iterator[str]:
    """What re-ranking by the code loses against the signature that it is made from."""
    objective = summary["objective"]
    by_name = _reference_values(summary)
    for hashing, filter_ in product(_hashings(trials), _filters(trials)):
        whole = by_name.get(under(exact_name(hashing, "signature"), filter_))
        code = by_name.get(under(exact_name(hashing), filter_))
        if whole is not None and code is not None and whole - code > config.tolerance:
            yield (
                f"{under(hashing.name, filter_)}: ranking by the whole signature gives {objective} "
                f"{whole:.3f}, by its code {code:.3f}; in process --rerank signature uses the "
                "former"
            )


def losses(trials: Sequence[Trial], summary: Summary) -> Iterator[LossSplit]:
    """How much of the objective each hashing loses, and how much its best index."""
    objective = summary["objective"]
    by_name = _reference_values(summary)
    for hashing, filter_ in product(_hashings(trials), _filters(trials)):
        made = family(hashing.family)
        # a fingerprint of a text can lose what Jaccard finds, one of a vector what cosine finds
        similarity = "exact cosine" if made.source == "vector" else "exact jaccard"
        reference = by_name.get(under(similarity, filter_))
        by = made.reranks[0]
        exact = by_name.get(under(exact_name(hashing, by), filter_))
        found = [
            trial.quality.get(objective)
            for trial in trials
            if hashing_of(trial.setting) == hashing
            and trial.setting.filter == filter_
            and trial.setting.kind in (NESTED, "tokens", GRAPH)
            and trial.setting.rerank in ((by, WINDOWED) if by == "code" else (by,))
        ]
        best = max((value for value in found if value is not None), default=None)
        yield {
            "family": under(hashing.name, filter_),
            "reference": reference,
            "code_exact": exact,
            "best_lsh": best,
            "hashing_loss": _less(reference, exact),
            "index_loss": _less(exact, best),
        }


def _hashings(trials: Sequence[Trial]) -> list[Hashing]:
    """The hashings of these trials, each once, in their order."""
    found = dict.fromkeys(hashing_of(trial.setting) for trial in trials)
    return [hashing for hashing in found if hashing is not None]


def _filters(trials: Sequence[Trial]) -> list[str | None]:
    """The filters of these trials, each once, in their order."""
    return list(dict.fromkeys(trial.setting.filter for trial in trials))


def _reference_values(summary: Summary) -> dict[str, float | None]:
    objective = summary["objective"]
    return {row["name"]: row["quality"].get(objective) for row in summary["reference"]}


def _less(whole: float | None, part: float | None) -> float | None:
    return None if whole is None or part is None else whole - part
