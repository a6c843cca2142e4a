from __future__ import annotations

import numpy as np
import pytest

from loadtest.profile import LoadProfile
from loadtest.schedule import (
    intended_s,
    longest_s,
    query_cycle,
    sample_count,
    splitmix64,
    worker_count,
)


def test_splitmix64_reference_values() -> None:
    # from the reference code by S. Vigna, seeds 0 and 1234567
    assert splitmix64(0, 3).tolist() == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
    ]
    assert splitmix64(1234567, 5).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_order_of_queries() -> None:
    runnable = np.array([2, 3, 5, 7, 11, 13], dtype=np.int32)
    order = query_cycle(runnable, 123)
    assert sorted(order.tolist()) == runnable.tolist()
    assert order.tolist() == query_cycle(runnable, 123).tolist()
    assert len({tuple(query_cycle(runnable, seed).tolist()) for seed in range(20)}) > 10
    # of seed 0 the third output is the smallest, the second the next
    assert query_cycle(np.array([4, 5, 6], dtype=np.int32), 0).tolist() == [6, 5, 4]


def test_schedule() -> None:
    assert intended_s(4, 200.0).tolist() == [0.0, 0.005, 0.01, 0.015]
    assert sample_count(LoadProfile(100, samples=10), 3) == 10
    assert sample_count(LoadProfile(100, samples=10), 30) == 30


@pytest.mark.parametrize(
    ("profile", "remote", "workers"),
    [
        (LoadProfile(1000, users=4), False, 4),
        (LoadProfile(100, users=4, timeout_s=0.1), True, 10),
        (LoadProfile(1, users=4), True, 4),
        (LoadProfile(5000, users=4), True, 128),
        (LoadProfile(5000, users=150), True, 150),
    ],
)
def test_workers(profile: LoadProfile, remote: bool, workers: int) -> None:
    assert worker_count(profile, remote) == workers


def test_a_trial_may_not_take_forever() -> None:
    profile = LoadProfile(100, samples=1000, burst_s=3, warmup_max_s=10, timeout_s=1)
    # warm-up 10, schedule 10, backlog 2, burst 3, asking afterwards 120, overrun 10; and 8 queries
    # of 1 s each by 4 users
    assert longest_s(profile, 8) == 157.0
