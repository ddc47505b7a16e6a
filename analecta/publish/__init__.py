"""The reading side: what a library holds, told to people and to other programs. Works while a crawl runs."""
