"""A file of documents as a deploy folder indexes it: looked through whole, then read in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from harness.collection import jsonl
from harness.collection.attributes import Columns
from harness.collection.lines import brief, shown
from harness.collection.repeats import Repeats, repeated
from indexers.errors import CorpusError
from indexers.filters import Value
from indexers.types import Progress, no_progress

BLOCK = 1024
"""Documents held at a time."""


@dataclass(frozen=True, slots=True)
class Source:
    """A file of documents.

    Attributes:
        path: JSON lines with `_id` or `id`.
        fields: joined into the text; None for whichever of title and text there are.
        attributes: (name, `keyword` or `double`) of those that the index holds.
    """

    path: Path
    fields: Sequence[str] | None
    attributes: Sequence[tuple[str, str]] = ()

    def check(self, progress: Progress = no_progress) -> int:
        """Look at every line before anything is sent; gives how many documents there are.

        Memory holds eight bytes a document.

        Args:
            progress: called with the number of documents seen since the last call.

        Raises:
            CorpusError: a line, id or attribute cannot be used (line named), an id is given
                twice, or this is no file that can be read a second time.
        """
        if self.path.exists() and not self.path.is_file():
            raise CorpusError(
                f"{shown(self.path)}: is no file; it is read twice, so write it to one"
            )
        ids, count = Repeats(), 0
        for block in self.blocks():
            for name in block.ids:
                ids.add(name)
            count += len(block.ids)
            progress(len(block.ids))
        doubtful = ids.doubtful()
        if doubtful:
            self._check_repeats(doubtful)
        return count

    def blocks(self) -> Iterator[Block]:
        """Its documents, some at a time; nothing of them is kept.

        Raises:
            CorpusError: a line or attribute cannot be used; earlier blocks are given already.
        """
        rows = jsonl.stream(self.path, self.fields)
        columns = Columns((name for name, _ in self.attributes), dict(self.attributes))
        while block := list(islice(rows, BLOCK)):
            for number, _, _, record in block:
                columns.add(partial(jsonl.value_of, record), partial(self._fault, number))
            ids, texts = [name for _, name, _, _ in block], [text for _, _, text, _ in block]
            yield Block(ids, texts, columns.taken())

    def _check_repeats(self, doubtful: frozenset[int]) -> None:
        named = ((number, name) for number, name, _, _ in jsonl.stream(self.path, self.fields))
        for number, name, first in repeated(named, doubtful):
            raise self._fault(
                number,
                f"id {brief(name)} is given twice, first in line {first}",
                "which of the two would stay is not certain: remove one",
            )

    def _fault(self, number: int, what: str, remedy: str) -> CorpusError:
        return CorpusError(f"{shown(self.path)} line {number}: {what}; {remedy}")


@dataclass(frozen=True, slots=True)
class Block:
    """Some documents of a file, in its order.

    Attributes:
        ids: n ids.
        texts: one each; may be empty.
        attributes: name -> n values.
    """

    ids: Sequence[str]
    texts: Sequence[str]
    attributes: Mapping[str, Sequence[Value]]
