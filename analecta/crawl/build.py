"""Puts the parts of a crawl together. This file alone knows them all; the dicts are the registries."""

import contextlib
import functools
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence

import msgspec

from analecta.crawl.control import Control, ControlChannel
from analecta.crawl.discovery import LinkRules
from analecta.crawl.engine import Engine
from analecta.crawl.fetcher import Fetcher
from analecta.crawl.options import EngineOptions
from analecta.crawl.page_judge import PageJudge
from analecta.crawl.processes.exchange import LinkExchange
from analecta.crawl.requests import AddressGate, SideRequests
from analecta.crawl.rescope import rescope
from analecta.crawl.site_order import RANKS, SiteOrder
from analecta.fetch.budget import MemoryBudget
from analecta.fetch.client import TOKEN, http_client, software
from analecta.fetch.dns import Addresses, Resolved, Resolver
from analecta.fetch.robots import Robots
from analecta.frontier.frontier import Frontier, FrontierLimits
from analecta.frontier.hosts import MAX_WAIT, IpLimits, Politeness
from analecta.frontier.policy import PRIORITIES, Focus, Policy, Scope, SiteEntries
from analecta.frontier.traps import Traps
from analecta.frontier.url_forms import two_labels
from analecta.judge import JUDGES
from analecta.judge.link_judge import LinkJudge
from analecta.model import Candidate
from analecta.parse import Parser
from analecta.protocols import FetchFunction
from analecta.settings.schema import FetchSettings, Settings
from analecta.store.library import LibraryFolder
from analecta.store.outbox import Outbox
from analecta.store.partition import Shard
from analecta.store.recovery import Partition
from analecta.store.schema import MetaKey
from analecta.store.site_rules import Sites, sites_of
from analecta.store.sites import SiteUnits, SiteUrls, count_new_links
from analecta.store.urls import entered_hosts, requeue_tls
from analecta.urls import canonical, domain_of, is_loopback

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


def address_limits(f: FetchSettings, resolver: Resolver, me: int = 0, partitions: int = 1) -> IpLimits | None:
    """What may be asked of one IP address; None where that is not limited. Each partition has its share of both."""
    if f.connect_to or not (f.per_address or f.address_delay):
        return None
    name = functools.partial(_PORT.sub, "")
    most, gap = _share(f.per_address, me, partitions), f.address_delay * partitions

    async def locate(host: str) -> str:
        return _first_address(await resolver.resolve(name(host)))

    return IpLimits(most, gap, lambda host: _first_address(resolver.cached(name(host))), locate)


def _first_address(found: Resolved | None) -> str:
    """The address that a request goes to: the first that name servers tell; "" where there is none."""
    return found.ips[0] if isinstance(found, Addresses) else ""


