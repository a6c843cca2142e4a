"""What a comparison goes on without: a line for each, told as soon as it is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from indexers.errors import MissingPackage, SettingError


class LeftOut:
    """Lines on what is not compared.

    Args:
        say: told each line once.
        lines: known already.

    Attributes:
        lines: all of them.
    """

    def __init__(self, say: Callable[[str], None], *lines: str) -> None:
        self._say = say
        self.lines: list[str] = []
        self.add(*lines)

    def add(self, *lines: str) -> None:
        """Take more lines."""
        for line in lines:
            if line not in self.lines:
                self.lines.append(line)
                self._say(f"left out: {line}")

    @contextmanager
    def unless(self, named: bool) -> Iterator[None]:
        """Go on after what cannot be compared, unless a person asked for it by its name.

        Raises:
            SettingError, MissingPackage: it was named.
        """
        try:
            yield
        except (SettingError, MissingPackage) as fault:
            if named:
                raise
            self.add(*problems_of(fault))


def problems_of(fault: SettingError | MissingPackage) -> tuple[str, ...]:
    """A fault as lines."""
    return fault.problems if isinstance(fault, SettingError) else (str(fault),)
