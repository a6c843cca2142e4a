import json

import numpy as np
import pytest
from click.testing import CliRunner

from harness.bench.classifier import classify, confusion
from harness.bench.command_classifier import command
from harness.collection.types import Corpus
from indexers.errors import SettingError

pytest.importorskip("pybloomfilter")

ALPHA = "the first document tells of apples and of pears in a long and quiet sentence"
BETA = "numbers 0123456789 repeated 9876543210 with hardly any words that others share"
GAMMA = "zebras graze where crocodiles wait, which no other text in this corpus mentions"


def corpus_of(documents, queries, own):
    return Corpus(
        name="small",
        content="0" * 32,
        ids=[f"d{i}" for i in range(len(documents))],
        texts=documents,
        query_ids=[f"q{i}" for i in range(len(queries))],
        query_texts=queries,
        query_self=np.array(own, np.int32),
        judgments=None,
    )


def test_confusion_by_hand():
    said = np.array([1, 1, 1, 0, 0, 0, 0], bool)
    truth = np.array([1, 1, 0, 1, 0, 0, 0], bool)
    assert confusion(said, truth) == {
        "TP": 2,
        "FP": 1,
        "FN": 1,
        "TN": 3,
        "precision": 2 / 3,
        "recall": 2 / 3,
        "F1": 2 / 3,
        "false_positive_rate": 1 / 4,
    }
    nothing = confusion(np.zeros(2, bool), np.zeros(2, bool))
    assert (nothing["precision"], nothing["recall"], nothing["F1"]) == (None, None, None)
    assert nothing["false_positive_rate"] == 0


def test_exact_duplicates_are_found_and_strangers_are_not():
    documents = [ALPHA, BETA, "", "!"]
    found = classify(corpus_of(documents, [ALPHA.upper(), GAMMA, "  "], [-1, -1, -1]), fp=1e-6)
    assert (found["TP"], found["FP"], found["FN"], found["TN"]) == (1, 0, 0, 1)
    assert found["documents"] == 3
    assert found["documents_left_out"] == {"is a query itself": 0, "empty": 1}
    assert (found["queries"], found["queries_left_out"]) == (2, {"empty": 1})
    assert found["net_false_positive_rate"] == pytest.approx(1 - (1 - 1e-6) ** 9)
    assert found["filter_false_positive_rate"] == 0


def test_a_query_does_not_find_itself():
    """Documents that are queries are not inserted, nor do they count as truth."""
    found = classify(corpus_of([ALPHA, BETA, GAMMA], [ALPHA, BETA], [0, 1]), fp=1e-6)
    assert (found["TP"], found["FP"], found["FN"], found["TN"]) == (0, 0, 0, 2)
    assert found["documents"] == 1
    with pytest.raises(SettingError, match="every document is a query"):
        classify(corpus_of([ALPHA], [ALPHA], [0]))


def test_command_tells_the_same_twice():
    flags = ["--corpus", "catalogue:400", "--threshold", "0.5", "--fp", "0.05", "--json"]
    found = []
    for _ in range(2):
        result = CliRunner().invoke(command, flags, standalone_mode=False)
        assert result.exception is None
        found.append(json.loads(result.stdout))
    times = ("insert_s", "query_s")
    one, two = ({k: v for k, v in each.items() if k not in times} for each in found)
    assert one == two
    assert one["TP"] + one["FP"] + one["FN"] + one["TN"] == one["queries"]
    assert one["recall"] > 0.5
    text = CliRunner().invoke(command, flags[:-1], standalone_mode=False).stdout
    assert f"stated 1-(1-0.05)^{one['bands']}" in text


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        (("--num-perm", "100"), "num_perm 100 is out of range: a multiple of 64"),
        (("--fp", "1e-150"), "fp 1e-150 is out of range"),
        (("--threshold", "0.999"), "fewer than two bands"),
        (("--shingle-size", "99"), "shingle_size 99"),
    ],
)
def test_settings_out_of_range_are_one_line(flags, line):
    arguments = ["--corpus", "catalogue:100", *flags]
    fault = CliRunner().invoke(command, arguments, standalone_mode=False).exception
    assert isinstance(fault, SettingError)
    (told,) = fault.problems
    assert line in told
