"""Flags that tell where vectors come from, alike for every command that hashes any."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from harness.config_values import Whole
from indexers.registry import family, family_names

if TYPE_CHECKING:
    from harness.collection.vectors import VectorSource

ENCODING = ("model", "pooling", "query_instruction", "max_length", "batch_size", "device")
"""Flags of the encoder."""


class VectorFlags(BaseModel):
    """Where vectors come from: files, else a model.

    Attributes:
        vectors, query_vectors, model, pooling, query_instruction, max_length, batch_size,
            device: as `VectorSource`; None for its defaults.
    """

    vectors: str | None = Field(default=None, min_length=1)
    query_vectors: str | None = Field(default=None, min_length=1)
    model: str | None = Field(default=None, min_length=1)
    pooling: Literal["cls", "mean"] | None = None
    query_instruction: str | None = None
    max_length: Whole | None = Field(default=None, ge=1, le=100_000)
    batch_size: Whole | None = Field(default=None, ge=1, le=100_000)
    device: str | None = Field(default=None, min_length=1)

    def vector_problems(self, *, used: bool, otherwise: str = "") -> list[str]:
        """What does not fit together, a line each.

        Args:
            used: whether anything of the run reads vectors.
            otherwise: what else than a family would read them, for the message.
        """
        found = []
        if self.vectors and self.model:
            found.append("--vectors and --model: give one, the vectors or what makes them")
        if self.query_vectors and not self.vectors:
            found.append("--query-vectors needs --vectors, those of the documents")
        given = [name for name in VectorFlags.model_fields if getattr(self, name) is not None]
        if given and not used and not found:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            over = [name for name in family_names() if family(name).source == "vector"]
            found.append(
                f"{flags}: nothing here reads vectors: choose a family over them "
                f"({', '.join(over)}){otherwise}"
            )
        return found

    @property
    def vector_source(self) -> VectorSource:
        """The flags as a source."""
        return vector_source({name: getattr(self, name) for name in VectorFlags.model_fields})


def vector_source(flags: Mapping[str, Any]) -> VectorSource:
    """A source of the flags that are given and not None; others are without effect on it."""
    from harness.collection.vectors import VectorSource

    names = VectorFlags.model_fields
    given = {name: flags[name] for name in names if flags.get(name) is not None}
    return VectorSource(**given)