def _share(count: int, me: int, partitions: int) -> int:
    """What is ours of a count; at least 1, for 0 would be no bound."""
    return max(1, count // partitions + (me < count % partitions)) if count else 0


@contextlib.asynccontextmanager
async def partition(
    settings: Settings,
    library: LibraryFolder,
    me: int,
    partitions: int,
    control: Control,
    send: Callable[[int, bytes], None],
    fetch: FetchFunction | None = None,
) -> AsyncIterator[Engine]:
    """A partition's engine with all its parts, closed in order at the end; `fetch` in place of the network.

    It is led by `control`, and sends links to other partitions.
    """
    f, options = settings.fetch, EngineOptions(settings, me, partitions)
    info = {"software": software(), "operator": settings.contact, "robots": "rfc9309"}
    async with contextlib.AsyncExitStack() as stack:
        part = Partition(library.shard_path(me), library.archive, settings.crawl.warc_size, info)
        stack.callback(part.close)
        parser = Parser()
        stack.callback(parser.close)
        scope = scope_of(settings)
        waiting_again = _put_back(settings, library, part, scope)
        sites = sites_of(library, settings.sites)
        polite = manners(f, me, partitions)
        within = _within(settings.communities.only, sites) if settings.communities.only else None
        frontier = frontier_of(settings, part, part.returned, polite, within)
        budget = MemoryBudget(_share(f.memory, me, partitions), options.ordered)
        part.counters[MetaKey.MEMORY] = budget.figures
        http = http_client(f, settings.contact, f.parallel + 16, types=True, budget=budget)
        stack.push_async_callback(http.close)
        ask = fetch or http
        limits = None if fetch else address_limits(f, http.resolver, me, partitions)
        if limits and options.ordered:
            ask = AddressGate(ask, limits)
        elif limits:
            frontier.addresses = limits
        robots = Robots(
            SideRequests(ask, frontier, partition=(me, partitions)),
            TOKEN,
            keep=part.archive.write,
            load=part.hosts.load_robots,
            save=part.hosts.save_robots,
        )
        stack.push_async_callback(robots.close)
        links = link_rules(settings, part, frontier, sites, scope)
        links.look_ahead = None if f.connect_to or fetch else http.resolver.look_ahead
        if links.sites is not None:
            links.sites.wait(waiting_again)
        window = settings.learn.window if settings.learn.every else 0
        judge_of = functools.partial(JUDGES[settings.judge.kind].load, library.models)
        page_judge = PageJudge(part, links.focus, library.topic_names(), window, links.judge is not None, judge_of)
        engine = Engine(
            part,
            frontier,
            Fetcher(ask, robots, parser, frontier, part, options),
            page_judge,
            links,
            LinkExchange(me, partitions, Outbox(part), send),
            ControlChannel(control, time.monotonic, partitions == 1),
            options,
        )
        # Before the rest: what is not meant is on no topic, whatever its words.
        engine.discovery.plant(settings.topics, settings.others)
        engine.discovery.recall(*page_judge.recall())
        yield engine


def _put_back(settings: Settings, library: LibraryFolder, part: Partition, scope: Scope) -> list[Candidate]:
    """Queue again what settings want fetched again; in a crawl from site to site, what waits for its site again."""
    if settings.crawl.refresh is not None:
        run = library.last_run()  # what was fetched since is not old to a partition that is started again
        began = run.began if run else time.time()
        part.returned += part.ask_again(began - settings.crawl.refresh * 86_400)
    growing, most = settings.communities.grow, settings.scope.pages_per_host
    more, again = rescope(part, scope, growing, most, settings.fetch.allow, settings.scope.trusted)
    part.returned.update(more)  # which may be fewer
    part.returned.update(requeue_tls(part, settings.fetch.allow_bad_tls))
    return again


def scope_of(settings: Settings) -> Scope:
    """Which URLs are in scope; a crawl that grows goes beyond the hosts it begins with."""
    scope = settings.scope
    return Scope(() if settings.communities.grow else scope.hosts, scope.exclude, scope.depth)


def link_rules(settings: Settings, part: Partition, frontier: Frontier, sites: Sites, scope: Scope) -> LinkRules:
    """Which links are followed and what they are worth, as the settings say."""
    rules, growing, units = settings.policy, settings.communities, SiteUnits(part.db)
    return LinkRules(
        focus_of(settings),
        scope,
        traps_of(settings, frontier.manners),
        judge=LinkJudge(seed=settings.crawl.seed) if rules.kind == "learned" else None,
        entries=SiteEntries(entered_hosts(part.db), part.url_of) if rules.one_entry else None,
        sites=SiteOrder(part, frontier, SiteUrls(units), sites, growing.pages, RANKS[growing.order])
        if growing.grow
        else None,
        count_links=functools.partial(count_new_links, units, sites),
        follow_nofollow=rules.follow_nofollow,
    )


def focus_of(settings: Settings) -> Focus:
    """What links are worth, as the settings say: in the harvest and in the phase before."""
    rules, learning = settings.policy, settings.learning
    own: set[str] = set()
    if learning.pages and learning.own_domains:
        targets = [canonical(url) for topic in settings.topics for url in topic.seeds]
        own = {domain_of(target.host) for target in targets if target is not None}
    return Focus(
        Policy(PRIORITIES[rules.kind], rules.cutoff, rules.decay, rules.never, rules.focus == "sharp"),
        # What the learning phase does not want waits for the harvest: no path is given up.
        Policy(PRIORITIES[learning.kind], -1, rules.decay, sharp=learning.focus == "sharp"),
        near_domains=own,
        near_depth=learning.depth,
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
        FrontierLimits(s.hot, s.cap, s.spread),
        now=time.monotonic(),
        domain_of=domain_of if polite.per_domain else str,
        within=within,
        left=(lambda host: most - shard.hosts.pages(host)) if most else None,
    )
    frontier.sieve.load(shard.seen_ids(), shard.last_n())
    queued = Counter({int(topic): n for topic, n in msgspec.json.decode(shard.get(MetaKey.QUEUED, b"{}")).items()})
    now = time.time()
    patience = [(host, delay, min(max(until - now, 0.0), MAX_WAIT)) for host, delay, until in shard.hosts.patience()]
    frontier.restore(shard.hot_rows(), shard.cold_hosts(), queued + back, patience)
    return frontier


def _within(only: Sequence[str], sites: Sites) -> Callable[[str], bool]:
    """Whether a host has one of these sites."""
    hosts = {site.partition("/")[0] for site in only}
    return lambda host: sites.of(host).partition("/")[0] in hosts
