"""What an index with the manifest of deploy files is asked, and what is told of it."""

import json

from harness.tuning.attached_bodies import deployed_bodies, deployed_words
from indexers.backends._engine_existing import ExistingIndex
from indexers.deployed import Deployed
from indexers.index_types import Filter, IndexSpec, SearchParams
from indexers.types import HashParams


def test_the_filter_of_a_manifest_is_left_out_and_told():
    spec = IndexSpec(
        "opensearch", "lsh", "simhash", 4, (8,), 128, attributes=(("price", "double"),)
    )
    search = SearchParams(k=5, num_tables=4, hash_length=8, filter=Filter("price", None, 10, 50))
    deployed = Deployed(spec, search, HashParams(bits=128, seed=123))
    tag = {"manifest": deployed.manifest, "search": deployed.document["search"]}
    assert tag["search"]["filter"]
    index = ExistingIndex("goods", "goods", "u", 1, {"_meta": {"harness": tag}})

    def no_request(_):
        raise AssertionError

    (body,) = deployed_bodies("opensearch", index, ["a listing"], 5, no_request)
    assert "range" not in json.dumps(json.loads(body))
    assert "but without its filter price=10..50" in deployed_words(index)
