"""The tree of topics: list, split, relabel, undo."""
