"""Judgments in both layouts, what is left out of them, and every bad line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.collection import judgments
from harness.collection.types import Judgments
from indexers.errors import JudgmentsError

DOCUMENTS = {"a": 0, "b": 1, "c d": 2}
QUERIES = {"q1": 0, "q2": 1, "q3": 2}
NO_SELF = np.full(3, -1, np.int32)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "qrels.tsv"


def read(path: Path, content: str) -> tuple[Judgments, dict[str, int]]:
    path.write_text(content, encoding="utf-8")
    return judgments.read(path, DOCUMENTS, QUERIES, NO_SELF)


def triples(judged: Judgments) -> list[tuple[int, int, float]]:
    rows = np.repeat(np.arange(len(judged.indptr) - 1), np.diff(judged.indptr))
    return list(zip(rows.tolist(), judged.documents.tolist(), judged.gains.tolist(), strict=True))


EXPECTED = [(0, 0, 1.0), (0, 1, 2.0), (2, 2, 0.5)]


@pytest.mark.parametrize(
    "content",
    [
        "query-id\tcorpus-id\tscore\nq1\tb\t2\nq1\ta\t1\nq3\tc d\t0.5\n",
        "q1\tb\t2\nq1\ta\t1\nq3\tc d\t.5",
        "\ufeffquery-id\tcorpus-id\tscore\r\nq1\tb\t2\r\n\r\nq1\ta\t1e0\r\nq3\tc d\t5e-1\r\n",
        "q1\t0\tb\t2\nq1\tQ0\ta\t1\nq3\t0\tc d\t0.5\n",
        "qid\titer\tdocid\trel\nq1\t0\tb\t+2\nq1\t0\ta\t1\nq3\t0\tc d\t0.5\n",
    ],
)
def test_both_layouts_with_and_without_a_header(path: Path, content: str) -> None:
    judged, skipped = read(path, content)
    assert triples(judged) == EXPECTED
    assert skipped == {}
    assert judged.unmatched == 0
    assert judged.indptr.dtype == np.int64
    assert judged.documents.dtype == np.int32
    assert judged.gains.dtype == np.float64


def test_white_space_parts_trec_columns(path: Path) -> None:
    judged, _ = read(path, "q1 0  b 2\nq2 0 a 0\n")
    assert triples(judged) == [(0, 1, 2.0), (1, 0, 0.0)]


def test_gzip(path: Path) -> None:
    path.write_bytes(gzip.compress(b"q1\ta\t1\n"))
    judged, _ = judgments.read(path, DOCUMENTS, QUERIES, NO_SELF)
    assert triples(judged) == [(0, 0, 1.0)]


def test_unmatched_pairs_and_repeated_ones_are_counted(path: Path) -> None:
    judged, skipped = read(path, "q1\ta\t1\nq1\tz\t1\nq9\ta\t2\nq1\ta\t1.0\nq9\ta\t3\n")
    assert triples(judged) == [(0, 0, 1.0)]
    assert judged.unmatched == 3
    assert skipped == {"unmatched judgment": 3, "duplicate judgment": 1}


def test_a_judgment_of_the_query_itself_is_left_out(path: Path) -> None:
    path.write_text("q1\ta\t3\nq1\tb\t1\nq2\ta\t1\n")
    own = np.array([0, -1, -1], np.int32)
    judged, skipped = judgments.read(path, DOCUMENTS, QUERIES, own)
    assert triples(judged) == [(0, 1, 1.0), (1, 0, 1.0)]
    assert skipped == {"judgment of the query itself": 1}


def test_minus_zero_is_zero(path: Path) -> None:
    judged, _ = read(path, "q1\ta\t-0\n")
    assert not np.signbit(judged.gains[0])


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("q1\ta", "has 2 columns"),
        ("q1", "has 1 column;"),
        ("q1,a,1", "has 1 column;"),
        ("q1\ta\t1\t2\t3", "has 5 columns"),
        ("q1\t0\ta\t1", "has 4 columns where earlier lines have 3"),
        ("q1\t\t1", "has an empty column"),
        ("\ta\t1", "has an empty column"),
        ("q1\ta\t", "has an empty column"),
        ("q1\ta\tgood", "'good' is not a finite number"),
        ("q1\ta\tnan", "'nan' is not a finite number"),
        ("q1\ta\tinf", "'inf' is not a finite number"),
        ("q1\ta\t-Infinity", "'-Infinity' is not a finite number"),
        ("q1\ta\t1e999", "'1e999' is not a finite number"),
        ("q1\ta\t1_0", "'1_0' is not a finite number"),
        ("q1\ta\t0x1", "'0x1' is not a finite number"),
        ("q1\ta\t-1", "-1 is negative"),
        ("q9\tz\t-0.5", "-0.5 is negative"),
        ("q1\tb\t2", "have the score 2 here and 1 in line 2"),
        ("query-id\tcorpus-id\tscore", "'score' is not a finite number"),
    ],
)
def test_a_bad_line_is_named(path: Path, line: str, expected: str) -> None:
    with pytest.raises(JudgmentsError) as caught:
        read(path, f"query-id\tcorpus-id\tscore\nq1\tb\t1\n\n{line}\n")
    message = str(caught.value)
    assert f"{path} line 4: " in message
    assert expected in message
    assert "\n" not in message


def test_a_first_line_with_a_word_as_score_is_no_header(path: Path) -> None:
    with pytest.raises(JudgmentsError, match="line 1: the score 'abc'"):
        read(path, "q1\ta\tabc\nq1\ta\t1\n")


def test_bytes_that_are_not_text(path: Path) -> None:
    path.write_bytes(b"q1\ta\t1\nq1\t\xff\t1\n")
    with pytest.raises(JudgmentsError, match="line 2: byte 4 is not UTF-8"):
        judgments.read(path, DOCUMENTS, QUERIES, NO_SELF)
    path.write_bytes(b"\0\1\2")
    with pytest.raises(JudgmentsError, match="binary file"):
        judgments.read(path, DOCUMENTS, QUERIES, NO_SELF)


def test_a_missing_file(path: Path) -> None:
    with pytest.raises(JudgmentsError, match="cannot be read"):
        judgments.read(path, DOCUMENTS, QUERIES, NO_SELF)


@pytest.mark.parametrize("content", ["", "\n", "query-id\tcorpus-id\tscore\n"])
def test_no_judgments(path: Path, content: str) -> None:
    with pytest.raises(JudgmentsError, match="holds no judgments"):
        read(path, content)


def test_none_matches(path: Path) -> None:
    with pytest.raises(JudgmentsError, match=r"none of its 2 judgments .*line 1: query 'x'"):
        read(path, "x\ta\t1\nq1\ty\t1\n")


def test_nothing_but_the_queries_themselves(path: Path) -> None:
    path.write_text("q1\ta\t3\n")
    with pytest.raises(JudgmentsError, match="nothing but the queries themselves"):
        judgments.read(path, DOCUMENTS, QUERIES, np.array([0, -1, -1], np.int32))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pairs=st.dictionaries(
        st.tuples(st.sampled_from(sorted(QUERIES)), st.sampled_from(sorted(DOCUMENTS))),
        st.floats(0, 1e300),
        min_size=1,
    ),
    trec=st.booleans(),
)
def test_what_was_written_is_read_back(
    path: Path, pairs: dict[tuple[str, str], float], trec: bool
) -> None:
    middle = "\t0" if trec else ""
    lines = [f"{query}{middle}\t{document}\t{gain!r}" for (query, document), gain in pairs.items()]
    judged, skipped = read(path, "\n".join(lines))
    assert skipped == {}
    assert triples(judged) == sorted(
        (QUERIES[query], DOCUMENTS[document], gain) for (query, document), gain in pairs.items()
    )
