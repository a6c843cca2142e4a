"""Which settings a study measures, family by family."""

import pytest

from harness.config_sources import study_config
from harness.settings import family_name
from harness.tuning.effects import without_effect
from harness.tuning.hashing import hashing_of
from harness.tuning.names import label, name_of
from harness.tuning.space import space
from harness.tuning.specs import params_of, spec_of
from indexers.errors import SettingError


def settings_of(family, dimension=None, **flags):
    config = study_config({"sla_ms": 100, "family": family, **flags})
    return [point.setting for point in space(config, dimension).points]


def test_a_family_without_tables_is_one_setting_a_size_and_window():
    found = settings_of("winnowing", backend="tables", shingle_size="3,4", window="2,5,9")
    assert [(s.kind, s.shingle_size, s.window) for s in found] == [
        ("tokens", size, window) for size in (3, 4) for window in (2, 5, 9)
    ]
    assert {(s.num_tables, s.hash_length, s.bits, s.rerank) for s in found} == {
        (None, None, None, "jaccard")
    }


def test_windows_do_not_multiply_families_that_have_none():
    assert len(settings_of("fuzzyhash", backend="tables", window="2,5,9")) == 1


def test_lshash_sweeps_the_divisors_of_the_dimension():
    found = settings_of("lshash", 384, backend="tables")
    assert sorted({s.num_tables for s in found}) == [6, 8, 12, 16, 24, 32, 48]
    # a pass over the vectors a number of tables
    assert len({hashing_of(s) for s in found}) == 7


def test_the_code_of_lshash_is_a_baseline_for_each_number_of_tables():
    found = settings_of("lshash", 384, backend="exact", num_tables="6,8")
    assert [(s.kind, s.num_tables, s.hash_length) for s in found] == [
        ("flat", 6, None),
        ("flat", 8, None),
    ]


def test_sizes_that_do_not_divide_are_named_with_what_is_allowed():
    with pytest.raises(SettingError) as caught:
        settings_of("lshash", 384, backend="tables", num_tables="5,8")
    assert len(caught.value.problems) == 1
    assert "num_tables 5" in caught.value.problems[0]
    assert "6, 8, 12" in caught.value.problems[0]
    with pytest.raises(SettingError, match="bits 100"):
        settings_of("bihash", 384, backend="tables", bits="100")


def test_widths_are_swept():
    found = settings_of("bihash", 384, backend="exact", bits="128,384")
    assert [s.bits for s in found] == [128, 384]
    assert [family_name(s) for s in found] == ["bihash", "bihash (384 bits)"]


def test_what_is_plain_needs_no_mention():
    plain = settings_of("winnowing", backend="tables")[0]
    words = settings_of("winnowing", backend="tables", unit="word", shingle_size="2")[0]
    assert family_name(plain) == "winnowing"
    assert family_name(words) == "winnowing (word 2-grams)"


def test_a_backend_that_has_no_kind_of_a_family_is_counted():
    config = study_config({"sla_ms": 100, "family": "winnowing", "backend": "tables,faiss"})
    made = space(config)
    assert len(made.points) == 1
    assert [count for _, count in made.impossible] == [1]
    assert "winnowing as flat on faiss" in made.impossible[0][0]


def test_a_family_that_a_backend_has_no_kind_for_is_counted():
    config = study_config({"sla_ms": 100, "family": "bge", "backend": "tables,exact"})
    made = space(config, 384)
    assert [p.setting.backend for p in made.points] == ["exact"]
    assert [count for _, count in made.impossible] == [1]
    assert "bge is searched as flat, hnsw, and tables has lsh, tokens" in made.impossible[0][0]


def test_families_that_are_only_compared_are_refused():
    with pytest.raises(SettingError, match="harness bench"):
        study_config({"sla_ms": 100, "family": "karp_rabin"})


def test_tables_of_a_family_that_has_none_are_refused():
    with pytest.raises(SettingError, match="winnowing has none"):
        study_config({"sla_ms": 100, "family": "winnowing", "num_tables": ("winnowing=5",)})


def sizes(settings):
    return [(s.backend, s.m, s.ef_construction, s.ef_search) for s in settings]


