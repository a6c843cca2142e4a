"""Hand-made studies: what a summary holds, without measuring anything."""

import pytest


def make_trial(key, family="simhash", backend="tables", kind="lsh", **changes):
    trial = {
        "key": key,
        "setting": {
            "family": family,
            "backend": backend,
            "kind": kind,
            "num_tables": 20,
            "hash_length": 12,
            "bits": 1024 if family == "minhash" else 128,
            "rerank": "code",
            "shingle_size": 3,
        },
        "baseline": False,
        "status": "ok",
        "error": None,
        "feasible": True,
        "quality": {"nDCG@10": 0.81234, "R@10": 0.7, "ANNRecall@10": 0.9},
        "measure_n": {"nDCG@10": 1000, "R@10": 990, "ANNRecall@10": 1000},
        "latency_ms": {
            "mean": 0.9,
            "p50": 0.8,
            "p90": 1.9,
            "p95": 2.2,
            "p99": 3.2144,
            "max": 7.5,
            "n": 1000,
        },
        "upper_ms": {"p99": 4.5, "p95": 2.4},
        "service_ms": {"p50": 0.7, "p99": 3.0, "n": 1000},
        "encode_ms": 0.04,
        "rate_per_s": 999.5,
        "qps": 5210.0,
        "errors": 0,
        "build_s": 0.4,
        "index_bytes": 12_345_678,
        "flags": [],
    }
    setting = {name: changes.pop(name) for name in list(changes) if name in trial["setting"]}
    return trial | changes | {"setting": trial["setting"] | setting}


def make_summary(trials, **changes):
    finished = [trial for trial in trials if trial["feasible"]]
    return {
        "schema_version": 1,
        "study": "shop-1a2b3c4d",
        "path": "reports/shop-1a2b3c4d",
        "corpus": {"name": "shop", "documents": 20000, "queries": 1000, "skipped": {"empty": 3}},
        "sla": {"limit_ms": 100, "stat": "p99", "rate_per_s": 1000.0},
        "objective": "nDCG@10",
        "verdict": "simhash 20 × 12 meets the SLA.",
        "pick": finished[0] if finished else None,
        "runner_up": finished[1] if len(finished) > 1 else None,
        "nearest_miss": None,
        "front": [trial["key"] for trial in finished[:2]],
        "counts": {"trials": len(trials), "failed": 0, "impossible": 2},
        "reference": [{"name": "exact jaccard", "quality": {"nDCG@10": 0.9, "ANNRecall@10": 1.0}}],
        "trials": trials,
    } | changes


def _quality(value):
    return {"nDCG@10": value, "R@10": value / 2, "ANNRecall@10": value}


def _grid(backends=("tables",), factor=1.0):
    trials = []
    for backend in backends:
        for family, lengths in (("simhash", (8, 12, 16, 20)), ("minhash", (1, 2, 3, 4, 6, 8))):
            for tables in (5, 10, 15, 20, 25, 30, 40, 50):
                for length in lengths:
                    number = len(trials)
                    latency = factor * (0.3 + tables / length / 10)
                    trials.append(
                        make_trial(
                            f"{number:016x}",
                            family,
                            backend,
                            num_tables=tables,
                            hash_length=length,
                            quality=_quality(0.3 + 0.005 * number),
                            latency_ms={"p50": latency / 2, "p99": latency, "n": 1000},
                            upper_ms={"p99": latency * 1.2},
                            qps=4000 / latency,
                            index_bytes=1_000_000 * tables,
                        )
                    )
    sizes = {"num_tables": None, "hash_length": None, "baseline": True}
    trials += [make_trial(f"f{i:015x}", f, "faiss", "flat", **sizes) for i, f in enumerate("ab")]
    trials += [
        make_trial(f"e{i:015x}", "simhash", "faiss", "multihash", num_tables=5 + i, hash_length=8)
        for i in range(7)
    ]
    return trials


def _failed(key="bad0"):
    return make_trial(
        key,
        status="failed",
        error="tables: disk full",
        feasible=False,
        quality={},
        measure_n={},
        latency_ms=None,
        upper_ms={},
        service_ms=None,
        encode_ms=None,
        rate_per_s=None,
        qps=None,
        build_s=None,
        index_bytes=None,
    )


def _infeasible():
    trials = [dict(trial, feasible=False) for trial in _grid()]
    return make_summary(
        trials,
        sla={"limit_ms": 0.001, "stat": "p99", "rate_per_s": 1000.0},
        nearest_miss=trials[0],
        verdict="no setting meets the SLA",
    )


def _without_judgments():
    nothing = {"nDCG@10": None, "ANNRecall@10": 0.75}
    trials = [make_trial("0a", quality=nothing), make_trial("0b", quality=nothing)]
    return make_summary(trials, objective="ANNRecall@10", reference=[])


def _not_finite():
    nan, inf = float("nan"), float("inf")
    trial = make_trial(
        "0a",
        quality={"nDCG@10": nan},
        latency_ms={"p50": inf, "p99": inf, "n": 3},
        upper_ms={"p99": inf},
        qps=0.0,
        index_bytes=0,
        feasible=False,
        flags=["saturated", "short-sample"],
    )
    return make_summary([trial], nearest_miss=trial, margin=nan)


STUDIES = {
    "89 trials": lambda: make_summary(_grid()),
    "two backends": lambda: make_summary(_grid(("tables", "opensearch"))),
    "nothing feasible": _infeasible,
    "failed trials": lambda: make_summary([make_trial("0a"), _failed()]),
    "failed only": lambda: make_summary([_failed()], reference=[]),
    "no judgments": _without_judgments,
    "one trial": lambda: make_summary([make_trial("0a")]),
    "no trial": lambda: make_summary([], reference=[]),
    "not finite": _not_finite,
    "engine only": lambda: make_summary(
        [
            make_trial(
                "0a",
                None,
                "opensearch",
                "bm25",
                num_tables=None,
                hash_length=None,
                bits=None,
                rerank=None,
                shingle_size=None,
                baseline=True,
            )
        ],
        sla={"limit_ms": 100, "stat": "p99", "rate_per_s": None},
    ),
}


@pytest.fixture
def trial():
    return make_trial


@pytest.fixture
def summarise():
    return make_summary


@pytest.fixture(params=STUDIES)
def any_study(request):
    return STUDIES[request.param]()


@pytest.fixture
def study():
    return lambda name: STUDIES[name]()


@pytest.fixture
def context():
    from harness.report import ReportContext

    def make(**changes):
        given = {
            "generated": "2026-01-02T03:04:05+00:00",
            "version": "0.1.0",
            "command": "harness tune --sla-ms 100 --corpus shop",
            "environment": {"processor": "2 cores", "python": "3.11"},
            "truth": ("judgments: 12,345 pairs", "neighbours: exact jaccard, K = 10"),
            "load": {"rate": "1,000 requests/s", "seed": "123"},
            "null_ms": {"in process": {"p50": 0.06, "p99": 0.21}},
            "notes": ("the cluster is yellow",),
            "latency_note": "Client and index shared the cores.",
            "margin": 0.0021,
            "loss": (
                {
                    "family": "simhash",
                    "reference": 0.9,
                    "code_exact": 0.85,
                    "best_lsh": 0.8,
                    "hashing_loss": 0.05,
                    "index_loss": None,
                },
            ),
            "impossible": ("2 × multihash on faiss: too many bits",),
        }
        return ReportContext(**(given | changes))

    return make
