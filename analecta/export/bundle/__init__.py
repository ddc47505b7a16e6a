"""A bundle: all that is needed to repeat a crawl and to see whether it comes to the same (docs/reproducibility.md)."""
