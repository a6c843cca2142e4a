"""Flags, and what fits together."""

import pytest

from harness.bench.choices import choices
from harness.bench.config import bench_config
from indexers.errors import SettingError


def config(**flags):
    return bench_config({"corpus": "somewhere", **flags})


def refused(**flags):
    with pytest.raises(SettingError) as caught:
        choices(config(**flags))
    return caught.value.problems


def test_families_of_vectors_are_left_out_without_vectors():
    chosen, left_out = choices(config())
    names = [choice.family for choice in chosen]
    assert {"simhash", "minhash", "winnowing", "fuzzyhash"} <= set(names)
    assert not {"bge", "lsh", "bihash", "lshash"} & set(names)
    assert any("bge" in line and "--vectors" in line for line in left_out)
    assert "bge" in {c.family for c in choices(config(vectors="file.npy"))[0]}


def test_every_fitting_similarity_with_its_form():
    (choice,), _ = choices(config(family="minhash"))
    assert ("jaccard", "signature") in choice.similarities
    assert ("hamming", "bits") in choice.similarities
    assert choice.named
    (choice,), left_out = choices(config(family="minhash", similarity="jaccard,hamming"))
    assert [name for name, _ in choice.similarities] == ["jaccard", "hamming"]
    assert left_out == []


def test_a_similarity_of_some_families_leaves_the_others_out():
    chosen, left_out = choices(config(similarity="levenshtein"))
    assert {choice.family for choice in chosen} >= {"winnowing", "fuzzyhash"}
    assert any("simhash is not compared by levenshtein" in line for line in left_out)


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ({"family": "nothing"}, "family 'nothing' is unknown"),
        ({"similarity": "nothing"}, "similarity 'nothing' is unknown"),
        ({"family": "simhash", "similarity": "levenshtein"}, "not compared by levenshtein"),
        ({"family": "bge"}, "give --vectors FILE or --model NAME"),
        ({"family": "lshbloom"}, "tells membership alone"),
        ({"family": "simhash,minhash", "similarity": "hamming,levenshtein"}, "fits none of"),
        ({"protocol": "other"}, "--protocol"),
        ({"corpus": None}, "--corpus is missing"),
        ({"bits": "many"}, "--bits: expected a whole number"),
        ({"vectors": "a", "model": "b"}, "give one"),
        ({"query_vectors": "a"}, "needs --vectors"),
        ({"family": "simhash", "vectors": "a"}, "--vectors: nothing here reads vectors"),
        ({"resamples": "-1"}, "--resamples: expected a number at least 0"),
        ({"relevant_from": "0"}, "--relevant-from: expected a number above 0"),
        ({"num_tables": ("5",)}, "--num-tables is of the grid: add --grid"),
        ({"hash_length": ("minhash=5",)}, "--hash-length is of the grid: add --grid"),
        ({"grid": True, "num_tables": ("foo=5",)}, "--num-tables: 'foo' is not a family"),
        ({"grid": True, "hash_length": ("0,8",)}, "numbers at least 1, not 0, 8"),
    ],
)
def test_what_cannot_be_is_one_line(flags, line):
    (problem,) = refused(**flags)
    assert line in problem
    assert "\n" not in problem


def test_every_problem_is_told():
    assert len(refused(family="nothing", similarity="nothing", bits="x")) == 3


def test_hashing_holds_what_was_asked_for():
    assert config(bits="256", unit="word").hashing == {"bits": 256, "unit": "word"}
    assert config(family="minhash,all").family == ("all",)
