"""Rows by facet and split, chosen parameters, the front, the JSON object and the page."""

import csv
import io
import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest

from harness.bench.choices import Choice
from harness.bench.compare import Compared, Measured, Sides, compare
from harness.bench.document import document, equivalent, random_order
from harness.bench.hashing import Variant, bench_params, fingerprint
from harness.bench.output import make_folder
from harness.bench.page import hashed, render
from harness.bench.published import FIGURES, SPLIT, published
from harness.bench.rows import front, ranked, rows, total_s
from harness.bench.scoring import Scored, Task, score
from harness.bench.table import lines
from harness.bench.write import rows_csv, write
from harness.measures.pooled import Pooled, pooled, pooled_names
from indexers import registry
from indexers.errors import SettingError
from indexers.types import TableSize


def measured(
    values, *, similarity="hamming", bits=128, constant=False, seconds=1.0, family="simhash"
):
    values = np.array(values, np.float64)
    pooled = Pooled(
        dict.fromkeys(pooled_names(), values),
        np.full(len(values), 0.5),
        np.full(len(values), constant),
        np.zeros(len(values), np.int64),
    )
    scores = tuple(np.array([v, 0.0, 1.0]) for v in values)
    scored = Scored(pooled, scores, seconds)
    variant = Variant(bench_params(family, bits=bits), TableSize(1, 1))
    return Measured(family, similarity, "bits", variant, scored, seconds, 0.0)


def compared(*tried, family="simhash"):
    by = {}
    for one in tried:
        by.setdefault(one.similarity, []).append(one)
    return Compared(family, {name: found[0] for name, found in by.items()}, by, {})


def found_rows(pools, one, **options):
    task = Task(pools, "pool", 2.0)
    options = {"seed": 123, "resamples": 50, **options}
    return {(r["similarity"], r["facet"], r["split"]): r for r in rows(task, one, **options)}


def test_facets_and_halves(topics):
    values = [0.1, 0.2, 0.4, 0.9]
    got = found_rows(topics, compared(measured(values)))
    assert set(got) == {
        ("hamming", facet, split)
        for facet in ("all", "a", "b")
        for split in ("all", "dev", "test", "selected")
    }
    assert got["hamming", "all", "all"]["MAP"] == pytest.approx(0.4)
    assert got["hamming", "b", "all"]["MAP"] == pytest.approx(0.65)
    # folds: dev 0, 2 | test 1, 3, then the other way round
    assert got["hamming", "all", "dev"]["MAP"] == pytest.approx((0.25 + 0.55) / 2)
    assert got["hamming", "a", "test"]["MAP"] == pytest.approx((0.2 + 0.1) / 2)
    assert got["hamming", "all", "all"]["queries"] == 4


def test_selected_is_chosen_on_dev_and_scored_on_test(topics):
    default = measured([0.5, 0.5, 0.5, 0.5])
    other = measured([0.6, 0.1, 0.6, 0.2], bits=64)
    row = found_rows(topics, compared(default, other))["hamming", "all", "selected"]
    # fold 1 takes the other by its dev half (0, 2) and pays on 1, 3; fold 2 keeps the default
    assert row["MAP"] == pytest.approx((0.15 + 0.5) / 2)
    assert [params["bits"] for params in row["params"]] == [64, 128]


def test_the_default_wins_among_equals(topics):
    same = [0.5] * 4
    row = found_rows(topics, compared(measured(same), measured(same, bits=64)))[
        "hamming", "all", "selected"
    ]
    assert [params["bits"] for params in row["params"]] == [128]


def test_without_folds_there_is_one_split(topics):
    bare = replace(topics, folds=())
    assert {split for _, _, split in found_rows(bare, compared(measured([0.1] * 4)))} == {"all"}


def splitmix(seed):
    """The published generator, in plain Python."""
    mask = 2**64 - 1
    while True:
        seed = (seed + 0x9E3779B97F4A7C15) & mask
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield z ^ (z >> 31)


