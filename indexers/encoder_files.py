"""Where a model of texts is, what it is and how long its vectors are, read from its files.

Neither torch nor the model's weights are loaded.
"""

from __future__ import annotations

import io
import json
import logging
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from indexers.errors import MissingPackage, SettingError, pip_line

DEFAULT_MODEL = "BAAI/bge-small-en-v1.5"
POOLINGS = ("cls", "mean")
DEVICES = ("cuda", "mps", "npu", "cpu")
LONGEST_TOKENS = 512
PIP_LINE = pip_line("bge")

_WIDTH_KEYS = ("hidden_size", "d_model", "dim", "n_embd")
_LOADED_FILES = ("*.json", "*.txt", "*.model", "*.safetensors", "pytorch_model.bin")
_PROBE_S = 10.0
_REASONS = {
    "RepositoryNotFoundError": "no folder here, and no such model on the hub",
    "HFValidationError": "no folder here, and no name of a model",
    "GatedRepoError": "the hub gives it only to those logged in",
    "EntryNotFoundError": "it has no config.json",
    "RemoteEntryNotFoundError": "it has no config.json",
}


@dataclass(frozen=True, slots=True)
class EncoderParams:
    """Which model encodes, and how.

    Attributes:
        model: folder of a model, or its name on the hub.
        pooling: `cls` takes the first token's state (BGE), `mean` the mean of all (MiniLM).
        query_instruction: put before each query; None for none.
        max_length: tokens of a text that are read; None for 512, or less where the model reads
            less.
        batch_size: texts at once.
        device: `cuda`, `mps`, `npu` or `cpu`, with a number where there are several
            (`cuda:1`); None for the first of these that there is. Half precision is used on
            all but the CPU.
    """

    model: str = DEFAULT_MODEL
    pooling: str = "cls"
    query_instruction: str | None = None
    max_length: int | None = None
    batch_size: int = 64
    device: str | None = None


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """A model as it lies on the disk.

    Attributes:
        folder: holds `config.json`; for a model of the hub other files may still be missing.
        revision: commit of a model of the hub, or None for a folder.
        dimension: D of its vectors.
        max_tokens: that it can read, at most 512.
    """

    folder: Path
    revision: str | None
    dimension: int
    max_tokens: int


def look(params: EncoderParams) -> ModelFiles:
    """Find the model and read its configuration; nothing is loaded.

    The configuration of a model of the hub is fetched unless the hub's cache has it.

    Raises:
        SettingError: a parameter is out of range, or there is no such model.
        MissingPackage: the model is no folder, and the hub's client is not installed.
    """
    _check(params)
    given = Path(params.model).expanduser()
    local = given.is_dir()
    if not local and (given.is_absolute() or params.model.startswith((".", "~"))):
        raise _no_model(params.model, "there is no such folder")
    config_file = given / "config.json" if local else _fetched_config(params.model)
    config = _read_config(params.model, config_file)
    longest = _whole(config, "max_position_embeddings") or LONGEST_TOKENS
    if params.max_length is not None and params.max_length > longest:
        raise SettingError(
            f"max length {params.max_length}: {params.model} reads at most {longest} tokens"
        )
    folder = config_file.parent
    return ModelFiles(
        folder=folder,
        revision=None if local else folder.name,
        dimension=_dimension(params.model, config),
        max_tokens=min(params.max_length or LONGEST_TOKENS, longest),
    )


def _check(params: EncoderParams) -> None:
    problems = []
    if not params.model.strip() or not params.model.isprintable():
        problems.append(f"model {params.model!r}: give a folder, or a name as {DEFAULT_MODEL}")
    if params.pooling not in POOLINGS:
        problems.append(f"pooling {params.pooling!r} is unknown: choose cls or mean")
    if params.batch_size < 1:
        problems.append(f"batch size {params.batch_size} is out of range: at least 1")
    if params.max_length is not None and params.max_length < 3:
        problems.append(f"max length {params.max_length} is out of range: at least 3 tokens")
    if params.device is not None and device_kind(params.device) is None:
        problems.append(
            f"device {params.device!r} is unknown: choose from {', '.join(DEVICES)}, "
            "or one of several, such as cuda:1"
        )
    if problems:
        raise SettingError(*problems)


def device_kind(device: str) -> str | None:
    """`cuda` of `cuda:1`; None for a device of no known kind."""
    kind, colon, number = device.partition(":")
    known = kind in DEVICES and (not colon or (number.isascii() and number.isdigit()))
    return kind if known else None


def _read_config(model: str, path: Path) -> dict[str, Any]:
    try:
        config = json.loads(path.read_bytes())
    except OSError as fault:
        raise _no_model(model, f"config.json cannot be read: {fault.strerror}") from fault
    except ValueError as fault:
        raise _no_model(model, "config.json is no JSON") from fault
    if not isinstance(config, dict):
        raise _no_model(model, "config.json is no JSON object")
    return config


def _whole(config: dict[str, Any], key: str) -> int | None:
    value = config.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _dimension(model: str, config: dict[str, Any]) -> int:
    for key in _WIDTH_KEYS:
        width = _whole(config, key)
        if width is not None:
            return width
    raise _no_model(model, f"config.json tells no width ({', '.join(_WIDTH_KEYS)})")


def _no_model(model: str, reason: str) -> SettingError:
    return SettingError(
        f"model {model!r} cannot be used ({reason}): give the folder of a model, or the name of "
        f"one that can be fetched, as {DEFAULT_MODEL}"
    )


def _hub() -> Any:
    try:
        with quiet():
            import huggingface_hub
    except ImportError as fault:
        raise MissingPackage(
            f"fetching a model by name needs huggingface_hub: {PIP_LINE}, or give the folder of "
            "a model"
        ) from fault
    return huggingface_hub


def _fetched_config(model: str) -> Path:
    """`config.json` in the hub's cache, in a folder named by the commit."""
    hub = _hub()
    try:
        with quiet():
            kept = hub.try_to_load_from_cache(model, "config.json")
            if isinstance(kept, str):
                return Path(kept)
            # one look first: a download tries again for half a minute where there is no network
            hub.get_hf_file_metadata(hub.hf_hub_url(model, "config.json"), timeout=_PROBE_S)
            return Path(hub.hf_hub_download(model, "config.json"))
    except Exception as fault:  # the client has errors of its own and of its transport
        raise _no_model(model, _reason(fault)) from None


def _reason(fault: Exception) -> str:
    name = type(fault).__name__
    return _REASONS.get(name, f"no folder here, and the hub cannot be reached: {name}")


def fetched(model: str, revision: str) -> Path:
    """The folder with the files of exactly this commit of a model of the hub.

    Raises:
        SettingError: they cannot be fetched.
        MissingPackage: the hub's client is not installed.
    """
    hub = _hub()
    try:
        with quiet():
            found = hub.snapshot_download(
                model,
                revision=revision,
                allow_patterns=list(_LOADED_FILES),
                ignore_patterns=["*/*"],
            )
    except Exception as fault:
        raise _no_model(model, _reason(fault)) from None
    return Path(found)


@contextmanager
def quiet() -> Iterator[None]:
    """Keep what these libraries print, warn of and log away from the person who waits."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "true")  # unset, it warns at every fork
    disabled = logging.root.manager.disable
    sink = io.StringIO()
    logging.disable(logging.CRITICAL)
    try:
        with warnings.catch_warnings(), redirect_stdout(sink), redirect_stderr(sink):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
