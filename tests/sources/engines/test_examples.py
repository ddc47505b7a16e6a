import asyncio
import contextlib
import gzip
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from typer.testing import CliRunner

from analecta.cli import app
from analecta.errors import ResourceError, UsageError
from analecta.model import FetchResult, NoResponse
from analecta.settings.load import load
from analecta.settings.schema import FetchSettings, SearchSettings, Settings
from analecta.sources.engines.client import choose
from analecta.sources.engines.engine import EngineHit, EngineRequest
from analecta.sources.engines.examples import Clients, PaperPhrases, find_examples
from analecta.sources.engines.session import EngineResult, Session
from analecta.sources.papers.paper import Paper
from analecta.sources.papers.queries import in_words, weighed_queries
from analecta.sources.result import SourceResult
from analecta.store.library import LibraryFolder
from analecta.testweb.process import ServerProcess
from tests.crawls.searched import web
from tests.hostile import HostileServer, answer, drip, in_turn, silence
from tests.sources.engines import samples

HITS = tuple(EngineHit(*page) for page in samples.PAGES)
FAST = {"connect_timeout": 2.0, "first_byte_timeout": 1.0, "deadline": 3.0}
KEYS = {"BRAVE_API_KEY": "sesame"}


def fetch(server: HostileServer) -> FetchSettings:
    """All that is not on loopback goes to this server."""
    return FetchSettings(connect_to=server.address, **FAST)  # type: ignore[arg-type]


def seek(
    queries: Sequence[str],
    engines: Sequence[str],
    *,
    urls: Mapping[str, str] = {},
    contact: str = "",
    fetch: FetchSettings = FetchSettings(),
    pause: float | None = None,
    environ: Mapping[str, str] = os.environ,
    results: int = 10,
    cache: Path | None = None,
) -> EngineResult:
    """What these engines find for all queries."""
    chosen = choose(engines, urls, environ, pause)

    async def ask() -> EngineResult:
        async with contextlib.aclosing(Clients(chosen, contact, fetch)) as clients:
            session = Session(chosen, clients.ask, SearchSettings(results=results), cache=cache)
            return session.check(await session.search(queries))

    return asyncio.run(ask())


def phrase(title: str) -> str:
    return f'"{title}"'


def lines(head: bytes) -> list[str]:
    return head.decode().split("\r\n")


def test_engines_are_asked_over_http_each_with_its_own_key() -> None:
    behaviours = {
        "api.search.brave.com/res/v1/web/search": answer(samples.brave()),
        "api2.marginalia-search.com/search": answer(samples.marginalia()),
    }
    with HostileServer(behaviours) as server:
        found = seek(["bees"], ["brave", "marginalia"], fetch=fetch(server), contact="me@x.test", environ=KEYS, pause=0)
    heads = {asked.host: lines(asked.head) for asked in server.asked}
    assert found.hits == {"bees": HITS}
    assert {"X-Subscription-Token: sesame", "Accept: application/json", "From: me@x.test"} <= {
        *heads["api.search.brave.com"]
    }
    assert "sesame" not in str(heads["api2.marginalia-search.com"])


def test_a_wiki_and_openalex_are_asked_over_http() -> None:
    behaviours = {"/w/api.php": answer(samples.mediawiki()), "/works": answer(samples.openalex())}
    with HostileServer(behaviours) as server:
        found = seek(["bees"], ["mediawiki", "openalex"], fetch=fetch(server), environ={})
    assert (len(found.hits["bees"]), found.troubles) == (4, ())


def test_a_site_is_asked_as_its_description_says() -> None:
    template = "http://x.test/find?q={searchTerms}&amp;n={count}"
    behaviours = {"/os.xml": answer(samples.description(template)), "/find": answer(samples.ATOM)}
    with HostileServer(behaviours) as server:
        urls = {"opensearch": "http://x.test/os.xml"}
        found = seek(["two bees", "wax"], ["opensearch"], urls=urls, fetch=fetch(server), pause=0)
    assert server.paths() == ["/os.xml", "/find?q=two%20bees&n=10", "/find?q=wax&n=10"]
    assert found.hits == {"two bees": HITS, "wax": HITS}


