"""Recipes: short files that compose the same parts into one way of crawling."""
