import pytest

from tests.publish.search.pages import Pages


@pytest.fixture
def pages(tmp_path):
    made = Pages(tmp_path / "lib")
    yield made
    made.shard.close()
