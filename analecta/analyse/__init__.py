"""Analysis: arrays in, plain results out."""
