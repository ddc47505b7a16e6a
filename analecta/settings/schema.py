"""Settings: frozen typed values with readable defaults. `load` reads and checks `analecta.toml`.

Later layers win: the defaults below, the recipe's file, the library's `analecta.toml`, the command line.
Every field is described in docs/settings.md (a test holds the two together).
"""

from typing import Annotated

import msgspec
from msgspec import Meta

Count = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0, le=100_000)]  # no nan, no infinity
Share = Annotated[float, Meta(ge=0, le=1)]
Focus = Annotated[str, Meta(pattern="^(soft|sharp)$")]

# Bytes of types that are taken whole or not at all (B2); 0 = not wanted. What `fetch.types` says goes before.
TYPES = {
    "application/pdf": 20_000_000,
    "application/postscript": 10_000_000,
    "application/epub+zip": 20_000_000,
    "application/zip": 10_000_000,
    "audio/*": 0,
    "video/*": 0,
}


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A subject to collect, with pages that show what is meant."""

    name: str
    seeds: tuple[str, ...] = ()  # pages that show what is meant; the crawl begins at them
    starts: tuple[str, ...] = ()  # pages to begin at that are no examples, such as pages that link to seeds (P6)
    examples: tuple[str, ...] = ()  # files that show what is meant, from the library's folder


class NegativeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Pages that are of none of the topics, though one might think so."""

    seeds: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()


class ScopeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which URLs may be fetched at all."""

    hosts: tuple[str, ...] = ()  # only these hosts and their subdomains; empty = all
    exclude: tuple[str, ...] = ()  # regular expressions over the URL
    depth: Count = 0  # links from a seed; 0 = no limit
    pages_per_host: Count = 0
    trusted: tuple[str, ...] = ()  # hosts, or beginnings of URLs, where nothing is taken for a crawler trap


class JudgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How pages are judged: which judge, and its numbers. Each judge takes those that it knows."""

    kind: str = "profile"
    threshold: Share = 0.5  # confidence from which a page is on topic; means the same for every judge
    overlap: Annotated[int, Meta(ge=1)] = 1  # topics a page may have (S9)
    away: Share = 0.6  # profile: how much counts what is not the topic
    # centroid (S3-S8)
    terms: Annotated[int, Meta(ge=1)] = 20
    min_shared: Count = 4
    correlation: Share = 0.3  # with a topic's centroid, at which the confidence is 0.5
    live_idf: bool = False
    smooth: bool = True  # idf that is never 0, so that a single topic works
    damp: bool = True  # a word a hundred times on a page is no hundred reasons
    outside: Share = 0.15  # weight of the words that no topic knows
    min_examples: Annotated[int, Meta(ge=1)] = 1  # no centroid from fewer pages
    # bayes (P3, P4)
    negatives: Annotated[float, Meta(ge=0, le=100)] = 2.0  # examples of OTHERS, times the examples
    # svm and committee (B3-B8)
    spaces: tuple[str, ...] = ("terms",)  # feature spaces; each is a member of a committee
    mode: str = "weighted"  # of a committee: unanimous, majority, weighted or best
    candidates: Annotated[int, Meta(ge=1)] = 5000
    features: Annotated[int, Meta(ge=1)] = 2000
    window: Annotated[int, Meta(ge=2)] = 4  # words within which two make a pair


class TrainingSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the judge goes on learning while the crawl runs (B9)."""

    every: Count = 0  # pages between two trainings at first; 0 = it learns once, from the examples
    growth: Annotated[float, Meta(ge=1, le=10)] = 1.25  # and later whenever there are so many times more pages
    archetypes: Count = 100  # found pages of a topic that it learns from, the best
    archetype_share: Share = 0.3  # and not more than this share of all pages found
    archetype_weight: Share = 0.3  # against 1 for an example that a person gave
    authorities: bool = False  # whether link analysis has a say in which pages those are, and hubs come first (B12)
    others: Count = 500  # pages met that it learns from besides: as what is off topic, or as it finds (profile)
    window: Count = 5000  # pages kept last that a new model judges again


class PolicySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What links are worth."""

    kind: str = "best-first"
    cutoff: Annotated[int, Meta(ge=-1)] = -1  # off-topic pages in a row before a path is given up; -1 = never
    adjust: bool = False  # move the cutoff by what the last pages were (S6)
    decay: Share = 0.5  # priority is multiplied by this for each off-topic page crossed
    focus: Focus = "soft"  # sharp: a page must be on the topic of the path to it, not on any (B10)
    off_site: Annotated[str, Meta(pattern="^(no|first)$")] = "no"  # links that leave the site come first (S16)
    one_entry: bool = False  # further links from elsewhere to a host that is known wait behind (S16)
    follow_nofollow: bool = False
    follow_duplicates: bool = True  # links of near-duplicates (S16)
    never: tuple[str, ...] = ()  # anchor texts of links never to follow (S11), regular expressions
    sitemaps: bool = True


class LearningPhaseSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A phase before the harvest, near the seeds, to learn from (B10)."""

    pages: Count = 0  # that the library holds when the harvest begins; 0 = no such phase
    kind: str = "depth-first"
    focus: Focus = "sharp"
    depth: Count = 4  # links from a seed; what lies deeper waits for the harvest; 0 = no limit
    own_domains: bool = True  # other domains than the seeds' wait for the harvest


class SearchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which search engines find the first pages of topics (S2, P2)."""

    engines: tuple[str, ...] = ()
    url: dict[str, str] = {}  # where an engine is, by its name
    results: Annotated[int, Meta(ge=1, le=100)] = 7  # pages taken for each query
    backlinks: Count = 0  # pages to begin at that link to an example, looked for at engines that know; 0 = none
    budget: Count = 200  # requests in all
    deadline: Annotated[float, Meta(ge=1, le=100_000)] = 300.0  # seconds for all answers of one engine
    pause: Seconds | None = None  # between two requests to an engine; default 1 s, or 0 for one on this machine


class FrontierSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the queue is kept."""

    cap: Count = 0  # queued URLs of a topic; the best stay; 0 = no cap
    spread: Count = 0  # picks from other hosts between two from the same (P5)
    hot: Annotated[int, Meta(ge=1)] = 50_000  # queued URLs held in memory
    trap_sample: Annotated[int, Meta(ge=1)] = 12  # pages of one URL shape that are tried
    trap_share: Share = 0.25  # and the share of them that must bring something new, lest the rest goes to the back
    budget: Count = 8  # pages of a host or domain that yields nothing on topic before others come first; 0 = none


class FetchSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the network is used."""

    delay: Seconds | None = None  # between requests to one host; default 1 s, or 0 with connect_to on loopback
    parallel: Annotated[int, Meta(ge=1, le=4096)] = 128
    per_host: Annotated[int, Meta(ge=1)] = 1
    delay_factor: Annotated[float, Meta(ge=0, le=100)] = 0.0  # the delay as a multiple of the response time; 0 = fixed
    max_delay: Seconds = 30.0  # that the response time may lead to
    per_domain: Count = 5
    per_address: Count = 8  # requests under way to one IP address
    address_delay: Seconds = 0.25  # between two of them
    connect_to: str = ""
    connect_timeout: Seconds = 10.0
    first_byte_timeout: Seconds = 20.0
    deadline: Seconds = 60.0
    max_wire: Annotated[int, Meta(ge=1)] = 10_000_000
    max_body: Annotated[int, Meta(ge=1)] = 20_000_000
    memory: Annotated[int, Meta(ge=1_000_000)] = 256_000_000  # bytes of bodies, for the whole crawl
    types: dict[Annotated[str, Meta(pattern=r"^[a-z0-9.+-]+/([a-z0-9.+-]+|\*)$")], Count] = {}  # bytes; see TYPES
    redirects: Count = 10
    tries: Annotated[int, Meta(ge=1)] = 3
    strikes: Annotated[int, Meta(ge=1)] = 3
    back_off: Seconds = 10.0
    patience: Seconds = 3600.0  # without one good answer before a host is given up for the run
    dns: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()  # address ranges that may be asked although they are private
    allow_bad_tls: tuple[str, ...] = ()  # hosts whose certificates are not checked


class StopSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """When a crawl is over, besides an empty queue (S11)."""

    pages: Count = 0
    minutes: Seconds = 0.0
    per_topic: Count = 0  # all collections hold so many pages
    retire: bool = False  # a topic that has them takes no more part (S7)
    idle: Seconds = 120.0  # nothing can be asked for so long because hosts asked us to wait
    free_disk: Count = 500_000_000  # bytes that must stay free


class CrawlSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the work is shared and ordered."""

    workers: Count = 0  # partitions; 0 = one a core
    batch: Annotated[int, Meta(ge=1, le=1024)] = 16
    ordered: bool = False  # take answers in the order of asking, so that a crawl can be repeated exactly
    seed: int = 0
    refresh: Annotated[float, Meta(ge=0, le=36_500)] | None = None  # days after which pages are asked for again
    warc_size: Annotated[int, Meta(ge=1_000_000)] = 1_000_000_000


class SiteSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a site is, where links between sites are counted (C1)."""

    by: Annotated[str, Meta(pattern="^(host|domain|prefix)$")] = "host"
    prefixes: tuple[str, ...] = ("/~*/",)  # with by = "prefix": directories that are sites; * is a name


# To link there tells nothing about where one belongs. Hosts below which people have their own sites are not listed.
EVERYWHERE = (
    "amazon.com", "apple.com", "bit.ly", "bsky.app", "cloudflare.com", "creativecommons.org", "doi.org",
    "facebook.com", "github.com", "google.com", "goo.gl", "gravatar.com", "instagram.com", "linkedin.com",
    "microsoft.com", "patreon.com", "paypal.com", "pinterest.com", "reddit.com", "spotify.com", "t.co",
    "t.me", "threads.net", "tiktok.com", "twitter.com", "validator.w3.org", "vimeo.com", "wa.me",
    "web.archive.org", "whatsapp.com", "wikimedia.org", "wikipedia.org", "wordpress.org", "x.com", "youtu.be",
    "youtube.com",
)  # fmt: skip


class CommunitySettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How communities of sites are grown (C2-C5, C8)."""

    grow: bool = False  # crawl site after site from those of the seeds
    wt: Annotated[float, Meta(ge=0.0001, le=1)] = 0.01  # share of a site's links that must lead to another to follow it
    metric: Annotated[str, Meta(pattern="^(outLink|both|co-citation|coupling)$")] = "outLink"
    enough: Share = 0.15  # of the links of the smaller of two communities that lead to the other: they merge
    pages: Count = 30  # of a site; 0 = all
    order: Annotated[str, Meta(pattern="^(breadth|worth|short)$")] = "breadth"  # which come after the front page
    at_once: Annotated[int, Meta(ge=1)] = 128  # sites
    only: tuple[str, ...] = ()  # sites that are crawled now, whatever the recipe; others wait; none = any
    everywhere: tuple[str, ...] = EVERYWHERE  # hosts that belong to no community, and those below them


class Settings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything a library's `analecta.toml` may say."""

    recipe: str = "adaptive"
    contact: str = ""
    topics: tuple[Topic, ...] = ()
    others: NegativeSettings = NegativeSettings()
    scope: ScopeSettings = ScopeSettings()
    judge: JudgeSettings = JudgeSettings()
    learn: TrainingSettings = TrainingSettings()
    policy: PolicySettings = PolicySettings()
    learning: LearningPhaseSettings = LearningPhaseSettings()
    frontier: FrontierSettings = FrontierSettings()
    fetch: FetchSettings = FetchSettings()
    stop: StopSettings = StopSettings()
    crawl: CrawlSettings = CrawlSettings()
    search: SearchSettings = SearchSettings()
    sites: SiteSettings = SiteSettings()
    communities: CommunitySettings = CommunitySettings()
