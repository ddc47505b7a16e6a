"""Evaluation: whole crawls over a web that stands still, and figures of how well each recipe found its topic."""
