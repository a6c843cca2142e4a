"""Confidence intervals."""

import numpy as np
import pytest

from harness.bench.bootstrap import draws, interval

MASK = 2**64 - 1


def splitmix(seed, count):
    """The published generator, in plain Python."""
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        yield z ^ (z >> 31)


def test_draws_are_those_of_the_generator():
    wanted = [((value >> 32) * 7) >> 32 for value in splitmix(123, 21)]
    assert draws(123, 3, 7).ravel().tolist() == wanted


def test_an_interval_holds_the_mean_of_a_normal_sample():
    values = np.random.default_rng(3).normal(0.5, 0.1, 400)
    low, high = interval([values], seed=1, resamples=1000)
    assert low < values.mean() < high
    # ± 1.96 standard errors
    assert high - low == pytest.approx(2 * 1.96 * values.std() / 20, rel=0.1)
    assert interval([values], seed=1, resamples=1000) == (low, high)


def test_groups_count_alike():
    low, high = interval([np.zeros(3), np.ones(500)], seed=1, resamples=100)
    assert low == high == 0.5


def test_nothing_to_resample():
    assert interval([], seed=1, resamples=10) == (None, None)
    assert interval([np.ones(3)], seed=1, resamples=0) == (None, None)
    assert interval([np.full(4, 0.25)], seed=1, resamples=1) == (0.25, 0.25)
