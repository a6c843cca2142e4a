"""Filters as written and as settings hold them, the space they make, and the pick under them."""

from dataclasses import replace

import numpy as np
import pytest

from harness.collection.types import Corpus, Judgments, Neighbours
from harness.config_sources import study_config
from harness.filters import asked, fields_of, filter_of, slug, text_of
from harness.report.words import truth_under
from harness.settings import Setting
from harness.tuning import filters
from harness.tuning.builds import builds
from harness.tuning.passing import ground_of, passing_of
from harness.tuning.pick import choose
from harness.tuning.plan import make_plan
from harness.tuning.sla import Sla
from harness.tuning.space import space
from harness.tuning.specs import params_of
from harness.tuning.summary import best_reference
from harness.tuning.trial import Trial
from harness.tuning.verdict import verdict
from indexers.errors import SettingError
from indexers.index_types import Filter
from indexers.types import Nearest

SLA = Sla(100.0, "p99")
OBJECTIVE = "nDCG@10"


# ---- what is written


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("price=10..50", Filter("price", None, 10, 50)),
        ("price=..2.5e1", Filter("price", None, None, 25)),
        ("price=-4..", Filter("price", None, -4, None)),
        ("price=7", Filter("price", None, 7, 7)),
        (" brand = acme & co ", Filter("brand", "acme & co")),
        ('brand="10..50"', Filter("brand", "10..50")),
        ('brand=" a=b \\" "', Filter("brand", ' a=b " ')),
        ("brand=a..b", Filter("brand", "a..b")),
        ("none", None),
    ],
)
def test_filters_are_read(text, wanted):
    assert filter_of(text) == wanted
    if wanted is not None:
        assert filter_of(text_of(wanted)) == wanted


@pytest.mark.parametrize(
    ("wanted", "text"),
    [
        (Filter("price", None, 10, 50.5), "price=10..50.5"),
        (Filter("price", 7.0), "price=7..7"),
        (Filter("price", None, None, 1e-9), "price=..1e-09"),
        (Filter("brand", "acme"), "brand=acme"),
        (Filter("brand", "42"), 'brand="42"'),
        (Filter("brand", "9%"), 'brand="9%"'),
        (Filter("brand", " a\nb"), 'brand=" a\\nb"'),
    ],
)
def test_settings_hold_what_reads_back(wanted, text):
    assert text_of(wanted) == text
    held = filter_of(text)
    assert held == (Filter("price", None, 7, 7) if wanted.value == 7.0 else wanted)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("price", "is not understood: allowed is FIELD=VALUE, FIELD=LOW..HIGH"),
        ("=5", "is not understood"),
        ("price=", "is not understood"),
        ("price=..", "at least one end"),
        ("price=5..4", "the low end is above the high end"),
        ("price=0%", "a share lies above 0"),
        ("price=101%", "at most 100%"),
        ('brand="x', "the quotes are not understood"),
        ("brand=" + "x" * 2000, "more than 1000 characters"),
    ],
)
def test_mistakes_are_told_before_anything_is_read(text, told):
    with pytest.raises(SettingError, match=told):
        asked(text)
    with pytest.raises(SettingError) as caught:
        study_config({"sla_ms": 10, "filter": (text, "also wrong", "price=1..2")})
    assert len(caught.value.problems) == 2
    assert told in caught.value.problems[0]
    assert all("\n" not in line and len(line) < 300 for line in caught.value.problems)


def test_shares_need_a_corpus():
    assert asked("price=2.5%").share == 0.025
    assert fields_of(["price=1%", "none", "brand=x", "price=..4"]) == ("price", "brand")
    with pytest.raises(SettingError, match="a corpus must tell its range"):
        filter_of("price=1%")


def test_slugs_tell_filters_apart():
    found = {slug(text) for text in ("price=..10", "price=10..", "price=10..10", "Price=..10")}
    assert len(found) == 4
    assert all(name.replace("-", "").isalnum() and name.islower() for name in found)


# ---- in a corpus


def corpus_of(judgments=None, **attributes):
    count = len(next(iter(attributes.values())))
    return Corpus(
        "c", "0", [f"d{i}" for i in range(count)], ["text"] * count, ["q", "r"], ["text", "text"],
        np.array([1, -1], np.int32), judgments, attributes=attributes,
    )  # fmt: skip


