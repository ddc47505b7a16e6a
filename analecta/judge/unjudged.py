"""No judge at all: every page is OTHERS. For crawls without topics, breadth first."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from analecta.judge.model_files import load_model, save_model
from analecta.model import Example, Page, Verdict
from analecta.text.tokens import Words


class Unjudged:
    """Leaves pages as they are."""

    needs: frozenset[str] = frozenset()

    def fit(self, examples: Sequence[Example], topics: Sequence[str]) -> Self:
        """There is nothing to learn."""
        return self

    def judge(self, pages: Sequence[Page]) -> list[Verdict]:
        """OTHERS, each of them."""
        return [Verdict()] * len(pages)

    def judge_words(self, batch: Words, anchors: Words | None = None, neighbours: Words | None = None) -> list[Verdict]:
        """The same for words already cut."""
        return [Verdict()] * len(batch)

    def explain(self, page: Page) -> list[tuple[str, float]]:
        """No words made the verdict."""
        return []

    def save(self, folder: Path) -> str:
        """Write that there is no judge; gives the name to load it by."""
        return save_model(folder, {"judge": "none"}, {})

    @classmethod
    def load(cls, folder: Path, name: str) -> Self:
        """As it was saved."""
        load_model(folder, name, "none")
        return cls()
