import io

import pytest
from rich.console import Console

from analecta.errors import BadUse
from analecta.model import State
from analecta.publish.explain import explain
from analecta.publish.rows import Left, pages, refusals
from analecta.publish.telling import tell, verdict


def text(explanation) -> str:
    out = io.StringIO()
    Console(file=out, width=200).print(tell(explanation))
    return out.getvalue()


def first(rows, **wanted):
    return next(row for row in rows if all(row[k] == v for k, v in wanted.items()))


def test_a_page_that_is_in_is_told_with_terms_and_way(grown):
    row = next(row for row in pages(grown, Left()) if row["topic"] and row["depth"] > 1 and not row["duplicate_of"])
    told = explain(grown, row["final_url"])
    assert verdict(told)[0].startswith(f"IN. It is a page about {row['topic']}")
    assert told.page.terms
    assert told.page.model == row["model"]
    assert [step.found for step in told.chain][-1] == "seed"


def test_the_scheme_and_the_form_do_not_matter(grown):
    url = first(pages(grown, Left()), depth=1)["final_url"]
    bare = url.partition("://")[2]
    assert explain(grown, bare).state == explain(grown, f"HTTPS://{bare}#top").state == explain(grown, url).state


def test_an_off_topic_page_is_told_as_kept(grown):
    row = first(pages(grown, Left()), topic="", duplicate_of="", soft404=False)
    assert "none of the topics" in verdict(explain(grown, row["final_url"]))[0]


def test_a_refusal_has_its_sentence(grown):
    row = first(refusals(grown, Left()), reason="robots")
    told = explain(grown, row["url"])
    assert verdict(told)[0] == "REFUSED. The site's robots.txt asks not to fetch this page."
    assert row["parent"] in text(told)


def test_a_failure_has_its_status(grown):
    row = first(refusals(grown, Left()), reason="http-404")
    assert "Not Found" in text(explain(grown, row["url"]))


def test_a_redirect_and_a_copy_lead_to_what_stands_for_them(grown):
    moved = next(row for row in pages(grown, Left()) if row["url"] != row["final_url"] and not row["duplicate_of"])
    copy = next(row for row in pages(grown, Left()) if row["duplicate_of"])
    assert explain(grown, moved["url"]).stands_elsewhere[-1] == moved["final_url"]
    assert explain(grown, copy["final_url"]).stands_elsewhere[-1] == copy["duplicate_of"]
    assert copy["final_url"] in explain(grown, copy["duplicate_of"]).stands_for


def test_a_url_that_waits_is_told_as_waiting(grown):
    with grown.shards() as shards:
        query = "SELECT url FROM urls WHERE state = ? LIMIT 1"
        url = next(row[0] for shard in shards for row in shard.execute(query, (int(State.QUEUED),)))
    assert verdict(explain(grown, url))[0].startswith("WAITS in the queue")


def test_a_url_never_seen_is_told_with_what_is_like_it(grown):
    row = next(row for row in pages(grown, Left()) if row["final_url"].endswith(".html"))
    told = explain(grown, row["final_url"] + "?utm=1")
    assert (told.state, told.similar) == ("unknown", [row["final_url"]])
    assert "NEVER SEEN" in text(told)


def test_what_is_no_url_is_bad_use(grown):
    with pytest.raises(BadUse, match="not an http"):
        explain(grown, "http://")
