import subprocess
import sys

import orjson
import pytest

from analecta.errors import UsageError
from analecta.settings.load import listed, recipe_names, recipe_text


def analecta(*words: str) -> str:
    return subprocess.run([sys.executable, "-m", "analecta", *words], capture_output=True, check=True, text=True).stdout


def test_every_recipe_says_what_it_is_for_and_one_is_the_default():
    found = listed()
    assert sorted(recipe.name for recipe in found) == recipe_names()
    assert all(len(recipe.about.split()) > 5 and "#" not in recipe.about for recipe in found)
    assert [recipe.name for recipe in found if recipe.default] == ["adaptive"]


def test_a_recipe_that_is_named_is_printed_as_it_is():
    assert analecta("recipes", "synthesis") == recipe_text("synthesis")


def test_recipes_as_json_have_their_settings():
    assert orjson.loads(analecta("recipes", "--json"))[0]["name"] == "adaptive"
    assert orjson.loads(analecta("recipes", "synthesis", "--json"))["settings"]["judge"]["terms"] == 20


def test_a_recipe_that_is_not_there_is_bad_use():
    with pytest.raises(UsageError, match="did you mean 'synthesis'"):
        listed("synthesys")
