"""The compose files, resolved by docker-compose itself, which needs no Docker for that."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from harness.engine.flavours import DASHBOARDS_PORTS, PORTS, clusters

FOLDER = Path(__file__).parents[2] / "docker"
ENGINES = sorted(FOLDER.glob("*search*.yaml"))
IMAGES = {
    "opensearch": (
        "opensearchproject/opensearch:2.19.1",
        "opensearchproject/opensearch-dashboards:2.19.1",
    ),
    "elasticsearch": ("elasticsearch:9.4.3", "kibana:9.4.3"),
}


@functools.cache
def config(files, profile, environment):
    """What docker-compose makes of some files, as text."""
    command = ["docker-compose", "--profile", profile]
    for file in files:
        command += ["--file", str(file)]
    known = {k: v for k, v in os.environ.items() if not k.startswith("HARNESS_")}
    done = subprocess.run(
        [*command, "config"],
        capture_output=True,
        text=True,
        env={**known, **dict(environment)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.fixture
def resolved():
    """Gives the services and volumes of some files as docker-compose understands them."""
    if shutil.which("docker-compose") is None:
        pytest.skip("docker-compose is not installed (Debian: apt-get install docker-compose)")

    def resolve(*files, profile="dashboards", **environment):
        return yaml.safe_load(config(files, profile, tuple(sorted(environment.items()))))

    return resolve


@pytest.fixture(params=ENGINES, ids=lambda path: path.stem)
def file(request):
    return request.param


def seconds(text):
    return sum(
        int(part[:-1]) * {"s": 1, "m": 60}[part[-1]]
        for part in text.replace("m", "m ").replace("s", "s ").split()
    )


def test_every_cluster_of_the_command_has_a_file_and_no_other():
    assert sorted(cluster.file for cluster in clusters(None)) == ENGINES
    assert {path.name for path in FOLDER.glob("*.yaml")} == {p.name for p in ENGINES} | {
        "load.yaml"
    }


def test_nothing_is_published_but_on_the_loopback_address(file, resolved):
    made = resolved(file)
    engine = file.stem.partition("-")[0]
    published = {name: service.get("ports", []) for name, service in made["services"].items()}
    assert published.pop("node-1") == [f"127.0.0.1:{PORTS[engine]}:9200/tcp"]
    assert published.pop("dashboards") == [f"127.0.0.1:{DASHBOARDS_PORTS[engine]}:5601/tcp"]
    assert not any(published.values())
    assert not any("network_mode" in service for service in made["services"].values())


def test_versions_are_pinned(file, resolved):
    node, dashboards = IMAGES[file.stem.partition("-")[0]]
    services = resolved(file)["services"]
    assert services.pop("dashboards")["image"] == dashboards
    assert {service["image"] for service in services.values()} == {node}


def test_every_service_is_limited_and_watched(file, resolved):
    for name, service in resolved(file)["services"].items():
        assert service["mem_limit"] in ("1g", "2g")
        assert service["ulimits"]["nofile"] == {"soft": 65536, "hard": 65536}
        assert "curl --silent --fail http" in service["healthcheck"]["test"][1].replace("'", "")
        for limit in ("interval", "timeout", "start_period"):
            assert seconds(service["healthcheck"][limit]) > 0
        assert service["healthcheck"]["retries"] > 1
        if name != "dashboards":
            assert service["ulimits"]["memlock"] == {"soft": -1, "hard": -1}
            assert service["environment"]["bootstrap.memory_lock"] == "true"
            assert service["environment"]["node.name"] == name


def test_security_is_off_by_name(file, resolved):
    services = resolved(file)["services"]
    dashboards = services.pop("dashboards")["environment"]
    for node in services.values():
        setting = node["environment"]
        if file.stem.startswith("opensearch"):
            assert setting["DISABLE_SECURITY_PLUGIN"] == "true"
            assert dashboards["DISABLE_SECURITY_DASHBOARDS_PLUGIN"] == "true"
        else:
            assert setting["xpack.security.enabled"] == "false"
    assert "# Security is off: " in file.read_text()


def test_the_nodes_form_one_cluster_and_keep_their_data(file, resolved):
    made = resolved(file)
    nodes = {name: s for name, s in made["services"].items() if name.startswith("node-")}
    names = ",".join(sorted(nodes))
    assert len(nodes) == (3 if file.stem.endswith("-three") else 1)
    data = f"/usr/share/{file.stem.partition('-')[0]}/data"
    for name, service in nodes.items():
        setting = service["environment"]
        number = name[-1]
        assert service["volumes"] == [f"data-{number}:{data}:rw"]
        assert service["labels"]["harness.engine"] == file.stem.partition("-")[0]
        assert service["labels"]["harness.nodes"] == str(len(nodes))
        if len(nodes) == 1:
            assert setting["discovery.type"] == "single-node"
        else:
            assert "discovery.type" not in setting
            assert setting["discovery.seed_hosts"] == names
            first = [value for key, value in setting.items() if key.startswith("cluster.initial")]
            assert first == [names]
    assert sorted(made["volumes"]) == [f"data-{name[-1]}" for name in sorted(nodes)]


def test_dashboards_are_left_out_unless_asked_for(file, resolved):
    made = resolved(file)["services"]
    assert made["dashboards"]["profiles"] == ["dashboards"]
    assert made["dashboards"]["depends_on"] == {"node-1": {"condition": "service_healthy"}}
    assert not any("profiles" in s for name, s in made.items() if name != "dashboards")


def test_port_heap_and_memory_are_those_of_the_environment(file, resolved):
    made = resolved(
        file,
        HARNESS_ENGINE_PORT="9555",
        HARNESS_DASHBOARDS_PORT="5666",
        HARNESS_ENGINE_HEAP="4g",
        HARNESS_ENGINE_MEMORY="9g",
    )["services"]
    node, dashboards = made["node-1"], made["dashboards"]
    assert node["ports"] == ["127.0.0.1:9555:9200/tcp"]
    assert node["labels"]["harness.url"] == "http://127.0.0.1:9555"
    assert dashboards["ports"] == ["127.0.0.1:5666:5601/tcp"]
    assert dashboards["labels"]["harness.url"] == "http://127.0.0.1:5666"
    assert node["mem_limit"] == "9g"
    assert "-Xms4g -Xmx4g" in node["environment"].values()


def test_load_stands_beside_any_engine(file, resolved):
    made = resolved(
        *(file, FOLDER / "load.yaml"),
        profile="load",
        HARNESS_INDEX="products",
        HARNESS_QUERIES="/somewhere/queries.jsonl",
    )["services"]
    master, worker = made["master"], made["worker"]
    assert master["ports"] == ["127.0.0.1:8089:8089/tcp"]
    assert not worker["ports"]
    assert master["command"][0] == "--master"
    assert worker["command"][:3] == ["--worker", "--master-host", "master"]
    for service in (master, worker):
        assert service["labels"] == {"harness.engine": "load"}
        assert service["mem_limit"] == "512m"
        assert service["volumes"] == ["/somewhere/queries.jsonl:/load/queries.jsonl:ro"]
        assert service["environment"]["HARNESS_INDEX"] == "products"
        assert service["environment"]["HARNESS_URL"] == "http://node-1:9200"
        assert Path(service["build"]["context"]) == FOLDER.parent
    assert "http://127.0.0.1:8089" in master["healthcheck"]["test"][-1]
