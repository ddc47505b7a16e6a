import contextlib
import io
import shutil
import time

import msgspec
import pytest
from rich.console import Console

from analecta.cli.explain import tell, verdict
from analecta.errors import UsageError
from analecta.judge import JUDGES
from analecta.model import UrlState
from analecta.store.library import LibraryFolder
from analecta.store.library_db import Mark, say
from analecta.store.links import Inlink, Inlinks
from analecta.store.partition import Shard
from analecta.views.collections import collections
from analecta.views.explain import Explanation, PathStep, explain
from analecta.views.reasons import sentence
from analecta.views.rows import LeftOut, links, pages, refusals


def text(explanation) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(tell(explanation))
    return out.getvalue()


def test_no_url_is_broken_where_the_terminal_is_narrow(grown):
    long = f"http://a.test/{'very-' * 40}long"
    linked = Inlinks(1, 1, [Inlink(long, "title", "bees", 0.9, "words " * 20)])
    out = io.StringIO()
    Console(file=out, width=60).print(tell(Explanation(long, linked=linked, stands_elsewhere=[long])), crop=False)
    lines = out.getvalue().splitlines()
    assert [line.strip().removeprefix("Stands at  ") for line in lines if "very-" in line] == [long] * 3
    assert all(len(line) <= 60 for line in lines if "very-" not in line)


def first(rows, **wanted):
    return next(row for row in rows if all(row[k] == v for k, v in wanted.items()))


def test_a_page_that_is_in_is_told_with_terms_and_way(grown):
    row = next(row for row in pages(grown, LeftOut()) if row["topic"] and row["depth"] > 1 and not row["duplicate_of"])
    told = explain(grown, row["final_url"])
    assert verdict(told)[0].startswith(f"IN. It is a page about {row['topic']}")
    assert told.page.terms
    assert told.page.model.hash == row["model"]
    assert [step.found for step in told.chain][-1] == "seed"


def test_the_scheme_and_the_form_do_not_matter(grown):
    url = first(pages(grown, LeftOut()), depth=1)["final_url"]
    bare = url.partition("://")[2]
    assert explain(grown, bare).state == explain(grown, f"HTTPS://{bare}#top").state == explain(grown, url).state


def test_an_off_topic_page_is_told_as_kept(grown):
    row = first(pages(grown, LeftOut()), topic="", duplicate_of="", soft404=False)
    assert "none of the topics" in verdict(explain(grown, row["final_url"]))[0]


def test_a_refusal_has_its_sentence(grown):
    row = first(refusals(grown, LeftOut()), reason="robots")
    told = explain(grown, row["url"])
    assert verdict(told)[0] == "REFUSED. The site's robots.txt asks not to fetch this page."
    assert row["parent"] in text(told)


def test_a_failure_has_its_status(grown):
    row = first(refusals(grown, LeftOut()), reason="http-404")
    assert "Not Found" in text(explain(grown, row["url"]))


def test_a_redirect_and_a_copy_lead_to_what_stands_for_them(grown):
    moved = next(row for row in pages(grown, LeftOut()) if row["url"] != row["final_url"] and not row["duplicate_of"])
    copy = next(row for row in pages(grown, LeftOut()) if row["duplicate_of"])
    assert explain(grown, moved["url"]).stands_elsewhere[-1] == moved["final_url"]
    assert explain(grown, copy["final_url"]).stands_elsewhere[-1] == copy["duplicate_of"]
    assert copy["final_url"] in explain(grown, copy["duplicate_of"]).stands_for


def test_a_page_that_is_to_be_asked_again_is_told_with_its_verdict(grown, tmp_path):
    page = next(row for row in pages(grown, LeftOut()) if row["topic"] and not row["duplicate_of"])["final_url"]
    copy = next(row for row in pages(grown, LeftOut()) if row["duplicate_of"])["final_url"]
    before, copied = explain(grown, page), explain(grown, copy)
    again = LibraryFolder(shutil.copytree(grown.folder, tmp_path / "lib"))
    for n in range(again.partitions):
        with contextlib.closing(Shard(again.shard_path(n))) as shard:
            shard.ask_again(time.time() + 1)
            shard.commit()
    assert verdict(explain(again, page))[0] == f"{verdict(before)[0]} It is to be asked for again."
    assert "Judge " in text(explain(again, page))
    assert verdict(explain(again, copy))[0] == f"{verdict(copied)[0]} It is to be asked for again."


def test_a_page_to_begin_at_is_told_as_one():
    told = Explanation("http://a.test/", "done", depth=0, chain=[PathStep("http://a.test/", "link", "done", "")])
    assert "a page to begin at, of `starts` in the settings" in text(told)
    assert "a seed" not in text(told)


def waiting(library) -> list[tuple[float, str, str]]:
    """What waits in the queue: priority, words around the link beyond its own, URL; best first."""
    query = "SELECT priority, coalesce(nullif(context, anchor), ''), url FROM urls WHERE state = ?"
    with library.shards() as shards:
        return sorted((r for shard in shards for r in shard.execute(query, (int(UrlState.QUEUED),))), reverse=True)


def test_a_url_that_waits_is_told_with_its_place_in_the_queue(grown):
    queue = waiting(grown)
    priority, _, url = [row for row in queue if row[0] >= 0][-1]
    told = explain(grown, url)
    assert verdict(told)[0].startswith("WAITS in the queue")
    assert (told.ahead, told.waiting) == (sum(row[0] > priority for row in queue), len(queue))
    assert f"{told.ahead:,} of the {len(queue):,} URLs that wait are worth more" in text(told)