def test_graphs_are_swept_where_they_are_asked_for():
    assert not [s for s in settings_of("simhash", backend="faiss,tables") if s.kind == "hnsw"]
    found = settings_of("simhash", backend="faiss", kind="hnsw")
    assert sizes(found) == [("faiss", 16, 200, width) for width in (32, 64, 128, 256)]
    assert {(s.kind, s.num_tables, s.hash_length, s.bits, s.rerank) for s in found} == {
        ("hnsw", None, None, 128, "code")
    }


def test_a_backend_that_has_graphs_alone_is_asked_for_them_by_its_name():
    found = settings_of("simhash", backend="hnswlib", ef_search="64")
    assert sizes(found) == [("hnswlib", 16, 200, 64)]


def test_vectors_themselves_are_searched_by_graphs():
    found = settings_of("bge", 384, backend="faiss,hnswlib", kind="hnsw,flat", ef_search="64")
    assert [(s.backend, s.kind, s.ef_search) for s in found] == [
        ("faiss", "flat", None),
        ("faiss", "hnsw", 64),
        ("hnswlib", "hnsw", 64),
    ]
    assert {s.rerank for s in found} == {"cosine"}


def test_the_kinds_asked_for_are_all_there_is():
    config = study_config({"sla_ms": 100, "backend": "tables,faiss,exact", "kind": "flat"})
    made = space(config)
    assert {(p.setting.backend, p.setting.kind, p.baseline) for p in made.points} == {
        ("faiss", "flat", True),
        ("exact", "flat", True),
    }
    assert made.impossible == (
        ("tables, such as: of the kinds asked for, it has none: lsh, tokens", 1),
    )


def test_graph_sizes_are_swept_family_by_family():
    found = settings_of(
        "simhash,minhash",
        backend="hnswlib",
        m=("8,16", "minhash=32"),
        ef_construction="50,100",
        ef_search=("minhash=20",),
    )
    of_simhash = [s for s in found if s.family == "simhash"]
    assert sizes(of_simhash) == [
        ("hnswlib", m, ef_construction, width)
        for m in (8, 16)
        for ef_construction in (50, 100)
        for width in (32, 64, 128, 256)
    ]
    assert sizes(s for s in found if s.family == "minhash") == [
        ("hnswlib", 32, 50, 20),
        ("hnswlib", 32, 100, 20),
    ]


def test_a_search_keeps_no_fewer_candidates_than_it_answers():
    found = settings_of("simhash", backend="hnswlib", ef_search="5,10,50,70", cutoff="50")
    assert [s.ef_search for s in found] == [50, 70]
    assert params_of(found[0], 51).ef_search == 50


def test_settings_that_differ_in_their_search_alone_are_one_index():
    found = settings_of("simhash", backend="faiss", kind="hnsw", m="8,16", ef_search="32,64")
    assert [(s.m, s.ef_search) for s in found] == [(8, 32), (8, 64), (16, 32), (16, 64)]
    assert len(set(map(spec_of, found))) == 2
    assert spec_of(found[0]).m == 8
    assert spec_of(found[0]).ef_construction == 200


def test_a_setting_of_a_graph_is_told_with_its_sizes():
    (found,) = settings_of("simhash", backend="faiss", kind="hnsw", ef_search="64")
    told = "m 16, ef_construction 200, ef_search 64"
    assert name_of(found) == f"simhash on faiss (hnsw, {told})"
    assert label(found) == "simhash faiss hnsw m 16 ef_construction 200 ef_search 64"


@pytest.mark.parametrize("name", ["shingle_size", "window", "bits"])
def test_sizes_start_at_one(name):
    with pytest.raises(SettingError, match=f"{name}: sizes start at 1, not 0"):
        study_config({"sla_ms": 100, "family": "winnowing", name: "0"})


def test_flags_that_nothing_reads_are_told():
    flags = {"window": "7", "unit": "word", "bits": "256", "shingle_size": "2"}
    config = study_config({"sla_ms": 100, "family": "fuzzyhash", **flags})
    assert [line.split()[0] for line in without_effect(config)] == ["--bits", "--window", "--unit"]
    assert not list(without_effect(study_config({"sla_ms": 100})))
