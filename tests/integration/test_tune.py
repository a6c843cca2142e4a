"""The main job in process, end to end, by the installed command."""

import gzip
import json
import re
import shlex
import signal
import subprocess
import time
from pathlib import Path

import ir_measures
import pytest
from ir_measures import P, R, Success, nDCG

from harness.tuning.pick import choose
from harness.tuning.sla import Sla
from harness.tuning.store import open_study
from loadtest.recorder import upper_bounds

SMALL = (
    *("--corpus", "catalogue:300", "--num-tables", "2,6"),
    *("--hash-length", "simhash=4,12", "--hash-length", "minhash=1,3"),
)
TRIAL_KEYS = {
    *("key", "setting", "baseline", "status", "error", "feasible", "quality", "measure_n"),
    *("latency_ms", "upper_ms", "service_ms", "encode_ms", "rate_per_s", "qps", "errors"),
    *("build_s", "index_bytes", "flags", "index_bytes_of", "field_bytes", "server", "selectivity"),
    *("self_agreement", "indexed_per_s", "backend_version"),
}
TOP_KEYS = {
    *("schema_version", "study", "path", "corpus", "sla", "objective", "verdict", "pick"),
    *("runner_up", "nearest_miss", "front", "counts", "reference", "trials"),
}
FILES = (
    *("report.html", "report.md", "trials.csv", "summary.json", "study.sqlite"),
    *("latency_quality.png", "qps_quality.png", "heatmap.png", "memory_quality.png"),
    *("truth/judgments.qrels", "truth/neighbours.qrels.gz"),
)


def by_setting(summary):
    return {tuple(t["setting"].values()): t for t in summary["trials"]}