@pytest.mark.parametrize(
    ("behaviour", "why"),
    [
        (answer(b"no", "401 Unauthorized"), "HTTP 401.*BRAVE_API_KEY"),
        (answer(b"no", "429 Too Many Requests", retry_after="60"), "HTTP 429, Retry-After: 60"),
        (answer(b"no", "500 Oops"), "HTTP 500"),
        (answer(b"<html>no</html>"), "brave did not answer in its documented format"),
        (silence(), "timeout"),
        (
            drip(b"x", 0.1, b"HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{"),
            r"did not send its whole answer \(time\)",
        ),
    ],
)
def test_an_engine_that_fails_is_left_out_and_the_others_go_on(behaviour, why) -> None:
    behaviours = {"/res/v1/web/search": behaviour, "/search": answer(samples.marginalia())}
    with HostileServer(behaviours) as server:
        found = seek(["bees", "wax"], ["brave", "marginalia"], fetch=fetch(server), environ=KEYS, pause=0)
    assert (found.hits["wax"], len(found.troubles)) == (HITS, 1)
    assert sum("web/search" in path for path in server.paths()) == 1
    assert re.search(why, found.troubles[0])


def test_one_request_at_a_time_goes_to_an_engine_with_its_pause() -> None:
    with HostileServer({"/search": answer(samples.searxng())}) as server:
        seek(["a", "b", "c"], ["searxng"], urls={"searxng": f"http://{server.address}/"}, pause=0.2)
    times = [asked.at for asked in server.asked]
    assert all(later - earlier >= 0.19 for earlier, later in pairwise(times))
    assert len(times) == 3


def test_a_search_that_is_repeated_asks_nobody(tmp_path: Path) -> None:
    with HostileServer({"/search": in_turn(answer(samples.searxng()), answer(b"", "500 Oops"))}) as server:
        ask = {"urls": {"searxng": f"http://{server.address}"}, "cache": tmp_path / "searches"}
        first, again = (seek(["bees"], ["searxng"], **ask) for _ in range(2))
    assert (again.hits, len(server.asked)) == (first.hits, 1)


def test_an_engine_of_the_open_internet_cannot_lead_us_to_this_machine() -> None:
    async def run(url: str) -> FetchResult:
        chosen = choose(["marginalia"], {}, {})
        async with contextlib.aclosing(Clients(chosen, "me@x.test", FetchSettings())) as clients:
            return await clients.ask(chosen[0], EngineRequest(url))

    with HostileServer(otherwise=answer(samples.searxng())) as server:
        got = [asyncio.run(run(f"http://{host}:{server.port}/")) for host in ("127.0.0.1", "localhost", "[::1]")]
    assert [one.reason for one in got if isinstance(one, NoResponse)] == ["guard"] * 3
    assert server.asked == []


def test_an_engine_on_this_machine_needs_neither_contact_nor_number() -> None:
    with HostileServer(otherwise=answer(samples.searxng())) as server:
        found = seek(["bees"], ["searxng"], urls={"searxng": f"http://localhost:{server.port}/"})
    assert found.hits["bees"] == HITS


def test_a_description_on_this_machine_does_not_lead_out_without_a_contact() -> None:
    away = answer(samples.description("http://192.0.2.1/?q={searchTerms}"))
    with HostileServer({"/os.xml": away}) as server, pytest.raises(ResourceError, match="no contact is set"):
        seek(["bees"], ["opensearch"], urls={"opensearch": f"http://{server.address}/os.xml"})


def test_the_open_internet_is_asked_only_with_a_contact() -> None:
    with pytest.raises(UsageError, match=r"asks marginalia on the open internet .* set contact") as error:
        seek(["bees"], ["marginalia"], environ={})
    assert error.value.exit_code == 2