def test_a_url_that_waits_is_told_with_the_words_around_its_link(grown):
    _, context, url = next(row for row in waiting(grown) if len(row[1]) > 40)
    told = explain(grown, url)
    assert told.context == context
    assert f"amid the words: {context[:40]}" in text(told)


def test_the_pages_that_link_to_a_page_are_those_of_the_exported_links(grown):
    row = next(row for row in pages(grown, LeftOut()) if row["depth"] > 1 and row["url"] == row["final_url"])
    told = explain(grown, row["final_url"])
    targets = {row["final_url"], *told.stands_for}
    sources = {link["source"] for link in links(grown, LeftOut()) if link["target"] in targets} - targets
    assert told.linked.pages == len(sources) > 0
    assert {page.url for page in told.linked.best} <= sources
    assert told.linked.best[0].url in text(told)


def test_the_model_is_told_with_what_it_learnt_from(grown):
    row = next(row for row in pages(grown, LeftOut()) if row["topic"])
    told = explain(grown, row["final_url"])
    assert f"learnt from {told.page.model.about} on 20" in text(told)
    old = msgspec.structs.replace(told.page.model, current=False)
    told.page = msgspec.structs.replace(told.page, model=old)
    assert "a newer one is in use now" in text(told)


@pytest.mark.parametrize("kind", JUDGES)
def test_every_kind_of_judge_is_told_in_words(grown, kind):
    told = explain(grown, next(row for row in pages(grown, LeftOut()) if row["topic"])["final_url"])
    told.page = msgspec.structs.replace(told.page, model=msgspec.structs.replace(told.page.model, kind=kind))
    assert f"{kind}: " in text(told)


@pytest.mark.parametrize(
    ("linked", "words"),
    [
        (Inlinks(1, 1), "1 page in the library links to it, which is on topic"),
        (Inlinks(3, 0), "3 pages in the library link to it, none of them on topic"),
        (Inlinks(3, 2), "3 pages in the library link to it, 2 of them on topic"),
        (Inlinks(1200, 1200), "1,200 pages in the library link to it, all of them on topic"),
    ],
)
def test_the_number_of_links_is_told_in_words(linked, words):
    assert words in text(Explanation("http://a.test/", linked=linked))


def test_a_url_never_seen_is_told_with_what_is_like_it(grown):
    row = next(row for row in pages(grown, LeftOut()) if row["final_url"].endswith(".html"))
    told = explain(grown, row["final_url"] + "?utm=1")
    assert (told.state, told.similar) == ("unknown", [row["final_url"]])
    assert "NEVER SEEN" in text(told)


@pytest.mark.parametrize("url", ["http://", "ftp://example.org/", "two words"])
def test_what_is_no_url_is_bad_use(grown, url):
    with pytest.raises(UsageError, match="not an http"):
        explain(grown, url)


def told_page(grown, **changes) -> Explanation:
    """The explanation of a page that is in, with other values for what was kept of it."""
    row = next(row for row in pages(grown, LeftOut()) if row["topic"] and row["depth"] == 1 and not row["duplicate_of"])
    told = explain(grown, row["final_url"])
    told.page = msgspec.structs.replace(told.page, **changes)
    return told


def test_words_are_weighed_against_the_heaviest_however_small_the_numbers_are(grown):
    told = told_page(grown, topic="bees", terms=[("hive", 0.0004), ("brood", 0.0001)])
    assert "that speak most for bees (the first counts 100): hive 100 · brood 25" in text(told)


def test_a_page_that_says_noindex_is_in_no_collection_whatever_it_is_about(grown):
    told = told_page(grown, topic="", confidence=0.9, flags=["noindex"])
    assert verdict(told)[0].startswith("KEPT, but in no collection: its owner asks")


def test_an_off_topic_page_is_told_with_what_it_lacks(grown):
    told = told_page(grown, topic="", confidence=0.4, flags=[])
    assert verdict(told)[0].endswith("the nearest has confidence 0.40, which is too little.")


def test_a_copy_is_not_told_with_a_verdict_of_its_own(grown):
    copy = next(row for row in pages(grown, LeftOut()) if row["duplicate_of"])
    told = text(explain(grown, copy["final_url"]))
    assert "Stands at" in told
    assert "Judge" not in told


def test_a_seed_and_a_link_are_told_with_why_they_came_when_they_did(grown):
    told = told_page(grown)
    assert f"1 link away from a seed; thought worth {told.priority:.2g} by its links" in text(told)
    assert "a seed, so it is asked for before all others" in text(explain(grown, told.chain[-1].url))


def test_b18_explain_tells_what_was_said_of_a_page(grown, tmp_path):
    shutil.copytree(grown.folder, tmp_path / "lib")
    library = LibraryFolder(tmp_path / "lib")
    item = collections(library, most=1)[0].items[0].item
    say(library, [Mark(item.id, item.url, "good", library.topic_names()[0], note="a fine page")])
    assert explain(library, item.url).said == [f"good {library.topic_names()[0]} a fine page"]


@pytest.mark.parametrize("reason", ["trap", "trap-mirror", "trap-budget", "untried"])
def test_f70_why_a_url_is_demoted_is_told(reason):
    told = Explanation("http://h.test/cal/1", "queued", reason, sentence(reason), priority=-3.0, depth=4)
    assert verdict(told)[0] == f"WAITS, DEMOTED. {sentence(reason)}"
    assert "thought worth" not in text(told)
