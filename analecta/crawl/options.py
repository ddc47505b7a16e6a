"""What an engine and its steps need to know of the settings."""

import msgspec

from analecta.settings.schema import Settings


class EngineOptions(msgspec.Struct, frozen=True):
    """How one partition fetches and keeps pages."""

    number: int = 0  # of this partition
    partitions: int = 1
    parallel: int = 128  # fetches in progress
    batch: int = 16  # results that are worked on together
    ordered: bool = False  # results are taken in the order of asking: the same web then gives the same crawl
    tries: int = 3
    redirects: int = 10
    max_body: int = 20_000_000  # bytes
    sitemaps: bool = True  # whether those that robots.txt names are read
    pages_per_host: int = 0  # 0: any number
    patience: float = 120.0  # what must be waited for longer than so many seconds holds up nothing else


def engine_options(settings: Settings, number: int = 0, partitions: int = 1) -> EngineOptions:
    """The options of one partition, as the settings say."""
    fetch, crawl = settings.fetch, settings.crawl
    return EngineOptions(
        number,
        partitions,
        parallel=fetch.parallel,
        batch=crawl.batch,
        ordered=crawl.ordered,
        tries=fetch.tries,
        redirects=fetch.redirects,
        max_body=fetch.max_body,
        sitemaps=settings.policy.sitemaps,
        pages_per_host=settings.scope.pages_per_host,
        patience=settings.stop.idle,
    )
