"""Search inside a library: an index of the words of all pages that may be shown, and the questions put to it."""
