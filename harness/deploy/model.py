"""The model that made a study's vectors, found again where its deploy files are used."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from indexers.encoder import EncoderParams, FlagEncoder
from indexers.errors import SettingError


def encoder(told: Mapping[str, Any] | None, model: str | None) -> FlagEncoder:
    """The model, checked to be the one of the study.

    Args:
        told: as `fingerprint.json` names it; None where the study read vectors from a file.
        model: folder or name, in place of the one told.

    Raises:
        SettingError: there is none, or it is another.
        MissingPackage: its library is not installed.
    """
    from harness.collection.embeddings import identity

    if told is None:
        raise SettingError(
            "the study read vectors from a file: give those of the same model, --vectors FILE"
        )
    if told["in_folder"] and model is None:
        raise SettingError(
            f"the study used the model {told['name']} from a folder: name it, --model FOLDER"
        )
    params = EncoderParams(
        model=model or told["name"],
        pooling=told["pooling"],
        query_instruction=told["query_instruction"],
        max_length=told["max_length"],
    )
    if identity(params) != told["identity"]:
        raise SettingError(
            f"model {params.model} is not the one that the study used ({told['name']}): its files "
            "differ, and so would the vectors"
        )
    return FlagEncoder(params)
