"""Outlines of topics: indented text, Markdown, TOML, JSON, OPML."""
