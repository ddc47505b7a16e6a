"""Puts the parts of a crawl together. This file alone knows them all; the dicts are the registries."""

import contextlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec
import numpy as np

from analecta.crawl.address_gate import AddressGate
from analecta.crawl.control import Control, ControlChannel, MessageControl
from analecta.crawl.discovery import LinkDiscovery
from analecta.crawl.engine import Engine
from analecta.crawl.fetcher import Fetcher
from analecta.crawl.ingest import Ingest
from analecta.crawl.late_documents import LateDocuments
from analecta.crawl.outcomes import Outcomes
from analecta.crawl.page_judge import PageJudge
from analecta.crawl.processes.exchange import LinkExchange
from analecta.crawl.rescope import rescope, retry_tls
from analecta.crawl.side_requests import SideRequests
from analecta.crawl.site_order import RANKS, SiteOrder
from analecta.crawl.url_outcomes import UrlOutcomes
from analecta.fetch.budget import MemoryBudget
from analecta.fetch.client import TOKEN, http_client, software
from analecta.fetch.dns import Addresses, Resolver
from analecta.fetch.robots import Robots
from analecta.frontier.frontier import Frontier
from analecta.frontier.hosts import MAX_WAIT, IpLimits, Politeness
from analecta.frontier.policy import WORTHS, Focus, Policy, Scope, SeedArea, SiteEntries
from analecta.frontier.traps import Traps
from analecta.frontier.url_forms import two_labels
from analecta.judge import load_judge
from analecta.judge.link_judge import LinkJudge
from analecta.model import Tally
from analecta.parse import Parser
from analecta.protocols import FetchFunction, Transport
from analecta.settings.schema import FetchSettings, Settings
from analecta.store.archive import Archive
from analecta.store.library import LibraryFolder
from analecta.store.outbox import Outbox
from analecta.store.partition import Shard
from analecta.store.recovery import CrashMarker, recover
from analecta.store.site_rules import Sites, sites_of
from analecta.store.sites import SiteCount, SiteUnits, SiteUrls
from analecta.store.urls import entered_hosts
from analecta.text.fingerprint import NearDuplicates
from analecta.urls import Joiner, canonical, domain_of, is_loopback

_POISON_AFTER = 3
_PORT = re.compile(r":[0-9]+$")
_EAGER = 32  # requests at a time to one host where no delay is asked for


def manners(settings: FetchSettings, me: int = 0, partitions: int = 1) -> Politeness:
    """How hosts are treated; a host that may be asked without delay may be asked for several pages at a time.

    What may be under way to a domain is shared out: each partition has some of its hosts.
    """
    delay = settings.delay
    if delay is None:
        delay = 0.0 if settings.connect_to and is_loopback(settings.connect_to) else 1.0
    return Politeness(
        delay,
        settings.per_host if delay else max(settings.per_host, _EAGER),
        _share(settings.per_domain, me, partitions) if delay else 0,
        settings.strikes,
        settings.back_off,
        settings.patience,
        settings.delay_factor,
        settings.max_delay,
        start=1 if delay else 0,
    )


def address_limits(settings: FetchSettings, me: int = 0, partitions: int = 1) -> IpLimits | None:
    """What may be asked of one IP address; None where that is not limited. Each partition has its share of both."""
    if settings.connect_to or not (settings.per_address or settings.address_delay):
        return None
    return IpLimits(_share(settings.per_address, me, partitions), settings.address_delay * partitions)


