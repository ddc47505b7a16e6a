"""Answers as the engines document them, made up for the tests: two hits each, on bees."""

import json

PAGES = [("https://a.test/bees", "All about bees", "Bees keep house."), ("https://b.test/", "Hives", "A hive of bees.")]


def searxng(pages=PAGES, **more):
    results = [{"url": u, "title": t, "content": c, "engine": "x", "score": 1.5} for u, t, c in pages]
    return json.dumps({"query": "bees", "number_of_results": 0, "results": results} | more).encode()


def brave(pages=PAGES):
    results = [{"type": "search_result", "url": u, "title": t, "description": c} for u, t, c in pages]
    return json.dumps({"type": "search", "query": {}, "web": {"type": "search", "results": results}}).encode()


def mediawiki(titles=("Bee", "Bee hive & co?"), **general):
    found = [
        {"ns": 0, "title": t, "pageid": 7 + i, "snippet": f'<span class="x">{t}</span> &amp; so'}
        for i, t in enumerate(titles)
    ]
    site = {"base": "https://wiki.test/wiki/Main_Page", "articlepath": "/wiki/$1", "script": "/w/index.php"} | general
    return json.dumps({"batchcomplete": True, "query": {"general": site, "search": found}}).encode()


def openalex():
    works = [
        {
            "display_name": "All about bees",
            "doi": "https://doi.org/10.1/b",
            "primary_location": {"landing_page_url": "https://paid.test/bees"},
            "best_oa_location": {"landing_page_url": "https://a.test/bees"},
            "abstract_inverted_index": {"house.": [2], "Bees": [0], "keep": [1]},
        },
        {"display_name": "Hives", "doi": "https://doi.org/10.1/h", "primary_location": None, "best_oa_location": None},
        {"display_name": None, "doi": None, "primary_location": {"landing_page_url": None}},
    ]
    return json.dumps({"meta": {"count": 3}, "results": works}).encode()


def marginalia(pages=PAGES):
    results = [{"url": u, "title": t, "description": c, "quality": 5.0} for u, t, c in pages]
    return json.dumps({"license": "CC-BY-NC-SA 4.0", "query": "bees", "results": results}).encode()


ATOM = b"""<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>Search</title><link href="https://x.test/"/>
<entry><title>All about bees</title><link rel="edit" href="https://a.test/edit"/><link href="https://a.test/bees"/>
<summary>Bees keep house.</summary></entry>
<entry><title type="html">&lt;b&gt;Hives&lt;/b&gt;</title><link rel="alternate" href="https://b.test/"/>
<content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A hive <i>of</i> bees.</div></content></entry></feed>"""
RSS = b"""<rss version="2.0"><channel><title>Search</title><link>https://x.test/</link>
<item><title>All about bees</title><link> https://a.test/bees </link><description>Bees keep house.</description></item>
<item><title>Hives</title><link>https://b.test/</link>
<description>&lt;i&gt;A hive&lt;/i&gt; of bees.</description></item>
</channel></rss>"""
RDF = b"""<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://x.test/"><title>Search</title><link>https://x.test/</link></channel>
<item><title>All about bees</title><link>https://a.test/bees</link><description>Bees keep house.</description></item>
<item><title>Hives</title><link>https://b.test/</link><description>A hive of bees.</description></item></rdf:RDF>"""


def description(template, kind="application/atom+xml", more=""):
    url = f'<Url type="{kind}" template="{template}" {more}/>'
    html = '<Url type="text/html" template="https://x.test/?q={searchTerms}"/>'
    head = '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>X</ShortName>'
    return f"{head}{html}{url}</OpenSearchDescription>".encode()