def resampled(groups, seed, resamples):
    """Sorted means of means of resamples, in plain Python."""
    stream, means = splitmix(seed), []
    for _ in range(resamples):
        drawn = [
            [group[(next(stream) >> 32) * len(group) >> 32] for _ in group] for group in groups
        ]
        means.append(sum(sum(part) / len(part) for part in drawn) / len(groups))
    return sorted(means)


def test_intervals_resample_the_queries_of_the_row(topics):
    values = [0.1, 0.2, 0.4, 0.9]
    got = found_rows(topics, compared(measured(values)))
    row = got["hamming", "all", "all"]
    means = resampled([values], 123, 50)
    # the outer 2.5 % of 50 are one and a quarter: the second from either end
    assert (row["MAP_low"], row["MAP_high"]) == pytest.approx((means[1], means[-2]))
    # the test halves of the two folds, each in itself
    means = resampled([[0.2, 0.9], [0.1, 0.4]], 123, 50)
    row = got["hamming", "all", "test"]
    assert (row["MAP_low"], row["MAP_high"]) == pytest.approx((means[1], means[-2]))
    none = found_rows(topics, compared(measured(values)), resamples=0)["hamming", "all", "all"]
    assert none["MAP_low"] is None


def test_constant_rows_have_no_rank_and_no_place_on_the_front(topics):
    good = measured([0.2] * 4, seconds=2.0)
    lucky = measured([0.9] * 4, similarity="jaccard", constant=True, seconds=0.1)
    got = list(found_rows(topics, compared(good, lucky)).values())
    best, constant = ranked(got)
    assert [row["similarity"] for row in best] == ["hamming"]
    assert [row["similarity"] for row in constant] == ["jaccard"]
    assert [row["similarity"] for row in front(got)] == ["hamming"]


def test_front_holds_what_nothing_beats(topics):
    one = compared(
        measured([0.3] * 4, similarity="hamming", seconds=3.0),
        measured([0.2] * 4, similarity="jaccard", seconds=1.0),
        measured([0.1] * 4, similarity="cosine", seconds=2.0),
    )
    assert [r["similarity"] for r in front(list(found_rows(topics, one).values()))] == [
        "jaccard",
        "hamming",
    ]


def test_equal_orders_are_one_class():
    one = compared(
        measured([0.3, 0.4], similarity="hamming"),
        measured([0.6, 0.7], similarity="manhattan"),
        measured([-0.3, 2.0], similarity="cosine"),
    )
    assert equivalent([one]) == [
        [
            {"family": "simhash", "similarity": "hamming"},
            {"family": "simhash", "similarity": "manhattan"},
        ]
    ]


def test_published_figures_stand_where_they_belong(published_topics):
    got = found_rows(published_topics, compared(measured([0.1] * 4, similarity="manhattan")))
    told = got["manhattan", "all", "all"]["published"]
    assert (told["MAP"], told["nDCG(discount=jk2)%20"]) == (0.1770, 0.3601)
    assert got["manhattan", "a", "all"]["published"] is None
    assert got["manhattan", "all", "test"]["published"] is None
    assert published("relish", "minhash", "mahalanobis", "all", "test")["remark"].startswith(
        "suspect"
    )
    assert published(None, "minhash", "jaccard", "all", "all") is None
    assert set(SPLIT) == set(FIGURES)
    places = [(f.family, f.similarity) for figures in FIGURES.values() for f in figures]
    assert len(places) == 18


def whole(pools, **families):
    """A real comparison of the small corpus as its JSON object."""
    task = Task(pools, "pool", 2.0)
    sides = Sides(pools.corpus.texts, pools.corpus.query_texts)
    done = [
        compare(task, Choice(name, similarities, True), sides, {})
        for name, similarities in families.items()
    ]
    found = [row for one in done for row in rows(task, one, seed=1, resamples=20)]
    settings = {
        "command": "harness bench --corpus '<b>'",
        "seed": 1,
        "resamples": 20,
        "vectors": None,
    }
    return document(task, done, found, [], ["family <i> is left out"], settings)


