import json
import os
import shutil
import subprocess
import sys
import warnings

import numpy as np
import pytest

from indexers.encoder import EncoderParams, FlagEncoder, look
from indexers.errors import BackendError, MissingPackage, SettingError

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def params(folder, **values):
    given = {"pooling": "mean", "max_length": 256, "device": "cpu"} | values
    return EncoderParams(str(folder), **given)


def configured(folder, **config):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return EncoderParams(str(folder))


@pytest.fixture(scope="module")
def real(minilm):
    return FlagEncoder(params(minilm, query_instruction="find: ", batch_size=4))


def told(given, kind=SettingError, of=FlagEncoder):
    with pytest.raises(kind) as caught:
        of(given)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_vectors_are_those_that_come_with_the_corpus(real, data_dir):
    folder = data_dir("csfcube")
    with (folder / "corpus.jsonl").open() as lines:
        papers = [json.loads(next(lines)) for _ in range(12)]
    made = real.encode([f"{paper['title']} {paper['text']}" for paper in papers])
    np.testing.assert_allclose(made, np.load(folder / "minilm.npy")[:12], atol=2e-6)


def test_vectors_are_unit_and_alike_for_texts_alike(real):
    texts = ["a cat sits on a mat", "one cat sat on the mat", "interest rates of central banks"]
    made = real.encode(texts)
    assert (made.shape, made.dtype, real.dimension) == ((3, 384), np.float32, 384)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-6)
    cat, also_cat, bank = made
    assert cat @ also_cat > 0.8 > 0.3 > cat @ bank


def test_order_and_company_of_texts_hardly_matter(real):
    texts = [f"{'word ' * count} number {count}" for count in (1, 30, 3, 90, 2, 8, 5, 60, 4)]
    made = real.encode(texts)
    alone = np.vstack([real.encode([text]) for text in texts])
    np.testing.assert_allclose(made, alone, atol=1e-5)
    np.testing.assert_allclose(real.encode(texts[::-1])[::-1], made, atol=1e-5)


def test_the_instruction_goes_before_queries_alone(real):
    plain, asked, written = (
        real.encode(["green shoes"]),
        real.encode(["green shoes"], queries=True),
        real.encode(["find: green shoes"]),
    )
    np.testing.assert_allclose(asked, written, atol=1e-6)
    assert np.abs(asked - plain).max() > 0.01


def test_blank_texts_give_zero_vectors_and_never_reach_the_model(real, monkeypatch):
    made = real.encode(["", "x", " \t\n", "y"])
    assert made.any(axis=1).tolist() == [False, True, False, True]
    monkeypatch.setattr(real, "_model", None)
    assert not real.encode([]).size
    assert not real.encode(["", "\u2003"]).any()


def test_hard_texts(real):
    hard = ["\ud800 lone", "nul\x00byte", "😀" * 400, "中文文本指纹", "!!!", "word " * 50_000]
    assert np.isfinite(real.encode(hard)).all()


def test_nothing_is_printed_or_warned_of(minilm, capfd):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = FlagEncoder(params(minilm, batch_size=2))
        made.encode([f"text {number}" for number in range(9)])
    assert not caught
    assert capfd.readouterr() == ("", "")


def test_pooling_takes_the_first_token_or_the_mean_of_all(minilm, real):
    other = FlagEncoder(params(minilm, pooling="cls"))
    text = ["pooling makes one vector of many"]
    assert np.abs(other.encode(text) - real.encode(text)).max() > 0.01


def test_a_failing_model_is_one_line(real, monkeypatch):
    class Broken:
        def encode_corpus(self, _):
            raise RuntimeError("out of\nmemory " + "x" * 1000)

    class Overflowing:
        def encode_corpus(self, texts):
            return np.full((len(texts), 384), np.nan)

    for model, reason in ((Broken(), "out of memory"), (Overflowing(), "not finite")):
        monkeypatch.setattr(real, "_model", model)
        with pytest.raises(BackendError, match=reason) as caught:
            real.encode(["x"])
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 500


