"""`python -m analecta` is the command `analecta`."""

from analecta.cli import main

main()
