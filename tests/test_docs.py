"""What the documentation says is there is there, and what is there is documented."""

import re
from pathlib import Path

import pytest

from harness.cli import cli
from harness.config_sources import read_config, study_config
from harness.measures.names import MEASURES
from harness.tuning.space import sweep_of
from indexers.registry import backend_names, family_names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "reports" / "README.md"]
CONFIGS = sorted((ROOT / "configs").glob("*.yaml"))


def flags(command):
    return {option for param in cli.commands[command].params for option in param.opts}


def test_every_flag_is_in_the_readme_and_no_other():
    table = README.split("## Flags of `harness tune`")[1].split("\n## ")[0]
    named = re.findall(r"^\| (`--[^|]+)\|", table, re.MULTILINE)
    documented = {flag for cell in named for flag in re.findall(r"--[a-z-]+", cell)}
    assert documented == flags("tune")


@pytest.mark.parametrize("command", sorted(cli.commands))
def test_every_command_and_its_flags_are_in_the_readme(command):
    assert f"harness {command}" in README
    assert all(flag in README for flag in flags(command) - {"--help"})


def test_every_family_and_backend_is_in_the_readme():
    assert all(f"`{name}`" in README for name in (*family_names(), *backend_names()))


def test_every_target_of_the_makefile_that_the_readme_names_is_there():
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(r"make ([a-z]+)", README):
        assert target == "nothing" or re.search(rf"^{target}:", makefile, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert target.startswith("https://") or (page.parent / target).exists(), target


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.name)
def test_every_configuration_is_a_study(path, monkeypatch):
    monkeypatch.setenv("HARNESS_OPENSEARCH_URL", "http://127.0.0.1:9200")
    monkeypatch.setenv("HARNESS_ELASTICSEARCH_URL", "http://127.0.0.1:9201")
    assert study_config({}, path).sla_ms > 0


def test_the_default_configuration_is_the_default_study():
    spelled = study_config({}, ROOT / "configs" / "default.yaml")
    default = study_config({"sla_ms": 100})
    for family in default.family:
        assert sweep_of(spelled, family, None) == sweep_of(default, family, None)
    same = set(read_config(ROOT / "configs" / "default.yaml")) - {
        *("num_tables", "hash_length", "rate", "samples", "burst_s")
    }
    assert all(getattr(spelled, name) == getattr(default, name) for name in same)


def test_the_objectives_of_the_readme_are_computed():
    row = next(line for line in README.splitlines() if line.startswith("| `--objective"))
    named = set(re.findall(r"`([A-Za-z0-9]+)`", row.split("|")[2]))
    assert named == {name.split("(")[0] for name in MEASURES}
