import pytest

from analecta.evaluate.graph import Graph, read_nodes
from analecta.testweb.webs import open_web


@pytest.fixture(scope="package")
def web():
    return open_web("pocket:400")


@pytest.fixture(scope="package")
def graph(web):
    return Graph(read_nodes(web))
