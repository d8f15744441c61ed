"""WMT corpora on small archives in their real formats and places."""

import gzip
import hashlib
import io
import pickle
import tarfile

import pytest
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download.checksums import UrlInfo, get_all_url_infos
from tensorflow_datasets.translate import wmt

from t2t_phrase.config import UserError
from t2t_phrase.data.generation.generate import generate
from t2t_phrase.data.generation.options import GenerateOptions
from t2t_phrase.data.problem import get_problem
from t2t_phrase.data.sources import wmt_archives
from t2t_phrase.data.sources.download import DownloadError
from t2t_phrase.data.sources.inputs import RawSpace


class WholeBuilder(wmt.WmtTranslate):
    """The builder of tensorflow-datasets, which knows the checksums of the archives here."""

    url_infos = None


def text(*lines):
    return "".join(f"{line}\n" for line in lines).encode()


def sgm(*segments):
    body = "\n".join(f'<seg id="{i}">{s}</seg>' for i, s in enumerate(segments, start=1))
    return f'<srcset>\n<doc sysid="x">\n<p>\n{body}\n</p>\n</doc>\n</srcset>\n'.encode()


def archive(members, name):
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w:gz" if name.endswith("gz") else "w") as tar:
        for path, content in members.items():
            info = tarfile.TarInfo(path)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return output.getvalue()


TMX = """<?xml version="1.0" encoding="utf-8"?>
<tmx version="1.4"><header/><body>
<tu><tuv xml:lang="en"><seg>Balkans</seg></tuv><tuv xml:lang="ro"><seg>Balcani</seg></tuv></tu>
</body></tmx>"""
DEV = {
    "dev/newstest2013.de": text("dev eins", "dev zwei", "dev drei"),
    "dev/newstest2013.en": text("dev one", "dev two", "dev three"),
    "dev/newstest2013.fr": text("dev un", "dev deux", "dev trois"),
    "dev/newstest2014-deen-src.de.sgm": sgm("test eins", "test zwei &amp; drei"),
    "dev/newstest2014-deen-ref.en.sgm": sgm("test one", "test two &amp; three"),
    "dev/newstest2014-fren-src.fr.sgm": sgm("test un"),
    "dev/newstest2014-fren-ref.en.sgm": sgm("test one"),
    "dev/newsdev2016-roen-src.ro.sgm": sgm("dev unu"),
    "dev/newsdev2016-roen-ref.en.sgm": sgm("dev one"),
    "dev/newstest2016-roen-src.ro.sgm": sgm("test unu"),
    "dev/newstest2016-roen-ref.en.sgm": sgm("test one"),
}
EUROPARL = {
    "training/europarl-v7.de-en.de": text("Euro\u2028parl eins", "", "Europarl drei"),
    "training/europarl-v7.de-en.en": text("Europarl one", "Europarl two", "Europarl three"),
    "training/europarl-v7.fr-en.fr": text("Europarl un"),
    "training/europarl-v7.fr-en.en": text("Europarl one"),
}
CRAWL = {
    "commoncrawl.de-en.de": text("Crawl eins"),
    "commoncrawl.de-en.en": text("Crawl one"),
    "commoncrawl.fr-en.fr": text("Crawl un"),
    "commoncrawl.fr-en.en": text("Crawl one"),
}
STATMT = "http://www.statmt.org/"
DATA = "http://data.statmt.org/"
ARCHIVES = {
    DATA + "wmt19/translation-task/dev.tgz": DEV,
    STATMT + "wmt13/training-parallel-europarl-v7.tgz": EUROPARL,
    STATMT + "wmt13/training-parallel-commoncrawl.tgz": CRAWL,
    STATMT + "wmt13/training-parallel-un.tgz": {
        "un/undoc.2000.fr-en.fr": text("ONU un"),
        "un/undoc.2000.fr-en.en": text("UN one"),
    },
    STATMT + "wmt14/training-parallel-nc-v9.tgz": {
        "training/news-commentary-v9.fr-en.fr": text("Nouvelles"),
        "training/news-commentary-v9.fr-en.en": text("News"),
    },
    STATMT + "wmt10/training-giga-fren.tar": {
        "giga-fren.release2.fixed.fr.gz": gzip.compress(text("Giga un", "Giga deux")),
        "giga-fren.release2.fixed.en.gz": gzip.compress(text("Giga one", "Giga two")),
    },
    DATA + "wmt16/translation-task/training-parallel-nc-v11.tgz": {
        "training-parallel-nc-v11/news-commentary-v11.de-en.de": text("Kommentar"),
        "training-parallel-nc-v11/news-commentary-v11.de-en.en": text("Commentary"),
    },
    DATA + "wmt16/translation-task/training-parallel-ep-v8.tgz": {
        "training-parallel-ep-v8/europarl-v8.ro-en.ro": text("Parlament"),
        "training-parallel-ep-v8/europarl-v8.ro-en.en": text("Parliament"),
    },
}
SETIMES = "http://opus.nlpl.eu/download.php?f=SETIMES/v2/tmx/en-ro.tmx.gz"


