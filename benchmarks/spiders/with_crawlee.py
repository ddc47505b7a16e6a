"""The benchmark's crawl as a Crawlee user writes it: ParselCrawler, storage in memory, follow links, take the title."""

import asyncio
import json
import logging
import re
import sys
from datetime import timedelta

from crawlee import ConcurrencySettings, service_locator
from crawlee.configuration import Configuration
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.proxy_configuration import ProxyConfiguration
from crawlee.storage_clients import MemoryStorageClient

job = json.loads(sys.argv[1])
inside = re.compile(f"https?://({'|'.join(map(re.escape, job['hosts']))})/")
done = 0


async def main() -> None:
    logging.disable(logging.CRITICAL)  # it would write a traceback for each 404
    # It watches the machine's load and holds back; here it is to run at its best. Fewest and most under way are
    # the same number, so that it does not wait for its autoscaling either.
    service_locator.set_configuration(Configuration(max_used_cpu_ratio=1.0, max_event_loop_delay=timedelta(hours=1)))
    service_locator.set_storage_client(MemoryStorageClient())
    in_flight = job["in_flight"]
    crawler = ParselCrawler(
        proxy_configuration=ProxyConfiguration(proxy_urls=[job["proxy"]]),
        concurrency_settings=ConcurrencySettings(in_flight, in_flight, desired_concurrency=in_flight),
        max_request_retries=0,
        use_session_pool=False,
        retry_on_blocked=False,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def follow(context: ParselCrawlingContext) -> None:
        global done
        await context.push_data({"url": context.request.url, "title": context.selector.css("title::text").get()})
        await context.enqueue_links(strategy="all", include=[inside])
        done += 1
        if done == job["pages"]:
            crawler.stop()

    await crawler.run(job["seeds"])


asyncio.run(main())
