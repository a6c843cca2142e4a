"""The sentence that decides, and the exit code that goes with it."""

from dataclasses import replace

import numpy as np
import pytest

from harness.collection.types import Judgments
from harness.measures.names import MEASURES
from harness.measures.relevance import carried_measures
from harness.settings import Setting
from harness.tuning.conclude import BROKEN, INFEASIBLE, OK, exit_code
from harness.tuning.pick import choose
from harness.tuning.sla import Sla
from harness.tuning.summary import Facts, Goal, best_reference, objective_of, summarise
from harness.tuning.trial import Trial
from indexers.errors import SettingError

SLA = Sla(10.0, "p99")
OBJECTIVE = "nDCG@10"


def trial(key, quality, p99, *, backend="tables", kind="lsh", status="ok", flag=(), samples=1000):
    setting = Setting("minhash", backend, kind, 20, 4, 1024, "code", 3)
    if kind == "bm25":
        setting = Setting(None, backend, kind)
    return Trial(
        key=key,
        setting=setting,
        baseline=kind in ("flat", "bm25"),
        status=status,
        error="the server went away" if status == "failed" else None,
        quality={OBJECTIVE: quality} if status == "ok" else {},
        latency_ms={"p99": p99, "p50": p99} if status == "ok" else None,
        service_ms={"p50": p99} if status == "ok" else None,
        upper_ms={"p99": p99} if status == "ok" else {},
        samples=samples,
        index_bytes=1,
        flags=tuple(flag),
    )


def told(*trials, references=None):
    facts = Facts("s", "p", {}, (1000.0,), 0, references or {})
    return summarise(trials, Goal(SLA, OBJECTIVE, 0.005), facts)[0]["verdict"]


def test_the_pick_is_named_with_its_figures():
    verdict = told(trial("a", 0.8123, 4.2))
    assert verdict == (
        "Use minhash on tables (lsh, num_tables 20, hash_length 4): nDCG@10 0.812 at p99 4.2 ms "
        "(at most 4.2 ms with 95 % confidence; limit 10 ms)."
    )


def test_a_baseline_that_is_as_good_comes_first():
    verdict = told(trial("a", 0.8, 4), trial("b", 0.8, 9, kind="flat", backend="faiss"))
    assert verdict.startswith("No approximate index is needed: minhash on faiss")
    assert "The best approximate setting is minhash on tables" in verdict
    verdict = told(trial("a", 0.8, 4), trial("b", 0.9, 5, kind="bm25", backend="opensearch"))
    assert verdict.startswith("No approximate index is needed: BM25 on opensearch")
    # too slow, or worse
    assert told(trial("a", 0.8, 4), trial("b", 0.8, 11, kind="flat")).startswith("Use minhash")
    assert told(trial("a", 0.8, 4), trial("b", 0.79, 5, kind="flat")).startswith("Use minhash")
    # objectives within the tolerance are equal
    assert told(trial("a", 0.8, 4), trial("b", 0.796, 5, kind="flat")).startswith("No approx")


def test_less_than_half_of_the_reference_is_not_useful():
    half = {"exact jaccard": {OBJECTIVE: 0.8}, "BM25 (in process)": {OBJECTIVE: 0.6}}
    assert told(trial("a", 0.39, 4), references=half).startswith("Meets the SLA, not useful")
    assert told(trial("a", 0.40, 4), references=half).startswith("Use ")
    # the code's own exact search shares its loss and is no reference
    own = {"minhash code, exact": {OBJECTIVE: 0.9}}
    assert told(trial("a", 0.39, 4), references=own).startswith("Use ")
    engine = trial("b", 0.9, 400, kind="bm25", backend="opensearch")
    assert told(trial("a", 0.39, 4), engine).startswith("Meets the SLA, not useful")


def test_the_tolerance_does_not_add_up():
    # the pick is within 0.005 of the best, and the baseline within 0.005 of the pick alone
    rows = [trial("a", 0.8, 4), trial("b", 0.796, 2), trial("c", 0.792, 1, kind="flat")]
    assert told(*rows).startswith("Use minhash")


def test_a_client_that_cannot_carry_the_rate_is_to_blame():
    row = replace(trial("a", 0.8, 50, flag=["saturated"]), null_ms={"latency": {"p99": None}})
    assert "the load generator itself cannot carry this rate" in told(row)


def test_usefulness_is_told_of_what_is_recommended():
    reference = {"exact jaccard": {OBJECTIVE: 0.8}}
    verdict = told(trial("a", 0.05, 4), trial("b", 0.06, 4, kind="flat"), references=reference)
    assert verdict.startswith("No approximate index is needed: minhash on tables (flat")
    assert "Meets the SLA, not useful: it keeps 8% of the reference's 0.800." in verdict
    verdict = told(trial("b", 0.06, 4, kind="flat"), references=reference)
    assert verdict.startswith("This study sweeps no approximate setting; its best baseline is")
    assert "not useful" in verdict
    verdict = told(trial("a", 0.0, 4), references={"exact jaccard": {OBJECTIVE: 0.0}})
    assert "not known: the reference scores 0 as well" in verdict


