import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("mkdocs")
notebook_pages = pytest.importorskip("notebook_pages")


def test_a_notebook_becomes_a_page():
    cell = nbformat.v4.new_code_cell("print(1)")
    cell.outputs = [
        nbformat.v4.new_output("stream", text="1\n"),
        nbformat.v4.new_output("display_data", {"image/png": "QUJD\n", "text/plain": "<Figure>"}),
        nbformat.v4.new_output("execute_result", {"text/plain": "'two'"}),
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell("# Title"), cell])
    assert notebook_pages.page(nbformat.writes(notebook), "a.ipynb").split("\n\n") == [
        "# Title",
        "```python\nprint(1)\n```",
        "```text\n1\n```",
        '<img alt="Output" src="data:image/png;base64,QUJD">',
        "```text\n'two'\n```",
        '<a href="a.ipynb" download>Download the notebook</a>\n',
    ]


def test_links_to_notebooks_lead_to_pages():
    text = "see [it](notebooks/a.ipynb) and `b.ipynb`"
    assert notebook_pages.on_page_markdown(text) == "see [it](notebooks/a.md) and `b.ipynb`"
