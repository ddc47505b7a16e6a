"""Browsers' bookmarks: exported HTML, and the files in which they keep them."""
