import gzip

import ir_measures
import numpy as np
import pytest
from ir_measures import P, R, nDCG

from harness.collection.types import Judgments, Neighbours
from harness.report import trec
from indexers.types import Nearest

IDS = ["a", "b", "c d", "e%20", "f"]
QUERIES = ["q1", "q 2", "q3"]


def i32(*values):
    return np.array(values, np.int32)


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "runs" / "0a.run.gz"
    answers = np.array([[2, 0, 3], [1, -1, -1], [-1, -1, -1]], np.int32)
    trec.write_run(path, "my study", QUERIES, IDS, answers)
    return path


def test_run_golden(run):
    assert gzip.decompress(run.read_bytes()).decode() == (
        "q1 Q0 c%20d 1 2 my%20study\n"
        "q1 Q0 a 2 1 my%20study\n"
        "q1 Q0 e%2520 3 0 my%20study\n"
        "q%202 Q0 b 1 2 my%20study\n"
    )


def test_gzip_carries_no_time_and_no_name(run):
    header = run.read_bytes()[:10]
    assert header[3] == 0  # no name
    assert header[4:8] == b"\0\0\0\0"  # no time


def test_encoded_ids_are_one_column_and_come_back():
    from urllib.parse import unquote

    for identifier in ("plain/id:1", "a b", "a\u2003b", "a%20b", "tab\tnew\nline", "é x", "\x85"):
        encoded = trec.encode_id(identifier)
        assert encoded.split() == [encoded]
        assert unquote(encoded) == identifier
    assert trec.encode_id("plain/id:ä") == "plain/id:ä"


def judged(gains):
    return Judgments(np.array([0, 2, 3, 3]), i32(0, 2, 1), np.array(gains, np.float64), unmatched=0)


def test_judgments_golden(tmp_path):
    path = tmp_path / "truth" / "judgments.qrels"
    trec.write_judgments(path, QUERIES, IDS, judged([3, 0, 1.5]))
    assert path.read_text() == "q1 0 a 3\nq1 0 c%20d 0\nq%202 0 b 1.5\n"


def test_another_tool_recomputes_the_figures(tmp_path, run):
    path = tmp_path / "truth" / "judgments.qrels"
    trec.write_judgments(path, QUERIES, IDS, judged([3, 1, 1]))
    qrels = list(ir_measures.read_trec_qrels(str(path)))
    scored = list(ir_measures.read_trec_run(str(run)))
    found = ir_measures.calc_aggregate([nDCG @ 3, R @ 3], qrels, scored)
    # q1: gains 1, 3 at ranks 1, 2 against 3, 1; q 2: its only document first
    first = (1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3))
    assert found[nDCG @ 3] == pytest.approx((first + 1) / 2)
    assert found[R @ 3] == 1


def neighbours(indptr, documents, similarity, kth, valid):
    nearest = Nearest(
        np.array(indptr),
        i32(*documents),
        np.array(similarity, np.float64),
        np.array(kth, np.float64),
        np.array(valid),
    )
    return Neighbours("jaccard", 2, nearest)


def test_neighbours_hold_the_tie_class(tmp_path):
    path = tmp_path / "neighbours.qrels.gz"
    found = neighbours(
        [0, 3, 4, 4], [3, 0, 1, 4], [0.9, 0.5, 0.5, 0.2], [0.5, 0.0, 0.0], [True, True, False]
    )
    trec.write_neighbours(path, QUERIES, IDS, i32(-1, 2, -1), found)
    assert gzip.decompress(path.read_bytes()).decode() == (
        # the K-th and what ties with it
        "q1 0 e%2520 1\nq1 0 a 1\nq1 0 b 1\n"
        # nothing else resembles q 2: all documents but itself tie; q3 has no features
        "q%202 0 a 1\nq%202 0 b 1\nq%202 0 e%2520 1\nq%202 0 f 1\n"
    )


def test_precision_on_neighbours_is_tie_aware_recall(tmp_path, run):
    path = tmp_path / "neighbours.qrels.gz"
    found = neighbours([0, 3, 4, 4], [3, 0, 1, 4], [0.9, 0.5, 0.5, 0.2], [0.5, 0.0, 0], [1, 1, 0])
    trec.write_neighbours(path, QUERIES, IDS, i32(-1, 2, -1), found)
    qrels = list(ir_measures.read_trec_qrels(str(path)))
    scored = list(ir_measures.read_trec_run(str(run)))
    # of the first two answers: q1 has one of its class; q 2 answered once, and that ties
    assert ir_measures.calc_aggregate([P @ 2], qrels, scored)[P @ 2] == pytest.approx(0.5)


def test_a_broken_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "0a.run.gz"
    trec.write_run(path, "s", ["q"], IDS, np.array([[0]], np.int32))
    before = path.read_bytes()
    with pytest.raises(IndexError):
        trec.write_run(path, "s", ["q"], IDS, np.array([[99]], np.int32))
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["0a.run.gz"]