def serve(folder, monkeypatch, archives):
    """Put small archives into a folder under their real names, known by their checksums."""
    contents = {url: archive(members, url) for url, members in archives.items()}
    contents[SETIMES] = gzip.compress(TMX.encode())
    infos = {}
    for url, content in contents.items():
        name = url.rsplit("/", 1)[1]
        (folder / name).write_bytes(content)
        checksum = hashlib.sha256(content).hexdigest()
        infos[url] = UrlInfo(size=len(content), checksum=checksum, filename=name)
    monkeypatch.setattr(wmt_archives, "url_infos", lambda: infos)
    return infos


@pytest.fixture
def raw(tmp_path, monkeypatch):
    serve(tmp_path, monkeypatch, ARCHIVES)
    return tmp_path


def texts(corpus, split):
    return [pair.texts for pair in corpus.pairs(split)]


def test_ende_wmt16_from_archives_to_records(raw, tmp_path):
    problem = get_problem("translate_ende_wmt16")
    corpus = problem.corpus(str(raw))
    train = sorted(corpus.pairs("train"))
    assert [pair.texts for pair in train] == [
        ("Commentary", "Kommentar"),
        ("Crawl one", "Crawl eins"),
        ("Europarl one", "Euro\u2028parl eins"),
        ("Europarl three", "Europarl drei"),
        ("Europarl two", ""),
    ]
    assert (train[3].names[0], train[3].line) == ("europarl_v7", 3)
    assert texts(corpus, "dev") == [
        ("dev one", "dev eins"),
        ("dev two", "dev zwei"),
        ("dev three", "dev drei"),
    ]
    messages = []
    options = GenerateOptions(num_shards=2)
    generate(problem, str(tmp_path / "data"), str(raw), options=options, log=messages.append)
    assert any("1 x empty side (dropped): europarl_v7:2" in message for message in messages)
    sources, references = problem.raw_text(str(tmp_path / "data"), "test")
    assert sources == ["test one", "test two &amp; three"]
    assert references == ["test eins", "test zwei &amp; drei"]


def test_enro_wmt16_reads_tmx_and_sgml(raw):
    corpus = get_problem("translate_enro_wmt16").corpus(str(raw))
    assert sorted(texts(corpus, "train")) == [("Balkans", "Balcani"), ("Parliament", "Parlament")]
    assert texts(corpus, "dev") == [("dev one", "dev unu")]
    assert texts(corpus, "test") == [("test one", "test unu")]


def test_enfr_wmt14_reads_gzip_within_tar(raw):
    corpus = get_problem("translate_enfr_wmt14").corpus(str(raw))
    assert sorted(texts(corpus, "train")) == [
        ("Crawl one", "Crawl un"),
        ("Europarl one", "Europarl un"),
        ("Giga one", "Giga un"),
        ("Giga two", "Giga deux"),
        ("News", "Nouvelles"),
        ("UN one", "ONU un"),
    ]


