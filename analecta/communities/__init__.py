"""Sites that belong together: how they grow, merge and are named, and what a library knows of them."""
