import pytest

config = pytest.importorskip("mkdocs.config.defaults")
files = pytest.importorskip("mkdocs.structure.files")
repository_tree = pytest.importorskip("repository_tree")


def test_the_site_has_the_folders_of_the_repository(tmp_path):
    (tmp_path / "docs/figures").mkdir(parents=True)
    for name in ("README.md", "CHANGES.md", "code.py", "docs/a.md", "docs/figures/b.png"):
        (tmp_path / name).write_text(name)
    (tmp_path / "mkdocs.yml").write_text("site_name: x")
    settings = config.MkDocsConfig(config_file_path=str(tmp_path / "mkdocs.yml"))
    settings.load_dict({"site_name": "x", "docs_dir": str(tmp_path / "docs"), "plugins": []})
    settings.validate()
    settings.plugins._current_plugin = "hook"
    theme = files.File.generated(settings, "assets/theme.css", content="")
    found = repository_tree.on_files(files.Files([*files.get_files(settings), theme]), settings)
    assert {file.src_uri for file in found} == {
        "docs/a.md",
        "docs/figures/b.png",
        "assets/theme.css",
        "README.md",
        "CHANGES.md",
    }
    assert found.src_uris["docs/a.md"].content_string == "docs/a.md"
