"""Pictures inside of a text: one in the text itself is shown, and one from the network is a link, so that nothing is
fetched when somebody reads the chat.
"""

import pytest

from ellmer_core import ContentText, contents_html

DATA = "data:image/png;base64,iVBORw0KGgo="


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"![a *b* <c>]({DATA})", f'<img src="{DATA}" alt="a b &lt;c&gt;">'),
        (f"![]({DATA})", f'<img src="{DATA}" alt="">'),
    ],
)
def test_a_picture_in_the_text_is_shown(text, shown):
    assert shown in contents_html(ContentText(text))


@pytest.mark.parametrize(
    ("text", "href", "name"),
    [
        ("![a <dot>](https://x.org/a.png)", "https://x.org/a.png", "a &lt;dot&gt;"),
        ("![](https://x.org/a.png)", "https://x.org/a.png", "https://x.org/a.png"),
        ('![a](https://x.org/?q="1")', "https://x.org/?q=%221%22", "a"),
    ],
)
def test_a_picture_from_the_network_is_a_link(text, href, name):
    html = contents_html(ContentText(text))
    assert f'<a href="{href}" target="_blank" rel="noopener noreferrer">{name}</a>' in html
    assert "<img" not in html
