"""`harness tune --filter` over files of its own, in process and on both engines.

Truth and scores are recomputed from the files of the study by brute force: sets of shingles in
plain Python, matrices in numpy. Nothing is timed.
"""

import contextlib
import gzip
import json
import random
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

COMMAND = Path(sys.executable).with_name("harness")
K = 5
CHEAP, ACME = "price=..20", "meta.brand=acme"
FLAGS = ("--filter", "price=20%", "--filter", ACME, "--filter", "none")
CONFIG = f"""
sla_ms: 5000
sla_stat: p50
samples: 60
burst_s: 0
cutoff: {K}
objective: ANNRecall
family: simhash
num_tables: 4,8
hash_length: 6
"""


@dataclass
class Study:
    """A folder with the command that fills it, and what that told."""

    folder: Path
    arguments: list
    config: Path
    told: dict = field(default_factory=dict)

    def run(self, *more, expect=0):
        arguments = ["tune", "--config", self.config, "--out", self.folder, *self.arguments, *more]
        done = subprocess.run(
            [str(COMMAND), *map(str, arguments)], capture_output=True, text=True, timeout=900
        )
        assert done.returncode == expect, done.stderr[-2000:]
        assert "Traceback" not in done.stderr
        return done.stdout, done.stderr

    def summary(self, *more):
        return json.loads(self.run("--json", *more)[0])


def documents():
    """Near-duplicates in runs of five; a fifth cost 20 or less, and some have no price."""
    draw = random.Random(3)
    words = [a + b for a in ("la", "mo", "ri", "tek", "su", "no") for b in ("va", "pel", "qui")]
    made = []
    for number in range(120):
        text = made[-1]["text"].split() if number % 5 else draw.choices(words, k=24)
        text[draw.randrange(24)] = draw.choice(words)
        brand = draw.choice(["acme", "bolt", "core"])
        made.append({"_id": f"d{number:03}", "text": " ".join(text), "meta": {"brand": brand}})
    order = list(range(120))
    draw.shuffle(order)
    for rank, number in enumerate(order[:110]):
        made[number]["price"] = 10.0 + rank % 5 * 2.5 if rank < 24 else 20.5 + rank
    return made


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = tmp_path_factory.mktemp("filtered")
    made = documents()
    made[0]["price"] = made[0].get("price", 60.0)
    (folder / "corpus.jsonl").write_text("\n".join(map(json.dumps, made)))
    queries = [{"_id": f"q{n}", "text": made[n * 4]["text"]} for n in range(20)]
    queries += [{"_id": made[n]["_id"], "text": made[n]["text"]} for n in (3, 50, 77)]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, queries)))
    return folder, made, queries


def passing(made):
    """Filter -> which documents pass, in numpy; ids ascend as the ordinals do."""
    prices = np.array([one.get("price", np.nan) for one in made])
    brands = np.array([one["meta"]["brand"] for one in made])
    return {CHEAP: prices <= 20, ACME: brands == "acme", None: np.ones(len(made), bool)}


def jaccard(made, queries):
    """Of every query to every document: shared character 3-grams over those of either."""

    def shingles(text):
        return {text[at : at + 3] for at in range(len(text) - 2)}

    held = [shingles(one["text"]) for one in made]
    return np.array(
        [[len(q & d) / len(q | d) for d in held] for q in (shingles(x["text"]) for x in queries)]
    )


def nearest(made, queries, mask):
    """Query id -> ids of the K nearest that pass, the whole tie class, the query itself apart."""
    matrix, found = jaccard(made, queries), {}
    for row, query in enumerate(queries):
        able = [d for d in np.flatnonzero(mask) if made[d]["_id"] != query["_id"]]
        kth = sorted((matrix[row, d] for d in able), reverse=True)[K - 1]
        found[query["_id"]] = {made[d]["_id"] for d in able if matrix[row, d] >= kth}
    return found


def qrels(path):
    found = {}
    with gzip.open(path, "rt") as lines:
        for line in lines:
            query, _, document, _ = line.split()
            found.setdefault(query, set()).add(document)
    return found


def answers(folder, key):
    """Query id -> ids, best first."""
    found = {}
    with gzip.open(folder / "runs" / f"{key}.run.gz", "rt") as lines:
        for line in lines:
            query, _, document, *_ = line.split()
            found.setdefault(query, []).append(document)
    return found


@pytest.fixture(scope="module")
def study(corpus, tmp_path_factory, opensearch_url, elasticsearch_url):
    folder = tmp_path_factory.mktemp("study")
    (folder / "study.yaml").write_text(CONFIG)
    made = Study(
        folder / "out",
        [
            *("--corpus", corpus[0], "--backend", "tables,exact,opensearch,elasticsearch"),
            *("--kind", "lsh,flat,bm25", "--opensearch-url", opensearch_url),
            *("--elasticsearch-url", elasticsearch_url, *FLAGS),
        ],
        folder / "study.yaml",
    )
    made.told = made.summary()
    return made


def rows(study):
    return {row["key"]: row for row in study.told["trials"]}


