"""Prose that the HTML and the Markdown report share."""

from __future__ import annotations

import re
from dataclasses import dataclass

from harness.filters import slug

FLAGS = {
    "client-bound": "The load generator itself needs more than a fifth of the limit at this rate: "
    "the figure tells about the client as much as about the index.",
    "saturated": "The backlog of requests ran past its limit, or less than 90 % of the rate asked "
    "for was reached: this setting cannot carry the rate and is never feasible.",
    "noisy": "The upper bound is more than twice the statistic itself: a few requests decided it. "
    "Treat small differences as ties.",
    "drift": "The index changed while it was measured (segments were merged or refreshed).",
    "cold": "Warm-up ended before two windows agreed: some samples may come from cold caches.",
    "short-sample": "Too few samples to bound the statistic of the SLA (a p99 needs 300).",
    "errors": "Some requests failed or timed out; a measured one counts as an infinite latency.",
    "unanswered": "Some queries were answered neither under load nor afterwards; they score 0.",
    "asked-without-load": "Some queries were not answered under load and were asked again "
    "afterwards, so that quality is complete.",
    "unknown-ids": "Some answers of an attached index are no documents of the corpus; they were "
    "left out, as if they had not been given.",
    "unstable-answers": "A query that was asked again did not always get the same answer: quality "
    "is that of the first answers, and others may fare differently.",
    "indexing-slow": "Documents were indexed more than 10 % slower meanwhile than was asked for: "
    "at the full rate, latency would be another.",
}

QUANTILES = (
    "Latency runs from the intended start of a request to its answer, so that a stall is not "
    "hidden; fingerprinting the query is not part of it and is given apart as encoding. Raw "
    "samples are kept, and a percentile is given only where the sample can carry it. The upper "
    "bound is one-sided at 95 %, from 1,000 seeded resamples by query; a setting is feasible only "
    "if this bound is within the limit. QPS is the capacity in a closed loop, measured apart from "
    "the fixed rate."
)

FRONT = "The front line joins the trials that no other trial beats on quality and latency at once."

_MEASURES = {
    "nDCG": "gain of the answers, discounted by log2(rank + 1), over that of the ideal ranking "
    "of all judged documents",
    "ANNRecall": "share of the true nearest documents under the reference similarity that were "
    "found; a document counts if it is at least as near as the last of them",
    "AP": "precision averaged over the ranks of the relevant answers, divided by "
    "min(relevant, cut-off) where norm=min and by all relevant where norm=R",
    "R": "share of the relevant documents that were found",
    "P": "share of the answers that are relevant, of the cut-off",
    "F1": "harmonic mean of R and P",
    "Success": "share of the queries with any relevant answer",
}

_NAME = re.compile(r"(?P<base>[A-Za-z0-9]+)(?:\((?P<params>[^)]*)\))?(?:@(?P<cutoff>\d+))?")


def measure_meaning(name: str) -> str:
    """What a measure is, in a line; empty for one that is not known."""
    match = _NAME.fullmatch(name)
    if match is None:
        return ""
    meaning = _MEASURES.get(match["base"], "")
    if "truth=code" in (match["params"] or ""):
        return meaning.replace("the reference similarity", "the distance of the codes themselves")
    return meaning


@dataclass(frozen=True, slots=True)
class Recipe:
    """How another tool recomputes one figure of a run: a truth file and the tool's measure."""

    name: str
    truth: str
    measure: str


def recipe(name: str, relevant_from: float | None = None) -> Recipe | None:
    """The ir_measures name of a measure, or None where that tool has no equal.

    Args:
        name: as this report prints it.
        relevant_from: label that binary measures count from; that tool knows whole ones, and
            takes 1 where none is named.
    """
    match = _NAME.fullmatch(name)
    if match is None or match["cutoff"] is None:
        return None
    params = match["params"] or ""
    if match["base"] == "ANNRecall" and not params:
        return Recipe(name, "truth/neighbours.qrels.gz", f"P@{match['cutoff']}")
    if match["base"] == "nDCG" and not params:
        return Recipe(name, "truth/judgments.qrels", name)
    if match["base"] in ("R", "P", "Success") and not params:
        since = 1.0 if relevant_from is None else relevant_from
        if not since.is_integer():
            return None
        rel = "" if since == 1 else f"(rel={since:.0f})"
        measure = f"{match['base']}{rel}@{match['cutoff']}"
        return Recipe(name, "truth/judgments.qrels", measure)
    return None


def truth_under(path: str, filter_: object) -> str:
    """The file of the same truth under a filter: `truth/judgments.price-10-50-1f2e3d.qrels`."""
    if filter_ is None:
        return path
    start, _, end = path.partition(".")
    return f"{start}.{slug(str(filter_))}.{end}"