def test_without_a_network_there_is_one_clear_sentence() -> None:
    dead = FetchSettings(connect_to="127.0.0.1:9", **FAST)  # type: ignore[arg-type]
    with pytest.raises(ResourceError, match=r"nothing could be searched: marginalia could not be asked: .*\(connect\)"):
        seek(["bees"], ["marginalia"], fetch=dead, environ={})


@pytest.fixture
def replayed(tmp_path: Path) -> Iterator[ServerProcess]:
    """Six pages on bees and three on chess, replayed with search."""
    pages = [
        f"The {word} number {n} of {field}"
        for word, field, most in (("bees", "nature", 6), ("chess", "games", 3))
        for n in range(most)
    ]
    path = tmp_path / "web.warc.gz"
    path.write_bytes(b"".join(gzip.compress(record(n, words)) for n, words in enumerate(pages)))
    with ServerProcess("analecta.testweb.webs:make", {"paths": [str(path)], "search": True}) as server:
        yield server


def record(n: int, words: str) -> bytes:
    body = f"<title>{words}</title><p>Here are {words}, at length.".encode()
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = f"WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: http://h{n}.test/\r\nContent-Length: {len(block)}\r\n"
    more = f"WARC-Date: 2024-05-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-{n:012}>\r\n\r\n"
    return (head + more).encode() + block + b"\r\n\r\n"


def test_s2_topics_get_their_examples_from_a_replayed_search(replayed: ServerProcess, tmp_path: Path) -> None:
    reading = SourceResult((), queries=dict.fromkeys(["Nature / Bees", "Games / Chess", "Nature"], ""))
    found, told = find_examples(reading, {"searxng": f"http://{replayed.address}/search"}, cache=tmp_path)
    seeds = {topic.name: set(topic.seeds) for topic in found.topics}
    assert seeds["Nature / Bees"] == {f"http://h{n}.test/" for n in range(6)}
    assert [one.partition(":")[0] for one in told] == ["Games / Chess"]


def test_p2_a_title_finds_the_page_that_holds_it_word_for_word(replayed: ServerProcess) -> None:
    title = phrase("bees number 4 of nature")
    found = seek([title], ["searxng"], urls={"searxng": f"http://{replayed.address}"}, results=10)
    assert [hit.url for hit in found.hits[title]] == ["http://h4.test/"]


def test_s1_topics_without_pages_questions_and_papers_get_theirs(replayed: ServerProcess, tmp_path: Path) -> None:
    engines = {"searxng": f"http://{replayed.address}/search"}
    reading = SourceResult((), queries={"Nature / Bees": "Nature / Bees", "Nowhere": "Nowhere"})
    phrases = {"A paper": PaperPhrases({phrase("bees number 4 of nature"): 1.0, phrase("no such words"): 1.0})}
    found, troubles = find_examples(reading, engines, ["chess"], phrases, cache=tmp_path)
    assert {topic.name: len(topic.seeds) for topic in found.topics} == {"Nature / Bees": 6, "chess": 3, "A paper": 1}
    assert list(found.queries) == ["Nowhere"]
    assert [trouble.partition(":")[0] for trouble in troubles] == ["Nowhere", "chess"]


def test_p1_a_library_is_made_from_a_paper_and_a_search_engine(replayed: ServerProcess, tmp_path: Path) -> None:
    text = "title = 'bees number 4 of nature'\n[[references]]\ntitle = 'chess number 1 of games'\n"
    (tmp_path / "paper.toml").write_text(text)
    folder, engine = tmp_path / "lib", f"searxng=http://{replayed.address}/search"
    command = ["new", str(folder), "--paper", str(tmp_path / "paper.toml"), "--engine", engine, "--json"]
    said = CliRunner(env={"XDG_CACHE_HOME": str(tmp_path)}).invoke(app, command)
    assert said.exit_code == 0, said.output
    assert load(folder / "analecta.toml").search.engines == ("searxng",)
    (topic,) = load(folder / "analecta.toml").topics
    assert (topic.name, set(topic.seeds[:2])) == ("bees number 4 of nature", {"http://h4.test/", "http://h7.test/"})
    assert "chess number 1 of games" in (folder / "topics" / "paper-1.toml").read_text()