@pytest.fixture
def comparison(published_topics):
    return whole(
        published_topics,
        karp_rabin=(("jaccard", "sequence"), ("multiset_jaccard", "sequence")),
        winnowing=(("jaccard", "sequence"),),
    )


def test_alike_topics_rank_first(comparison):
    best, constant = ranked(comparison["rows"])
    assert constant == []
    assert best[0]["MAP"] > 0.7
    assert comparison["corpus"]["pairs"] == 4 * 23
    assert comparison["corpus"]["facets"] == {"a": 2, "b": 2}


def test_table_tells_ranks_and_facts(comparison):
    text = "\n".join(lines(comparison))
    assert "topics: 24 documents, 4 queries (a 2, b 2), 92 judged pairs" in text
    assert "front (MAP against time, making vectors left out)" in text
    assert "0.2678" in text
    assert "fingerprint s" in text


def test_files(comparison, tmp_path):
    write(comparison, render(comparison), tmp_path / "new" / "folder")
    folder = tmp_path / "new" / "folder"
    assert json.loads((folder / "bench.json").read_text()) == json.loads(json.dumps(comparison))
    page = (folder / "report.html").read_text()
    assert "Read with care" not in page
    assert "&lt;b&gt;" in page
    assert "family &lt;i&gt; is left out" in page
    assert "http" not in page.replace("http-equiv", "")
    table = list(csv.DictReader(io.StringIO(rows_csv(comparison["rows"]))))
    assert len(table) == len(comparison["rows"])
    assert {row["published MAP"] for row in table} == {"", "0.2678"}
    assert {row["published name"] for row in table} == {""}


def test_published_figures_of_vectors_name_their_model(published_topics):
    one = compared(measured([0.1] * 4, family="bihash"), family="bihash")
    found = list(found_rows(published_topics, one).values())
    (told,) = [row["published"] for row in found if row["published"]]
    assert (told["MAP"], told["name"]) == (0.2592, "BGE small")
    settings = {"command": "", "seed": None, "resamples": 5, "vectors": "given"}
    task = Task(published_topics, "pool", 2.0)
    whole = document(task, [one], found, [], [], settings)
    assert "0.2592 (BGE small)" in "\n".join(lines(whole))
    assert '0.2592 <span class="soft">(BGE small)</span>' in render(whole)
    assert "BGE small" in {
        row["published name"] for row in csv.DictReader(io.StringIO(rows_csv(found)))
    }


def test_every_published_figure_of_a_family_of_vectors_has_its_model():
    for figure in (one for figures in FIGURES.values() for one in figures):
        of_vectors = registry.family(figure.family).source == "vector"
        assert (figure.name is not None) == of_vectors
        assert figure.name is None or figure.name in figure.label


def test_published_test_splits_are_shown(topics):
    relish = replace(topics, benchmark="relish", facets=("",) * 4, folds=topics.folds[:1])
    good = measured([0.1] * 4, similarity="jaccard", family="minhash")
    odd = measured([0.2] * 4, similarity="mahalanobis", family="minhash")
    one = compared(good, odd, family="minhash")
    found = list(found_rows(relish, one).values())
    assert [r["published"]["MAP"] for r in found if r["published"]] == [0.4609, 0.9747]
    settings = {"command": "", "seed": None, "resamples": 5, "vectors": "given"}
    told = document(Task(relish, "pool", 2.0), [one], found, [], [], settings)
    shown = list(lines(told))
    place = shown.index("published figures are of the split test:")
    assert [line.split() for line in shown[place + 2 : place + 4]] == [
        ["minhash", "mahalanobis", "0.2000", "0.9747"],
        ["minhash", "jaccard", "0.1000", "0.4609"],
    ]
    # the rows of all queries have no figure beside them
    assert not any("0.9747" in line for line in shown[:place])
    assert any("0.9747 (MinHash, Mahalanobis): suspected constant scorer" in s for s in shown)
    page = render(told)
    assert "Published, test" in page
    assert "MinHash, Mahalanobis (0.9747): suspected constant scorer" in page


