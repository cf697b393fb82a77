"""Tokens are decoded in bulk. The result includes all that a separate decoding of each token finds."""

import string
from base64 import b64encode, urlsafe_b64encode
from gzip import compress

from hypothesis import given
from hypothesis import strategies as st

from ellmer_harness.secrets.cassette_scan import _BASE64, _decoded, _Known, worth_decoding

DRAWN = st.text(string.ascii_letters + string.digits + "+/_-", min_size=24, max_size=60)
HIDING = st.builds(
    lambda before, data, encode, shift: "x" * shift + encode(before + data).decode(),
    st.binary(max_size=3),
    st.one_of(
        st.text(min_size=16, max_size=40).map(str.encode),
        st.text(string.printable, min_size=16, max_size=40).map(str.encode),
        st.just(b"hunter2-is-known" + b"\xff\xfe"),
        st.binary(min_size=16, max_size=40),
        st.just(compress(b"a text that is compressed")),
    ),
    st.sampled_from([b64encode, urlsafe_b64encode]),
    st.integers(0, 3),
)


@given(
    st.lists(DRAWN | HIDING, max_size=8),
    st.sampled_from([(), (("hunter2", "a known value"),), (("ab", "short"),)]),
)
def test_nothing_that_decoding_shows_is_passed_over(words, known):
    tokens = list(dict.fromkeys(token for word in words for token in _BASE64.findall(word)))
    shows = [token for token in tokens if [*_decoded(token, _Known(known))]]
    worth = [*worth_decoding(tokens, [secret.encode() for secret, _ in known])]
    assert [token for token in tokens if token in worth] == worth
    assert set(shows) <= set(worth)


def test_ids_drawn_by_lot_are_not_decoded():
    ids = [f"msg{n:02}aZ9kQ4xT7vB2mW8pL5rC" for n in range(40)]
    assert len([*worth_decoding(ids, ())]) < 4
