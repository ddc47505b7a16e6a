"""What an engine and its steps need to know of the settings."""

from analecta.settings.schema import Settings


class EngineOptions:
    """How one partition fetches and keeps pages, as the settings say."""

    def __init__(self, settings: Settings, number: int = 0, partitions: int = 1) -> None:
        """For the partition of this number, of so many."""
        self.number, self.partitions = number, partitions
        self.parallel = settings.fetch.parallel  # fetches in progress
        self.batch = settings.crawl.batch  # results that are worked on together
        self.ordered = settings.crawl.ordered  # results are taken in the order of asking: the same web, the same crawl
        self.tries = settings.fetch.tries
        self.redirects = settings.fetch.redirects
        self.max_body = settings.fetch.max_body  # bytes
        self.sitemaps = settings.policy.sitemaps  # whether those that robots.txt names are read
        self.pages_per_host = settings.scope.pages_per_host  # 0: any number
        self.patience = settings.stop.idle  # what must be waited for longer than so many seconds holds up nothing else
