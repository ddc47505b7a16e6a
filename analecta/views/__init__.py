"""Typed answers about a library: no HTML, no terminal."""
