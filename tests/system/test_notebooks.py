"""The notebooks run, and their models learn what they are said to learn."""

import pathlib
import re

import nbclient
import nbformat
import pytest

NOTEBOOKS = pathlib.Path(__file__).resolve().parents[2] / "docs/notebooks"


@pytest.mark.slow
def test_the_phrase_attention_layer_learns_and_is_saved(tmp_path):
    notebook = nbformat.read(NOTEBOOKS / "phrase_attention_layer.ipynb", as_version=4)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=300, resources=resources).execute()
    printed = "".join(
        output.text
        for cell in notebook.cells
        for output in cell.get("outputs", ())
        if output.output_type == "stream" and output.name == "stdout"
    )
    tokens, bigrams = map(float, re.findall(r"^accuracy of .*: ([\d.]+)$", printed, re.M))
    assert tokens < 0.65 and bigrams > 0.95
    assert re.search("^most of the weight: 'not (good|bad)'$", printed, re.M)
    assert "equal: True" in printed and (tmp_path / "phrase_model.keras").exists()
