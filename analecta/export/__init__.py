"""Tables, citations, corpora, graphs and archives for other programs."""
