"""OAI-PMH 2.0: libraries and aggregators harvest the records of a library, all of them or what is new (docs/oai.md)."""
