"""Search engines behind one seam: queries in, pages out. Each engine is a file of two pure functions, named here."""

from analecta.sources.engines import brave, marginalia, mediawiki, openalex, opensearch, searxng
from analecta.sources.engines.engine import EngineKind

# Another library is none of these: it is no web service, so it joins a search as a function (`others`).
ENGINES: dict[str, EngineKind] = {
    one.ENGINE.name: one.ENGINE for one in (searxng, brave, mediawiki, openalex, marginalia, opensearch)
}
