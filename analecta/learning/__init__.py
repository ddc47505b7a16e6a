"""Examples and marks to models, and models to verdicts; with or without a crawl."""
