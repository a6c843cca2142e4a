"""Addresses of engines, what opens them, and that none of it is printed."""

import ssl
import subprocess
from dataclasses import replace

import pytest

from indexers.address import Address, address, address_of, masked, without_credentials
from indexers.backends._engine_http import unavailable
from indexers.errors import SettingError
from indexers.index_name import checked_name
from indexers.index_types import BackendConfig

HTTPS = "https://search.example:9200/es"


def to(**config):
    return address_of("opensearch", BackendConfig(**{"url": HTTPS, **config}))


# RFC 7617's own example, and one beyond ASCII in UTF-8
@pytest.mark.parametrize(
    ("user", "password", "header"),
    [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
        ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("a", "b:c", "Basic YTpiOmM="),
    ],
)
def test_a_user_and_a_password(user, password, header):
    found = to(user=user, password=password)
    assert found.headers["Authorization"] == header
    assert found.shown == HTTPS


# Elasticsearch's own example of an API key and its `encoded` form
@pytest.mark.parametrize(
    "key",
    [
        "VuaCfGcBCdbkQm-e5aOx:ui2lp2axTNmsyakw9tvNnw",
        "VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw==",
    ],
)
def test_an_api_key_as_it_is_sent(key):
    sent = "ApiKey VnVhQ2ZHY0JDZGJrUW0tZTVhT3g6dWkybHAyYXhUTm1zeWFrdzl0dk5udw=="
    assert to(api_key=key).headers["Authorization"] == sent


def test_the_url_may_hold_credentials_and_others_take_their_place():
    inside = "https://u:p%40w@search.example:9200/es"
    assert to(url=inside).credentials == ("u", "p@w")
    assert to(url=inside, user="a", password="b").credentials == ("a", "b")
    assert to(url=inside, api_key="k").headers["Authorization"] == "ApiKey k"
    assert to().authorization == {}


def test_what_is_printed_holds_no_secret():
    inside = "https://u:hunter2@search.example"
    config = BackendConfig(url=inside, password="pass1234", user="u", api_key="key12345")
    shown = f"{config!r} {address_of('opensearch', config)!r} {address('opensearch', inside)!r}"
    for secret in ("hunter2", "pass1234", "key12345"):
        assert secret not in shown


def test_hiding_what_others_put_into_a_text():
    opened = to(user="u", password="pa/ss wörd")
    text = "pa/ss wörd, pa%2Fss%20w%C3%B6rd and dTpwYS9zcyB3w7ZyZA=="
    assert opened.hide(text) == "***, *** and ***"
    assert to(api_key="id:secret-key").hide("ApiKey aWQ6c2VjcmV0LWtleQ==") == "ApiKey ***"
    assert to(user="u", password="no").hide("no one knows") == "no one knows"
    assert to().hide("nothing") == "nothing"


def test_urls_within_a_text():
    assert masked("see http://u:p@h and //x") == "see http://***@h and //x"
    assert without_credentials("http://u:p@ss@h:1/p") == "http://h:1/p"


@pytest.mark.parametrize(
    ("host", "local"),
    [("localhost", True), ("127.0.0.9", True), ("[::1]", True), ("10.0.0.1", False)],
)
def test_what_is_less_safe_is_told(host, local):
    plain = to(url=f"http://{host}:1", user="u", password="pass1234")
    assert plain.local is local
    assert [("unencrypted" in line, "pass1234" in line) for line in plain.warnings] == (
        [] if local else [(True, False)]
    )
    blind = to(url=f"https://{host}:1", verify_tls=False)
    (line,) = blind.warnings
    assert "is not verified" in line
    assert "--opensearch-ca FILE" in line
    assert to(url=f"https://{host}:1", user="u", password="pass1234").warnings == ()


def test_certificates_are_looked_at_unless_told_otherwise():
    usual, blind = to().tls_context(), to(verify_tls=False).tls_context()
    assert (usual.verify_mode, usual.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert (blind.verify_mode, blind.check_hostname) == (ssl.CERT_NONE, False)


def test_a_file_of_authorities_stands_alone(tmp_path):
    path = tmp_path / "ca.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj"]
    key = ["-keyout", str(tmp_path / "key"), "-out", str(path)]
    subprocess.run([*make, "/CN=alone", *key], check=True, capture_output=True)
    found = to(ca_file=str(path)).tls_context().get_ca_certs()
    assert [dict(one["subject"][0])["commonName"] for one in found] == ["alone"]


@pytest.mark.parametrize(
    ("content", "told"), [(None, "No such file"), ("no certificate", "holds no certificate")]
)
def test_a_file_of_authorities_that_is_none(tmp_path, content, told):
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with pytest.raises(SettingError, match=told) as caught:
        to(ca_file=str(path)).tls_context()
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


VERIFY = "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: "


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (VERIFY + "self-signed certificate", "not signed by an authority known here: give the"),
        (VERIFY + "certificate has expired", "has expired: renew it"),
        (VERIFY + "certificate is not yet valid", "not valid yet: see that the clocks"),
        (VERIFY + "Hostname mismatch, certificate is not valid for 'search.example'.", "another"),
        ("[SSL: WRONG_VERSION_NUMBER] wrong version number", "speaks http, not https"),
        ("[Errno 111] Connection refused", "Connection refused; is the server running?"),
    ],
)
def test_what_is_wrong_with_a_certificate(error, told):
    line = str(unavailable(to(), error))
    assert line.startswith(f"no answer from {HTTPS}: ")
    assert told in line


def test_http_to_a_server_that_hangs_up():
    plain = address("opensearch", "http://h")
    assert "write https://" in str(unavailable(plain, "('Connection aborted.', Remote…)"))


def test_an_error_of_a_library_is_told_without_secrets():
    opened = to(user="u", password="pass1234")
    assert "pass1234" not in str(unavailable(opened, "cannot parse u:pass1234"))


def test_addresses_can_be_changed_and_compared():
    assert replace(to(), verify_tls=False) == to(verify_tls=False)
    assert isinstance(to(), Address)


@pytest.mark.parametrize("name", ["a", "my-index_1", ".hidden", "ö", "x" * 255])
def test_names_of_one_index(name):
    assert checked_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "a*", "a,b", "_all", "-a", "+a", ".", "..", "A", "a/_doc", "a b", "a\n", "a:b", "x" * 256]
    + [f"a{sign}" for sign in '\\?"<>|#%'],
)
def test_names_of_more_or_less_than_one_index(name):
    with pytest.raises(SettingError, match="name of one index or alias"):
        checked_name(name)
