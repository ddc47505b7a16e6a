"""Research papers as input (P1, P2): a PDF, or what a GROBID server makes of it -> a Paper; papers -> queries."""
