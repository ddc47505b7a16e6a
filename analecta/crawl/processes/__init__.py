"""The processes of a crawl: workers, and what they send each other."""