PRICES = [4.0, 1.0, None, 3.0, 1.0, 9.0, 2.0, 8.0, 7.0, None]


@pytest.mark.parametrize(
    ("text", "held", "documents"),
    [
        ("price=20%", "price=..1", 2),  # two of ten, both of the lowest value
        ("price=39%", "price=..2", 3),
        ("price=100%", "price=..9", 8),  # two have no price
        ("price=2..4", "price=2..4", 3),
        ("price=8..", "price=8..", 2),
        ("price=1", "price=1..1", 2),
    ],
)
def test_shares_become_ranges(text, held, documents):
    (found,) = filters.resolved(corpus_of(price=PRICES), [text])
    assert (found.asked, found.filter, found.documents) == (text, held, documents)
    assert found.share == documents / 10


def test_texts_are_texts_whatever_they_look_like():
    corpus = corpus_of(size=["42", "1..9", "10%", None, "42", "x", "x", "x", "x", "x"])
    found = filters.resolved(corpus, ["size=42", "size=1..9", "size=10%", "size=y", "none"])
    assert [(one.filter, one.documents) for one in found] == [
        ('size="42"', 2), ('size="1..9"', 1), ('size="10%"', 1), ("size=y", 0),
    ]  # fmt: skip


def test_filters_that_do_not_fit_are_told_a_line_each():
    with pytest.raises(SettingError) as caught:
        filters.resolved(corpus_of(price=PRICES), ["price=cheap", 'price="3"', "price=10%"])
    assert caught.value.problems == (
        "filter 'price=cheap': price holds numbers; give a number, LOW..HIGH or SHARE%",
        "filter 'price=\"3\"': price holds numbers; give a number, LOW..HIGH or SHARE%",
        "filter 'price=10%': 20.000% of the documents have the lowest value, 1; choose a share of "
        "at least that",
    )


def test_too_few_are_told_and_the_rest_is_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    corpus = corpus_of(price=PRICES)
    read = []

    def open_corpus(_):
        read.append(1)
        return corpus

    monkeypatch.setattr(filters.corpora, "open_corpus", open_corpus)
    config = study_config(
        {"sla_ms": 10, "cutoff": 3, "filter": ("price=20%", "price=20..", "none")}
    )
    with pytest.raises(SettingError) as caught:
        filters.resolve(config, "0")
    assert caught.value.problems == (
        "filter 'price=20%': 2 documents pass it, and at least 3 must, as many as are asked for "
        "(--cutoff)",
        "filter 'price=20..': no document passes it, and at least 3 must, as many as are asked for "
        "(--cutoff)",
    )
    config = config.model_copy(update={"filter": ("price=39%", "none", "price=..2")})
    found = filters.resolve(config, "0")
    assert found.config.filter == ("price=..2", "none")
    assert len(read) == 2
    assert filters.resolve(config, "0").corpus is None  # it is known from the cache
    assert len(read) == 2


# ---- the space


def studied(**flags):
    return study_config({"sla_ms": 10, "family": "simhash", "backend": "tables,faiss", **flags})


def test_without_filters_no_key_changes():
    plain = make_plan(studied(), "c", "0")
    assert make_plan(studied(filter=("none",)), "c", "0") == plain
    unfiltered = {p.point.setting for p in plan_of("price=..5", "none").trials}
    assert {p.point.setting for p in plain.trials} < unfiltered


def plan_of(*texts):
    return make_plan(studied(filter=texts), "c", "0")


def test_filters_multiply_and_share_one_build():
    plan = plan_of("price=..5", "brand=x", "none")
    places = list(builds(plan.trials, plan.trials, "shared"))
    served = {(spec.backend, spec.kind): trials for spec, trials in places}
    assert len([spec for spec, _ in places if spec.kind != "multihash"]) == 2
    assert {p.point.setting.filter for p in served["tables", "lsh"]} == {
        "price=..5", "brand=x", None,
    }  # fmt: skip
    assert [p.point.setting.filter for p in served["faiss", "flat"]] == [
        "price=..5", "brand=x", None,
    ]  # fmt: skip
    assert {spec.attributes for spec, _ in places} == {(("brand", "keyword"), ("price", "double"))}


