"""Names of indices as users give them: one index or alias, never a pattern or a path."""

from __future__ import annotations

from indexers.errors import SettingError
from indexers.http_request import names_one

LONGEST_BYTES = 255


def checked_name(name: str) -> str:
    """The name, if it can only ever mean one index or alias.

    The rules are those by which both engines take names of indices
    (https://docs.opensearch.org/latest/api-reference/index-apis/create-index/); a pattern, a
    list, `_all` or a path that reaches further is none.

    Raises:
        SettingError: it is none.
    """
    bad = name.startswith("_") or not names_one(name) or name != name.lower()
    if bad or len(name.encode()) > LONGEST_BYTES:
        raise SettingError("expected the name of one index or alias, in lower case")
    return name
