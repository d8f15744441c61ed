import pathlib

import pytest

yaml = pytest.importorskip("yaml")
pytest.importorskip("mkdocs")
api_pages = pytest.importorskip("api_pages")

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAV = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))["nav"]


def test_entries_have_titles():
    nav = ["README.md", {"API": [{"Masks": "api/ops.masks.md"}, {"More": ["api/ops.md"]}]}]
    assert api_pages.entries(nav) == {"api/ops.masks.md": "Masks", "api/ops.md": ""}


@pytest.mark.parametrize(
    ("link", "page", "expected"),
    [
        ("../ops/masks", "docs/a.md", "../api/ops.md#ops.masks"),
        ("ops/masks", "README.md", "api/ops.md#ops.masks"),
        ("../models/base", "docs/a.md", "../api/models.base.md"),
        ("../models/luong", "docs/a.md", None),
    ],
)
def test_links_to_source_files_lead_to_the_api(link, page, expected):
    pages = {"ops": "api/ops.md", "models.base": "api/models.base.md"}
    assert api_pages.documented_at(link, page, pages) == expected


def modules_of(entries):
    return {uri.removeprefix("api/").removesuffix(".md") for uri in entries}


def test_every_module_of_the_public_parts_has_a_page():
    """Layers, models and operations; a model's parts that no chapter names are left out."""
    shown = modules_of(api_pages.entries(NAV))
    for folder in sorted((ROOT / "t2t_phrase/layers").iterdir()):
        if (folder / "__init__.py").exists():
            assert f"t2t_phrase.layers.{folder.name}" in shown
    for path in (ROOT / "t2t_phrase/models").glob("*.py"):
        if "@registry.models.register" in path.read_text("utf-8"):
            assert f"t2t_phrase.models.{path.stem}" in shown
    assert {"t2t_phrase.ops", "t2t_phrase.decoding.translator", "problems", "hparams"} <= shown


def test_the_navigation_leads_to_every_chapter():
    def paths(nav):
        if isinstance(nav, str):
            return {nav}
        parts = nav.values() if isinstance(nav, dict) else nav
        return set().union(*map(paths, parts))

    chapters = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    notebooks = [path.with_suffix(".md") for path in ROOT.glob("docs/**/*.ipynb")]
    expected = {path.relative_to(ROOT).as_posix() for path in [*chapters, *notebooks]}
    assert paths(NAV) == expected | set(api_pages.entries(NAV))