def test_what_does_not_exist_is_counted():
    found = space(studied(filter=("price=..5",)))
    reasons = [reason for reason, _ in found.impossible if "without a filter" in reason]
    assert len(reasons) == 1
    assert {p.setting.kind for p in found.points} == {"lsh", "flat"}
    assert {params_of(p.setting, 3).filter for p in found.points} == {
        Filter("price", None, None, 5)
    }


def test_keys_depend_on_the_filter_and_on_what_the_index_holds():
    one, two = plan_of("price=..5", "none"), plan_of("price=..6", "none")
    bare = make_plan(studied(), "c", "0")

    def keys(plan, filter_):
        return {t.key for t in plan.trials if t.point.setting.filter == filter_}

    assert keys(one, None) == keys(two, None)  # both indexes hold the price
    assert not keys(one, None) & keys(bare, None)
    assert not keys(one, "price=..5") & keys(two, "price=..6")


# ---- the truth


def test_truth_is_of_what_passes():
    judgments = Judgments(
        np.array([0, 3, 5]), np.array([0, 1, 4, 2, 5], np.int32), np.array([3.0, 3, 1, 3, 1])
    )
    corpus = corpus_of(judgments, price=PRICES)
    passing = passing_of(corpus, "price=..4")
    assert passing.rows.tolist() == [0, 1, 3, 4, 6]
    assert passing.share == 0.5
    assert passing.within(corpus.query_self).tolist() == [1, -1]
    assert passing.corpus(corpus).ids == ["d0", "d1", "d3", "d4", "d6"]
    nearest = Nearest(
        np.array([0, 2, 2]), np.array([0, 3], np.int32), np.array([0.9, 0.5]),
        np.array([0.5, 0.0]), np.array([True, True]),
    )  # fmt: skip
    lifted = passing.neighbours(Neighbours("jaccard", 2, nearest))
    assert lifted.nearest.documents.tolist() == [0, 4]
    truth = ground_of(corpus, passing, lifted, 2, None).truth
    assert truth.returnable.tolist() == [4, 5]  # the first query is a document that passes
    # of the first query's judgments d1 is itself; d2 and d5 of the second do not pass
    assert truth.relevance.relevant.tolist() == [1, 0]
    assert truth.relevance.relevant_from == 2  # of all judgments, as without a filter
    # the second query resembles nothing, so that all that pass are nearest, and nothing else
    rows = np.zeros(3, np.int64) + 1
    assert truth.nearest.counts(rows, np.array([6, 7, -1], np.int32)).tolist() == [
        True, False, False,
    ]  # fmt: skip
    answers = np.array([[0, 7], [6, -1]], np.int32)
    assert passing.strangers(answers) == 1
    kept = passing.scores(np.ones((2, 2)), answers)
    assert np.isnan(kept).tolist() == [[False, True], [False, True]]


# ---- the pick


def row(tables, filter_, quality, p99, *, upper=None, baseline=False, flags=(), status="ok"):
    kind = "flat" if baseline else "lsh"
    setting = Setting("simhash", "tables", kind, tables, 8, 128, "code", filter=filter_)
    return Trial(
        key=f"{tables}-{filter_}-{kind}",
        setting=setting,
        baseline=baseline,
        status=status,
        quality={OBJECTIVE: quality},
        latency_ms={"p99": p99, "p50": 1.0},
        service_ms={"p50": 1.0},
        upper_ms={"p99": p99 if upper is None else upper},
        samples=1000,
        index_bytes=100,
        flags=flags,
    )


def chosen(rows):
    return choose(rows, SLA, OBJECTIVE, 0.005)


def test_a_setting_must_hold_under_every_filter():
    fast = [row(5, None, 0.5, 10), row(5, "p=..1", 0.7, 20)]
    good = [row(9, None, 0.9, 10), row(9, "p=..1", 0.9, 120)]
    choice = chosen([*fast, *good])
    assert choice.pick == fast[1]  # its slowest row, as measured
    assert choice.filters == 2
    assert choice.together(choice.pick).quality == {OBJECTIVE: 0.6}
    assert set(choice.front) == {"5-p=..1-lsh", "9-p=..1-lsh"}
    told = verdict(choice, [*fast, *good], SLA, OBJECTIVE, 0.8)
    assert told == (
        "Use simhash on tables (lsh, num_tables 5, hash_length 8), held under 2 filters: mean "
        "nDCG@10 0.600 at p99 20 ms (at most 20 ms with 95 % confidence; limit 100 ms, the slowest "
        "under p=..1)."
    )


