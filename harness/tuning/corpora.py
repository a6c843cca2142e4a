"""The corpus of a study: a catalogue or file by its name, or the texts of an index."""

from __future__ import annotations

from harness.collection import index_corpus, index_snapshot, source
from harness.collection.index_corpus import IndexCorpus
from harness.collection.source import CorpusId
from harness.collection.types import Corpus
from harness.config import StudyConfig
from harness.filters import fields_of
from harness.progress import Progress
from indexers.errors import CorpusError


def fetch(config: StudyConfig, *, fresh: bool, progress: Progress) -> None:
    """Read the index that the corpus is in, if it has changed since, or `fresh`.

    Raises:
        CorpusError: index or documents cannot be used.
        EngineUnavailable: the server is away, and no texts are kept.
    """
    corpus = _of_index(config)
    if corpus is not None:
        access = config.access(corpus.wanted.engine)
        index_corpus.fetch(
            corpus.wanted, access, fresh=fresh, stage=progress.stage, say=progress.say
        )


def identify(config: StudyConfig) -> CorpusId:
    """Name and content digest; of an index as it was fetched.

    Raises:
        CorpusError: there is no such corpus, or it cannot be read.
    """
    corpus = _of_index(config)
    if corpus is None:
        return source.identify(config.corpus, config.fields, seed=config.seed)
    return index_corpus.identify(corpus, _kept(corpus), seed=config.seed)


def open_corpus(config: StudyConfig) -> Corpus:
    """Read it whole; of an index as it was fetched.

    Raises:
        CorpusError: documents or queries cannot be used.
        JudgmentsError: judgments cannot be used, or match nothing.
    """
    corpus = _of_index(config)
    if corpus is None:
        read = fields_of(config.filter)
        return source.open_corpus(config.corpus, config.fields, seed=config.seed, attributes=read)
    return index_corpus.read(corpus, _kept(corpus), seed=config.seed)


def named(config: StudyConfig) -> str:
    """The corpus as the user named it, for messages."""
    return config.corpus if config.index is None else f"index {config.index}"


def _of_index(config: StudyConfig) -> IndexCorpus | None:
    place = config.index_place
    if place is None:
        return None
    wanted = index_corpus.wanted_of(
        place.engine,
        config.access(place.engine),
        place.name,
        config.text_field or (),
        config.id_field,
        fields_of(config.filter),
    )
    return IndexCorpus(wanted, config.queries, config.judgments)


def _kept(corpus: IndexCorpus) -> index_snapshot.Snapshot:
    found = index_snapshot.stored(corpus.wanted)
    if found is None:
        raise CorpusError(
            f"the texts of index {corpus.wanted.index} are not in the cache folder any more: give "
            "the study's `harness tune` command once more, which reads them again"
        )
    return found
