"""Rerank `none` and `window`, `more_like_this` and `min_hash`, on real engines, by definition.

Counts come from the tokens' atoms, distances from the bits, Jaccard from sets of 3-grams.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from harness.collection import source
from indexers import registry
from indexers.errors import BackendError
from indexers.index_types import (
    BackendConfig,
    Documents,
    Filter,
    IndexSpec,
    Layout,
    Queries,
    SearchParams,
)
from indexers.types import HashParams, TableSize

OWNER = "rerank-test"
TABLES, LENGTH, BITS, DOCUMENTS, QUERIES = 12, 6, 64, 600, 15


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine(request):
    url = request.getfixturevalue(f"{request.param}_url")
    made = registry.backend(request.param)(BackendConfig(url=url, owner=OWNER))
    yield made
    made.sweep()


@pytest.fixture(scope="module")
def corpus(data_dir):
    read = source.open_corpus(str(data_dir("debian-neardup")), None, seed=1)
    ids, texts = read.ids[:DOCUMENTS], read.texts[:DOCUMENTS]
    hasher = registry.family("simhash").hasher(
        TableSize(TABLES, LENGTH), HashParams(bits=BITS, seed=1)
    )
    attributes = {"parity": [str(i % 2) for i in range(DOCUMENTS)]}
    queries = texts[:: DOCUMENTS // QUERIES][:QUERIES]
    return (
        Documents(ids, texts, hasher(texts), attributes),
        Queries(queries, hasher(queries)),
    )


@pytest.fixture(scope="module", params=[1, 3], ids=["1-shard", "3-shards"])
def index(engine, corpus, request, tmp_path_factory):
    spec = IndexSpec(
        *(engine.name, "lsh", "simhash", TABLES, (4, LENGTH), BITS),
        layout=Layout(shards=request.param),
        attributes=(("parity", "keyword"),),
        stores_source=True,
    )
    handle = engine.build(spec, corpus[0], tmp_path_factory.mktemp("index"))
    yield handle
    engine.drop(handle)


def ask(engine, handle, params, corpus):
    searcher = engine.open(handle, params, corpus[1], corpus[0].ids)
    found = [searcher.search(row) for row in range(len(corpus[1].texts))]
    searcher.close()
    return found


def counts_and_codes(corpus, tables):
    """How many tables find each document, and bits − Hamming: (queries, documents) each."""
    docs, queries = corpus[0].fingerprints, corpus[1].fingerprints
    key = np.array([docs.keys[t, 0] >> np.uint32(32 - LENGTH) for t in range(tables)])
    mine = np.array([queries.keys[t, 0] >> np.uint32(32 - LENGTH) for t in range(tables)])
    counts = (key[:, None, :] == mine[:, :, None]).sum(axis=0)
    bits, asked = np.unpackbits(docs.codes, axis=1), np.unpackbits(queries.codes, axis=1)
    return counts, (bits[None] == asked[:, None]).sum(axis=2)


@pytest.mark.parametrize("tables", [TABLES, 3])
def test_none_ranks_by_the_number_of_tables_then_id(engine, index, corpus, tables):
    counts, _ = counts_and_codes(corpus, tables)
    for hits, row in zip(
        ask(engine, index, SearchParams(20, tables, LENGTH, "none"), corpus), counts, strict=True
    ):
        best = [d for d in np.lexsort((np.arange(DOCUMENTS), -row)) if row[d]][:20]
        assert hits.ordinals.tolist() == best
        assert hits.scores.tolist() == row[best].tolist()


def test_a_window_of_all_candidates_is_rerank_exact(engine, index, corpus):
    _, codes = counts_and_codes(corpus, TABLES)
    exact = ask(engine, index, SearchParams(20, TABLES, LENGTH), corpus)
    window = ask(engine, index, SearchParams(20, TABLES, LENGTH, "window", None, 10_000), corpus)
    for a, b, row in zip(exact, window, codes, strict=True):
        assert b.scores.tolist() == a.scores.tolist()
        assert b.scores.tolist() == row[b.ordinals].tolist()
        above = a.scores > a.scores[-1]  # which of the last ones' equals is the engine's choice
        assert b.ordinals[above].tolist() == a.ordinals[above].tolist()
        assert (np.lexsort((b.ordinals, -b.scores)) == np.arange(len(b.ordinals))).all()


@pytest.mark.parametrize("size", [1, 15])
def test_a_window_holds_those_that_most_tables_found(engine, index, corpus, size):
    counts, codes = counts_and_codes(corpus, TABLES)
    k, shards = 10, index.spec.layout.shards
    window = ask(engine, index, SearchParams(k, TABLES, LENGTH, "window", None, size), corpus)
    size = max(size, k)  # no fewer than are answered
    for hits, count, code in zip(window, counts, codes, strict=True):
        assert hits.scores.tolist() == code[hits.ordinals].tolist()
        assert len(hits.ordinals) == min(k, np.count_nonzero(count))
        if shards == 1:
            last = np.sort(count)[-size]
            inside = set(np.flatnonzero(count > last).tolist())
            assert (count[hits.ordinals] >= max(1, last)).all()
            # whoever is certain to be looked at and better than the last answer is an answer
            better = {d for d in inside if code[d] > hits.scores[-1]}
            assert better <= set(hits.ordinals.tolist())


@pytest.mark.parametrize("rerank", ["none", "window"])
def test_filters_and_documents_go_with_either(engine, index, corpus, rerank):
    counts, codes = counts_and_codes(corpus, TABLES)
    params = SearchParams(
        *(10, TABLES, LENGTH, rerank, None, 10_000 if rerank == "window" else None),
        filter=Filter("parity", value="1"),
        fetch_source=True,
    )
    odd = np.arange(DOCUMENTS) % 2 == 1
    for hits, count, code in zip(ask(engine, index, params, corpus), counts, codes, strict=True):
        scores = count if rerank == "none" else code
        wanted = np.sort(scores[odd & (count > 0)])[::-1][:10]
        assert hits.scores.tolist() == wanted.tolist()
        assert odd[hits.ordinals].all()


def test_more_tables_than_clauses_are_refused_before_anything_is_asked(engine, index, corpus):
    few = replace(engine.dialect, clause_limit=lambda _: TABLES - 1)
    narrow = type(engine)(engine._config)
    narrow.dialect = few
    for rerank in ("none", "window"):
        with pytest.raises(BackendError, match=r"12 in all, and the server allows 11 in a query"):
            narrow.open(index, SearchParams(5, TABLES, LENGTH, rerank), corpus[1], corpus[0].ids)
    narrow.open(index, SearchParams(5, TABLES - 1, LENGTH, "none"), corpus[1], corpus[0].ids)
    narrow.open(index, SearchParams(5, TABLES, LENGTH), corpus[1], corpus[0].ids)


# ---- kinds of texts

TEXTS = {
    "a": "The quick  brown fox\n jumps over the lazy dog",
    "b": "the quick brown fox jumped over a lazy dog",
    "c": "Zürich 漢字かな交じり文 naïve",
    "d": "0123456789",
    "e": "xy",
    "f": "",
    "g": "!?!? …… !?!?",
}
ASKED = ["  THE QUICK brown fox jumps over the lazy\tdog ", "zürich 漢字かな交じり文 NAÏVE", "xy"]
ASKED += ["wwwwwww", " \n", "!?!? …… !?!?", "broken \ud800 surrogate of the lazy dog"]


@pytest.fixture(scope="module", params=["more_like_this", "min_hash"])
def texts(engine, request, tmp_path_factory):
    documents = Documents(list(TEXTS), list(TEXTS.values()), None)
    folder = tmp_path_factory.mktemp("texts")
    handle = engine.build(IndexSpec(engine.name, request.param), documents, folder)
    yield handle, (documents, Queries(ASKED, None))
    engine.drop(handle)


def test_texts_made_by_hand(engine, texts):
    handle, corpus = texts
    found = ask(engine, handle, SearchParams(5), corpus)
    names = [[corpus[0].ids[d] for d in hits.ordinals] for hits in found]
    assert handle.documents == len(TEXTS)
    assert names[0][:2] == ["a", "b"]
    assert not {"c", "d", "e", "f"} & set(names[0])
    assert names[1][0] == "c"
    assert names[3:5] == [[], []]
    assert set(names[6]) <= {"a", "b"}
    assert names[6]
    if handle.spec.kind == "min_hash":
        # case and runs of white space are no difference, two characters are no 3-gram; the
        # score is the number of equal minima, at most one of each distinct 3-gram
        normal = "the quick brown fox jumps over the lazy dog"
        grams = {normal[i : i + 3] for i in range(len(normal) - 2)}
        assert 0.8 * len(grams) <= found[0].scores[0] <= len(grams)
        assert (names[2], names[5]) == ([], ["g"])
    else:
        assert (names[2], names[5]) == (["e"], [])


def test_min_hash_ranks_much_as_exact_jaccard(engine, corpus, tmp_path):
    documents, queries = corpus
    handle = engine.build(IndexSpec(engine.name, "min_hash"), documents, tmp_path)
    found = ask(engine, handle, SearchParams(10), corpus)
    engine.drop(handle)

    def grams(text):
        told = " ".join(text.lower().split())
        return {told[i : i + 3] for i in range(len(told) - 2)}

    sets = [grams(text) for text in documents.texts]
    recalls = []
    for row, hits in enumerate(found):
        mine = grams(queries.texts[row])
        near = np.array([len(mine & other) / max(1, len(mine | other)) for other in sets])
        assert near[hits.ordinals[0]] == 1  # the query is a document
        least = np.sort(near)[-10]
        recalls.append(np.mean(near[hits.ordinals] >= least))
    assert np.mean(recalls) > 0.4  # ten at random: 10 / 600
