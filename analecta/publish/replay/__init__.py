"""The archive for the replay tools of others: an index (CDXJ) and packages of a topic or of all (WACZ)."""
