"""What to fetch next: every URL once, and always the best one whose host may be asked now."""
