"""The benchmark's crawl as a Scrapy user writes it: follow the page's links, take its title."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.exceptions import CloseSpider
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor

job = json.loads(sys.argv[1])
# Not allow_domains: that would let subdomains in, which are not in this web.
inside = f"^https?://({'|'.join(map(re.escape, job['hosts']))})/"


class Follow(scrapy.Spider):
    name = "follow"
    start_urls = job["seeds"]
    links = LinkExtractor(allow=inside)
    done = 0

    def parse(self, response: Response, **_: Any) -> Iterator[Any]:
        yield {"url": response.url, "title": response.css("title::text").get()}
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
        self.done += 1
        if self.done == job["pages"]:  # those still under way are parsed as well, for the server counts them
            raise CloseSpider("enough")


process = CrawlerProcess(
    {
        "CONCURRENT_REQUESTS": job["in_flight"],
        "CONCURRENT_REQUESTS_PER_DOMAIN": job["in_flight"],
        "DOWNLOAD_DELAY": 0,
        # Breadth first, as its manual says, so that its pages are of the same mix as those of the others.
        "DEPTH_PRIORITY": 1,
        "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        "AUTOTHROTTLE_ENABLED": False,
        "COOKIES_ENABLED": False,
        "HTTPCACHE_ENABLED": False,
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "TELNETCONSOLE_ENABLED": False,
        "MEMUSAGE_ENABLED": False,
        "LOGSTATS_INTERVAL": 0,
        "LOG_LEVEL": "ERROR",
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
    }
)
process.crawl(Follow)
process.start()