def test_every_setting_is_measured_under_every_filter(study, corpus):
    masks = passing(corpus[1])
    assert all(row["status"] == "ok" for row in rows(study).values())
    counts = {}
    for row in rows(study).values():
        filter_ = row["setting"]["filter"]
        counts[filter_] = counts.get(filter_, 0) + 1
        wanted = None if filter_ is None else pytest.approx(masks[filter_].mean())
        assert row["selectivity"] == wanted
    # two lsh settings on three backends, flat on three and BM25 on two
    assert counts == {CHEAP: 11, ACME: 11, None: 11}


def test_truth_is_that_of_brute_force(study, corpus):
    _, made, queries = corpus
    truth = study.folder / "truth"
    found = {name.name.split("-")[0]: qrels(name) for name in truth.glob("neighbours.*-*.gz")}
    masks = passing(made)
    assert found["neighbours.price"] == nearest(made, queries, masks[CHEAP])
    assert found["neighbours.meta"] == nearest(made, queries, masks[ACME])
    assert qrels(truth / "neighbours.qrels.gz") == nearest(made, queries, masks[None])


def test_answers_pass_and_are_scored_against_what_passes(study, corpus):
    _, made, queries = corpus
    ids = np.array([one["_id"] for one in made])
    for filter_, mask in passing(made).items():
        able, wanted = set(ids[mask]), nearest(made, queries, mask)
        for key, row in rows(study).items():
            if row["setting"]["filter"] != filter_:
                continue
            given = answers(study.folder, key)
            assert all(set(one) <= able and q not in one for q, one in given.items())
            shares = [len(set(given.get(q, ())) & wanted[q]) / K for q in wanted]
            assert row["quality"][f"ANNRecall@{K}"] == pytest.approx(np.mean(shares))


def test_lsh_answers_are_those_of_the_tables_under_each_filter(study):
    by_setting = {}
    for key, row in rows(study).items():
        setting = row["setting"]
        if setting["kind"] in ("lsh", "flat"):
            same = (setting["kind"], setting["num_tables"], setting["hash_length"])
            by_setting.setdefault((*same, setting["filter"]), []).append(answers(study.folder, key))
    assert len(by_setting) == 9
    for found in by_setting.values():
        assert len(found) == 3
        assert found[0] == found[1] == found[2]


def test_exact_search_on_the_code_loses_nothing_to_the_index(study):
    for row in rows(study).values():
        if row["setting"]["kind"] == "flat":
            assert row["quality"][f"ANNRecall(truth=code)@{K}"] == 1.0


def test_one_build_serves_every_filter(study):
    builds = {}
    with contextlib.closing(sqlite3.connect(study.folder / "study.sqlite")) as db:
        found = [json.loads(text) for (text,) in db.execute("SELECT row FROM trials")]
    for row in found:
        place = (row["setting"]["backend"], row["setting"]["kind"])
        builds.setdefault(place, set()).add(row["build_s"])
    assert {len(times) for times in builds.values()} == {1}


def test_references_are_told_under_each_filter(study):
    found = {row["name"]: row["quality"] for row in study.told["reference"]}
    for filter_ in (CHEAP, ACME):
        assert found[f"exact jaccard where {filter_}"][f"ANNRecall@{K}"] == 1.0
        assert f"simhash code, exact where {filter_}" in found
        assert f"BM25 (opensearch) where {filter_}" in found
    assert found["exact jaccard"][f"ANNRecall@{K}"] == 1.0


def test_the_pick_holds_under_every_filter(study):
    told, pick = study.told["verdict"], study.told["pick"]
    assert "held under 3 filters: mean ANNRecall@5" in told
    alike = [
        row
        for row in rows(study).values()
        if {**row["setting"], "filter": None} == {**pick["setting"], "filter": None}
    ]
    assert len(alike) == 3
    assert all(row["feasible"] for row in alike)
    assert pick["latency_ms"]["p50"] == max(row["latency_ms"]["p50"] for row in alike)


def test_the_report_tells_what_filters_came_to(study):
    page = (study.folder / "report.md").read_text()
    assert "filter price=..20, asked for as price=20%: 24 documents pass (20.000%)" in page
    assert "Selectivity" in page or "selectivity" in page


def test_it_picks_again_without_measuring(study):
    again = study.summary("--sla-ms", 4000)
    assert [row["key"] for row in again["trials"]] == list(rows(study))
    assert again["sla"]["limit_ms"] == 4000


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--filter", "price=1..2"), "filter 'price=1..2': no document passes it, and at least 5"),
        (("--filter", "size=1"), "no document has the field size; choose with --filter from: "),
        (("--filter", "price=cheap"), "price holds numbers; give a number, LOW..HIGH or SHARE%"),
        (
            ("--filter", "price"),
            "--filter: filter 'price' is not understood: allowed is FIELD=VALUE",
        ),
    ],
)
def test_mistakes_are_one_line_before_anything_is_built(corpus, tmp_path, flags, told):
    (tmp_path / "study.yaml").write_text(CONFIG)
    made = Study(
        tmp_path / "out",
        ["--corpus", corpus[0], "--backend", "tables", *flags],
        tmp_path / "study.yaml",
    )
    _, errors = made.run(expect=2)
    assert told in errors
    assert len(errors.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()
