"""A row is named without what hashes it."""

import subprocess
import sys

import pytest

from harness.settings import PLAIN, Setting, family_name, named
from indexers.types import HashParams

SCRIPT = """
import sys
import harness.report.model, harness.report.terminal
from harness.settings import shown_family
assert shown_family({"family": "winnowing", "backend": "tables", "kind": "tokens"}) == "winnowing"
found = [m for m in sys.modules if m.startswith("harness.tuning") or m == "numba"]
assert not found, found
"""


def test_reports_do_not_load_the_tuner_or_a_compiler():
    subprocess.run([sys.executable, "-c", SCRIPT], check=True)


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        (Setting(None, "opensearch", "bm25"), "BM25"),
        (Setting("other", "tables", "lsh"), "other"),
        (Setting("simhash", "tables", "lsh", 20, 8, 128, "code", 3, "char", "tf"), "simhash"),
        (
            Setting("simhash", "tables", "lsh", 20, 8, 256, "code", 2, "word", "idf"),
            "simhash (256 bits, word 2-grams, idf)",
        ),
        (Setting("lsh", "tables", "lsh", 20, 8, 64), "lsh (64 bits)"),
        (Setting("winnowing", "tables", "tokens", window=7), "winnowing (window 7)"),
    ],
)
def test_names(setting, name):
    assert family_name(setting) == name


def test_plain_is_what_hashing_does_unless_told():
    assert HashParams(bits=0, seed=0) == PLAIN
    assert named("minhash", None, 8, PLAIN.shingle_size, None, None, None) == "minhash (8 tables)"
