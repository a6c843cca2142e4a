"""What a parent is told while a load runs, and what it can make of it."""

from __future__ import annotations

import numpy as np
import pytest

from indexers.errors import BackendError
from loadtest.messages import Tick
from loadtest.profile import LoadProfile
from loadtest.recording import Recording

PROFILE = LoadProfile(
    rate_per_s=200, samples=500, burst_s=0.3, warmup_min=20, warmup_max_s=1, every_query=False
)


def test_ticks_hold_every_measured_request(runner, target) -> None:
    ticks = []
    result = runner.run(target(), PROFILE, ticks.append)
    assert len(ticks) >= 3
    recording = Recording()
    for tick in ticks:
        recording.add(tick)
    assert np.array_equal(np.sort(recording.latency_ms), np.sort(result.latency_ms))
    assert np.array_equal(np.sort(recording.service_ms), np.sort(result.service_ms))
    assert np.array_equal(np.sort(recording.query), np.sort(result.query))
    assert (recording.sent, recording.errors, recording.saturated) == (500, 0, False)
    assert recording.rate_per_s == pytest.approx(result.rate_per_s, rel=0.01)
    assert set(recording.percentiles()) == {"p50", "p99"}
    assert recording.percentiles()["p99"] >= recording.percentiles()["p50"] > 0


def test_what_was_sent_is_told_as_it_is_sent(runner, target) -> None:
    ticks = []
    runner.run(target(), PROFILE, ticks.append)
    for tick in ticks:
        if tick.phase == "load":
            assert tick.sent <= 200 * tick.elapsed_s + 1


def test_errors_are_told_as_infinite(runner, target) -> None:
    recording = Recording()
    result = runner.run(target(fail_always=[3]), PROFILE, recording.add)
    failed = np.isinf(recording.latency_ms)
    assert set(recording.query[failed]) == {3}
    assert recording.errors == failed.sum() == np.isinf(result.latency_ms).sum()


def test_until_an_index_breaks_what_was_measured_is_told(runner, target) -> None:
    recording = Recording()
    with pytest.raises(BackendError, match="every request failed"):
        runner.run(target(fail=True), PROFILE, recording.add)
    assert recording.percentiles() == {"p50": None, "p99": None}


def test_by_the_clock_not_every_query_need_be_asked(runner, target) -> None:
    profile = LoadProfile(500, samples=4, burst_s=0, warmup_min=0, every_query=False)
    result = runner.run(target(), profile)
    assert len(result.latency_ms) == 4
    assert np.all(result.state > 0)  # the rest was asked without load


def test_nothing_recorded_has_no_figures() -> None:
    recording = Recording()
    assert recording.rate_per_s == 0
    assert recording.percentiles() == {"p50": None, "p99": None}
    assert len(recording.latency_ms) == len(recording.query) == 0


def test_a_load_without_end_keeps_a_sample_of_a_fixed_size() -> None:
    recording = Recording(kept=1000)
    for number in range(200):
        at = np.arange(100 * number, 100 * number + 100)
        tick = Tick("load", 1, 1.0, 0, 1.0, 0, False, at + 0.5, at + 0.25, at.astype(np.int32))
        recording.add(tick)
        assert len(recording.query) == min(1000, 100 * (number + 1))
    query = recording.query
    assert recording.ended == 20_000
    assert len(set(query.tolist())) == 1000
    assert np.array_equal(recording.latency_ms, query + 0.5)
    assert np.array_equal(recording.service_ms, query + 0.25)
    # each fifth of the requests is drawn as often as any other: 200 of 1000, 12 of deviation
    parts = np.bincount(query // 4000, minlength=5)
    assert np.all(np.abs(parts - 200) < 60)
    # the median of 0 to 19,999 by 1,000 of them: its deviation is 20,000 · √(1 / 4000)
    assert abs(recording.percentiles()["p50"] - 10_000) < 1300


def test_percentiles_are_those_of_the_sorted_values() -> None:
    recording, rng = Recording(), np.random.default_rng(3)
    values = np.append(rng.exponential(size=499), np.inf)
    told = np.zeros(500, np.int32)
    recording.add(Tick("load", 1, 1.0, 500, 1.0, 1, False, values, values, told))
    ascending = sorted(values.tolist())
    assert recording.percentiles() == {"p50": ascending[249], "p99": ascending[494]}
