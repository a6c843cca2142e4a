"""Slices of work cover everything once, however many cores there are."""

import os

import numpy as np
import pytest

from indexers.atoms import GAMMA, mixed
from indexers.kernels import threads
from indexers.kernels.mix import mix


@pytest.fixture
def cores(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(4)))


def slices(call):
    found = []
    call(lambda lo, hi: found.append((lo, hi)))
    return sorted(found)


def test_cores_without_affinity(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert threads.cores() == 6
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert threads.cores() == 1


@pytest.mark.usefixtures("cores")
def test_documents():
    assert slices(lambda work: threads.over(1000, work)) == [(0, 1000)]
    assert slices(lambda work: threads.over(1030, work)) == [(0, 515), (515, 1030)]


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize(
    ("lengths", "wanted"),
    [
        ([10] * 8, [(0, 2), (2, 4), (4, 6), (6, 8)]),
        ([1, 1, 1, 97], [(0, 3), (3, 4)]),
        ([97, 1, 1, 1], [(0, 1), (1, 4)]),
        ([100], [(0, 1)]),
        ([0, 0], [(0, 2)]),
        ([], [(0, 0)]),
        ([9, 0], [(0, 2)]),
    ],
)
def test_bytes(lengths, wanted):
    starts = np.cumsum([0, *lengths])
    assert slices(lambda work: threads.over_bytes(starts, work, 10)) == wanted


@pytest.mark.usefixtures("cores")
@pytest.mark.parametrize("smallest", [1, 1 << 30])
def test_pairs(monkeypatch, smallest):
    monkeypatch.setattr(threads, "SMALLEST_PAIRS", smallest)
    wanted = [(0, 64), (64, 128), (128, 130)]
    assert slices(lambda work: threads.over_pairs(130, 10, work)) == wanted
    assert slices(lambda work: threads.over_pairs(0, 10, work)) == []


def test_mapped_keeps_the_order():
    assert threads.mapped(lambda i: -i, range(100)) == [-i for i in range(100)]


def test_kernels_mix_as_arrays_do():
    states = np.arange(1, 50, dtype=np.uint64) * GAMMA
    assert [mix(state) for state in states] == mixed(states).tolist()
    # the first output of splitmix64 seeded with 0
    assert int(mix(GAMMA)) == 0xE220A8397B1DCDAF
