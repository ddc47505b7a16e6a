import pytest

from analecta.evaluate.graph import PageGraph, read_nodes
from analecta.testweb.webs import open_web


@pytest.fixture(scope="package")
def web():
    return open_web("pocket:400")


@pytest.fixture(scope="package")
def graph(web):
    return PageGraph(read_nodes(web))
