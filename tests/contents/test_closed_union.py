"""The union of contents is closed: a class of ours outside of it is refused. `typing_tests/test_closed_union.py` runs the
type checker.
"""

import pytest

from ellmer_core import Content, ContentImage, ContentText, UserTurn
from ellmer_core.contents.content import AnyContent, any_content


@pytest.mark.parametrize("base", [Content, ContentImage])
def test_a_class_of_ours_outside_of_the_union_is_refused(base):
    with pytest.raises(
        TypeError, match="ContentPlace is a content of this library, so it belongs to AnyContent"
    ):
        type("ContentPlace", (base,), {"__module__": "ellmer_core.contents.places"})


def test_other_packages_make_their_own_classes():
    place = type("ContentPlace", (Content,), {"__module__": "my_app"})()

    assert UserTurn(["Here:", place]).contents[1] is place
    assert any_content(place) is None


def test_a_subclass_of_ours_is_one_of_ours():
    loud = type("ContentLoud", (ContentText,), {"__module__": "ellmer_core.contents.loud"})("HELLO")

    assert isinstance(loud, AnyContent)
    assert any_content(loud) is loud
