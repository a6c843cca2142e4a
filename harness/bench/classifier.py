"""LSHBloom scored as the classifier that it is.

The question, for each query: does the collection hold a near duplicate of it, that is a document
whose set of character shingles has a Jaccard similarity at or above the threshold? The
collection is the corpus without the documents that are queries themselves: those would answer
every question with yes.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from harness.bench.hashing import Hashed, bench_params, fingerprint
from harness.collection.types import Corpus
from indexers.errors import SettingError
from indexers.families.lshbloom import Bands, Membership
from indexers.types import U32, Bool, Fingerprints, Status

NUM_PERM = 128
SHINGLE_SIZE = 3
FP = 0.01
THRESHOLD = 0.8


def classify(
    corpus: Corpus,
    threshold: float = THRESHOLD,
    fp: float = FP,
    *,
    num_perm: int = NUM_PERM,
    shingle_size: int = SHINGLE_SIZE,
    seed: int = 123,
) -> dict[str, Any]:
    """Insert a corpus, ask all queries, and compare with exact Jaccard.

    Args:
        corpus: documents and queries.
        threshold: Jaccard in (0, 1) from which a document is a near duplicate.
        fp: false-positive rate of each band's Bloom filter, 1e-9 to 0.5.
        num_perm: rows of the MinHash signatures, a multiple of 64 up to 4,096.
        shingle_size: code points a shingle, 1 to 7.
        seed: of the signatures and of the filters.

    Returns:
        `{"family", "corpus", "threshold", "fp", "num_perm", "shingle_size", "seed", "bands",
        "rows", "unused_rows", "found_at_threshold", "documents": inserted,
        "documents_left_out": {reason: n}, "queries": asked, "queries_left_out": {reason: n},
        "TP", "FP", "FN", "TN", "precision", "recall", "F1", "false_positive_rate":
        FP / (FP + TN), "net_false_positive_rate": 1 − (1 − fp)^bands, what the filters alone
        add at most, "filter_false_positive_rate": the share of queries answered with yes among
        those that share no band with any document, "bytes", "insert_s", "query_s"}`; null where
        the divisor is 0.

    Raises:
        SettingError: a value is out of range, or no document is left to insert.
        MissingPackage: datasketch or its Bloom filter is not installed.
    """
    texts = _others(corpus)
    member = Membership(len(texts), threshold=threshold, num_perm=num_perm, fp=fp, seed=seed)
    params = bench_params(
        "minhash", bits=num_perm, seed=seed, unit="char", shingle_size=shingle_size
    )
    hashed = fingerprint("minhash", params, texts, corpus.query_texts)
    asked = hashed.queries.status == Status.OK
    inserted, said, times = _answers(member, hashed, num_perm)
    truth = _truth(texts, corpus, threshold, shingle_size)
    itself = len(corpus.texts) - len(texts)
    return {
        "family": "lshbloom",
        "corpus": corpus.name,
        "threshold": threshold,
        "fp": fp,
        "num_perm": num_perm,
        "shingle_size": shingle_size,
        "seed": seed,
        **_bands(member.bands),
        "documents": inserted,
        "documents_left_out": {"is a query itself": itself, "empty": len(texts) - inserted},
        "queries": int(np.count_nonzero(asked)),
        "queries_left_out": {"empty": int(np.count_nonzero(~asked))},
        **confusion(said[asked], truth[asked]),
        "net_false_positive_rate": member.bands.net_fp,
        "filter_false_positive_rate": _filter_rate(said, hashed, member.bands),
        "bytes": member.size_bytes,
        **times,
    }


def _others(corpus: Corpus) -> list[str]:
    """The documents that are no queries."""
    others = np.setdiff1d(np.arange(len(corpus.texts)), corpus.query_self)
    if not len(others):
        raise SettingError(
            f"corpus {corpus.name}: every document is a query itself, so that nothing is left to "
            "insert; give a corpus with other documents"
        )
    return [corpus.texts[ordinal] for ordinal in others]


def _answers(
    member: Membership, hashed: Hashed, num_perm: int
) -> tuple[int, Bool, dict[str, float]]:
    """How many documents were inserted, what each query was told, and the time of both."""
    documents, queries = hashed.documents, hashed.queries
    started = time.perf_counter()
    inserted = member.insert(_rows(documents, num_perm), documents.status)
    filled = time.perf_counter()
    said = member.query(_rows(queries, num_perm), queries.status)
    asked = time.perf_counter()
    return inserted, said, {"insert_s": filled - started, "query_s": asked - filled}


def confusion(said: Bool, truth: Bool) -> dict[str, Any]:
    """Counts of right and wrong answers, and what is made of them; None where the divisor is 0.

    Args:
        said: bool (queries,), answers.
        truth: bool (queries,).
    """
    tp, fp = int(np.sum(said & truth)), int(np.sum(said & ~truth))
    fn, tn = int(np.sum(~said & truth)), int(np.sum(~said & ~truth))
    return {
        "TP": tp,
        "FP": fp,
        "FN": fn,
        "TN": tn,
        "precision": _share(tp, tp + fp),
        "recall": _share(tp, tp + fn),
        "F1": _share(2 * tp, 2 * tp + fp + fn),
        "false_positive_rate": _share(fp, fp + tn),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def _bands(bands: Bands) -> dict[str, Any]:
    return {
        "bands": bands.bands,
        "rows": bands.rows,
        "unused_rows": bands.unused,
        "found_at_threshold": bands.found_at_threshold,
    }


def _rows(fingerprints: Fingerprints, num_perm: int) -> U32:
    assert fingerprints.signatures is not None
    return fingerprints.signatures[:, :num_perm]


def _truth(texts: list[str], corpus: Corpus, threshold: float, shingle_size: int) -> Bool:
    from indexers.similarity.jaccard import pairs_above

    nobody = np.full(len(corpus.query_texts), -1, np.int32)
    found = pairs_above(
        texts,
        corpus.query_texts,
        minimum=threshold,
        exclude=nobody,
        shingle_size=shingle_size,
    )
    return np.diff(found.indptr) > 0


def _filter_rate(said: Bool, hashed: Hashed, bands: Bands) -> float | None:
    """How often the filters say yes to a query that shares no band with any document."""
    documents, queries = hashed.documents, hashed.queries
    assert documents.signatures is not None
    assert queries.signatures is not None
    shared = np.zeros(len(said), np.bool_)
    for band in range(bands.bands):
        cut = slice(band * bands.rows, (band + 1) * bands.rows)
        there = documents.status == Status.OK
        shared |= _among(queries.signatures[:, cut], documents.signatures[there, cut])
    alone = ~shared & (queries.status == Status.OK)
    return _share(int(np.sum(said & alone)), int(np.sum(alone)))


def _among(some: U32, others: U32) -> Bool:
    """Which rows stand among the others."""
    known = {row.tobytes() for row in others}
    return np.fromiter((row.tobytes() in known for row in some), np.bool_, len(some))


def table(found: dict[str, Any]) -> str:
    """The result of `classify` for people."""

    def figure(name: str) -> str:
        value = found[name]
        return "–" if value is None else f"{value:.4f}"

    left = {**found["documents_left_out"], **found["queries_left_out"]}
    return "\n".join(
        (
            f"lshbloom on {found['corpus']}: does it hold a document of Jaccard "
            f"≥ {found['threshold']:g}?",
            f"{found['documents']:,} documents inserted ({left['is a query itself']:,} are queries "
            f"themselves), {found['queries']:,} queries asked",
            f"{found['bands']} bands of {found['rows']} rows, {found['unused_rows']} unused; a "
            f"pair at the threshold is found with probability {figure('found_at_threshold')}",
            "",
            f"TP {found['TP']:,}   FP {found['FP']:,}   FN {found['FN']:,}   TN {found['TN']:,}",
            f"precision {figure('precision')}   recall {figure('recall')}   F1 {figure('F1')}",
            f"false-positive rate {figure('false_positive_rate')}; of queries that share no band "
            f"{figure('filter_false_positive_rate')}, stated 1-(1-{found['fp']:g})^"
            f"{found['bands']} = {figure('net_false_positive_rate')}",
            f"{found['bytes']:,} bytes of filters; inserted in {found['insert_s']:.2f} s, asked "
            f"in {found['query_s']:.2f} s",
        )
    )