def test_random_order_is_that_of_a_constant_scorer(topics):
    harder = replace(topics, gains=np.where(topics.gains == 3, 3.0, 0.0))
    for protocol in ("pool", "corpus"):
        task = Task(harder, protocol, 2.0)
        n = len(topics.corpus.ids) - 1
        relevant = [3, 3, 3, 3]
        # by counting: each of the n ranks is as likely, the others spread evenly before it
        wanted = [
            sum((1 + (r - 1) * (k - 1) / (n - 1)) / r for r in range(1, n + 1)) / n
            for k in relevant
        ]
        assert random_order(task) == pytest.approx(sum(wanted) / 4)
    flat = pooled(topics.indptr, np.zeros(len(topics.gains)), topics.gains, relevant_from=1.0)
    wanted = flat.per_query["MAP"].mean()
    assert random_order(Task(topics, "pool", 1.0)) == pytest.approx(wanted)


def test_intervals_do_not_know_the_order_of_queries(topics):
    """The same queries in another order, their ids with the facet behind."""
    values = np.array([0.1, 0.2, 0.4, 0.9])
    order = np.array([2, 0, 3, 1])
    corpus = replace(
        topics.corpus,
        query_ids=[f"q{n}_{topics.facets[n]}" for n in order],
        query_self=topics.corpus.query_self[order],
    )
    other = replace(topics, corpus=corpus, facets=tuple(topics.facets[n] for n in order), folds=())
    one = found_rows(replace(topics, folds=()), compared(measured(values)))
    two = found_rows(other, compared(measured(values[order])))
    for key, row in one.items():
        assert (row["MAP_low"], row["MAP_high"]) == (two[key]["MAP_low"], two[key]["MAP_high"])


def test_signatures_have_rows():
    params = {"bits": 1024, "unit": "word", "shingle_size": 1}
    assert hashed(params, "signature") == "1024 rows, word 1-grams"
    assert hashed(params, "bits") == "1024 bits, word 1-grams"


@pytest.mark.parametrize(("folds", "columns"), [(2, 0), (1, 1)])
def test_mirrored_folds_have_one_column(topics, folds, columns):
    pools = replace(topics, folds=topics.folds[:folds])
    one = compared(measured([0.1, 0.2, 0.4, 0.9]))
    found = list(found_rows(pools, one).values())
    settings = {"command": "", "seed": None, "resamples": 5, "vectors": None}
    told = document(Task(pools, "pool", 2.0), [one], found, [], [], settings)
    assert render(told).count('<th scope="col" class="n">dev</th>') == columns
    assert {"dev", "test"} <= {row["split"] for row in told["rows"]}


def test_making_vectors_is_not_on_the_front(topics):
    encoded = replace(measured([0.3] * 4, family="bihash"), encode_s=500.0)
    (row,) = front(list(found_rows(topics, compared(encoded, family="bihash")).values()))
    assert row["encode_s"] == 500
    assert total_s(row) == 2
    one = compared(encoded, family="bihash")
    found = list(found_rows(topics, one).values())
    settings = {"command": "", "seed": None, "resamples": 5, "vectors": "encoded"}
    task = Task(topics, "pool", 2.0)
    shown = "\n".join(lines(document(task, [one], found, [], [], settings)))
    assert "encode s" in shown
    kept = compared(replace(encoded, encode_s=None), family="bihash")
    found = list(found_rows(topics, kept).values())
    told = document(task, [kept], found, [], [], settings)
    shown = "\n".join(lines(told))
    assert "encode s" not in shown
    assert "vectors are from the cache" in shown
    assert "from the cache" in render(told)


