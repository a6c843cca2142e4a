"""Texts into dense vectors by a model of FlagEmbedding (`FlagModel`), an optional package.

torch is loaded by `FlagEncoder` alone.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from indexers.encoder_files import (
    DEVICES,
    PIP_LINE,
    EncoderParams,
    device_kind,
    fetched,
    look,
    quiet,
)
from indexers.errors import BackendError, MissingPackage, SettingError
from indexers.types import F32

__all__ = ["EncoderParams", "FlagEncoder", "look"]


class FlagEncoder:
    """A loaded model.

    Args:
        params: which model, and how it encodes.

    Raises:
        SettingError: a parameter is out of range, or there is no such model or device.
        MissingPackage: FlagEmbedding or torch is not installed.
        BackendError: the model is there and cannot be loaded.
    """

    def __init__(self, params: EncoderParams) -> None:
        for package in ("torch", "transformers", "FlagEmbedding"):
            if importlib.util.find_spec(package) is None:
                raise MissingPackage(
                    f"encoding texts needs {package}, which is not installed: {PIP_LINE}, or "
                    "bring vectors with --vectors FILE"
                )
        self.params, files = params, look(params)
        self.dimension = files.dimension
        folder = files.folder if files.revision is None else fetched(params.model, files.revision)
        with quiet():
            self.device = _device(params.device)
            self._model = _load(params, str(folder), self.device, files.max_tokens)

    def encode(self, texts: Sequence[str], *, queries: bool = False) -> F32:
        """Vectors of unit length: float32 (n, D); zero where a text is empty or blank.

        The same text may give vectors that differ in the last digits on other devices and
        beside other texts, whose length decides how a batch is padded.

        Args:
            texts: any.
            queries: put the query instruction before each.

        Raises:
            BackendError: the model failed, or gave a value that is not finite.
        """
        out = np.zeros((len(texts), self.dimension), np.float32)
        rows = [row for row, text in enumerate(texts) if text.strip()]
        if not rows:
            return out
        readable = [texts[row].encode("utf-8", "replace").decode() for row in rows]
        encode = self._model.encode_queries if queries else self._model.encode_corpus
        try:
            with quiet():
                out[rows] = encode(readable)
        except Exception as fault:
            raise BackendError(
                f"{self.params.model}: encoding failed on {self.device} ({_brief(fault)}); "
                "try a smaller --batch-size, or --device cpu"
            ) from fault
        if not np.isfinite(out).all():
            raise BackendError(
                f"{self.params.model}: gave a vector that is not finite on {self.device}; "
                "try --device cpu, which computes in single precision"
            )
        return out


def _device(asked: str | None) -> str:
    """The device to use, checked to be there."""
    import torch
    from transformers import is_torch_npu_available

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "npu": is_torch_npu_available(),
        "cpu": True,
    }
    usable = [name for name in DEVICES if there[name]]
    if asked is None:
        return "cuda:0" if usable[0] == "cuda" else usable[0]
    kind = str(device_kind(asked))
    number = int(asked.partition(":")[2] or 0)
    if kind not in usable or (kind == "cuda" and number >= torch.cuda.device_count()):
        raise SettingError(f"device {asked!r} is not here: choose from {', '.join(usable)}")
    return f"cuda:{number}" if kind == "cuda" else asked


def _load(params: EncoderParams, folder: str, device: str, max_tokens: int) -> Any:
    try:
        from FlagEmbedding import FlagModel

        return FlagModel(
            folder,
            normalize_embeddings=True,
            use_fp16=device != "cpu",
            pooling_method=params.pooling,
            query_instruction_for_retrieval=params.query_instruction,
            devices=[device],  # one: several would start a pool of processes
            batch_size=params.batch_size,
            query_max_length=max_tokens,
            passage_max_length=max_tokens,
        )
    except Exception as fault:
        raise BackendError(
            f"{params.model}: the model cannot be loaded ({_brief(fault)}); "
            "it must have config.json, tokenizer files and weights of a text encoder"
        ) from fault


def _brief(fault: BaseException) -> str:
    line = " ".join(str(fault).split()) or type(fault).__name__
    return line if len(line) <= 120 else f"{line[:119]}…"
