import pytest

from tests.search.pages import Pages


@pytest.fixture
def pages(tmp_path):
    made = Pages(tmp_path / "lib")
    yield made
    made.shard.close()


@pytest.fixture
def village(pages):
    """Two communities of two sites each, and a page that is of none."""
    pages.add("http://bees.test/", "We keep wild bees.", title="Beekeeping", links={"http://hives.test/": "apiary hut"})
    pages.add("http://hives.test/", "A hive for bees.", title="Wooden hives", links={"http://bees.test/": "friends"})
    pages.add("http://stars.test/", "Stars and bees.", title="Astronomy", links={"http://moon.test/": "lunar maps"})
    pages.add("http://moon.test/", "The moon at night.", title="Moon craters", links={"http://stars.test/": "stars"})
    pages.add("http://alone.test/", "Wild bees, alone.", title="Alone")
    pages.communities("bees.test", "stars.test")
    return pages
