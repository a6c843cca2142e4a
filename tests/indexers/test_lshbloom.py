import subprocess
import sys
import warnings

import numpy as np
import pytest

from indexers import registry
from indexers.errors import MissingPackage, SettingError
from indexers.families import lshbloom
from indexers.families.lshbloom import Membership, chosen_bands
from indexers.types import HashParams, Status, TableSize

FAMILY = registry.family("lshbloom")
PARAMS = HashParams(bits=128, seed=123)


def rows(n, seed):
    return np.random.default_rng(seed).integers(0, 2**32, (n, 128), dtype=np.uint32)


def ok(n):
    return np.zeros(n, np.uint8)


def test_family_never_ranks():
    assert FAMILY.forms == ()
    assert FAMILY.kinds == ()
    FAMILY.check(TableSize(1, 1), PARAMS)
    with pytest.raises(SettingError, match="harness bench classifier"):
        FAMILY.hasher(TableSize(1, 1), PARAMS)
    with pytest.raises(SettingError, match="seed"):
        FAMILY.check(TableSize(1, 1), HashParams(bits=128, seed=-1))
    for name in registry.similarity_names():
        assert registry.fitting_form("lshbloom", name) is None


def test_missing_package_names_the_pip_line(monkeypatch):
    monkeypatch.setattr(lshbloom, "find_spec", lambda _: None)
    with pytest.raises(MissingPackage, match=r"pip install '\.\[bloom\]'"):
        Membership(10, threshold=0.8, fp=0.01)


def test_importing_the_family_is_cheap():
    code = (
        "import sys, indexers.families.lshbloom; "
        "print(sorted({'datasketch', 'pybloomfilter'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


class TestMembership:
    @pytest.fixture(autouse=True)
    def _needs_the_filter(self):
        pytest.importorskip("pybloomfilter")

    def test_bands_and_rates_by_hand(self):
        """datasketch cuts 128 rows into 9 bands of 13 at 0.8; 25 filters of 1 % make 22.2 %."""
        bands = Membership(10, threshold=0.8, fp=0.01).bands
        assert (bands.bands, bands.rows, bands.unused) == (9, 13, 11)
        assert bands.found_at_threshold == pytest.approx(0.399, abs=5e-4)
        assert Membership(10, threshold=0.5, fp=0.01).bands.net_fp == pytest.approx(0.222, abs=5e-4)

    @pytest.mark.parametrize(("threshold", "num_perm"), [(0.05, 64), (0.5, 128), (0.95, 192)])
    def test_bands_are_those_that_the_library_chooses(self, threshold, num_perm):
        from datasketch import MinHashLSHBloom

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            told = MinHashLSHBloom(threshold=threshold, num_perm=num_perm, n=5, fp=0.01)
        assert chosen_bands(threshold, num_perm) == (told.b, told.r)

    def test_other_faults_are_told_as_they_are(self, monkeypatch):
        def broken(**_):
            raise ValueError("something else")

        monkeypatch.setattr("datasketch.MinHashLSHBloom", broken)
        with pytest.raises(ValueError, match="something else"):
            Membership(5, threshold=0.8, fp=0.01)

    @pytest.mark.parametrize("fp", [0.5, 0.1, 0.001])
    def test_a_filter_has_the_rate_that_is_stated(self, fp):
        member = Membership(3000, threshold=0.9, num_perm=64, fp=fp)
        values = np.random.default_rng(4).integers(0, 2**32, (23000, 64), dtype=np.uint32)
        member.insert(values[:3000], ok(3000))
        share = member.query(values[3000:], ok(20000)).mean()
        stated = 1 - (1 - fp) ** member.bands.bands
        assert share == pytest.approx(stated, rel=0.15, abs=0.002)

    def test_what_was_inserted_is_found(self):
        member = Membership(300, threshold=0.5, fp=0.001)
        held = rows(300, 1)
        assert member.insert(held, ok(300)) == 300
        assert member.query(held, ok(300)).all()
        # one band alone is enough
        other = rows(1, 2)
        start = 3 * member.bands.rows
        other[0, start : start + member.bands.rows] = held[5, start : start + member.bands.rows]
        assert member.query(other, ok(1)).all()

    def test_strangers_are_found_no_more_often_than_stated(self):
        member = Membership(2000, threshold=0.5, fp=0.01)
        member.insert(rows(2000, 1), ok(2000))
        share = member.query(rows(4000, 2), ok(4000)).mean()
        # 4,000 draws at the stated rate stray by less than 4 standard deviations
        stated = member.bands.net_fp
        assert share <= stated + 4 * np.sqrt(stated * (1 - stated) / 4000)
        assert share > 0

    def test_texts_without_features_resemble_nothing(self):
        member = Membership(2, threshold=0.8, fp=0.01)
        empty = np.full(2, Status.EMPTY, np.uint8)
        same = np.zeros((2, 128), np.uint32)
        assert member.insert(same, empty) == 0
        assert not member.query(same, ok(2)).any()
        member.insert(same, ok(2))
        assert not member.query(same, empty).any()

    def test_the_seed_alone_decides_the_answers(self):
        def answers(seed):
            member = Membership(50, threshold=0.5, fp=0.01, seed=seed)
            member.insert(rows(50, 1), ok(50))
            return member.query(rows(500, 2), ok(500)).tolist()

        assert answers(7) == answers(7)
        assert answers(7) != answers(8)

    @pytest.mark.parametrize(
        ("changes", "words"),
        [
            ({"threshold": 0.0}, "threshold 0.0"),
            ({"threshold": 1.0}, "threshold 1.0"),
            ({"threshold": 0.99}, "fewer than two bands"),
            ({"threshold": float("nan")}, "threshold nan"),
            ({"fp": 0.0}, "fp 0.0"),
            ({"fp": 1.0}, "fp 1.0"),
            ({"fp": 1e-150}, "fp 1e-150 is out of range: 1e-09 to 0.5"),
            ({"fp": 1e-20}, "fp 1e-20"),
            ({"fp": 0.9}, "fp 0.9"),
            ({"num_perm": 1}, "num_perm 1"),
            ({"num_perm": 100}, "num_perm 100 is out of range: a multiple of 64 from 64"),
            ({"expected": 0}, "expected 0"),
        ],
    )
    def test_ranges(self, changes, words):
        given = {"expected": 5, "threshold": 0.8, "fp": 0.01, **changes}
        with pytest.raises(SettingError, match=words):
            Membership(given.pop("expected"), **given)
