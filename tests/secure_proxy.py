"""TLS and a lock before a real engine: nginx with certificates made here. Loaded by path.

The lock takes one user with a password and one API key; another key is known and may do nothing.
Each port has the same lock and engine behind it, and a certificate of its own.
"""

from __future__ import annotations

import contextlib
import socket
import subprocess
import time
from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit

CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log stderr warn;
events {{ worker_connections 1024; }}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  client_max_body_size 0;
  keepalive_requests 100000;
  map_hash_bucket_size 512;
  map $http_authorization $answer {{
    default 401;
    "Basic {basic}" 200;
    "ApiKey {key}" 200;
    "ApiKey {powerless}" 403;
  }}
  upstream engine {{ server {engine}; keepalive 64; }}
  {servers}
}}
"""
SERVER = """
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate {cert};
    ssl_certificate_key {key};
    location / {{
      default_type application/json;
      if ($answer = 401) {{ return 401 '{{"error":{{"type":"security_exception","reason":\
"missing or wrong credentials"}},"status":401}}'; }}
      if ($answer = 403) {{ return 403 '{{"error":{{"type":"security_exception","reason":\
"action is unauthorized"}},"status":403}}'; }}
      proxy_pass http://engine;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_set_header Authorization "";
    }}
  }}
"""


@dataclass
class Authority:
    """Signs certificates; `ca` is what a client trusts it by."""

    folder: Path
    name: str
    count: int = 0

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key, self.ca = self.folder / f"{self.name}.key", self.folder / f"{self.name}.pem"
        _openssl(
            *("req", "-x509", *CURVE, "-nodes", "-keyout", self.key, "-out", self.ca),
            *("-days", 2, "-subj", f"/CN={self.name}"),
            *("-addext", "basicConstraints=critical,CA:TRUE"),
            *("-addext", "keyUsage=critical,keyCertSign,cRLSign"),
        )

    def signs(self, names: str, days: int = 2) -> tuple[Path, Path]:
        """Certificate and key for these names, such as `IP:127.0.0.1,DNS:localhost`."""
        self.count += 1
        made = self.folder / f"{self.name}-{self.count}"
        key, request, cert, more = (made.with_suffix(f".{e}") for e in ("key", "csr", "pem", "ext"))
        _openssl(
            *("req", *CURVE, "-nodes", "-keyout", key, "-out", request, "-subj", "/CN=server"),
        )
        more.write_text(
            f"subjectAltName={names}\nbasicConstraints=critical,CA:FALSE\n"
            "subjectKeyIdentifier=hash\nauthorityKeyIdentifier=keyid\n"
        )
        _openssl(
            *("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-days", days),
            *("-CAcreateserial", "-extfile", more, "-out", cert),
        )
        return cert, key


CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")


def _openssl(*arguments: object) -> None:
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


@dataclass
class SecureProxy:
    """A running proxy before one engine.

    Attributes:
        user, password, api_key: that are let in; the key as `id:key`.
        powerless_key: that is known and may do nothing, encoded.
        good, expired, elsewhere: URLs; the certificates of the last two are out of date, and
            made for another host.
        ca: of the authority that signed all three; `other_ca` signed none of them.
    """

    folder: Path
    engine_url: str
    nginx: str
    user: str = "häns"
    password: str = "corréct horse/9@:%41"
    api_key: str = "VuaCfGcBCdbkQm-e5aOx:ui2lp2axTNmsyakw9tvNnw"
    powerless_key: str = "bm90aGluZzphdC1hbGwtaXMtYWxsb3dlZA=="

    @property
    def secrets(self) -> list[bytes]:
        """What must stand nowhere, in every form that it travels in."""
        forms = (
            *(self.password, quote(self.password, safe=""), self._basic()),
            *(self.api_key.partition(":")[2], _base64(self.api_key)),
        )
        return [form.encode() for form in forms]

    def _basic(self) -> str:
        return _base64(f"{self.user}:{self.password}")

    def start(self) -> None:
        """Make certificates and a configuration, start nginx, and wait until it listens."""
        ours = Authority(self.folder, "ours")
        self.ca, self.other_ca = ours.ca, Authority(self.folder, "theirs").ca
        here = "IP:127.0.0.1,DNS:localhost"
        certs = {
            "good": ours.signs(here),
            "expired": ours.signs(here, days=-1),
            "elsewhere": ours.signs("DNS:search.example"),
        }
        ports = {name: _free_port() for name in certs}
        servers = "".join(
            SERVER.format(port=ports[name], cert=cert, key=key)
            for name, (cert, key) in certs.items()
        )
        config = self.folder / "nginx.conf"
        config.write_text(
            CONFIG.format(
                folder=self.folder,
                engine=urlsplit(self.engine_url).netloc,
                basic=self._basic(),
                key=_base64(self.api_key),
                powerless=self.powerless_key,
                servers=servers,
            )
        )
        with (self.folder / "error.log").open("wb") as log:
            self.process = subprocess.Popen(
                [self.nginx, "-p", str(self.folder), "-c", str(config), "-e", "stderr"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )
        for port in ports.values():
            self._wait_for(port)
        self.good, self.expired, self.elsewhere = (
            f"https://127.0.0.1:{port}" for port in ports.values()
        )

    def _wait_for(self, port: int) -> None:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                return
            assert self.process.poll() is None, (self.folder / "error.log").read_text()
            time.sleep(0.02)
        raise AssertionError(f"nginx does not listen on {port}")

    def stop(self) -> None:
        """End it, and nothing else."""
        self.process.terminate()
        self.process.wait(timeout=10)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _base64(text: str) -> str:
    return b64encode(text.encode()).decode()
