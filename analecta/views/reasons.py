"""Every word that says why a URL is not (or not yet) a page of the library, with a sentence for a person.

docs/reasons.md shows this table; tests hold both to what the code says.
"""

from http import HTTPStatus

from analecta.fetch import REASONS as NO_ANSWER

REASONS: dict[str, str] = {
    **NO_ANSWER,
    # Why a URL was not asked for, though it was found.
    "nofollow": "The page that links to it, or its link, asks robots not to follow (nofollow, ugc or sponsored).",
    "shunned": "The words of its link are among those that are never followed (policy.never).",
    "scope-host": "Its host is not among those that the library keeps to (scope.hosts).",
    "scope-depth": "It is farther from the seeds than the library goes (scope.depth).",
    "scope-exclude": "One of the expressions in scope.exclude fits it.",
    "host-full": "Its host has given as many pages as it may (scope.pages_per_host).",
    "queue-full": "The queue of its topic was full, and it was among the least promising (frontier.cap).",
    "site-waits": "Its site is not being crawled now, or has given as many pages as it may (communities.pages).",
    "crawl-delay": "The site asks for longer pauses than we have patience for, so it is set aside.",
    "trap-depth": "Its path has so many segments that it looks like a crawler trap.",
    "trap-repeat": "Its path repeats itself, which is how crawler traps look.",
    "sitemap": "It is a sitemap: it was read for its links and is no page itself.",
    "probe": "We made this address up, to learn how its host answers for pages that it does not have.",
    # Why a URL that was asked for gave no page.
    "bad-host": "Its host kept failing for too long and was given up for that run (fetch.patience).",
    "busy-host": "Its host kept answering 429 or 503 for too long and was given up for that run (fetch.patience).",
    "poison": "The program ended each time it read this page, so the page is set aside.",
    "parser": "The page could not be read within the limits of time and memory.",
    "redirect-scheme": "It redirects to something that is not http or https.",
    "turn": "Its host could not be asked for it just then (its turn went to robots.txt, or its address was busy).",
    "redirect-bad": "It redirects, but not to an address that can be asked for.",
    "redirect-many": "It is at the end of too many redirects.",
    "redirect-loop": "It redirects to itself.",
    # Why it stands elsewhere, or again in the queue.
    "duplicate": "Its content is the same, or nearly the same, as that of another page, which stands for it.",
    "trap": "URLs like it brought almost nothing new, so it waits behind every other URL (scope.trusted lifts this).",
    "trap-mirror": "Its host copies other hosts, so it waits behind every other URL (scope.trusted lifts this).",
    "trap-budget": "Its host gave many pages but hardly any on topic, so it waits behind all others (frontier.budget).",
    "untried": "Its host is new and has a path of another host, as mirrors do, so it waits behind every other URL.",
    "stopped": "The crawl ended before it was answered, so it waits for the next one.",
}

NO_REFUSALS = ("sitemap", "probe")  # URLs that did their work without ever being meant as pages


def sentence(reason: str) -> str:
    """What a reason means, for a person."""
    if reason.startswith("http-"):
        return _http(reason[5:])
    return REASONS.get(reason, f"The reason was noted as {reason!r}.")


def _http(code: str) -> str:
    try:
        status = HTTPStatus(int(code))
    except ValueError:
        return f"The server answered with status {code}."
    end = "; another address stands for it" if 300 <= status < 400 and status != 304 else ""
    return f"The server answered {code} ({status.phrase}){end}."


# What pages of kinds that make poor items (judge/page_kinds.py) read like.
KIND_WORDS = {
    "course": "a course description",
    "call": "a call for papers",
    "cv": "somebody's curriculum vitae",
    "shop": "a page of a shop",
}
