import os
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.collection import catalogue
from harness.collection import catalogue_words as words
from harness.collection.catalogue_goods import (
    MAX_PRODUCTS,
    MAX_SELLERS,
    Listing,
    generate_listings,
    zipf_table,
)
from harness.collection.catalogue_queries import write_query
from indexers.errors import CorpusError

# Recorded once; it guards the promise that a version's catalogue is the same everywhere.
GOLDEN = "ee67e51301ad86e83f44fd26f6b0f194f393f022f3d1d85e1a2d069bd29d50e0"
DIGEST_SCRIPT = """
import hashlib
from harness.collection import catalogue
corpus = catalogue.load(300, 20, 123)
judgments = corpus.judgments
parts = [corpus.ids, corpus.texts, corpus.query_ids, corpus.query_texts]
parts += [judgments.indptr.tolist(), judgments.documents.tolist(), judgments.gains.tolist()]
print(hashlib.sha256(repr([list(part) for part in parts]).encode()).hexdigest())
"""


def listings(count, seed=123):
    return list(islice(generate_listings(catalogue._stream("goods", seed)), count))


def judged(corpus, query):
    rows = slice(corpus.judgments.indptr[query], corpus.judgments.indptr[query + 1])
    return zip(
        corpus.judgments.documents[rows].tolist(),
        corpus.judgments.gains[rows].tolist(),
        strict=True,
    )


