"""Graphs through `harness tune`: FAISS and hnswlib, over codes and vectors, beside exact search."""

import csv
import html
import re

import pytest

WIDTHS = (16, 200)
SIZES = ("--m", "8", "--ef-construction", "100", "--ef-search", "16,200")
TRUE = "ANNRecall(truth=code)@10"


def of(summary, **wanted):
    return [
        trial
        for trial in summary["trials"]
        if all(trial["setting"][name] == value for name, value in wanted.items())
    ]


@pytest.mark.usefixtures("hnswlib")
def test_graphs_of_codes_and_vectors(study, data_dir):
    vectors = data_dir("csfcube") / "minilm.npy"
    made = study(
        *("--corpus", data_dir("csfcube"), "--vectors", vectors, "--family", "simhash,bge"),
        *("--backend", "hnswlib,faiss", "--kind", "hnsw,flat", *SIZES),
    )
    summary = made.summary()
    assert {trial["status"] for trial in summary["trials"]} == {"ok"}
    graphs = of(summary, kind="hnsw")
    assert {(t["setting"]["backend"], t["setting"]["family"]) for t in graphs} == {
        (backend, family) for backend in ("hnswlib", "faiss") for family in ("simhash", "bge")
    }
    assert len(graphs) == 8
    assert {(t["setting"]["m"], t["setting"]["ef_construction"]) for t in graphs} == {(8, 100)}
    assert not any(trial["baseline"] for trial in graphs)
    flats = of(summary, kind="flat")
    assert len(flats) == 2  # on FAISS alone
    assert all(trial["baseline"] for trial in flats)
    assert {t["setting"]["ef_search"] for t in flats} == {None}
    for backend in ("hnswlib", "faiss"):
        for family in ("simhash", "bge"):
            narrow, wide = (
                of(summary, backend=backend, family=family, ef_search=width)[0] for width in WIDTHS
            )
            # one graph for both
            assert (narrow["build_s"], narrow["index_bytes"]) == (
                wide["build_s"],
                wide["index_bytes"],
            )
            measure = TRUE if family == "simhash" else "nDCG@10"
            exact = of(summary, kind="flat", family=family)[0]["quality"][measure]
            assert wide["quality"][measure] >= 0.97 * exact
    assert set(summary["front"]) <= {trial["key"] for trial in summary["trials"]}
    check_report(made.folder, summary)


def check_report(folder, summary):
    told = "m 8, ef_construction 100, ef_search "  # of the pick
    page = html.unescape((folder / "report.html").read_text())
    assert told in (folder / "report.md").read_text()
    assert told in page
    assert re.search(r"hnsw on hnswlib", page)
    with (folder / "trials.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert {row["setting.ef_search"] for row in rows} == {"16", "200", ""}
    assert [row["key"] for row in rows] == [trial["key"] for trial in summary["trials"]]


@pytest.mark.usefixtures("hnswlib")
def test_a_catalogue_resumes_and_shows_its_graphs(study):
    made = study(
        *("--corpus", "catalogue:2000", "--family", "simhash", "--backend", "hnswlib,faiss"),
        *("--kind", "hnsw,flat", "--ef-search", "10,64", "--m", "8,16"),
    )
    shown, told = made.run()
    assert "9 trials to measure" in told
    head = next(line for line in shown.splitlines() if "backend" in line)
    assert head.split()[4:8] == ["length", "m", "ef_construction", "ef_search"]
    rows = made.rows()
    assert len(rows) == 9
    summary = made.summary("--sla-ms", "50")
    assert made.rows() == rows
    assert min(t["quality"][TRUE] for t in of(summary, ef_search=64)) > 0.9
    more = made.summary("--ef-search", "128", "--fresh")
    assert {t["setting"]["ef_search"] for t in of(more, kind="hnsw")} == {10, 64, 128}


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--backend", "tables", "--kind", "hnsw"), "kind: no 'hnsw' on tables; choose from lsh"),
        (("--backend", "faiss", "--ef-search", "64"), "no hnsw is measured; add it to --kind"),
        (("--backend", "faiss", "--kind", "hnsw", "--m", "1"), "m: takes 2 to 512, not 1"),
        (
            ("--backend", "faiss", "--kind", "hnsw", "--family", "winnowing"),
            "no setting of this study exists",
        ),
    ],
)
def test_what_cannot_be_measured_is_told(study, flags, told):
    _, errors = study("--corpus", "catalogue:200", *flags).run(expect=2)
    lines = [line for line in errors.splitlines() if line.startswith("harness:")]
    assert len(lines) == 1
    assert told in lines[0]
