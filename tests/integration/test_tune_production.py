"""Queries as in production, on real nodes: documents fetched, replays, indexing meanwhile."""

import json
import threading

import pytest

from harness.load.options import load_options
from indexers.errors import SettingError

pytestmark = pytest.mark.engine
ONE = (
    *("--corpus", "catalogue:500", "--family", "simhash"),
    *("--num-tables", "10", "--hash-length", "8", "--kind", "lsh"),
    # what is asked for is no speed
    *("--rate", "30", "--samples", "100", "--sla-ms", "10000", "--sla-stat", "p50"),
)


@pytest.fixture
def made_by(study, engine, node):
    """Runs a small study on the node with more flags; gives it and its summary."""

    def run(*more, out="study", backends=None):
        backends = backends or engine
        flags = ("--backend", backends, f"--{engine}-url", node.url)
        made = study(*ONE, *flags, *more, out=out)
        process = made.start()
        _, errors = process.communicate(timeout=300)
        # whether this machine keeps up with the rate is no matter here
        assert process.returncode in (0, 3), errors
        assert "Traceback" not in errors
        summary = json.loads((made.folder / "summary.json").read_text())
        assert node.indices(f"harness-{summary['study']}-*") == []
        return made, summary

    return run


@pytest.mark.parametrize("engine", ["elasticsearch"])
def test_ids_and_documents_are_measured_on_one_index(made_by):
    made, summary = made_by("--fetch", "ids,source")
    ids, source = summary["trials"]
    assert [t["setting"]["fetch"] for t in (ids, source)] == [None, "source"]
    assert ids["index_bytes"] == source["index_bytes"]
    assert ids["build_s"] == source["build_s"]
    assert made.answers(ids) == made.answers(source)
    plain, without = made_by(out="plain")
    (other,) = without["trials"]
    assert other["index_bytes"] < ids["index_bytes"]  # the texts are stored beside
    assert plain.answers(other) == made.answers(ids)
    assert other["key"] not in {ids["key"], source["key"]}
    report = (made.folder / "report.md").read_text()
    assert "the index stores the documents" in report
    assert "the index stores the documents" not in (plain.folder / "report.md").read_text()


@pytest.mark.parametrize("engine", ["opensearch"])
def test_a_replay_and_indexing_meanwhile_give_the_answers_of_a_quiet_study(made_by, engine):
    quiet, summary = made_by(out="quiet")
    (alone,) = summary["trials"]
    assert alone["self_agreement"] == 1.0
    assert alone["indexed_per_s"] is None
    assert not {"unstable-answers", "drift"} & set(alone["flags"])

    flags = ("--indexing-rate", "60", "--replay", "zipf:1.5", "--fetch", "ids,source")
    made, summary = made_by(*flags, backends=f"{engine},tables")
    first, second, inside = summary["trials"]
    for busy in (first, second):
        assert busy["setting"]["backend"] == engine
        assert made.answers(busy) == quiet.answers(alone) == made.answers(inside)
        assert busy["indexed_per_s"] == pytest.approx(60, rel=0.1)
        assert busy["self_agreement"] == 1.0
        assert busy["setting"]["refresh_interval"] == "1s"
        assert not {"unstable-answers", "drift", "indexing-slow"} & set(busy["flags"])
    # more than a tenth of the documents was indexed again in the first trial
    assert first["build_s"] != second["build_s"]
    assert inside["setting"]["backend"] == "tables"
    assert inside["indexed_per_s"] is None
    assert inside["self_agreement"] == 1.0
    # a query never drawn is asked afterwards by design
    assert "asked-without-load" not in inside["flags"]

    report = (made.folder / "report.md").read_text()
    assert "Zipf's law with exponent 1.5, the engine's caches on" in report
    assert "documents are indexed again, 60 a second" in report
    header, *rows = (made.folder / "trials.csv").read_text().splitlines()
    column = header.split(",").index("self_agreement")
    assert [row.split(",")[column] for row in rows] == ["1.0", "1.0", "1.0"]


def test_an_index_whose_answers_change_is_told(study, engine, node):
    count = 487  # names the study, and no other's
    made = study(
        *(*ONE, "--corpus", f"catalogue:{count}", "--backend", engine),
        *(f"--{engine}-url", node.url, "--refresh-interval", "1s"),
    )
    process = made.start()
    stop = threading.Event()

    def disturb():
        """Take documents away, a few at a time, once the index is asked."""
        taken = 0
        while not stop.wait(0.1):
            for name in node.indices(f"harness-catalogue-{count}-*"):
                found = node("GET", f"/{name}/_stats/search").get("_all", {}).get("total", {})
                if taken or found.get("search", {}).get("query_total", 0) > 50:
                    for ordinal in range(taken, taken + 5):
                        node("DELETE", f"/{name}/_doc/{ordinal}")
                    taken += 5

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        _, errors = process.communicate(timeout=120)
    finally:
        stop.set()
        thread.join()
    summary = json.loads((made.folder / "summary.json").read_text())
    (trial,) = summary["trials"]
    assert trial["status"] == "ok", errors
    assert trial["self_agreement"] < 1.0
    assert {"unstable-answers", "drift"} <= set(trial["flags"])
    report = (made.folder / "report.md").read_text()
    assert "answers to a repeated query were not always the same as its first" in report


def test_a_replay_that_is_none_is_refused(study, engine, node):
    made = study(*ONE, "--backend", engine, f"--{engine}-url", node.url, "--replay", "zipf:x")
    _, errors = made.run(expect=2)
    assert "replay" in errors
    assert "zipf:1.1" in errors
    with pytest.raises(SettingError, match=r"zipf:1\.1"):
        load_options({"study": "x", "replay": "zipf:-1"})