def test_nothing_feasible_names_the_nearest_miss_and_by_how_much():
    verdict = told(trial("a", 0.8, 40), trial("b", 0.5, 12.5))
    assert "No setting meets the SLA of 10 ms on p99" in verdict
    assert "relax the limit by 2.5 ms" in verdict
    assert "nDCG@10 0.500; p99 12.5 ms, upper bound 12.5 ms, against 10 ms" in verdict


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (trial("a", 0.8, 1, flag=["saturated"]), "could not keep up with the rate"),
        (replace(trial("a", 0.8, 1, samples=200), upper_ms={}), "200 samples cannot bound a p99"),
        (replace(trial("a", 0.8, 1, samples=200), upper_ms={}), "(--samples 300)"),
        (
            replace(trial("a", 0.8, 1), latency_ms={"p99": None}, upper_ms={"p99": None}),
            "too many requests failed",
        ),
    ],
)
def test_the_constraint_that_fails_is_named(row, reason):
    assert reason in told(row)


def test_a_trial_cut_short_since_it_fell_behind_needs_no_more_requests():
    row = replace(trial("a", 0.8, 1, samples=71, flag=["saturated"]), upper_ms={})
    verdict = told(row)
    assert "lower the rate" in verdict
    assert "--samples" not in verdict


def test_a_baseline_alone_within_the_limit_is_said_to_be_one():
    verdict = told(trial("a", 0.8, 40), trial("b", 0.7, 5, kind="flat"))
    assert verdict.startswith("No approximate setting meets the SLA, but a baseline does")


def test_nothing_finished():
    assert "No trial finished" in told(trial("a", 0, 0, status="failed"))


def test_exit_codes():
    def code(*trials, backends=("tables",)):
        return exit_code(trials, choose(trials, SLA, OBJECTIVE, 0.005), backends)

    good, slow = trial("a", 0.8, 1), trial("b", 0.8, 100)
    gone = trial("c", 0, 0, status="failed", backend="opensearch")
    both = ("tables", "opensearch")
    assert code(good) == OK
    assert code(slow) == INFEASIBLE
    assert code(good, gone, backends=both) == BROKEN
    assert code(good, gone, trial("d", 0.1, 1, backend="opensearch"), backends=both) == OK
    assert code(gone, backends=("opensearch",)) == BROKEN


def test_the_objective_follows_the_judgments():
    neighbours = ["ANNRecall", "ANNRecall(truth=code)"]
    judged = ["nDCG", "AP(norm=min)", *neighbours]
    assert objective_of(None, 10, judged) == "nDCG@10"
    assert objective_of(None, 5, neighbours) == "ANNRecall@5"
    assert objective_of("map", 10, judged) == "AP(norm=min)@10"
    with pytest.raises(SettingError, match="no query carries it"):
        objective_of("map", 10, neighbours)


def test_measures_are_carried_where_something_is_relevant_enough():
    def carried(gains, since=None):
        n = len(gains)
        judgments = Judgments(np.array([0, n]), np.arange(n, dtype=np.int32), np.array(gains))
        return carried_measures(judgments, since)

    assert carried([1.0, 0.0]) == list(MEASURES)
    assert carried([0.0, 0.0]) == carried_measures(None, None) == list(MEASURES[6:])
    assert carried([3.0], since=9) == ["nDCG", *MEASURES[6:]]


def test_the_best_reference_is_the_better_of_similarity_and_text():
    rows = [
        {"name": "exact jaccard", "quality": {OBJECTIVE: 0.4}},
        {"name": "BM25 (opensearch)", "quality": {OBJECTIVE: 0.6}},
        {"name": "minhash code, exact", "quality": {OBJECTIVE: 0.9}},
    ]
    assert best_reference(rows, OBJECTIVE) == 0.6
    assert best_reference(rows[2:], OBJECTIVE) is None


def test_the_summary_counts_and_shows_what_failed():
    rows = [trial("a", 0.8, 1), trial("b", 0, 0, status="failed")]
    facts = Facts("s", "p", {"name": "c"}, (1000.0, 100.0), 3, {})
    summary, _ = summarise(rows, Goal(SLA, OBJECTIVE, 0.005), facts)
    assert summary["counts"] == {"trials": 2, "failed": 1, "impossible": 3}
    assert summary["sla"] == {"limit_ms": 10.0, "stat": "p99", "rate_per_s": None}
    assert summary["trials"][1]["error"] == "the server went away"
    assert summary["trials"][1]["feasible"] is False
    assert summary["trials"][1]["latency_ms"] is None
