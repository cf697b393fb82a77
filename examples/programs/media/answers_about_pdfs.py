"""Answers questions about documents: the model searches, and reads the PDFs that the search returns.

It prints:

    searched for: Search the documents: How long is the warranty?
    It is a PDF of 1 page and 3 words: “Warranty 24 months”.
"""

from pathlib import Path

from ellmer_core import ContentPDF, chat_openai, content_pdf_file, tool

PAGES = {"warranty": "Warranty 24 months", "returns": "Return it within 30 days"}


def write_pdf(path: Path, words: str) -> None:
    """Writes a PDF of one page. Yours are in a folder already."""
    stream = f"BT /F1 24 Tf 72 700 Td ({words}) Tj ET"
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        f"<</Length {len(stream)}>>\nstream\n{stream}\nendstream",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = "".join(f"{number} 0 obj\n{text}\nendobj\n" for number, text in enumerate(objects, 1))
    path.write_text(f"%PDF-1.4\n{body}trailer\n<</Root 1 0 R>>\n%%EOF", encoding="ascii")


@tool
def search_documents(query: str) -> list[dict[str, str | ContentPDF]]:
    """Searches the documents of the shop: warranty, returns."""
    print("searched for:", query)
    found = [name for name in PAGES if name in query.lower()]
    return [{"title": name, "doc": content_pdf_file(f"{name}.pdf")} for name in found]


def main() -> None:
    for name, words in PAGES.items():
        write_pdf(Path(f"{name}.pdf"), words)
    chat = chat_openai("Answer from the documents only, and name them.", model="gpt-5.6-terra")
    chat.register_tool(search_documents)
    print(chat.chat("Search the documents: How long is the warranty?"))


if __name__ == "__main__":
    main()
