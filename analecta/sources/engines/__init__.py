"""Search engines behind one seam: queries in, pages out. Each engine is two pure functions, and named here."""

from analecta.sources.engines import mediawiki, openalex, opensearch, web
from analecta.sources.engines.engine import EngineKind

# Another library is none of these: it is no web service, so it joins a search as a function (`others`).
ENGINES: dict[str, EngineKind] = {
    one.name: one
    for one in (web.SEARXNG, web.BRAVE, mediawiki.ENGINE, openalex.ENGINE, web.MARGINALIA, opensearch.ENGINE)
}