def runs(folder):
    return {p.name: gzip.decompress(p.read_bytes()) for p in (folder / "runs").iterdir()}


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished small study, shared by the tests that only read it."""
    from importlib.util import module_from_spec, spec_from_file_location

    spec = spec_from_file_location("_study", Path(__file__).with_name("conftest.py"))
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path_factory.mktemp("finished")
    (root / "quick.yaml").write_text(module.QUICK)
    made = module.Study(root / "study", SMALL, root / "quick.yaml")
    return made, made.summary()


def test_summary_is_as_specified(finished):
    made, summary = finished
    assert set(summary) == TOP_KEYS
    assert all(set(t) == TRIAL_KEYS for t in summary["trials"])
    assert summary == json.loads((made.folder / "summary.json").read_text())
    assert summary["schema_version"] == 1
    assert summary["objective"] == "nDCG@10"
    # two families × (4 lsh + flat), and multihash of simhash where tables × length fit 128 bits
    assert summary["counts"] == {"trials": 14, "failed": 0, "impossible": 4}
    assert [r["name"] for r in summary["reference"]] == [
        "BM25 (in process)",
        "exact jaccard",
        "minhash code, exact",
        "minhash signature, exact",
        "simhash code, exact",
    ]
    assert summary["pick"]["feasible"]
    assert summary["pick"] in summary["trials"]
    assert set(summary["front"]) <= {t["key"] for t in summary["trials"]}


def test_every_file_of_a_run_is_there(finished):
    made, summary = finished
    for name in FILES:
        assert (made.folder / name).stat().st_size > 0, name
    assert len(runs(made.folder)) == len(summary["trials"])
    assert not (made.folder / ".harness-work").exists()


def test_figures_can_be_recomputed_by_another_tool(finished):
    made, summary = finished
    judgments = list(ir_measures.read_trec_qrels(str(made.folder / "truth/judgments.qrels")))
    with gzip.open(made.folder / "truth/neighbours.qrels.gz", "rt") as file:
        neighbours = list(ir_measures.read_trec_qrels(file))
    names = {
        "R@10": R(rel=2) @ 10,
        "P@10": P(rel=2) @ 10,
        "nDCG@10": nDCG @ 10,
        "Success@10": Success(rel=2) @ 10,
    }
    for trial in summary["trials"]:
        with gzip.open(made.folder / "runs" / f"{trial['key']}.run.gz", "rt") as file:
            run = list(ir_measures.read_trec_run(file))
        theirs = ir_measures.calc_aggregate(list(names.values()), judgments, run)
        for name, measure in names.items():
            assert trial["quality"][name] == pytest.approx(theirs[measure], abs=1e-9), name
        (recall,) = ir_measures.calc_aggregate([P @ 10], neighbours, run).values()
        assert trial["quality"]["ANNRecall@10"] == pytest.approx(recall, abs=1e-9)


def test_the_printed_commands_give_the_printed_figures(finished):
    made, summary = finished
    page = (made.folder / "report.md").read_text()
    quality = summary["pick"]["quality"]
    commands = [
        shlex.split(line) for line in re.findall(r"^    (ir_measures .*)$", page, re.MULTILINE)
    ]
    assert len(commands) == 2
    for _, truth, run, *measures in commands:
        with gzip.open(made.folder / run, "rt") as file:
            rows = list(ir_measures.read_trec_run(file))
        opened = gzip.open if truth.endswith(".gz") else open
        with opened(made.folder / truth, "rt") as file:
            judged = list(ir_measures.read_trec_qrels(file))
        for name in measures:
            (value,) = ir_measures.calc_aggregate(
                [ir_measures.parse_measure(name)], judged, rows
            ).values()
            ours = name.replace("(rel=2)", "") if "judgments" in truth else "ANNRecall@10"
            assert quality[ours] == pytest.approx(value, abs=1e-9), name
            assert f"`{name}` gives {value:.4f}: {ours} of this report" in page


def test_what_the_commands_give_is_told_where_queries_have_no_relevants(study, folder):
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q3\td1\t0\n")
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"_id": "q3", "text": "coat"}\n')
    made = study("--corpus", folder, "--cutoff", "2", "--num-tables", "8", "--hash-length", "1")
    summary = made.summary()
    page = (made.folder / "report.md").read_text()
    pick = summary["pick"]
    assert pick["measure_n"]["R@2"] == 2
    value = pick["quality"]["R@2"] * 2 / 3
    assert f"`R@2` gives {value:.4f}: R@2 of this report, {pick['quality']['R@2']:.4f}" in page
    with gzip.open(made.folder / "runs" / f"{pick['key']}.run.gz", "rt") as file:
        rows = list(ir_measures.read_trec_run(file))
    judged = list(ir_measures.read_trec_qrels(str(made.folder / "truth/judgments.qrels")))
    (theirs,) = ir_measures.calc_aggregate([R @ 2], judged, rows).values()
    assert theirs == pytest.approx(value)


def test_an_interrupted_report_is_written_again(finished):
    made, _ = finished
    made.run("--sla-ms", "50")
    with open_study(made.folder) as store:
        store.put_meta("report", None)  # as an interrupt in the middle of writing leaves it
    (made.folder / "summary.json").write_text("half")
    summary = made.summary("--sla-ms", "50")
    assert json.loads((made.folder / "summary.json").read_text()) == summary


def test_a_folder_holds_one_study(finished):
    made, summary = finished
    before = made.rows()
    _, errors = made.run("--cutoff", "5", expect=2)
    assert f"holds study {summary['study']}" in errors
    assert made.rows() == before
    assert json.loads((made.folder / "summary.json").read_text())["study"] == summary["study"]


@pytest.mark.parametrize("name", ["deploy", "runs", "report.md", ".harness-work"])
@pytest.mark.parametrize("fresh", [(), ("--fresh",)])
def test_what_is_no_study_is_not_replaced(study, name, fresh):
    made = study(*SMALL)
    theirs = made.folder / name if name == "report.md" else made.folder / name / "mine.txt"
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    _, errors = made.run(*fresh, expect=2)
    (line,) = errors.strip().splitlines()
    assert f"holds {name} and no study" in line
    assert "--out" in line
    assert theirs.read_text() == "mine"
    assert [path.name for path in made.folder.iterdir()] == [name]


def test_another_limit_picks_again_from_the_same_rows(finished):
    made, _ = finished
    before = made.rows()
    missed = made.summary("--sla-ms", "0.001", expect=3)
    assert missed["pick"] is None
    assert missed["runner_up"] is None
    assert missed["nearest_miss"]["upper_ms"] > 0.001
    assert "No setting meets the SLA" in missed["verdict"]
    assert not any(t["feasible"] for t in missed["trials"])
    assert all("client-bound" in t["flags"] for t in missed["trials"])
    assert made.summary("--objective", "R", "--sla-stat", "mean")["objective"] == "R@10"
    assert made.rows() == before


def test_two_runs_agree_to_the_last_digit_also_where_they_saturate(study):
    # 100,000 requests a second are more than any machine sends through one process
    flooded = [
        study(*SMALL, "--rate", "100000", "--samples", "400000", "--seed", "7", out=f"flood-{i}")
        for i in range(2)
    ]
    few = ("--family", "simhash", "--backend", "tables", "--num-tables", "6", "--hash-length", "4")
    summaries = [by_setting(s.summary(*few, expect=3)) for s in flooded]
    calm = by_setting(study(*SMALL, "--seed", "7", out="calm").summary(*few))
    assert summaries[0].keys() == summaries[1].keys() == calm.keys()
    for setting, trial in summaries[0].items():
        assert "saturated" in trial["flags"]
        assert not trial["feasible"]
        for other in (summaries[1][setting], calm[setting]):
            assert trial["quality"] == other["quality"]
            assert trial["measure_n"] == other["measure_n"]


def test_per_setting_builds_give_the_same_answers(study):
    shared, single = study(*SMALL, out="shared"), study(*SMALL, "--build", "per-setting", out="own")
    ours, theirs = by_setting(shared.summary()), by_setting(single.summary())
    assert ours.keys() == theirs.keys()
    for setting, trial in ours.items():
        answers = [
            gzip.decompress((s.folder / "runs" / f"{t['key']}.run.gz").read_bytes()).split()
            for s, t in ((shared, trial), (single, theirs[setting]))
        ]
        # the last column names the study
        assert [w for i, w in enumerate(answers[0]) if i % 6 != 5] == [
            w for i, w in enumerate(answers[1]) if i % 6 != 5
        ]


def test_a_killed_run_goes_on_without_repeating_a_trial(study, end):
    made = study(*SMALL)
    process = made.start()
    made.wait_for_rows(process, 3)
    code, _ = end(process, signal.SIGKILL)
    assert code == -signal.SIGKILL
    before = made.rows()
    summary = made.summary()
    after = made.rows()
    assert len(after) == len(summary["trials"]) == 14
    assert {key: after[key] for key in before} == before
    assert not (made.folder / ".harness-work").exists()


def test_ctrl_c_leaves_a_resumable_study_and_nothing_else(study, end):
    made = study(*SMALL)
    process = made.start()
    made.wait_for_rows(process, 2)
    code, errors = end(process, signal.SIGINT)
    assert code == 130
    assert errors.strip().splitlines()[-1].startswith("harness: interrupted")
    assert "Traceback" not in errors
    assert not (made.folder / ".harness-work").exists()
    assert not _children_of(process.pid)
    before = made.rows()
    made.run()
    assert {key: made.rows()[key] for key in before} == before


def _children_of(pid):
    time.sleep(0.2)
    listed = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False
    )
    return listed.stdout.split()


def test_fresh_measures_anew(study):
    made = study("--corpus", "catalogue:100", "--num-tables", "2", "--hash-length", "4")
    made.run()
    before = made.rows()
    for name in ("runs", "truth"):
        (made.folder / name / "mine.txt").write_text("mine")
    forgotten = made.folder / "runs" / f"{min(before)}.run.gz"
    forgotten.write_bytes(b"of a row that is forgotten")
    (made.folder / "runs" / "mine.run.gz").write_bytes(b"mine")
    made.run("--fresh")
    after = made.rows()
    assert gzip.decompress(forgotten.read_bytes())
    assert (made.folder / "runs" / "mine.run.gz").read_bytes() == b"mine"
    for name in ("runs", "truth"):
        assert (made.folder / name / "mine.txt").read_text() == "mine"
    assert before.keys() == after.keys()
    assert all(before[key][1] != after[key][1] for key in before)


def test_signatures_re_rank_in_process(study):
    made = study(
        *("--corpus", "catalogue:300", "--family", "minhash", "--backend", "tables,exact"),
        *("--num-tables", "6", "--hash-length", "1", "--rerank", "code,signature"),
    )
    summary = made.summary()
    lsh = {t["setting"]["rerank"]: t for t in summary["trials"] if t["setting"]["kind"] == "lsh"}
    assert lsh["signature"]["quality"] != lsh["code"]["quality"]
    reference = {r["name"]: r["quality"]["ANNRecall@10"] for r in summary["reference"]}
    # agreement over the rows estimates Jaccard better than a bit of each does
    assert reference["minhash signature, exact"] > reference["minhash code, exact"]


@pytest.fixture
def folder(tmp_path):
    """A small BEIR folder; tests break one of its files."""
    root = tmp_path / "beir"
    root.mkdir()
    words = ["red shoe", "blue shoe", "green hat", "black coat", "white sock"]
    documents = [{"_id": f"d{i}", "title": w, "text": w * 3} for i, w in enumerate(words)]
    (root / "corpus.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    queries = [{"_id": "q1", "text": "red shoes"}, {"_id": "q2", "text": "a hat"}]
    (root / "queries.jsonl").write_text("".join(json.dumps(q) + "\n" for q in queries))
    (root / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td0\t1\nq2\td2\t1\n")
    return root


BROKEN = {
    "malformed line": ("corpus.jsonl", '{"_id": "a", "text": "x"}\n{"_id": \n', "2"),
    "duplicate id": (
        "corpus.jsonl",
        '{"_id": "a", "text": "x"}\n{"_id": "a", "text": "y"}\n',
        "'a'",
    ),
    "empty corpus": ("corpus.jsonl", "", "corpus.jsonl"),
    "only empty texts": ("corpus.jsonl", '{"_id": "a", "text": ""}\n', "empty"),
    "no match": ("qrels.tsv", "query-id\tcorpus-id\tscore\nq9\td9\t1\n", "qrels.tsv"),
    "negative gain": ("qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td0\t-1\n", "-1"),
    "binary": ("corpus.jsonl", b"\x7fELF\x00\x01\xff\xfe", "corpus.jsonl"),
}


@pytest.mark.parametrize("what", BROKEN)
def test_bad_files_are_one_line_and_leave_nothing(study, folder, what):
    name, content, told = BROKEN[what]
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    made = study("--corpus", folder, "--cutoff", "1")
    output, errors = made.run(expect=2)
    assert output == ""
    (line,) = errors.strip().splitlines()
    assert told in line
    assert not made.folder.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--corpus", "/nowhere"), "/nowhere"),
        (("--corpus", "catalogue:99"), "100"),
        (("--corpus", "catalogue:100", "--cutoff", "101"), "--cutoff 1 to 100"),
        (("--family", "simhash", "--num-tables", "0"), "1 to 64"),
        (("--sla-ms", "-1"), "--sla-ms"),
        (("--backend", "solr"), "solr"),
        (("--config", "none.yaml"), "none.yaml"),
        (("--fields", "colour", "--corpus", "catalogue:100"), "colour"),
        (("--colour", "red"), "--colour"),
        (("--backend", "tables", "--family", "simhash", "--rerank", "signature"), "no setting"),
        (("--opensearch-url", "http://127.0.0.1:abc"), "not understood"),
    ],
)
def test_bad_flags_are_one_line_and_leave_nothing(study, arguments, told):
    made = study()
    output, errors = made.run(*arguments, expect=2)
    assert output == ""
    (line,) = errors.strip().splitlines()
    assert told in line
    assert not made.folder.exists()


def test_empty_texts_and_unmatched_judgments_are_counted_and_gone_on_with(study, folder):
    with (folder / "corpus.jsonl").open("a") as file:
        file.write('{"_id": "e1", "text": "  "}\n')
    with (folder / "queries.jsonl").open("a") as file:
        file.write('{"_id": "q3", "text": ""}\n')
    with (folder / "qrels.tsv").open("a") as file:
        file.write("q1\tgone\t1\nq3\td1\t1\n")
    made = study("--corpus", folder, "--cutoff", "2", "--num-tables", "8", "--hash-length", "1")
    summary = made.summary()
    assert summary["corpus"]["documents"] == 6
    assert summary["corpus"]["skipped"] == {
        "empty text": 1,
        "empty query text": 1,
        "unmatched judgment": 1,
    }
    # the empty query cannot be asked: it scores 0 with its judgments, and has no neighbours
    flat = next(t for t in summary["trials"] if t["setting"]["kind"] == "flat")
    assert flat["measure_n"]["R@2"] == 3
    assert flat["measure_n"]["ANNRecall@2"] == 2


def test_a_corpus_without_judgments_is_tuned_for_its_neighbours(study, folder):
    (folder / "qrels.tsv").unlink()
    made = study("--corpus", folder, "--cutoff", "2", "--num-tables", "8", "--hash-length", "1")
    summary = made.summary()
    assert summary["objective"] == "ANNRecall@2"
    assert summary["pick"]["quality"]["nDCG@2"] is None
    assert summary["pick"]["measure_n"]["nDCG@2"] == 0
    assert summary["pick"]["quality"]["ANNRecall@2"] > 0


def test_rows_and_pick_follow_from_the_recorded_latencies(finished):
    made, summary = finished
    recorded = {}
    with open_study(made.folder) as store:
        trials = list(store.trials().values())
        recorded = {t.key: store.latencies(t.key) for t in trials}
    for trial in trials:
        latency_ms, query = recorded[trial.key]
        assert len(latency_ms) == trial.samples == 300
        ordered = sorted(latency_ms.tolist())
        # nearest rank: the 297th of 300 is the smallest with 99 % at or below it
        assert trial.latency_ms["p99"] == ordered[296]
        assert trial.latency_ms["p50"] == ordered[149]
        assert trial.latency_ms["max"] == ordered[-1]
        assert trial.latency_ms["mean"] == pytest.approx(sum(ordered) / 300)
        again = upper_bounds(latency_ms, query, seed=123)
        assert again == trial.upper_ms
        assert trial.latency_ms["p99"] <= again["p99"] <= ordered[-1]
    choice = choose(trials, Sla(100.0), "nDCG@10", 0.005)
    assert choice.pick.key == summary["pick"]["key"]
    assert list(choice.front) == summary["front"]