def test_a_wrong_archive_is_refused(raw):
    (raw / "training-parallel-nc-v11.tgz").write_bytes(b"something else")
    with pytest.raises(UserError, match=r"nc-v11\.tgz has the SHA-256 checksum .*: delete it"):
        get_problem("translate_ende_wmt16").corpus(str(raw))


def test_files_of_different_length_are_refused(tmp_path, monkeypatch):
    crawl = {**CRAWL, "commoncrawl.de-en.de": text("Crawl eins", "zwei")}
    url = STATMT + "wmt13/training-parallel-commoncrawl.tgz"
    serve(tmp_path, monkeypatch, {**ARCHIVES, url: crawl})
    with pytest.raises(UserError, match=r"de-en\.de has 2 lines but .*de-en\.en has 1"):
        list(get_problem("translate_ende_wmt16").corpus(str(tmp_path)).pairs("train"))


@pytest.mark.parametrize(
    "name",
    [f"translate_{name}" for name in ("ende_wmt14", "enfr_wmt14")]
    + [f"translate_{pair}_wmt16" for pair in ("ende", "enru", "enro")],
)
def test_every_subset_has_the_language_and_checksums(name):
    problem = get_problem(name)
    known = get_all_url_infos()
    foreign = problem.languages[1]
    for split in ("train", "dev", "test"):
        for subset in problem.subsets[split]:
            data = wmt.DATASET_MAP[subset]
            assert data.target == "en" and foreign in data.sources
            assert not data.get_manual_dl_files(foreign)
            assert all(url in known for url in data.get_url(foreign))


def test_missing_archives_are_downloaded_by_name(raw, monkeypatch):
    name = "training-parallel-nc-v11.tgz"
    url = next(url for url in ARCHIVES if url.endswith(name))
    content = (raw / name).read_bytes()
    (raw / name).unlink()
    asked = []

    def fetch(url, folder, *, sha256, name):
        if not (folder / name).exists():
            asked.append((url, name, sha256))
            (folder / name).write_bytes(content)

    monkeypatch.setattr(wmt_archives, "fetch", fetch)
    corpus = get_problem("translate_ende_wmt16").corpus(str(raw))
    assert len(texts(corpus, "train")) == 5
    assert asked == [(url, name, hashlib.sha256(content).hexdigest())]


def test_failed_downloads_name_the_address(raw, monkeypatch):
    (raw / "training-parallel-nc-v11.tgz").unlink()

    def urlopen(request, timeout):
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    monkeypatch.setattr("time.sleep", lambda seconds: None)
    match = r"cannot download http\S+nc-v11\.tgz: .*reset by peer"
    with pytest.raises(DownloadError, match=match) as caught:
        get_problem("translate_ende_wmt16").corpus(str(raw))
    assert caught.value.exit_code == 3


def test_damaged_unpacked_files_are_named(raw):
    problem = get_problem("translate_enro_wmt16")
    problem.corpus(str(raw))
    (path,) = raw.rglob("en-ro.tmx")
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(UserError, match=r"setimes_2: .* cannot read \S+en-ro.tmx \("):
        list(problem.corpus(str(raw)).pairs("train"))


