"""A real load process against an index that behaves as the test says."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from indexers import registry, store
from indexers.errors import BackendError, LoadError
from indexers.index_types import BackendConfig, Documents, IndexSpec, Queries, SearchParams
from indexers.types import Fingerprints
from loadtest.profile import (
    NOT_ASKED,
    UNANSWERED,
    UNDER_LOAD,
    WITHOUT_LOAD,
    LoadProfile,
    Target,
)
from loadtest.schedule import query_cycle

SHORT = LoadProfile(rate_per_s=500, samples=100, burst_s=0.1, warmup_min=20, warmup_max_s=1)
COLD = LoadProfile(rate_per_s=500, samples=100, burst_s=0, warmup_min=0)


def test_answers_and_figures(runner, target, expected) -> None:
    result = runner.run(target(), SHORT)
    assert result.query.tolist() == 10 * query_cycle(np.arange(10, dtype=np.int32), 123).tolist()
    assert result.latency_ms.shape == result.service_ms.shape == (100,)
    assert np.all(result.service_ms <= result.latency_ms + 0.1)
    assert result.answers.tolist() == [expected(query, 3) for query in range(10)]
    assert set(result.state) == {UNDER_LOAD}
    assert (result.errors, result.error_texts, result.duplicates) == (0, (), 10)
    assert (result.short, result.saturated) == (0, False)
    assert result.rate_per_s < 501
    assert result.qps > 0
    assert result.cold_ms > 0


def test_every_runnable_query_is_measured_and_no_other(runner, target) -> None:
    profile = LoadProfile(rate_per_s=500, samples=2, burst_s=0, warmup_min=0)
    result = runner.run(target(runnable=[1, 4, 9]), profile)
    assert sorted(result.query) == [1, 4, 9]
    assert np.flatnonzero(result.state).tolist() == [1, 4, 9]
    assert result.state[0] == NOT_ASKED
    assert result.answers[0].tolist() == [-1, -1, -1]
    assert result.qps is None


def test_a_stall_is_seen_by_every_request_due_meanwhile(runner, target) -> None:
    # 300 ms long nothing is answered; 500 requests a second are due. 100 of them are due in its
    # first 200 ms and thus wait 100 ms or more, but only those on their way see it themselves.
    profile = LoadProfile(rate_per_s=500, samples=300, burst_s=0, warmup_min=0, users=4)
    result = runner.run(target(stall_at=50, stall_s=0.3), profile)
    assert not result.saturated
    assert np.count_nonzero(result.latency_ms >= 100) >= 90
    assert np.count_nonzero(result.service_ms >= 100) <= 4


def test_saturation_ends_the_trial_and_spares_quality(runner, target, expected) -> None:
    profile = LoadProfile(
        rate_per_s=1000, samples=1000, burst_s=0.1, users=2, warmup_min=0, backlog_limit_s=0.2
    )
    first, second = (runner.run(target(each_s=0.1), profile) for _ in range(2))
    for result in (first, second):
        assert result.saturated
        assert len(result.latency_ms) < 20
        assert result.rate_per_s < 500
        assert result.errors == 0
        assert result.answers.tolist() == [expected(query, 3) for query in range(10)]
        assert set(result.state) == {UNDER_LOAD, WITHOUT_LOAD}
        assert result.qps > 0


def test_a_long_drain_is_saturation(runner, target) -> None:
    profile = LoadProfile(
        rate_per_s=1000, samples=4, burst_s=0, users=4, warmup_min=0, backlog_limit_s=0.2
    )
    result = runner.run(target(each_s=0.4, runnable=[0, 1]), profile)
    assert result.saturated
    assert np.all(np.isinf(result.latency_ms))
    assert result.state[:2].tolist() == [WITHOUT_LOAD, WITHOUT_LOAD]


def test_timeouts_are_infinite_and_tried_again(runner, target) -> None:
    profile = LoadProfile(
        rate_per_s=200, samples=40, burst_s=0, warmup_min=0, timeout_s=0.4, users=8
    )
    result = runner.run(target(sleep_s={"3": 0.6}), profile)
    assert Counter(result.query[np.isinf(result.latency_ms)].tolist()) == {3: 4}
    assert np.array_equal(np.isinf(result.latency_ms), np.isinf(result.service_ms))
    assert result.errors == 4
    assert result.error_texts == ("TimeoutError: no answer within 0.4 s",)
    assert result.state[3] == UNANSWERED
    assert result.answers[3].tolist() == [-1, -1, -1]


def test_errors_are_counted_and_told(runner, target, expected) -> None:
    acts = {
        "fail_always": [2],
        "fail_once": [int(query_cycle(np.arange(10, dtype=np.int32), 123)[0])],
    }
    once = acts["fail_once"][0]
    result = runner.run(target(short=[7], **acts), LoadProfile(500, 10, 0, warmup_min=0))
    assert result.errors == 2
    assert set(result.error_texts) == {"query 2 is broken", "ValueError: not now"}
    assert np.isinf(result.latency_ms).sum() == 2
    assert result.state[2] == UNANSWERED
    assert result.state[once] == WITHOUT_LOAD
    assert result.answers[once].tolist() == expected(once, 3)
    assert result.answers[7].tolist() == [7, -1, -1]
    assert result.short == 1


def test_an_index_that_always_fails_is_given_up(runner, target) -> None:
    forever = LoadProfile(rate_per_s=1, samples=1000)
    with pytest.raises(BackendError, match=r"every request failed: query \d is broken"):
        runner.run(target(fail=True), forever)


def test_an_index_that_cannot_be_opened(runner, target) -> None:
    with pytest.raises(BackendError, match="the index is damaged"):
        runner.run(target(open=True), COLD)
    assert set(runner.run(target(), COLD).state) == {UNDER_LOAD}


def test_nothing_to_ask(runner, target) -> None:
    with pytest.raises(LoadError, match="no query can be asked"):
        runner.run(target(runnable=[]), COLD)


def test_what_libraries_print_stays_out(runner, target) -> None:
    assert set(runner.run(target(print=True), COLD).state) == {UNDER_LOAD}


def test_a_slow_first_request_is_no_error(runner, target) -> None:
    profile = LoadProfile(500, 10, 0, warmup_min=0, timeout_s=0.2)
    result = runner.run(target(stall_at=1, stall_s=0.4), profile)
    assert result.cold_ms >= 400
    assert (result.errors, result.error_texts) == (0, ())


def test_warm_up_that_does_not_settle(runner, target) -> None:
    profile = LoadProfile(500, 10, 0, warmup_min=1000, warmup_max_s=0.2)
    assert runner.run(target(each_s=0.01), profile).unsettled


@pytest.mark.parametrize("remote", [False, True])
def test_null_index(runner, remote: bool) -> None:
    result = runner.calibrate(remote, SHORT, k=4, queries=30)
    assert np.all(np.isfinite(result.latency_ms))
    assert result.answers.tolist() == [[0, 1, 2, 3]] * 30
    assert result.errors == 0
    assert result.qps > 0


def test_answers_under_load_are_those_of_the_index(runner, tmp_path) -> None:
    rng = np.random.default_rng(7)

    def prints(n: int) -> Fingerprints:
        codes = rng.integers(0, 4, (n, 16)).astype(np.uint8)
        return Fingerprints(np.zeros(n, np.uint8), codes, np.zeros((1, 1, n), np.uint32), "bit")

    documents, queries = prints(200), Queries(["q"] * 25, prints(25))
    ids = [f"d{n:03}" for n in range(200)]
    (tmp_path / "index").mkdir()
    exact = registry.backend("exact")(BackendConfig())
    spec = IndexSpec("exact", "flat", family="simhash", bits=128)
    handle = exact.build(spec, Documents(ids, ids, documents), tmp_path / "index")
    store.save_queries(tmp_path / "queries", queries)
    store.save_ids(tmp_path / "ids.json", ids)
    params = SearchParams(k=10)
    runnable = np.arange(25, dtype=np.int32)
    wanted = exact.open(handle, params, queries, ids)
    target = Target(
        BackendConfig(), handle, params, tmp_path / "queries", tmp_path / "ids.json", runnable
    )
    result = runner.run(target, SHORT)
    for query in range(25):
        assert result.answers[query].tolist() == wanted.search(query).ordinals.tolist()


def test_queries_of_other_parameters_are_refused(runner, target) -> None:
    other = replace(target(), made_by={"family": "simhash", "learnt": "00"})
    with pytest.raises(BackendError, match="have family None, not 'simhash'"):
        runner.run(other, SHORT)


@pytest.mark.parametrize("text", ["sent Basic bWU6c2VjcmV0MQ==", "http://me:secret1@h", "secret1"])
def test_what_opens_the_server_is_in_no_error(runner, target, text) -> None:
    made = target(says=text)
    config = BackendConfig(url="http://127.0.0.1:1", user="me", password="secret1")
    with pytest.raises(BackendError, match=r"searched: ValueError: .*\*\*\*") as caught:
        runner.run(replace(made, config=config), COLD)
    assert "secret1" not in str(caught.value)
    assert "bWU6" not in str(caught.value)