def test_the_mean_decides_and_the_worst_bound_binds():
    steady = [row(5, None, 0.8, 10), row(5, "p=..1", 0.8, 10)]
    uneven = [row(9, None, 1.0, 10), row(9, "p=..1", 0.5, 10)]
    assert chosen([*steady, *uneven]).pick.setting.num_tables == 5
    bound = [row(5, None, 0.8, 10, upper=101), row(5, "p=..1", 0.8, 50)]
    assert chosen([*bound, *uneven]).pick.setting.num_tables == 9
    saturated = [row(5, None, 0.8, 10, flags=("saturated",)), row(5, "p=..1", 0.8, 50)]
    assert chosen([*saturated, *uneven]).pick.setting.num_tables == 9


def test_a_setting_without_a_row_under_some_filter_is_not_chosen():
    whole = [row(5, None, 0.5, 10), row(5, "p=..1", 0.5, 10)]
    half = [row(9, None, 0.9, 10), row(9, "p=..1", None, 10, status="failed")]
    unscored = [row(7, None, 0.9, 10), row(7, "p=..1", None, 10)]
    assert chosen([*whole, *half, *unscored]).pick.setting.num_tables == 5
    nothing = chosen(half)
    assert nothing.pick is None
    assert verdict(nothing, half, SLA, OBJECTIVE, None) == (
        "No setting finished under all 2 filters with nDCG@10: measure filters apart, or choose "
        "backends that serve them all."
    )


def test_the_nearest_miss_is_of_all_filters():
    rows = [row(5, None, 0.5, 10), row(5, "p=..1", 0.5, 130)]
    choice = chosen(rows)
    assert (choice.pick, choice.nearest_miss) == (None, rows[1])
    told = verdict(choice, rows, SLA, OBJECTIVE, None)
    assert told.startswith("No setting meets the SLA of 100 ms on p99 under all 2 filters: scale")


def test_baselines_are_held_under_every_filter_too():
    swept = [row(5, None, 0.5, 10), row(5, "p=..1", 0.5, 10)]
    base = [row(1, None, 0.9, 10, baseline=True), row(1, "p=..1", 0.9, 500, baseline=True)]
    assert chosen([*swept, *base]).enough is None
    held = [base[0], replace(base[1], latency_ms={"p99": 50.0}, upper_ms={"p99": 60.0})]
    assert chosen([*swept, *held]).enough == held[1]


def test_one_filter_alone_is_chosen_by_its_rows():
    rows = [row(5, "p=..1", 0.5, 10), row(9, "p=..1", 0.9, 10)]
    choice = chosen(rows)
    assert (choice.pick, choice.filters, choice.held) == (rows[1], 1, {})


def test_the_reference_is_the_mean_of_the_best_under_each_filter():
    rows = [
        {"name": "exact jaccard", "quality": {OBJECTIVE: 0.9}},
        {"name": "BM25 (in process)", "quality": {OBJECTIVE: 0.4}},
        {"name": "exact jaccard where p=..1", "quality": {OBJECTIVE: 0.2}},
        {"name": "BM25 (tables) where p=..1", "quality": {OBJECTIVE: 0.5}},
        {"name": "simhash code, exact where p=..1", "quality": {OBJECTIVE: 1.0}},
    ]
    assert best_reference(rows, OBJECTIVE) == pytest.approx(0.7)
    assert best_reference(rows[:2], OBJECTIVE) == 0.9


def test_the_truth_under_a_filter_has_files_of_its_own():
    name = f"judgments.{slug('price=..5')}.qrels"
    assert truth_under("truth/judgments.qrels", "price=..5") == f"truth/{name}"
    assert truth_under("truth/neighbours.qrels.gz", "price=..5").endswith(".qrels.gz")
    assert truth_under("truth/judgments.qrels", None) == "truth/judgments.qrels"
