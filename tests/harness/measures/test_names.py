import pytest

from harness.measures.names import measure_names, parse_measure
from indexers.errors import SettingError


def test_names_of_reports():
    assert measure_names(10) == (
        "R@10",
        "P@10",
        "F1@10",
        "AP(norm=min)@10",
        "nDCG@10",
        "Success@10",
        "ANNRecall@10",
        "ANNRecall(truth=code)@10",
    )


@pytest.mark.parametrize("name", measure_names(10))
def test_a_printed_name_is_its_own(name):
    assert parse_measure(name, 10) == name


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("ndcg", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("AP@10", "AP(norm=min)@10"),
        ("mAP", "AP(norm=min)@10"),
        ("recall", "R@10"),
        (" Recall @ 10 ", "R@10"),
        ("precision@10", "P@10"),
        ("annrecall", "ANNRecall@10"),
        ("ANNRecall(truth=code)", "ANNRecall(truth=code)@10"),
    ],
)
def test_what_people_type(typed, expected):
    assert parse_measure(typed, 10) == expected


@pytest.mark.parametrize("typed", ["", "@", "@10", "MRR", "nDCG@", "nDCG@x", "AP(norm=R)@10"])
def test_unknown_measures_are_refused_with_the_list(typed):
    with pytest.raises(SettingError, match=r"choose from R@10, .*ANNRecall\(truth=code\)@10"):
        parse_measure(typed, 10)


def test_another_cutoff_is_refused():
    with pytest.raises(SettingError, match=r"write nDCG@10, or ask for --cutoff 20"):
        parse_measure("nDCG@20", 10)
