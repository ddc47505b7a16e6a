"""The benchmark's crawl with trafilatura's own crawler, one site after the other, without its pauses."""

import json
import sys

from trafilatura.settings import use_config
from trafilatura.spider import focused_crawler

job = json.loads(sys.argv[1])
config = use_config()
config.set("DEFAULT", "SLEEP_TIME", "0")
config.set("DEFAULT", "SSRF_PROTECTION", "off")  # the server is on loopback
# It stays within one site, so each gets an equal share; 3 of 2 because it counts pages that are missing, too.
share = -(-3 * job["pages"] // (2 * len(job["seeds"])))
for seed in job["seeds"]:
    focused_crawler(seed, max_seen_urls=share, config=config)
