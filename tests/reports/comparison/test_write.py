"""The page and the files of a comparison, together."""

from t2t_phrase.reports.comparison import files
from t2t_phrase.reports.comparison.inputs import ComparisonInputs
from t2t_phrase.reports.comparison.write import write_comparison

# A character of no font, as Chinese is where no such font is installed.
PRIVATE = "\ue0ff"


def test_figures_that_lack_systems_are_told(tmp_path):
    lines = []
    given = ComparisonInputs(
        systems={name: ["a b"] for name in "abcdefgh"},
        references=[["a b"]],
        orders=1,
        resamples=2,
        exchanges=0,
    )
    write_comparison(given, page=None, folder=tmp_path, log=lines.append)
    assert "figures show the first 6 of 8 systems only" in lines


def test_names_in_figures_have_the_fonts_of_heat_maps(tmp_path, monkeypatch):
    used, lines = [], []

    def draw(plot):
        figure = drawn(plot)
        (axes,) = figure.axes
        used.extend(text.get_fontfamily() for text in axes.get_legend().get_texts())
        return figure

    drawn = files.draw
    monkeypatch.setattr(files, "draw", draw)
    monkeypatch.setattr(files, "installed_families", lambda: ["DejaVu Sans", "DejaVu Serif"])
    given = ComparisonInputs(
        systems={"base": ["a b"], PRIVATE: ["a c"]},
        references=[["a b"]],
        orders=1,
        resamples=10,
        exchanges=0,
    )
    write_comparison(given, page=None, folder=tmp_path, log=lines.append)
    assert used == [["DejaVu Sans", "DejaVu Serif"]] * 4
    assert lines[-2].startswith(f"no installed font has {PRIVATE}, drawn as boxes")