def test_weights_that_cannot_be_loaded_are_one_line(minilm, tmp_path):
    shutil.copytree(minilm, tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "cannot be loaded" in told(params(tmp_path / "model"), BackendError)
    weights.unlink()
    assert "cannot be loaded" in told(params(tmp_path / "model"), BackendError)


def test_devices_that_are_not_here_are_told_with_those_that_are(minilm):
    import torch

    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    assert "choose from" in told(params(minilm, device="cuda:3"))
    assert FlagEncoder(params(minilm, device=None)).device in ("cpu", "mps", "npu")


SCRIPT = """
from indexers.encoder import EncoderParams, FlagEncoder, look
given = EncoderParams("owner/small", pooling="mean", max_length=256, device="cpu")
files = look(given)
print(files.revision, files.dimension, FlagEncoder(given).encode(["a", ""]).any(axis=1).tolist())
"""


def test_a_model_of_the_hub_is_taken_from_its_cache(minilm, tmp_path):
    repository = tmp_path / "models--owner--small"
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(COMMIT)
    shutil.copytree(minilm, repository / "snapshots" / COMMIT)
    environment = {"HF_HUB_CACHE": str(tmp_path), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == f"{COMMIT} 384 [True, False]"
    assert done.stderr == ""


def test_a_model_that_cannot_be_fetched_is_one_line(monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub")

    class RepositoryNotFoundError(Exception):
        pass

    def failing(fault):
        def fail(*_, **__):
            raise fault

        monkeypatch.setattr(huggingface_hub, "get_hf_file_metadata", fail)
        return told(EncoderParams("owner/unknown"), of=look)

    assert "cannot be reached: OSError" in failing(OSError("a long story\nof addresses"))
    assert "no such model on the hub" in failing(RepositoryNotFoundError("404"))
    assert "no name of a model" in told(EncoderParams("a/b/c"), of=look)


@pytest.mark.parametrize("package", ["torch", "FlagEmbedding", "transformers"])
def test_a_missing_package_is_told_with_the_pip_line(tmp_path, monkeypatch, package):
    known = "importlib.util.find_spec"
    monkeypatch.setattr(known, lambda name: None if name == package else name)
    line = told(configured(tmp_path / "m", hidden_size=8), MissingPackage)
    assert (
        f"{package}, which is not installed: pip install '.[bge]' in the checkout of harness"
        in line
    )


def test_without_the_client_of_the_hub(monkeypatch):
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingPackage, match=r"pip install '\.\[bge\]'"):
        look(EncoderParams())


@pytest.mark.parametrize("key", ["hidden_size", "d_model", "dim", "n_embd"])
def test_the_dimension_is_read_from_the_configuration(tmp_path, key):
    files = look(configured(tmp_path / "m", **{key: 24, "max_position_embeddings": 100}))
    assert (files.dimension, files.max_tokens, files.revision) == (24, 100, None)


def test_more_tokens_than_the_model_reads_are_refused(tmp_path):
    configured(tmp_path / "m", hidden_size=8, max_position_embeddings=128)
    assert look(EncoderParams(str(tmp_path / "m"), max_length=128)).max_tokens == 128
    assert "at most 128" in told(EncoderParams(str(tmp_path / "m"), max_length=129), of=look)


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"hidden_size": "x"}', b"\xff"])
def test_a_configuration_that_tells_nothing_is_refused(tmp_path, content):
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(SettingError, match=r"config\.json"):
        look(EncoderParams(str(tmp_path)))


def test_folders_without_a_model_are_refused(tmp_path):
    for model in (str(tmp_path), str(tmp_path / "none"), "./none"):
        with pytest.raises(SettingError, match="give the folder of a model"):
            look(EncoderParams(model))


def test_all_values_out_of_range_are_listed():
    given = EncoderParams(" ", pooling="max", batch_size=0, device="gpu", max_length=0)
    with pytest.raises(SettingError) as caught:
        look(given)
    assert len(caught.value.problems) == 5
    for device in ("cuda:x", "cuda:", "tpu:0", "cpu0"):
        with pytest.raises(SettingError, match="cuda, mps, npu, cpu"):
            look(EncoderParams("x", device=device))
