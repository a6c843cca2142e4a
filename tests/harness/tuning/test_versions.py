"""Rows of several versions of a server are told apart, and none is thrown away."""

from types import SimpleNamespace

from harness.settings import Setting
from harness.tuning.trial import Trial
from harness.tuning.versions import mixed_notes, resumed_with


def row(key, version, backend="opensearch", status="ok"):
    setting = Setting("simhash", backend, "lsh", 5, 8, 128, "code", 3)
    return Trial(key, setting, False, status, backend_version=version)


ROWS = [row("a", "2.19.1"), row("b", "2.19.1"), row("c", "2.18.0"), row("d", None)]


def test_another_version_is_told_when_a_study_goes_on():
    (line,) = resumed_with(ROWS, {"opensearch": "2.20.0"}, ())
    assert line == (
        "opensearch is version 2.20.0 now; stored and kept: 1 row of 2.18.0 and 2 rows of 2.19.1; "
        "--fresh measures all again"
    )


def test_the_same_version_is_not_nor_are_rows_that_are_measured_again():
    assert list(resumed_with(ROWS[:2], {"opensearch": "2.19.1"}, ())) == []
    assert list(resumed_with(ROWS[:2], {"opensearch": ""}, ())) == []
    assert list(resumed_with(ROWS[:2], {"faiss": "1.2"}, ())) == []
    again = [SimpleNamespace(key="c")]
    assert list(resumed_with(ROWS, {"opensearch": "2.19.1"}, again)) == []


def test_a_report_says_which_versions_stand_side_by_side():
    others = [row("e", "1.9", "faiss"), row("f", "2.20.0", status="failed")]
    (line,) = mixed_notes([*ROWS, *others])
    assert line.startswith("opensearch: 1 row of 2.18.0 and 2 rows of 2.19.1 stand side by side")
    assert list(mixed_notes([*ROWS[:2], ROWS[3], *others])) == []
