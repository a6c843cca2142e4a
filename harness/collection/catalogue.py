"""The built-in product catalogue: `catalogue:N`, the same on every machine.

Judgments come from how a text was made, never from what it looks like. A query is a perturbed
listing; towards it

- gain 3: listings of the same product whose sellers edited the same copy, the listing that the
  query was made from among them,
- gain 2: listings of the same product whose sellers edited another copy,
- gain 1: listings of other products of the same line (another colour, size, pack …),

and everything else is not judged. Gains 3 and 2 differ in wording alone, as near-duplicates and
reworded offers do. All numbers come from `random.Random.random`, whose streams
Python keeps the same across versions, and from whole numbers; no order of a set or a dict of
strings is relied on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from itertools import groupby, islice
from operator import itemgetter
from random import Random

import numpy as np

from harness.collection.catalogue_goods import Draw, Listing, generate_listings
from harness.collection.catalogue_queries import write_query
from harness.collection.catalogue_words import CATEGORIES
from harness.collection.types import Corpus, Judgments
from indexers.errors import CorpusError
from indexers.filters import Value

VERSION = 1
"""Of the generator: raised with every change of any text or judgment."""

N_ITEMS_MIN = 100
N_ITEMS_MAX = 100_000


def _digest(*parts: object) -> str:
    text = "\x1f".join(("catalogue", str(VERSION), *map(str, parts)))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _stream(*parts: object) -> Draw:
    return Random(int(_digest(*parts), 16)).random


def _check_sizes(n_items: int, n_queries: int) -> None:
    if not N_ITEMS_MIN <= n_items <= N_ITEMS_MAX:
        raise CorpusError(
            f"catalogue:{n_items}: the number of items must lie between {N_ITEMS_MIN:,} and "
            f"{N_ITEMS_MAX:,}, as in catalogue:20000"
        )
    if not 1 <= n_queries <= n_items:
        raise CorpusError(
            f"catalogue:{n_items}: {n_queries} queries asked for; the number of queries must lie "
            f"between 1 and the number of items ({n_items:,})"
        )


def content(n_items: int, n_queries: int, seed: int) -> str:
    """32 hex digits for what `load` would give, known without generating it.

    Raises:
        CorpusError: a size is out of range.
    """
    _check_sizes(n_items, n_queries)
    return _digest("content", n_items, n_queries, seed)


def _shuffled(draw: Draw, count: int) -> list[int]:
    keys = [draw() for _ in range(count)]
    return sorted(range(count), key=keys.__getitem__)


def _choose_sources(draw: Draw, listings: Sequence[Listing], n_queries: int) -> list[int]:
    """Listings to make queries from: one a product, in seeded order, before a second of any.

    Products with two or more listings come first: the others have no listing to find but the
    query's own source.
    """
    order = _shuffled(draw, len(listings))
    sizes: dict[tuple[int, int], int] = {}
    for listing in listings:
        key = (listing.line, listing.product)
        sizes[key] = sizes.get(key, 0) + 1
    seen: dict[tuple[int, int], int] = {}
    ranked: list[tuple[int, bool, int]] = []
    for place in order:
        key = (listings[place].line, listings[place].product)
        ranked.append((seen.get(key, 0), sizes[key] == 1, place))
        seen[key] = seen.get(key, 0) + 1
    ranked.sort(key=itemgetter(0, 1))  # stable: the seeded order stays within a class
    return [place for _, _, place in ranked[:n_queries]]


def gain(source: Listing, listing: Listing) -> int:
    """How relevant a listing is to a query made from `source`: 3, 2, 1 or 0 (not judged)."""
    if listing.line != source.line:
        return 0
    if listing.product != source.product:
        return 1
    return 3 if listing.copy == source.copy else 2


def _judge(listings: Sequence[Listing], sources: Sequence[int], ordinals: list[int]) -> Judgments:
    lines = [
        [place for place, _ in group]
        for _, group in groupby(enumerate(listings), key=lambda pair: pair[1].line)
    ]
    documents: list[int] = []
    gains: list[int] = []
    indptr = [0]
    for source in sources:
        origin = listings[source]
        for place in sorted(lines[origin.line], key=ordinals.__getitem__):
            documents.append(ordinals[place])
            gains.append(gain(origin, listings[place]))
        indptr.append(len(documents))
    return Judgments(
        indptr=np.array(indptr, dtype=np.int64),
        documents=np.array(documents, dtype=np.int32),
        gains=np.array(gains, dtype=np.float64),
    )


def _price(seed: int, listing: Listing) -> float:
    """Of a product, 4.99 to 999.99, most of them low; sellers do not differ."""
    draw = _stream("price", seed, listing.line, listing.product)
    return (499 + int(draw() * draw() * 99_501)) / 100


def _attribute(name: str, seed: int) -> Callable[[Listing], Value]:
    """What gives a listing's value.

    Raises:
        CorpusError: the catalogue has no such attribute.
    """
    found: dict[str, Callable[[Listing], Value]] = {
        "brand": lambda listing: listing.brand,
        "category": lambda listing: CATEGORIES[listing.category].nouns[0],
        "department": lambda listing: CATEGORIES[listing.category].department,
        "price": lambda listing: _price(seed, listing),
    }
    if name not in found:
        raise CorpusError(
            f"the catalogue's listings have no field {name}; choose with --filter from: "
            f"{', '.join(found)}"
        )
    return found[name]


def load(n_items: int, n_queries: int, seed: int, attributes: Sequence[str] = ()) -> Corpus:
    """Generate the catalogue: documents `p000001` …, queries `q00001` …, graded judgments.

    The first listings of one seed are the same whatever `n_items`; ids are given in a seeded
    order that says nothing about products. Texts are title and description joined by a line
    feed; queries are one line and no documents themselves.

    Args:
        n_items: listings, 100 to 100,000.
        n_queries: 1 to `n_items`, over as many products as there are.
        seed: any whole number.
        attributes: of `brand`, `category`, `department` (texts) and `price` (a number, of the
            product, from a stream of its own).

    Raises:
        CorpusError: a size is out of range, or there is no such attribute.
    """
    _check_sizes(n_items, n_queries)
    value_of = {name: _attribute(name, seed) for name in attributes}
    listings = list(islice(generate_listings(_stream("goods", seed)), n_items))
    order = _shuffled(_stream("order", seed, n_items), n_items)
    ordinals = [0] * n_items
    for ordinal, place in enumerate(order):
        ordinals[place] = ordinal
    draw = _stream("queries", seed, n_items)
    sources = _choose_sources(draw, listings, n_queries)
    return Corpus(
        name=f"catalogue-{n_items}",
        content=content(n_items, n_queries, seed),
        ids=[f"p{number:06d}" for number in range(1, n_items + 1)],
        texts=[listings[place].text for place in order],
        query_ids=[f"q{number:05d}" for number in range(1, n_queries + 1)],
        query_texts=[write_query(draw, listings[source]) for source in sources],
        query_self=np.full(n_queries, -1, dtype=np.int32),
        judgments=_judge(listings, sources, ordinals),
        source=f"generated product catalogue, version {VERSION}, seed {seed}",
        attributes={
            name: [value(listings[place]) for place in order] for name, value in value_of.items()
        },
    )
