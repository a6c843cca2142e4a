import json

import pytest
from click.testing import CliRunner

from harness.bench.command_pair import command
from harness.bench.pair import compare as comparing
from harness.bench.pair.compare import compare, read_texts
from harness.bench.pair.table import table
from indexers import registry
from indexers.errors import SettingError

A = "the quick brown fox jumps over the lazy dog"
B = "the quick brown fox jumped over a lazy dog"


def run(*arguments, stdin=b""):
    return CliRunner().invoke(command, list(arguments), input=stdin, standalone_mode=False)


def row(found, family):
    return next(one for one in found["families"] if one["family"] == family)


def value(found, family, similarity, pair="A-B"):
    rows = row(found, family)["similarities"]
    return next(one for one in rows if one["similarity"] == similarity)[pair]


def shingles(text):
    return {text[i : i + 3] for i in range(len(text) - 2)}


def test_every_family_of_texts_with_every_fitting_similarity():
    found = compare([A, B, "something else"])
    compared = {one["family"] for one in found["families"]}
    texts = {
        name
        for name in registry.family_names()
        if registry.family(name).source == "text" and registry.family(name).forms
    }
    assert compared == texts
    for one in found["families"]:
        fitting = [
            name
            for name in registry.similarity_names()
            if registry.fitting_form(one["family"], name)
        ]
        assert [each["similarity"] for each in one["similarities"]] == fitting
        assert all({"A-B", "A-C", "B-C"} <= set(each) for each in one["similarities"])
    assert any("--model" in line for line in found["left_out"])
    assert any("lshbloom" in line for line in found["left_out"])


def test_karp_rabin_jaccard_is_that_of_the_shingles():
    a, b = shingles(A), shingles(B)
    found = compare([A, B], families=["karp_rabin"])
    assert value(found, "karp_rabin", "jaccard") == len(a & b) / len(a | b)
    hashes = row(found, "karp_rabin")["fingerprint"]["A"]["hashes"]
    assert (hashes["count"], hashes["distinct"]) == (len(A) - 2, len(a))


def test_equal_texts_are_alike_in_everything():
    found = compare([A, A.upper()])
    for one in found["families"]:
        for each in one["similarities"]:
            best = 0 if each["similarity"] == "mahalanobis" else 1
            assert each["A-B"] == pytest.approx(best)
        assert one["fingerprint"]["A"] == one["fingerprint"]["B"]


@pytest.mark.parametrize("texts", [["", ""], ["", "  \n"], [A, ""]])
def test_empty_texts_are_a_status_never_similar(texts):
    found = compare(texts)
    assert found["families"]
    for one in found["families"]:
        assert one["status"]["B"] != "ok"
        assert one["fingerprint"]["B"] == {}
        assert all(each["A-B"] is None for each in one["similarities"])
    shown = run(*texts).stdout
    assert "empty" in shown
    assert "nan" not in shown


def test_shingle_size_and_width_are_passed_on():
    found = compare([A, B], families=["simhash"], bits=64, shingle_size=5)
    assert len(row(found, "simhash")["fingerprint"]["A"]["code"]) == 16


def test_only_the_pairs_asked_for_are_compared(monkeypatch):
    shapes = []
    similarity = type(registry.similarity("jaccard"))
    matrix = similarity.matrix

    def counted(self, queries, documents, form):
        shapes.append((len(queries), len(documents)))
        return matrix(self, queries, documents, form)

    monkeypatch.setattr(similarity, "matrix", counted)
    compare([A, B], families=["karp_rabin"])
    assert shapes == [(1, 1)]
    compare([A, B, A], families=["karp_rabin"])
    assert shapes[1:] == [(1, 1)] * 3


def test_long_sequences_are_not_compared_in_a_row(monkeypatch):
    monkeypatch.setattr(comparing, "LONGEST_SEQUENCE", len(A) - 3)
    found = compare([A, B, "short"], families=["karp_rabin"])
    assert len(B) < len(A)
    told = next(one for one in row(found, "karp_rabin")["similarities"] if one["reason"])
    assert told["similarity"] == "levenshtein"
    assert told["A-B"] is told["A-C"] is None
    assert told["B-C"] > 0
    assert f"{len(A) - 2} hashes in a row" in told["reason"]
    assert told["reason"] in table(found)
    others = [one for one in row(found, "karp_rabin")["similarities"] if one is not told]
    assert all(one["A-B"] is not None for one in others)


def test_help_tells_the_limit_of_levenshtein():
    text = " ".join(CliRunner().invoke(command, ["--help"]).stdout.split())
    assert f"{comparing.LONGEST_SEQUENCE:,} hashes" in text
    assert "1/(1+distance)" in text


def test_a_cut_signature_says_so():
    one = row(compare([A, B], families=["minhash"]), "minhash")["fingerprint"]["A"]
    assert "signature" not in one
    assert len(one["signature_head"]) == comparing.SHOWN_VALUES


def test_command_prints_what_json_says():
    found = json.loads(run(A, B, "--json").stdout)
    assert found == json.loads(json.dumps(compare([A, B])))
    shown = run(A, B).stdout
    assert row(found, "simhash")["fingerprint"]["A"]["code"] in shown
    assert f"{value(found, 'winnowing', 'jaccard'):.4f}" in shown


def test_files_and_standard_input(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbf" + A.encode())
    assert read_texts([str(path), "-"], files=True, stdin=B.encode()) == [A, B]
    result = run("--file", str(path), "-", "--family", "minhash", "--json", stdin=B.encode())
    assert json.loads(result.stdout) == json.loads(
        json.dumps(compare([A, B], families=["minhash"]))
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([A], "1 given"),
        ([A] * 4, "4 given"),
        (["--file", "/no/such/file", A], "cannot be read"),
        (["--file", "{bad}", "{bad}"], "byte 3 is not UTF-8"),
        ([A, B, "--family", "nope"], "unknown"),
        ([A, B, "--family", "bihash"], "--model"),
        ([A, B, "--family", "lshbloom"], "membership"),
        ([A, B, "--family", "simhash", "--bits", "7"], "bits 7"),
        ([A, B, "--family", "simhash", "--unit", "line"], "line"),
        ([A, B, "--unit", "foo"], "unit 'foo' is unknown: choose from char, word"),
        ([A, B, "--seed", "-1"], "seed -1 is out of range"),
        ([A, B, "--window", "0"], "window 0 is out of range"),
        ([A, B, "--shingle-size", "9"], "shingle_size 9 is out of range"),
        ([A, B, "--bits", "7"], "bits 7 is out of range"),
    ],
)
def test_bad_input_is_one_line(tmp_path, arguments, words):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"ab\xff")
    fault = run(*(part.format(bad=bad) for part in arguments)).exception
    assert isinstance(fault, SettingError)
    assert words in str(fault)
    assert "\n" not in str(fault)


def test_embedding_families_by_a_model(minilm):
    from indexers.encoder import EncoderParams

    encoder = EncoderParams(str(minilm), "mean", device="cpu")
    found = compare([A, B, "stock prices fell"], families=["bge", "lsh"], encoder=encoder)
    for other in ("A-C", "B-C"):
        assert value(found, "bge", "cosine") > value(found, "bge", "cosine", other)
        assert value(found, "lsh", "hamming") > value(found, "lsh", "hamming", other)