@pytest.fixture(scope="module")
def corpus():
    return catalogue.load(2000, 100, 7)


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_the_same_in_every_process(hash_seed):
    done = subprocess.run(
        [sys.executable, "-c", DIGEST_SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == GOLDEN


def check_well_formed(corpus, n_items, n_queries):
    assert corpus.name == f"catalogue-{n_items}"
    assert len(corpus.texts) == n_items
    assert len(set(corpus.ids)) == n_items
    assert list(corpus.ids) == sorted(corpus.ids)
    assert len(set(corpus.query_ids)) == len(corpus.query_texts) == n_queries
    assert corpus.query_self.dtype == np.int32
    assert corpus.query_self.tolist() == [-1] * n_queries
    assert min(map(len, corpus.texts)) >= 60
    assert min(len(text.split()) for text in corpus.query_texts) >= 2
    judgments = corpus.judgments
    assert (judgments.indptr.dtype, judgments.documents.dtype) == (np.int64, np.int32)
    assert judgments.gains.dtype == np.float64
    assert len(judgments.indptr) == n_queries + 1
    assert judgments.indptr[0] == 0
    assert judgments.indptr[-1] == len(judgments.documents) == len(judgments.gains)
    assert judgments.unmatched == 0
    assert set(judgments.gains.tolist()) == {1.0, 2.0, 3.0}
    for query in range(n_queries):
        documents, gains = zip(*judged(corpus, query), strict=True)
        assert list(documents) == sorted(set(documents))
        assert 0 <= documents[0] <= documents[-1] < n_items
        assert len(documents) <= MAX_PRODUCTS * MAX_SELLERS
        assert max(gains) == 3


@pytest.mark.parametrize(("n_items", "n_queries"), [(100, 1), (100, 20), (100, 100), (2000, 100)])
def test_well_formed(n_items, n_queries):
    if n_queries == 1:
        corpus = catalogue.load(n_items, n_queries, 123)
        assert 3.0 in corpus.judgments.gains
    else:
        check_well_formed(catalogue.load(n_items, n_queries, 123), n_items, n_queries)


@pytest.mark.slow
def test_well_formed_at_the_largest_size():
    check_well_formed(catalogue.load(100_000, 1000, 123), 100_000, 1000)


@pytest.mark.parametrize("n_items", [-1, 0, 99, 100_001])
def test_number_of_items_out_of_range(n_items):
    for call in (catalogue.load, catalogue.content):
        with pytest.raises(CorpusError, match="between 100 and 100,000") as caught:
            call(n_items, 20, 123)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("n_queries", [-1, 0, 101])
def test_number_of_queries_out_of_range(n_queries):
    with pytest.raises(CorpusError, match=r"between 1 and the number of items \(100\)"):
        catalogue.load(100, n_queries, 123)


def test_content_names_every_argument_and_the_version(monkeypatch):
    calls = [(300, 20, 1), (301, 20, 1), (300, 21, 1), (300, 20, 2), (300, 20, -1)]
    digests = [catalogue.content(*call) for call in calls]
    monkeypatch.setattr(catalogue, "VERSION", catalogue.VERSION + 1)
    digests.append(catalogue.content(*calls[0]))
    assert len(set(digests)) == 6
    assert all(len(digest) == 32 and int(digest, 16) >= 0 for digest in digests)


def test_content_and_source_of_a_corpus(corpus):
    assert corpus.content == catalogue.content(2000, 100, 7)
    assert corpus.source == f"generated product catalogue, version {catalogue.VERSION}, seed 7"


def test_seeds_give_different_catalogues():
    assert catalogue.load(100, 20, 1).texts != catalogue.load(100, 20, -1).texts


def test_grades_follow_from_how_texts_were_made(corpus):
    made = defaultdict(list)
    for listing in listings(2000, seed=7):
        made[listing.title + "\n" + " ".join(listing.sentences)].append(listing)
    for same in made.values():  # two sellers may edit one copy alike
        assert len({(entry.line, entry.product, entry.copy) for entry in same}) == 1
    origin = [made[text][0] for text in corpus.texts]
    line_sizes = Counter(listing.line for listing in origin)
    for query in range(100):
        by_gain = {1.0: [], 2.0: [], 3.0: []}
        for document, gain in judged(corpus, query):
            by_gain[gain].append(origin[document])
        (wanted,) = {(entry.line, entry.product, entry.copy) for entry in by_gain[3.0]}
        line, product, copy = wanted
        assert {entry.line for entries in by_gain.values() for entry in entries} == {line}
        assert all(e.product == product and e.copy != copy for e in by_gain[2.0])
        assert all(e.product != product for e in by_gain[1.0])
        assert sum(map(len, by_gain.values())) == line_sizes[line]


@pytest.mark.parametrize(
    ("line", "product", "copy", "expected"),
    [(5, 1, 0, 3), (5, 1, 2, 2), (5, 0, 0, 1), (6, 1, 0, 0)],
)
def test_gain(line, product, copy, expected):
    source = Listing(5, 1, 0, "a", (), 0, "b")
    assert catalogue.gain(source, Listing(line, product, copy, "a", (), 0, "b")) == expected


def test_queries_are_spread_over_products_with_several_listings():
    n_queries = 50
    corpus = catalogue.load(1000, n_queries, 123)
    sizes = Counter((entry.line, entry.product) for entry in listings(1000))
    assert sum(size >= 2 for size in sizes.values()) >= n_queries
    found = [tuple(d for d, g in judged(corpus, q) if g >= 2) for q in range(n_queries)]
    assert len(set(found)) == n_queries
    assert min(map(len, found)) >= 2


def test_queries_are_no_documents_and_resemble_their_answers(corpus):
    def shingles(text):
        text = " ".join(text.lower().split())
        return {text[start : start + 3] for start in range(len(text) - 2)}

    documents = [shingles(text) for text in corpus.texts]
    texts = {" ".join(text.split()) for text in corpus.texts}
    nearest = []
    for query, text in enumerate(corpus.query_texts):
        assert text not in texts
        mine = shingles(text)
        right = [documents[d] for d, gain in judged(corpus, query) if gain == 3]
        best = max(len(mine & theirs) for theirs in right)
        nearest.append(max(len(mine & theirs) / len(mine | theirs) for theirs in right))
        others = [len(mine & shingle_set) for shingle_set in documents[:50]]
        assert best > np.median(others)
    assert min(nearest) < 0.25, "no hard query"
    assert max(nearest) > 0.85, "no easy query"


def test_ids_say_nothing_about_products(corpus):
    made = {entry.title + "\n" + " ".join(entry.sentences): entry for entry in listings(2000, 7)}
    lines = np.array([made[text].line for text in corpus.texts], dtype=float)
    assert abs(np.corrcoef(lines, np.arange(2000))[0, 1]) < 0.1


def test_lines_are_bounded_and_follow_each_other():
    entries = listings(5000)
    numbers = [entry.line for entry in entries]
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(numbers[-1] + 1))
    sellers = Counter((entry.line, entry.product) for entry in entries)
    assert max(sellers.values()) == MAX_SELLERS
    assert min(sellers.values()) == 1
    products = Counter(line for line, _ in sellers)
    assert max(products.values()) == MAX_PRODUCTS
    assert entries[:700] == listings(700)


def test_zipf_table_worked_by_hand():
    # Shares 12, 6, 4, 3 of 25, times 4,096: cumulative 1966.08, 2949.12, 3604.48, 4096.
    assert Counter(zipf_table("abcd")) == {"a": 1966, "b": 983, "c": 655, "d": 492}


@given(st.integers(1, 256))
@settings(max_examples=30, deadline=None)
def test_zipf_table_holds_every_item_by_falling_frequency(count):
    table = zipf_table(range(count))
    counts = Counter(table)
    assert len(table) == 4096
    assert set(counts) == set(range(count))
    assert all(counts[rank] >= counts[rank + 1] - 1 for rank in range(count - 1))


def test_frequencies_follow_zipf():
    entries = listings(20_000)
    lines = list({entry.line: entry for entry in entries}.values())
    categories = Counter(entry.category for entry in lines)
    harmonic = sum(1 / rank for rank in range(1, len(words.CATEGORIES) + 1))
    for rank in range(5):
        assert categories[rank] / len(lines) == pytest.approx(1 / (rank + 1) / harmonic, abs=0.03)
    wear = [entry.brand for entry in lines if entry.category == 0]
    top = Counter(wear)
    harmonic = sum(1 / rank for rank in range(1, 25))
    for rank in range(3):
        share = top[words.BRANDS["wear"][rank]] / len(wear)
        assert share == pytest.approx(1 / (rank + 1) / harmonic, abs=0.08)
    used = Counter(word for entry in entries for word in entry.text.lower().split())
    ranked = [count for _, count in used.most_common()]
    slope = np.polyfit(np.log(np.arange(10, 1000)), np.log(ranked[10:1000]), 1)[0]
    assert -1.5 < slope < -0.6
    assert len(used) > 5000


def test_texts_are_as_long_as_a_listing(corpus):
    assert 200 <= np.mean([len(text) for text in corpus.texts]) <= 260


def test_vocabulary_is_whole():
    assert len(words.CATEGORIES) >= 30
    for category in words.CATEGORIES:
        assert category.department in words.BRANDS
        assert set(category.axes) <= set(words.AXES)
        assert len(category.axes) in (1, 2)
        assert len(category.features) == 8
        assert all(category.nouns + category.materials + category.uses)
    assert all(len(forms) == 3 for values in words.AXES.values() for forms in values)
    brands = [brand for names in words.BRANDS.values() for brand in names]
    assert len(set(brands)) == len(brands)


def test_an_unperturbed_query_still_differs():
    listing = Listing(0, 0, 0, "red cup", ("Holds tea.",), 0, "b")
    draws = iter([0.0, 0.9] + [0.99] * 50)  # no strength, the whole description
    assert write_query(lambda: next(draws), listing) == "red cup Holds"
