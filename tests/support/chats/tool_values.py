"""Values of tools: media, and any JSON."""

from hypothesis import strategies as st

from ellmer_core.contents.content import ContentImageInline, ContentImageRemote, ContentPDF

CAT = ContentImageInline("image/png", "iVBORw0KGgo=")
DOG = ContentImageRemote("https://example.com/dog.png")
PDF = ContentPDF("application/pdf", "JVBERi0=")

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
