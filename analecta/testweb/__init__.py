"""Webs that need no network: the pocket web (made up, with known answers) and WARC files replayed."""
