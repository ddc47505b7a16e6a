import pytest

from analecta.errors import UsageError
from analecta.search.ranking import Weights, read_weights


@pytest.mark.parametrize(
    ("said", "weights"),
    [("", Weights()), ("text=1", Weights(1)), ("text=0, confidence=2,authority=.5", Weights(0, 2, 0.5))],
)
def test_b17_weights_are_read_as_people_write_them(said, weights):
    assert read_weights(said) == weights


@pytest.mark.parametrize(
    "said", ["texts=1", "text=x", "text=-1", "text", "text=nan", "text=0,confidence=0,authority=0"]
)
def test_weights_that_make_no_sense_are_refused(said):
    with pytest.raises(UsageError):
        read_weights(said)