@pytest.mark.parametrize("name", ["enfr_wmt14", "enro_wmt16"])
def test_the_same_pairs_as_those_of_the_builder_itself(tmp_path, monkeypatch, name):
    nc9 = {
        **ARCHIVES[STATMT + "wmt14/training-parallel-nc-v9.tgz"],
        "training/news-commentary-v9.de-en.de": text("Kommentar neun"),
        "training/news-commentary-v9.de-en.en": text("Commentary nine"),
    }
    archives = {**ARCHIVES, STATMT + "wmt14/training-parallel-nc-v9.tgz": nc9}
    known = serve(tmp_path, monkeypatch, archives)
    problem = get_problem(f"translate_{name}")
    splits = {"train": "train", "dev": "validation", "test": "test"}

    monkeypatch.setattr(WholeBuilder, "url_infos", known)
    config = wmt.WmtConfig(
        name=name,
        version="1.0.0",
        description=name,
        language_pair=(problem.languages[1], "en"),
        subsets={splits[split]: list(names) for split, names in problem.subsets.items()},
    )
    builder = WholeBuilder(config=config, data_dir=tmp_path / "prepared")
    builder.download_and_prepare(
        download_dir=tmp_path / "downloads",
        download_config=tfds.download.DownloadConfig(
            manual_dir=tmp_path, force_checksums_validation=True, try_download_gcs=False
        ),
    )
    corpus = problem.corpus(str(tmp_path))
    for split, theirs in splits.items():
        expected = [
            tuple(example[language].decode() for language in problem.languages)
            for example in tfds.as_numpy(builder.as_dataset(split=theirs))
        ]
        # Datagen drops pairs with an empty side itself, and counts them.
        assert sorted(t for t in texts(corpus, split) if all(t)) == sorted(expected)


def test_wanted_pairs_are_numbered_through_all_subsets(raw):
    corpus = get_problem("translate_ende_wmt16").corpus(str(raw))
    every = list(enumerate(corpus.pairs("train")))
    for rest in range(3):
        some = list(corpus.some("train", lambda index, rest=rest: index % 3 == rest))
        assert some == every[rest::3]
    assert pickle.loads(pickle.dumps(corpus)).inputs() == corpus.inputs()


def test_only_what_is_read_is_unpacked_and_once(raw, monkeypatch):
    problem = get_problem("translate_ende_wmt16")
    before = problem.raw_space(str(raw))
    assert before.download == 0 and before.unpacked > 0
    problem.corpus(str(raw))
    found = {path.name for path in (raw / "unpacked").rglob("*") if path.is_file()}
    assert "commoncrawl.de-en.de" in found and "commoncrawl.fr-en.fr" not in found
    assert problem.raw_space(str(raw)) == RawSpace()
    for path in raw.glob("*.tgz"):
        path.unlink()
    assert len(texts(problem.corpus(str(raw)), "train")) == 5


def test_an_archive_without_a_member_is_named(tmp_path, monkeypatch):
    url = STATMT + "wmt13/training-parallel-commoncrawl.tgz"
    serve(tmp_path, monkeypatch, {**ARCHIVES, url: {"other": b""}})
    with pytest.raises(UserError, match=r"commoncrawl\.tgz has no commoncrawl\.de-en\.de"):
        get_problem("translate_ende_wmt16").corpus(str(tmp_path))


def test_archives_of_one_name_do_not_meet(raw, monkeypatch):
    infos = dict(wmt_archives.url_infos())
    monkeypatch.setattr(wmt_archives, "url_infos", lambda: infos)
    name = "training-parallel-ep-v8.tgz"
    (url,) = (url for url, info in infos.items() if info.filename == name)
    infos["http://elsewhere/" + name] = UrlInfo(size=1, checksum="0" * 64, filename=name)
    content = (raw / name).read_bytes()
    (raw / name).write_bytes(b"the other one")
    asked = []

    def fetch(url, folder, *, sha256, name):
        if not (folder / name).exists():
            asked.append(url)
            folder.mkdir()
            (folder / name).write_bytes(content)

    monkeypatch.setattr(wmt_archives, "fetch", fetch)
    problem = get_problem("translate_enro_wmt16")
    assert len(texts(problem.corpus(str(raw)), "train")) == 2
    assert asked == [url] and (raw / name).read_bytes() == b"the other one"


def test_subsets_that_change_are_noticed(raw, tmp_path):
    problem = get_problem("translate_enro_wmt16")
    data = str(tmp_path / "data")
    generate(problem, data, str(raw), options=GenerateOptions(num_shards=1), log=str)
    problem.subsets = {**problem.subsets, "test": ("newsdev2016",)}
    with pytest.raises(UserError, match=r"not those that translate_enro_wmt16 .*changed: test"):
        generate(problem, data, str(raw), options=GenerateOptions(num_shards=1), log=str)
