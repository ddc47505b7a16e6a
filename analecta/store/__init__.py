"""What is kept: the library folder, its shards (SQLite) and its archive (WARC)."""