def _share(count: int, me: int, partitions: int) -> int:
    """What is ours of a count; at least 1, for 0 would be no bound."""
    return max(1, count // partitions + (me < count % partitions)) if count else 0


@contextlib.asynccontextmanager
async def partition(
    settings: Settings,
    library: LibraryFolder,
    me: int,
    partitions: int,
    transport: Transport,
    fetch: FetchFunction | None = None,
    control: Control | None = None,
) -> AsyncIterator[Engine]:
    """A partition's engine with all its parts, closed in order at the end; `fetch` in place of the network.

    It is led by `control`, or by messages of the transport.
    """
    prefix = f"p{me:02d}"
    shard = Shard(library.shard_path(me))
    suspect = CrashMarker(library.folder / "shards" / f"{prefix}.parsing")
    back, notes = recover(shard, library.archive, prefix, suspect, _POISON_AFTER)
    for note in notes:
        shard.note(time.time(), note)
    info = {"software": software(), "operator": settings.contact, "robots": "rfc9309"}
    files = shard.files()
    if settings.crawl.refresh is not None:
        back += shard.ask_again(_began(library) - settings.crawl.refresh * 86_400)
    scope, growing = settings.scope, settings.communities
    bounds = Scope(() if growing.grow else scope.hosts, scope.exclude, scope.depth)
    allow = settings.fetch.allow
    more, again = rescope(shard, bounds, growing.grow, scope.pages_per_host, allow, scope.trusted)
    back.update(more)  # which may be fewer
    back.update(retry_tls(shard, settings.fetch.allow_bad_tls))
    archive = Archive(library.archive, prefix, files[-1][0] if files else 0, settings.crawl.warc_size, info)
    sites = sites_of(library, settings.sites)
    polite = manners(settings.fetch, me, partitions)
    f, ordered = settings.fetch, settings.crawl.ordered
    budget = MemoryBudget(_share(f.memory, me, partitions), ordered)
    http = http_client(f, settings.contact, f.parallel + 16, types=True, budget=budget)
    ask = fetch or http
    limits = None if fetch else address_limits(f, me, partitions)
    located = Locator(http.resolver) if limits else None
    within = _within(growing.only, sites) if growing.only else None
    frontier = frontier_of(settings, shard, back, polite, within)
    if limits and located and ordered:
        ask, located = AddressGate(ask, limits, located), None
    elif limits and located:
        frontier.limit_addresses(limits, located.known)
    robots = Robots(
        SideRequests(ask, frontier, located, partition=(me, partitions)),
        TOKEN,
        keep=archive.write,
        load=shard.hosts.load_robots,
        save=shard.hosts.save_robots,
    )
    parser = Parser(Joiner())
    pile = LateDocuments(shard, archive, parser, f.max_body)
    exchange = LinkExchange(me, partitions, Outbox(shard), transport)
    rules, topics = settings.policy, library.topic_names()
    tally = Tally()
    focus = focus_of(settings)
    links = LinkJudge(seed=settings.crawl.seed) if rules.kind == "learned" else None
    units = SiteUnits(shard.db)
    site_policy = (
        SiteOrder(shard, frontier, SiteUrls(units), sites, growing.pages, RANKS[growing.order])
        if growing.grow
        else None
    )
    if site_policy is not None:
        site_policy.wait(again)
    endings = UrlOutcomes(shard, frontier, tally, links.lost if links else lambda _: None)
    offers = LinkDiscovery(
        frontier=frontier,
        exchange=exchange,
        focus=focus,
        bounds=bounds,
        traps=traps_of(settings, polite),
        tally=tally,
        topics=topics,
        partition=(me, partitions),
        links=links,
        entries=SiteEntries(entered_hosts(shard.db), shard.url_of) if rules.one_entry else None,
        sites=site_policy,
        follow_nofollow=rules.follow_nofollow,
        look_ahead=None if f.connect_to or fetch else http.resolver.look_ahead,
    )
    window = settings.learn.window if settings.learn.every else 0
    page_judge = PageJudge(shard, focus, topics, window, judges_links=links is not None)
    pages = Ingest(
        shard=shard,
        archive=archive,
        parser=parser,
        page_judge=page_judge,
        twins=_twins(shard),
        endings=endings,
        count=SiteCount(units, sites),
        suspect=suspect.set,
        unread=pile.add,
        tries=f.tries,
        pages_per_host=scope.pages_per_host,
    )
    harvest = Outcomes(
        shard=shard,
        archive=archive,
        frontier=frontier,
        endings=endings,
        manners=frontier.manners,
        tries=f.tries,
        redirects=f.redirects,
        sitemaps=rules.sitemaps,
    )
    offers.plant(settings.topics, settings.others)  # before that: what is not meant is on no topic, whatever its words
    offers.recall(*page_judge.recall())
    asker = Fetcher(
        ask, robots, parser, frontier, archive, pile, suspect.set, offers.offer, f.tries, ordered, locate=located
    )
    engine = Engine(
        number=me,
        load_judge=lambda model: load_judge(settings, library.models, model),
        asker=asker,
        frontier=frontier,
        harvest=harvest,
        pages=pages,
        page_judge=page_judge,
        offers=offers,
        exchange=exchange,
        shard=shard,
        archive=archive,
        reins=ControlChannel(control or MessageControl(transport), time.monotonic, partitions == 1),
        pile=pile,
        budget=budget,
        parallel=f.parallel,
        batch=settings.crawl.batch,
        patience=settings.stop.idle,
        ordered=ordered,
    )
    try:
        yield engine
    finally:
        await robots.close()
        await http.close()
        parser.close()
        archive.close()
        shard.close()
        suspect.close()


class Locator:
    """The address that a request to a host goes to: the first that name servers tell."""

    def __init__(self, resolver: Resolver) -> None:
        self.resolver = resolver

    def known(self, host: str) -> str:
        """The address as far as it is known without asking; else ""."""
        found = self.resolver.cached(_PORT.sub("", host))
        return found.ips[0] if isinstance(found, Addresses) else ""

    async def __call__(self, host: str) -> str:
        """The address; "" where there is none."""
        found = await self.resolver.resolve(_PORT.sub("", host))
        return found.ips[0] if isinstance(found, Addresses) else ""


def _began(library: LibraryFolder) -> float:
    """When this crawl began: what was fetched since is not old to a partition that is started again."""
    run = library.last_run()
    return float(run["began"]) if run else time.time()


def focus_of(settings: Settings) -> Focus:
    """What links are worth, as the settings say: in the harvest and in the phase before."""
    rules, learning = settings.policy, settings.learning
    own: set[str] = set()
    if learning.pages and learning.own_domains:
        targets = [canonical(url) for topic in settings.topics for url in topic.seeds]
        own = {domain_of(target.host) for target in targets if target is not None}
    return Focus(
        Policy(WORTHS[rules.kind], rules.cutoff, rules.decay, rules.never, rules.focus == "sharp"),
        # What the learning phase does not want waits for the harvest: no path is given up.
        Policy(WORTHS[learning.kind], -1, rules.decay, sharp=learning.focus == "sharp"),
        SeedArea(own, learning.depth, domain_of),
        follow_duplicates=rules.follow_duplicates,
        off_site_first=rules.off_site == "first",
        one_entry=rules.one_entry,
        domain_of=domain_of,
    )


def traps_of(settings: Settings, polite: Politeness) -> Traps:
    """How traps are known; a budget for hosts without yield only where the crawl looks for topics."""
    s = settings.frontier
    topical = settings.policy.kind != "breadth-first" and not settings.communities.grow
    domain = domain_of if polite.per_domain else two_labels
    budget, judged = s.budget if topical else 0, settings.judge.kind != "none"
    return Traps(s.trap_sample, s.trap_share, budget, domain, settings.scope.trusted, judged)


def frontier_of(
    settings: Settings,
    shard: Shard,
    back: Counter[int],
    polite: Politeness,
    within: Callable[[str], bool] | None = None,
) -> Frontier:
    """The frontier of a partition, as its shard holds it; only hosts that are `within` are asked, if that is said."""
    s, most = settings.frontier, settings.scope.pages_per_host
    frontier = Frontier(
        shard,
        polite,
        now=time.monotonic(),
        next_n=shard.last_n() + 1,
        hot=s.hot,
        cap=s.cap,
        spread=s.spread,
        domain_of=domain_of if polite.per_domain else str,
        within=within,
        left=(lambda host: most - shard.hosts.pages(host)) if most else None,
    )
    frontier.sieve.load(shard.seen_ids(), shard.last_n())
    queued = Counter({int(topic): n for topic, n in msgspec.json.decode(shard.get("queued", b"{}")).items()})
    now = time.time()
    patience = [(host, delay, min(max(until - now, 0.0), MAX_WAIT)) for host, delay, until in shard.hosts.patience()]
    frontier.restore(shard.hot_rows(), shard.cold_hosts(), queued + back, patience)
    return frontier


def _within(only: Sequence[str], sites: Sites) -> Callable[[str], bool]:
    """Whether a host has one of these sites."""
    hosts = {site.partition("/")[0] for site in only}
    return lambda host: sites.of(host).partition("/")[0] in hosts


def _twins(shard: Shard) -> NearDuplicates:
    rows = np.array(shard.fingerprints().fetchall(), np.int64).reshape(-1, 2)
    return NearDuplicates.load(rows[:, 0], rows[:, 1])
