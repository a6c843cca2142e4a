"""Everything that harness raises on purpose.

    HarnessError
    ├── InputError              what the user gave cannot be used (exit code 2)
    │   ├── CorpusError         documents or queries
    │   ├── JudgmentsError      judgments
    │   └── SettingError        flags, configuration, sizes
    ├── BackendError            an index could not be built, opened or searched
    │   ├── EngineUnavailable   unreachable, red, or gone in the middle
    │   ├── IndexMissing        someone removed the index while it was searched
    │   └── MissingPackage      an optional client is not installed
    ├── LoadError               the load generator broke
    └── StudyError              a study file is damaged or in use

A message is one line: what, where, what is allowed, what to do next.
"""


def pip_line(extra: str) -> str:
    """How to install an extra; not by the distribution's name, which may be someone else's."""
    return f"pip install '.[{extra}]' in the checkout of harness"


class HarnessError(Exception):
    """Root of the tree; the command line prints its message as one line."""


class InputError(HarnessError):
    """What the user gave cannot be used."""


class CorpusError(InputError):
    """Documents or queries cannot be read."""


class JudgmentsError(InputError):
    """Judgments cannot be read, or match nothing."""


class SettingError(InputError):
    """A flag, a configuration value or a size is out of range.

    Attributes:
        problems: every problem found, one line each; the message joins them with "; ".
    """

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


class BackendError(HarnessError):
    """An index could not be built, opened or searched."""


class EngineUnavailable(BackendError):
    """A search engine is unreachable or red, or went away.

    Attributes:
        waited_s: how long it has been waited for already.
    """

    waited_s: float = 0.0


class IndexMissing(BackendError):
    """The index is not there any more."""


class MissingPackage(BackendError):
    """An optional client is not installed; the message holds the pip line."""


class LoadError(HarnessError):
    """The load generator broke."""


class StudyError(HarnessError):
    """A study file is damaged or in use by another run."""
