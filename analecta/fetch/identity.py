"""Who asks: the name that site owners see with every request, and that their robots.txt may speak to."""

from importlib.metadata import version

TOKEN = "Analecta"  # the product token that robots.txt files may name


def software() -> str:
    """The program with its version."""
    return f"{TOKEN}/{version('analecta')}"


def user_agent(contact: str) -> str:
    """The program, and how to reach the person who runs it."""
    return software() + (f" (+{contact})" if contact else "")
