"""The goods of the built-in catalogue, and how sellers list them.

A *line* (brand, kind of goods, name, material, properties) has 1 to 12 *products*, which differ
in colour, size and the like; a product is listed by 1 to 8 sellers. What a line's listings say
comes from its *copies*: the maker's text and up to three others, written afresh from the same
properties. A seller takes a copy over and edits it: order of attributes, forms of units,
shorthands, sentences left out, swapped or added.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, product
from typing import TypeAlias, TypeVar

from harness.collection import catalogue_words as words
from harness.collection.catalogue_words import Category

T = TypeVar("T")
Draw: TypeAlias = Callable[[], float]
"""Gives the next number of a seeded stream, uniform in [0, 1)."""

MAX_PRODUCTS = 12
MAX_SELLERS = 8
MAX_COPIES = 4
NUM_SELLERS = 60
_TABLE_SIZE = 4096
_SUFFIXES = "ABCDEFGHJKLM"


@dataclass(frozen=True, slots=True)
class Listing:
    """What one seller says of one product.

    Attributes:
        line: number of the product line.
        product: number of the product within its line.
        copy: number of the text, within its line, that the seller edited; 0 is the maker's.
        title: one line.
        sentences: of the description.
        category: row of `CATEGORIES`.
        brand: name of the maker.
    """

    line: int
    product: int
    copy: int
    title: str
    sentences: tuple[str, ...]
    category: int
    brand: str

    @property
    def text(self) -> str:
        """Title and description, joined by a line feed."""
        return self.title + "\n" + " ".join(self.sentences)


def zipf_table(items: Sequence[T]) -> tuple[T, ...]:
    """4,096 entries in which the item of rank i stands about 1/i times as often as the first.

    Drawing from it uniformly follows Zipf's law with exponent 1. Whole numbers only, so that
    it is the same on every machine. At most 256 items, so that each is there.
    """
    shares = list(accumulate(10**9 // rank for rank in range(1, len(items) + 1)))
    table: list[T] = []
    for item, share in zip(items, shares, strict=True):
        table += [item] * (share * _TABLE_SIZE // shares[-1] - len(table))
    return tuple(table)


@dataclass(frozen=True, slots=True)
class _Seller:
    form: int
    order: tuple[int, ...]
    separator: str
    dashed: bool
    names_model: bool
    shorthands: tuple[tuple[str, str], ...]
    service: str
    badge: str
    terse: float


@dataclass(frozen=True, slots=True)
class _Line:
    brand: str
    category: Category
    name: str
    material: str
    model: str
    features: tuple[tuple[str, str], ...]


_CATEGORY_TABLE = zipf_table(range(len(words.CATEGORIES)))
_BRAND_TABLES = {name: zipf_table(brands) for name, brands in words.BRANDS.items()}
_VALUE_TABLES = {name: zipf_table(range(len(values))) for name, values in words.AXES.items()}
_ADJECTIVE_TABLE = zipf_table(words.ADJECTIVES)
_MATERIAL_TABLES = tuple(zipf_table(category.materials) for category in words.CATEGORIES)
_FEATURE_TABLES = tuple(zipf_table(category.features) for category in words.CATEGORIES)
_MARKETING_TABLE = zipf_table(words.MARKETING)
_PRODUCTS_TABLE = zipf_table(range(1, MAX_PRODUCTS + 1))
_SELLERS_TABLE = zipf_table(range(1, MAX_SELLERS + 1))
_SELLER_TABLE = zipf_table(range(NUM_SELLERS))
_COPIES_TABLE = zipf_table(range(2, 2 + MAX_COPIES - 1))
# Order of brand, line, noun, first and second attribute, material in a title.
_TITLE_ORDERS = (
    (0, 1, 2, 3, 4, 5),
    (0, 2, 1, 4, 3),
    (2, 0, 1, 5, 3, 4),
    (0, 1, 3, 2, 5, 4),
    (0, 1, 2, 4, 3),
    (5, 2, 0, 1, 3, 4),
)


def _pick(draw: Draw, items: Sequence[T]) -> T:
    return items[int(draw() * len(items))]


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _pick_seller(draw: Draw) -> _Seller:
    pairs = words.SHORTHANDS
    return _Seller(
        form=int(draw() * 3),
        order=_pick(draw, _TITLE_ORDERS),
        separator=_pick(draw, (" ", " ", ", ", " - ", " | ")),
        dashed=draw() < 0.5,
        names_model=draw() < 0.6,
        shorthands=tuple(pair for pair in pairs if draw() < 0.3),
        service=_pick(draw, words.SERVICE),
        badge=_pick(draw, words.BADGES),
        terse=0.35 * draw(),
    )


def _distinct(draw: Draw, table: Sequence[T], count: int) -> tuple[T, ...]:
    found: list[T] = []
    while len(found) < count:
        item = _pick(draw, table)
        if item not in found:
            found.append(item)
    return tuple(found)


def _pick_line(draw: Draw, row: int, taken: set[tuple[str, str]]) -> _Line:
    category = words.CATEGORIES[row]
    brand = _pick(draw, _BRAND_TABLES[category.department])
    while True:
        name = _pick(draw, words.LINE_STARTS) + _pick(draw, words.LINE_ENDS)
        name = f"{name} {_pick(draw, words.LINE_SUFFIXES)}".rstrip()
        if (brand, name) not in taken:
            break
    taken.add((brand, name))
    return _Line(
        brand=brand,
        category=category,
        name=name,
        material=_pick(draw, _MATERIAL_TABLES[row]),
        model=f"{brand[:2].upper()}{100 + int(draw() * 9900)}",
        features=_distinct(draw, _FEATURE_TABLES[row], 3),
    )


def _write_copy(draw: Draw, line: _Line) -> tuple[str, tuple[str, ...]]:
    """A noun for the titles, and the sentences of a description; the last names the product."""
    noun = _pick(draw, line.category.nouns)
    adjective = _pick(draw, _ADJECTIVE_TABLE)
    opening = _pick(draw, words.OPENINGS).format(
        line=line.name,
        brand=line.brand,
        noun=noun,
        a="an" if adjective[0] in "aeiou" else "a",
        adj=adjective,
        material=line.material,
        use=_pick(draw, line.category.uses),
    )
    sentences = [_capital(opening)]
    first = int(draw() * 3)
    for step in range(1 + (draw() < 0.4)):
        part, benefit = line.features[(first + step) % 3]
        sentence = _pick(draw, words.FEATURES).format(
            adj=_pick(draw, _ADJECTIVE_TABLE), part=part, benefit=benefit, material=line.material
        )
        sentences.append(_capital(sentence))
    sentences.append(_pick(draw, words.VERSIONS))
    return noun, tuple(sentences)


def _pick_products(draw: Draw, axes: Sequence[str]) -> list[tuple[tuple[str, ...], ...]]:
    """Values of each product on each axis; a value is its three forms."""
    count = _pick(draw, _PRODUCTS_TABLE)
    wide = min(3, len(words.AXES[axes[-1]])) if len(axes) > 1 else 1
    ranges = []
    for axis, span in zip(axes, (-(-count // wide), wide), strict=False):
        values = words.AXES[axis]
        start = _pick(draw, _VALUE_TABLES[axis])
        span = min(span, len(values))
        ranges.append([values[(start + step) % len(values)] for step in range(span)])
    return list(product(*ranges))[:count]


def _write_title(
    seller: _Seller, line: _Line, noun: str, attributes: Sequence[str], model: str
) -> str:
    parts = (line.brand, line.name, noun, attributes[0], attributes[-1], line.material)
    chosen = [parts[place] for place in seller.order if place != 4 or len(attributes) > 1]
    if seller.names_model:
        chosen.append(model)
    head = " ".join(chosen[:3])
    title = seller.separator.join([head, *chosen[3:]])
    return f"{seller.badge} {title}" if seller.badge else title


def _list_product(
    draw: Draw,
    seller: _Seller,
    line: _Line,
    copy: tuple[str, tuple[str, ...]],
    values: Sequence[Sequence[str]],
    suffix: str,
) -> tuple[str, tuple[str, ...]]:
    """Title and sentences of one listing."""
    noun, sentences = copy
    model = f"{line.model}-{suffix}" if seller.dashed else line.model + suffix
    attributes = [value[seller.form] for value in values]
    labels = [
        words.LABELS.get(axis, words.DEFAULT_LABEL)[seller.form] for axis in line.category.axes
    ]
    body = [*sentences[:-1], sentences[-1].format(values=", ".join(attributes), noun=noun)]
    if draw() < seller.terse:
        del body[int(draw() * len(body))]
    if draw() < 0.2:
        body.append(body.pop(0))
    if draw() < 0.4:
        pairs = zip(labels, attributes, strict=True)
        body.append(", ".join(f"{label}: {value}" for label, value in pairs) + ".")
    if draw() < 0.1:
        body.append(_pick(draw, _MARKETING_TABLE))
    if seller.service and draw() < 0.3:
        body.append(seller.service)
    text = "\n".join(body)
    for full, short in seller.shorthands:
        text = text.replace(full, short, 1)
    return _write_title(seller, line, noun, attributes, model), tuple(text.split("\n"))


def generate_listings(draw: Draw) -> Iterator[Listing]:
    """Listings without end, line by line: those of a line follow each other.

    Categories, brands, materials, properties, adjectives, sellers and the numbers of products
    and sellers follow Zipf's law.
    """
    sellers = [_pick_seller(draw) for _ in range(NUM_SELLERS)]
    taken: set[tuple[str, str]] = set()
    number = 0
    while True:
        row = _pick(draw, _CATEGORY_TABLE)
        line = _pick_line(draw, row, taken)
        copies = [_write_copy(draw, line) for _ in range(_pick(draw, _COPIES_TABLE))]
        for item, values in enumerate(_pick_products(draw, line.category.axes)):
            for chosen in _distinct(draw, _SELLER_TABLE, _pick(draw, _SELLERS_TABLE)):
                copy = 0 if draw() < 0.4 else int(draw() * len(copies))
                title, sentences = _list_product(
                    draw, sellers[chosen], line, copies[copy], values, _SUFFIXES[item]
                )
                yield Listing(number, item, copy, title, sentences, row, line.brand)
        number += 1
