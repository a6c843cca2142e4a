"""Cloud ids of Elasticsearch: a name, and where the deployment is."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode

from indexers.errors import SettingError

HTTPS_PORT = 443
FORM = "allowed is NAME:BASE64, as the deployment's page shows it"
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?")


def cloud_url(cloud_id: str) -> str:
    """The URL in a cloud id: `name:base64(host[:port]$elasticsearch[:port]$kibana…)`.

    The part's own port wins over the host's, and that over 443, as in Elastic's clients
    (https://www.elastic.co/docs/deploy-manage/deploy/elastic-cloud/find-cloud-id).

    Raises:
        SettingError: it is none.
    """
    encoded = cloud_id.rpartition(":")[2]
    try:
        padded = encoded + "=" * (-len(encoded) % 4)
        told = b64decode(padded, validate=True).decode("ascii")
    except (binascii.Error, ValueError):  # bytes beyond ASCII, too
        raise SettingError(f"the cloud id is not understood: it is no base64; {FORM}") from None
    parts = told.split("$")
    if len(parts) < 2 or not all(_HOST.fullmatch(part) for part in parts[:2]):
        raise SettingError(
            f"the cloud id is not understood: it names no host and no Elasticsearch within; {FORM}"
        )
    host, _, port = parts[0].partition(":")
    name, _, own_port = parts[1].partition(":")
    return f"https://{name}.{host}:{own_port or port or HTTPS_PORT}"