@pytest.fixture
def sundials(tmp_path: Path) -> Iterator[str]:
    """Where a replayed web about a paper's references is searched."""
    path = web.archive(tmp_path / "sundials.warc.gz", web.sundials().pages)
    with ServerProcess("analecta.testweb.webs:make", {"paths": [str(path)], "search": True}) as server:
        yield f"http://{server.address}/search"


def test_p6_pages_that_link_to_the_examples_are_found_to_begin_at(sundials: str) -> None:
    phrases = {"Sundials": PaperPhrases({phrase(title): 1.0 for title in web.REFERENCES})}
    found, troubles = find_examples(
        SourceResult(()), {"searxng": sundials}, phrases=phrases, settings=Settings(search=SearchSettings(backlinks=10))
    )
    (topic,) = found.topics
    assert topic.starts[:3] == ("http://lists0.test/", "http://lists1.test/", "http://lists2.test/")
    assert len(topic.starts) <= len(topic.seeds) == len(web.REFERENCES)
    assert troubles == []


def test_p2_titles_that_nobody_quotes_are_asked_for_in_words(sundials: str) -> None:
    paper = Paper(title="Sundials: a gnomon of one's own", abstract="Sundial, gnomon, meridian.")
    phrases = {paper.title: PaperPhrases(weighed_queries([paper]), in_words([paper]))}
    found, (told,) = find_examples(SourceResult(()), {"searxng": sundials}, phrases=phrases)
    assert len(found.topics[0].seeds) >= 4
    assert 'only 0 pages were found by exact titles; asked again with "Sundials: a gnomon of one\'s own"' in told


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--query", "bees", "--engine", "library"], "which library is to be asked?"),
        (["--query", "bees", "--engine", "library=nowhere"], "nowhere is not a library: there is no such folder"),
        (["--query", "bees"], "a question wants a search engine"),
        (["--paper", "x.pdf"], "a paper wants a search engine"),
        (["--query", "bees", "--engine", "serxng"], "did you mean 'searxng'"),
        (["--sites", "never-read", "--engine", "nonsense"], "no search engine 'nonsense'"),
        (["--query", "bees", "--engine", "searxng"], "set searxng = URL"),
        (["--paper", "no-such.pdf", "--engine", "mediawiki"], "there is no such file"),
    ],
)
def test_what_cannot_be_searched_is_said_in_a_sentence_and_leaves_nothing(tmp_path: Path, options, why) -> None:
    said = CliRunner().invoke(app, ["new", str(tmp_path / "lib"), *options])
    assert isinstance(said.exception, UsageError)
    assert why in str(said.exception)
    assert not (tmp_path / "lib").exists()


def test_a_question_is_asked_as_it_was_put_and_its_topic_has_a_fit_name(
    replayed: ServerProcess, tmp_path: Path
) -> None:
    folder, engine = tmp_path / "lib", f"searxng=http://{replayed.address}/search"
    command = ["new", str(folder), "--query", "bees / nature\nnumber\udcff", "--engine", engine, "--json"]
    said = CliRunner(env={"XDG_CACHE_HOME": str(tmp_path)}).invoke(app, command)
    assert said.exit_code == 0, said.output
    assert [topic.name for topic in load(folder / "analecta.toml").topics] == ["bees/nature number?"]


def test_a_library_without_pages_cannot_be_asked(tmp_path: Path) -> None:
    LibraryFolder.create(tmp_path / "empty", "")
    with pytest.raises(UsageError, match="empty holds no pages yet"):
        find_examples(SourceResult(()), {"library": str(tmp_path / "empty")}, ["bees"])
