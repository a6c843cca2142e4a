"""What an index in production carries, and what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from indexers import deployed_folder
from indexers.deployed import Deployed, load, manifest_of, parsed
from indexers.errors import SettingError
from indexers.index_types import Documents, Filter, IndexSpec, Layout, Queries, SearchParams
from indexers.types import HashParams

SPEC = IndexSpec("opensearch", "lsh", "simhash", 6, (8,), 128, layout=Layout(shards=2), cached=True)
SEARCH = SearchParams(7, 6, 8, filter=Filter("price", low=1.0))
DEPLOYED = Deployed(
    replace(SPEC, attributes=(("price", "double"),)), SEARCH, HashParams(128, 5), "", {"fields": []}
)


def test_the_manifest_tells_family_version_parameters_and_sizes():
    assert DEPLOYED.manifest == {
        "format": 1,
        "normaliser": "nfc-lower-space-1",
        "bit_order": "big",
        "fingerprint": {
            "family": "simhash",
            "version": 1,
            "bits": 128,
            "seed": 5,
            "shingle_size": 3,
            "unit": "char",
            "weighting": "tf",
        },
        "index": {
            "backend": "opensearch",
            "kind": "lsh",
            "num_tables": 6,
            "hash_length": 8,
            "bits": 128,
            "attributes": [["price", "double"]],
        },
    }


def test_it_is_read_back(tmp_path):
    (tmp_path / "fingerprint.json").write_text(json.dumps(DEPLOYED.document))
    found = load(tmp_path)
    assert found.document == DEPLOYED.document
    assert found.search == SEARCH
    assert found.spec == replace(DEPLOYED.spec, layout=Layout())
    assert found.hashing == DEPLOYED.hashing


def test_an_index_tells_by_its_mapping_what_it_is():
    tag = {"manifest": DEPLOYED.manifest, "search": DEPLOYED.document["search"]}
    mapping = json.loads(json.dumps({"_meta": {"harness": tag}, "properties": {}}))
    found = manifest_of(mapping)
    assert found is not None
    assert (found.manifest, found.search) == (DEPLOYED.manifest, SEARCH)
    del tag["search"]  # what it is searched with is a user's own choice
    assert manifest_of({"_meta": {"harness": tag}}).search.rerank == "code"
    assert manifest_of({"properties": {}}) is None
    assert manifest_of({"_meta": {"harness": {"owner": "x"}}}) is None


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("fingerprint", "seed"), 6),
        (("fingerprint", "learnt"), "0123"),
        (("index", "num_tables"), 7),
        (("index", "kind"), "flat"),
        (("normaliser",), "another"),
    ],
)
def test_an_index_made_otherwise_is_refused_by_name(path, value):
    other = json.loads(json.dumps(DEPLOYED.manifest))
    place = other
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    with pytest.raises(SettingError, match=rf"index x was made with {'.'.join(path)} "):
        DEPLOYED.check(other, "index x")
    DEPLOYED.check(DEPLOYED.manifest, "index x")
    with pytest.raises(SettingError, match="no _meta"):
        DEPLOYED.check(None, "index x")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 2}, "format 2"),
        ({"index": {}}, "not understood"),
        ({"index": {"backend": "tables", "kind": "lsh", "colour": 1}}, "colour"),
        ({"fingerprint": {"family": "simhash", "version": 99}}, "version 99"),
    ],
)
def test_files_of_another_version_are_refused(change, told):
    with pytest.raises(SettingError, match=told):
        parsed({**DEPLOYED.document, **change}, "fingerprint.json")
    with pytest.raises(SettingError, match="no JSON object"):
        parsed([], "fingerprint.json")


def folder_deployed(**search):
    spec = IndexSpec("tables", "lsh", "simhash", 4, (8,), 128)
    return Deployed(spec, SearchParams(3, 4, 8, **search), HashParams(128, 5))


def test_a_folder_is_replaced_whole_and_never_someone_elses(tmp_path):
    deployed = folder_deployed()
    texts = ["one text of a few words", "another text of a few words", "something else"]
    documents = Documents(["a", "b", "c"], texts, None)

    def build(documents):
        hasher = deployed.hasher()
        return deployed_folder.build(
            tmp_path / "index", deployed, documents, documents.texts, hasher
        )

    def ask(text):
        queries = Queries([text], deployed.hasher()([text]))
        (found,) = deployed_folder.ask(tmp_path / "index", deployed, queries, deployed.search)
        return [answer.id for answer in found]

    assert build(documents) == 3
    assert ask(texts[2])[0] == "c"
    assert build(Documents(["d"], [texts[2]], None)) == 1
    assert ask(texts[2]) == ["d"]
    assert [path.name for path in tmp_path.iterdir()] == ["index"]
    with pytest.raises(SettingError, match="hash_length"):
        list(
            deployed_folder.ask(
                tmp_path / "index",
                replace(deployed, spec=replace(deployed.spec, hash_lengths=(9,))),
                Queries([], None),
                deployed.search,
            )
        )
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(SettingError, match="another folder"):
        deployed_folder.check_free(tmp_path / "mine", deployed)
    other = replace(deployed, spec=replace(deployed.spec, hash_lengths=(9,)))
    with pytest.raises(SettingError, match=r"hash_length.*left as it is"):
        deployed_folder.check_free(tmp_path / "index", other)
    with pytest.raises(SettingError, match=r"run ingest\.py first"):
        list(deployed_folder.ask(tmp_path / "mine", deployed, Queries([], None), deployed.search))
    np.testing.assert_array_equal(
        list((tmp_path / "mine").iterdir()), [tmp_path / "mine/letter.txt"]
    )


@pytest.mark.parametrize("name", ["notes.txt", "index/documents.jsonl", ".hidden", "link", "a/b"])
def test_what_a_user_put_beside_an_index_is_not_lost(tmp_path, name):
    deployed, folder = folder_deployed(), tmp_path / "built"

    def build():
        texts = ["one text of a few words", "another text of a few words"]
        documents = Documents(["a", "b"], texts, None)
        return deployed_folder.build(folder, deployed, documents, texts, deployed.hasher())

    build()
    mine = folder / name
    mine.parent.mkdir(exist_ok=True)
    if name == "link":
        mine.symlink_to(tmp_path)
    else:
        mine.write_text("mine")
    with pytest.raises(SettingError, match=rf"holds '{name}' beside its index.*another folder"):
        build()
    assert mine.is_symlink() or mine.read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["built"]
    mine.unlink()
    assert build() == 2


def test_what_is_put_there_while_the_index_is_built_is_not_lost(tmp_path):
    deployed, texts = folder_deployed(), ["one text of a few words"]

    def build(progress):
        documents = Documents(["a"], texts, None)
        hasher = deployed.hasher()
        deployed_folder.build(tmp_path / "built", deployed, documents, texts, hasher, progress)

    build(lambda _: None)
    before = {path.name for path in (tmp_path / "built").iterdir()}
    with pytest.raises(SettingError, match=r"/built holds 'mine' beside its index"):
        build(lambda _: (tmp_path / "built" / "mine").write_text("mine"))
    assert {path.name for path in (tmp_path / "built").iterdir()} == {*before, "mine"}
    assert [path.name for path in tmp_path.iterdir()] == ["built"]


def test_an_index_that_lists_no_files_is_known_by_their_names(tmp_path):
    deployed, texts = folder_deployed(), ["one text of a few words"]
    folder, documents = tmp_path / "built", Documents(["a"], texts, None)
    deployed_folder.build(folder, deployed, documents, texts, deployed.hasher())
    told = json.loads((folder / "index.json").read_text())
    del told["files"]
    (folder / "index.json").write_text(json.dumps(told))
    deployed_folder.check_free(folder, deployed)
    (folder / "mine").write_text("mine")
    with pytest.raises(SettingError, match="holds 'mine' beside its index"):
        deployed_folder.check_free(folder, deployed)


def test_a_folder_named_by_a_link_is_replaced_where_it_lies(tmp_path):
    deployed, texts = folder_deployed(), ["one text of a few words"]
    (tmp_path / "disk").mkdir()
    (tmp_path / "current").symlink_to(tmp_path / "disk" / "v1")
    for _ in range(2):
        documents = Documents(["a"], texts, None)
        deployed_folder.build(tmp_path / "current", deployed, documents, texts, deployed.hasher())
    assert (tmp_path / "current").is_symlink()
    assert (tmp_path / "disk" / "v1" / "index.json").is_file()
    assert [path.name for path in (tmp_path / "disk").iterdir()] == ["v1"]