def test_interrupts_are_heard_between_rows(topics, monkeypatch):
    asked = []

    def slow(_, queries, documents, __):
        asked.append(1)
        os.kill(os.getpid(), signal.SIGINT)
        return np.zeros((len(queries), len(documents)))

    monkeypatch.setattr(type(registry.similarity("levenshtein")), "matrix", slow)
    sides = Sides(topics.corpus.texts, topics.corpus.query_texts)
    made = fingerprint("winnowing", bench_params("winnowing"), sides.texts, sides.query_texts)
    with pytest.raises(KeyboardInterrupt):
        score(
            Task(topics, "pool", 2.0),
            registry.similarity("levenshtein"),
            "sequence",
            made.documents,
            made.queries,
        )
    assert len(asked) == 1


def test_a_folder_that_cannot_be_written(comparison, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"--out .* cannot be written"):
        make_folder(tmp_path / "file" / "folder")
    with pytest.raises(SettingError, match=r"--out .* cannot be written"):
        write(comparison, "", tmp_path / "file" / "folder")


def test_the_folder_of_a_study_is_not_written_into(tmp_path):
    (tmp_path / "study.sqlite").write_text("")
    with pytest.raises(SettingError, match=r"--out .* holds a study"):
        make_folder(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["study.sqlite"]


def test_a_page_of_constant_rows_alone(topics):
    task = Task(topics, "pool", 2.0)
    found = list(rows(task, compared(measured([0.1] * 4, constant=True)), seed=1, resamples=5))
    one = compared(measured([0.1] * 4, constant=True))
    settings = {"command": "", "seed": None, "resamples": 5, "vectors": "given"}
    told = document(task, [one], found, [], [], settings)
    page = render(told)
    assert "simhash · hamming is constant" in page
    assert any("constant" in line for line in lines(told))
    assert told["front"] == []


def test_a_family_that_reads_nothing_is_refused(topics):
    empty = replace(topics.corpus, texts=["  "] * 24)
    task = Task(replace(topics, corpus=empty), "pool", 2.0)
    choice = Choice("winnowing", (("jaccard", "sequence"),), True)
    with pytest.raises(SettingError, match="none of the 24 documents gives a fingerprint"):
        compare(task, choice, Sides(empty.texts, empty.query_texts), {})


def test_only_the_defaults_keep_their_scores(topics):
    choice = Choice("winnowing", (("jaccard", "sequence"),), True)
    sides = Sides(topics.corpus.texts, topics.corpus.query_texts)
    found = compare(Task(topics, "pool", 2.0), choice, sides, {})
    first, *others = found.tried["jaccard"]
    assert len(first.scored.scores) == 4
    assert others
    assert all(one.scored.scores == () for one in others)


def test_a_similarity_that_cannot_compare_is_left_out_alone(topics, monkeypatch):
    def refuses(*_):
        raise SettingError("too many symbols")

    monkeypatch.setattr(type(registry.similarity("levenshtein")), "matrix", refuses)
    pairs = (("jaccard", "sequence"), ("levenshtein", "sequence"))
    sides = Sides(topics.corpus.texts, topics.corpus.query_texts)
    task = Task(topics, "pool", 2.0)
    found = compare(task, Choice("winnowing", pairs, True), sides, {})
    assert list(found.defaults) == list(found.tried) == ["jaccard"]
    assert found.left_out == ("family winnowing by levenshtein: too many symbols",)
    with pytest.raises(SettingError, match="too many symbols"):
        compare(task, Choice("winnowing", pairs, True, pairs_named=True), sides, {})
    with pytest.raises(SettingError, match="winnowing by levenshtein: too many symbols"):
        compare(task, Choice("winnowing", pairs[1:], True), sides, {})


def test_empty_documents_are_counted(topics):
    texts = list(topics.corpus.texts)
    texts[3] = " "
    corpus = replace(topics.corpus, texts=texts)
    got = whole(replace(topics, corpus=corpus), winnowing=(("jaccard", "sequence"),))
    assert got["unusable"] == {"winnowing": {"documents": {"empty": 1}}}
    assert got["rows"][0]["unusable"] == 4
