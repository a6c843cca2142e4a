"""An index that may be searched, and no more: it is measured with the user's own bodies."""

import json
import os
import secrets
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
import urllib3

pytestmark = pytest.mark.engine
NAME = f"rights-{os.getpid()}-{secrets.token_hex(2)}"
KEY = "a-key-that-nobody-may-see"
MATCH = {"query": {"match": {"text": "{{text}}"}}, "_source": False}


@pytest.fixture
def searchable(node):
    """URL of a server that lets us search one index, and echoes what was sent when it refuses."""
    pool, refused = urllib3.PoolManager(), []

    class Lock(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.startswith(f"/{NAME}/_search"):
                headers = {"Content-Type": "application/json"}
                reply = pool.request(self.command, node.url + self.path, body=body, headers=headers)
                status, told = reply.status, reply.data
            else:
                refused.append(self.path.partition("?")[0])
                reason = f"action is unauthorized for {self.headers.get('Authorization')}"
                error = {"error": {"type": "security_exception", "reason": reason}}
                status, told = 403, json.dumps(error).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        do_GET = do_POST = do_PUT = _answer  # noqa: N815

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Lock)
    server.refused = refused
    Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def records(node):
    found = [{"_id": str(n), "text": f"word{n % 7} common{n % 3} t{n}"} for n in range(60)]
    node("PUT", f"/{NAME}", {"settings": {"number_of_replicas": 0}})
    for one in found:
        node("PUT", f"/{NAME}/_doc/{one['_id']}", {"text": one["text"]})
    node("POST", f"/{NAME}/_refresh")
    yield found
    node("DELETE", f"/{NAME}")


def test_the_right_to_search_one_index_is_enough(
    study, engine, searchable, records, tmp_path, monkeypatch
):
    monkeypatch.setenv(f"HARNESS_{engine.upper()}_API_KEY", KEY)
    corpus, body = tmp_path / "own.jsonl", tmp_path / "match.json"
    corpus.write_text("".join(json.dumps(one) + "\n" for one in records))
    body.write_text(json.dumps(MATCH))
    url = f"http://127.0.0.1:{searchable.server_address[1]}"
    attach = (f"--{engine}-url", url, "--attach", f"{engine}:{NAME}")
    arguments = ("--corpus", corpus, "--kind", "attached", *attach, "--rate", "50")
    made = study(*arguments, "--body", body)
    summary = made.summary("--sla-ms", "5000")
    (trial,) = summary["trials"]
    assert trial["status"] == "ok"
    assert trial["quality"]["ANNRecall@10"] > 0
    assert trial["backend_version"] is None
    assert not any("_cluster" in path or "_nodes" in path for path in searchable.refused)
    again = made.summary("--sla-ms", "6000")
    assert again["trials"][0]["latency_ms"] == trial["latency_ms"]
    # without a body, what the index was made by has to be read from it
    _, errors = study(*arguments, out="without").run(expect=2)
    assert "security_exception" in errors
    assert KEY not in errors
