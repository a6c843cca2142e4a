import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.2144, "3.21"),
        (1234.5, "1,230"),
        (0.01234, "0.0123"),
        (9.996, "10.0"),
        (99.96, "100"),
        (0, "0"),
        (-45.67, "-45.7"),
        (12_345_678, "12,300,000"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
        ("7", "–"),
        (True, "–"),
    ],
)
def test_three_significant_digits(value, text):
    assert numbers.significant(value) == text


@given(st.floats(1e-9, 1e12))
@settings(max_examples=100)
def test_significant_is_within_half_a_percent(value):
    assert float(numbers.significant(value).replace(",", "")) == pytest.approx(value, rel=0.0051)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (999, "999 B"),
        (1000, "1.00 kB"),
        (12_345_678, "12.3 MB"),
        (999_999, "1.00 MB"),
        (5e9, "5.00 GB"),
        (0, "0 B"),
        (None, "–"),
    ],
)
def test_sizes_are_decimal(value, text):
    assert numbers.size(value) == text


def test_units_and_other_forms():
    assert numbers.milliseconds(3.2144) == "3.21 ms"
    assert numbers.milliseconds(None) == "–"
    assert numbers.seconds(0.4) == "0.400 s"
    assert numbers.quality(0.81234) == "0.8123"
    assert numbers.count(20000) == "20,000"
    assert [numbers.plain(v) for v in (100, 0.001, 1000.0, 2.5)] == ["100", "0.001", "1,000", "2.5"]
