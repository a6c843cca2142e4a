"""The robustness bench: ranks of hand-made fingerprints, small corpora, the command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from harness.bench.command_robustness import command
from harness.bench.config import bench_config
from harness.bench.hashing import Hashed
from harness.bench.robustness import measure as measuring
from harness.bench.robustness.cases import Case
from harness.bench.robustness.measure import measure, ranked, reciprocal, summary
from harness.bench.robustness.table import lines
from harness.bench.robustness.write import write
from harness.bench.scales import SCALES
from harness.progress import Progress
from indexers import registry
from indexers.errors import CorpusError, MissingPackage, SettingError
from indexers.types import Fingerprints, Status

WORDS = ["red", "blue", "green", "wool", "silk", "felt", "hat", "coat", "shoe", "belt", "warm"]


def text_of(number):
    """Three sentences of words that differ from text to text."""
    rng = np.random.default_rng(number)
    parts = [" ".join(rng.choice(WORDS, 9)) for _ in range(3)]
    return ". ".join(part.capitalize() for part in parts) + f". Item {number}!"


def written(path, texts):
    rows = [json.dumps({"_id": f"d{i:02}", "text": text}) for i, text in enumerate(texts)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@pytest.fixture
def corpus(tmp_path):
    return written(tmp_path / "corpus.jsonl", map(text_of, range(30)))


def measured(corpus, *perturbations, sample=10, **flags):
    config = bench_config({"corpus": str(corpus), **flags})
    return measure(config, perturbations, sample, Progress())


# ---- ranks


def test_expected_reciprocal_ranks():
    found = reciprocal(np.array([0.0, 0, 2]), np.array([1.0, 2, 3]))
    np.testing.assert_allclose(found, [1, (1 + 1 / 2) / 2, (1 / 3 + 1 / 4 + 1 / 5) / 3])


def codes(*values, status=None):
    made = np.array([[value] for value in values], np.uint8)
    found = np.zeros(len(values), np.uint8) if status is None else np.array(status, np.uint8)
    return Fingerprints(found, made, np.zeros((0, 0, len(values)), np.uint32), "bit")


def test_summary_of_hand_made_codes():
    """Originals are documents 0, 1, 2 and 4; document 3 is a twin of 1, and 4 is not OK."""
    documents = codes(0b0000, 0b0011, 0b1111, 0b0011, 0, status=[0, 0, 0, 0, Status.EMPTY])
    # the texts: 0 as it was; 1 with one bit changed; 2 far from itself; 3 belongs to 4
    texts = codes(0b0000, 0b0111, 0b0000, 0b0000)
    originals = np.array([0, 1, 2, 4])
    hashed = Hashed(documents, texts, 0.0)
    found = ranked(registry.similarity("hamming"), "bits", hashed, slice(0, 4), originals)
    # distances of text 1 to 0, 1, 2, 3: 3, 1, 1, 1: three share rank 1; of text 2: 0, 2, 4, 2
    assert found.above.tolist()[:3] == [0, 0, 3]
    assert found.equal.tolist()[:3] == [1, 3, 1]
    assert np.isnan(found.similarity[3])
    row = summary(Case("typos", 0.1, slice(0, 4), 0.9), found, hashed, originals)
    assert row == {
        "perturbation": "typos",
        "strength": 0.1,
        "similarity_mean": pytest.approx((1 + 1 / 2 + 1 / 5) / 3),
        "rank_mean": pytest.approx((1 + 2 + 4) / 3),
        "rank_median": 2.0,
        "mrr": pytest.approx((1 + (1 + 1 / 2 + 1 / 3) / 3 + 1 / 4) / 3),
        "top1": pytest.approx((1 + 1 / 3) / 3),
        "not_ok": 0,
        "n": 3,
        "kept": 0.9,
    }


def test_texts_without_a_fingerprint_are_misses():
    documents = codes(0b0000, 0b0011)
    texts = codes(0b0000, 0b0011, status=[0, Status.EMPTY])
    hashed, originals = Hashed(documents, texts, 0.0), np.array([0, 1])
    found = ranked(registry.similarity("hamming"), "bits", hashed, slice(0, 2), originals)
    row = summary(Case("typos", 0.1, slice(0, 2), 1.0), found, hashed, originals)
    assert (row["not_ok"], row["n"], row["rank_mean"]) == (1, 2, 1.0)
    assert (row["mrr"], row["top1"], row["similarity_mean"]) == (0.5, 0.5, 1.0)
    nothing = Hashed(documents, codes(0, 0, status=[1, 1]), 0.0)
    found = ranked(registry.similarity("hamming"), "bits", nothing, slice(0, 2), originals)
    row = summary(Case("typos", 0.1, slice(0, 2), 1.0), found, nothing, originals)
    assert (row["mrr"], row["top1"], row["not_ok"]) == (0, 0, 2)
    assert row["similarity_mean"] is row["rank_mean"] is row["rank_median"] is None


def test_codes_of_zeros_have_no_cosine_and_are_misses():
    hashed, originals = Hashed(codes(0, 3), codes(0, 3), 0.0), np.array([0, 1])
    found = ranked(registry.similarity("cosine"), "bits", hashed, slice(0, 2), originals)
    row = summary(Case("typos", 0.1, slice(0, 2), 1.0), found, hashed, originals)
    assert (row["not_ok"], row["n"], row["mrr"], row["similarity_mean"]) == (1, 2, 0.5, 1.0)


# ---- small corpora


def test_unchanged_texts_are_nearest(corpus):
    found = measured(corpus, family="simhash,winnowing,fuzzyhash", unit="char", shingle_size=3)
    assert found["corpus"]["documents"] == 30
    assert found["sample"] == 10
    groups = {}
    for row in found["rows"]:
        groups.setdefault((row["family"], row["perturbation"]), []).append(row)
    assert len(groups) == 3 * len(found["perturbations"]) == 3 * 12
    for rows in groups.values():
        first = rows[0]
        assert (first["strength"], first["kept"], first["not_ok"]) == (0, 1, 0)
        assert (first["similarity_mean"], first["rank_mean"], first["top1"]) == (1, 1, 1)
        assert all((row["similarity_mean"] or 0) <= 1 for row in rows)


def test_case_and_forms_of_ascii_are_without_effect(corpus):
    found = measured(corpus, "case", "nfc", "nfd", "nfkc", family="simhash")
    assert {row["similarity_mean"] for row in found["rows"]} == {1.0}


def test_twins_share_the_first_rank(tmp_path):
    path = written(tmp_path / "c.jsonl", [text_of(1), text_of(1), text_of(2), text_of(2)])
    row = measured(path, "case", family="simhash", sample=4)["rows"][0]
    assert (row["rank_mean"], row["mrr"], row["top1"], row["n"]) == (1.5, 0.75, 0.5, 4)


def test_shortened_texts_are_as_long_as_asked(corpus):
    rows = measured(corpus, "drop-words", family="simhash")["rows"]
    assert [row["strength"] for row in rows] == [0, 0.2, 0.4, 0.6, 0.8]
    for row in rows:
        assert row["kept"] == pytest.approx(1 - row["strength"], abs=0.05)


def test_the_similarities_asked_for(corpus):
    rows = measured(corpus, "nfc", family="simhash", similarity="hamming,manhattan")["rows"]
    assert {row["similarity"] for row in rows} == {"hamming", "manhattan"}
    rows = measured(corpus, "nfc", family="winnowing")["rows"]
    assert {row["similarity"] for row in rows} == {"jaccard"}


def test_codes_are_told_by_their_equal_bits(tmp_path, monkeypatch):
    """By hand: originals 1000 and 0011 of 8 bits, texts with one and three bits changed."""
    path = written(tmp_path / "c.jsonl", [text_of(1), text_of(2)])

    def hashed(*_):
        same, other = (0b1000, 0b0011), (0b1001, 0b1101)
        return Hashed(codes(*same), codes(*same, *other), 0.0)

    monkeypatch.setattr(measuring, "fingerprint", hashed)
    chosen = {"family": "simhash", "similarity": "hamming,jaccard", "sample": 2}
    rows = measured(path, "nfc", **chosen)["rows"]
    changed = [row for row in rows if row["strength"]]
    assert {row["similarity"]: row["bits_equal_mean"] for row in changed} == {
        "hamming": pytest.approx((7 / 8 + 5 / 8) / 2),
        "jaccard": None,
    }
    hamming = next(row for row in changed if row["similarity"] == "hamming")
    assert hamming["similarity_mean"] == pytest.approx((1 / 2 + 1 / 4) / 2)


def test_rows_over_survivors_are_marked(tmp_path, monkeypatch):
    path = written(tmp_path / "c.jsonl", [text_of(1), text_of(2)])

    def hashed(*_):
        status = [0, 0, 0, Status.EMPTY]
        return Hashed(codes(0, 3), codes(0, 3, 0, 0, status=status), 0.0)

    monkeypatch.setattr(measuring, "fingerprint", hashed)
    told = list(lines(measured(path, "nfc", family="simhash", sample=2)))
    (row,) = (line for line in told if line.startswith("simhash"))
    head, cells = row.split()[:6], row.split()[6:]
    assert head == ["simhash", "hamming", "(bits", "equal)", "*", "2"]
    assert cells == ["1.000", "1.00", "1.000", "1.00", "-1"]
    assert any(line.startswith("* -N: N of the n texts") for line in told)


def test_blank_documents_are_not_changed(tmp_path):
    path = written(tmp_path / "c.jsonl", [text_of(1), "", "  ", text_of(2)])
    assert measured(path, "nfc", family="simhash", sample=9)["sample"] == 2


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ({"perturbations": ["typo"]}, "perturbation 'typo' is unknown: choose from extract, "),
        ({"sample": 0}, "sample 0 is out of range: at least 1 document"),
        ({"family": "simhsh"}, "simhsh"),
        ({"family": "bihash"}, "family bihash hashes vectors: give --model NAME"),
        ({"family": "lshbloom"}, "ranks nothing"),
        ({"family": "simhash", "similarity": "levenshtein"}, "not compared by levenshtein"),
        ({"family": "simhash", "shingle_size": 99}, "shingle_size 99 is out of range"),
    ],
)
def test_bad_settings_are_one_line(corpus, flags, told):
    perturbations, sample = flags.pop("perturbations", ["nfc"]), flags.pop("sample", 5)
    with pytest.raises(SettingError) as caught:
        measured(corpus, *perturbations, sample=sample, **flags)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unnamed_family_that_cannot_hash_is_left_out(corpus, monkeypatch, capsys):
    def missing(*_):
        raise MissingPackage("fuzzyhash needs something")

    def refuses(*_):
        raise SettingError("too many symbols")

    monkeypatch.setattr(type(registry.family("fuzzyhash")), "hasher", missing)
    monkeypatch.setattr(type(registry.similarity("hamming")), "matrix", refuses)
    found = measured(corpus, "nfc", sample=3)
    assert "winnowing" in {row["family"] for row in found["rows"]}
    assert not {"fuzzyhash", "simhash"} & {row["family"] for row in found["rows"]}
    assert {"fuzzyhash needs something", "too many symbols"} <= set(found["left_out"])
    assert "left out: fuzzyhash needs something" in capsys.readouterr().err
    with pytest.raises(MissingPackage):
        measured(corpus, "nfc", sample=3, family="fuzzyhash,winnowing")


def test_a_folder_that_cannot_be_written_is_told_first(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(measuring, "sampled", None)  # nothing is changed or hashed
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"--out .* cannot be written"):
        measured(corpus, "nfc", out=tmp_path / "file")


def test_a_corpus_of_blanks(tmp_path):
    path = written(tmp_path / "c.jsonl", ["", " "])
    with pytest.raises(CorpusError):
        measured(path, "nfc", family="simhash")


# ---- the command


def test_table_and_files(corpus, tmp_path):
    found = measured(corpus, "typos", "nfc", family="simhash,winnowing")
    told = list(lines(found))
    assert "typos (share of characters mistyped)" in told
    line = next(line for line in told if line.startswith("winnowing jaccard"))
    assert line.split()[2:5] == ["10", "1.000", "1.00"]
    assert any(line.startswith("simhash hamming (bits equal)") for line in told)
    assert SCALES in told
    assert not any("*" in line for line in told)
    write(found, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "robustness.json").read_text()) == found
    with (tmp_path / "out" / "robustness.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(found["rows"])
    assert list(rows[0]) == list(found["rows"][0])
    for name in ("similarity.png", "mrr.png"):
        assert (tmp_path / "out" / name).read_bytes().startswith(b"\x89PNG")
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match="cannot be written"):
        write(found, tmp_path / "file")


def test_json_on_stdout(corpus):
    arguments = ["--corpus", str(corpus), "--family", "simhash", "--sample", "3", "--json"]
    done = CliRunner().invoke(command, [*arguments, "--perturbation", "nfc"])
    assert done.exit_code == 0
    assert [row["strength"] for row in json.loads(done.stdout)["rows"]] == [0, 1]


def test_every_process_gives_the_same(corpus):
    script = "from harness.cli import main; main()"
    arguments = ["bench", "robustness", "--corpus", str(corpus), "--sample", "5", "--json"]
    arguments += ["--family", "simhash,winnowing", "--perturbation", "extract,typos,reorder-words"]
    hashed = {
        subprocess.run(
            [sys.executable, "-c", script, *arguments],
            env={**os.environ, "PYTHONHASHSEED": seed, "OMP_NUM_THREADS": seed},
            cwd=Path(__file__).parents[3],
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(hashed) == 1
    assert json.loads(hashed.pop())["rows"]
