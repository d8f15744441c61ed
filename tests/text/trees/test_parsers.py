import http.server
import json
import sys
import threading
import types
import urllib.parse

import nltk
import pytest

from t2t_phrase.config import UserError
from t2t_phrase.text.trees.cut_by_tree import cut_by_tree
from t2t_phrase.text.trees.parser import respelt
from t2t_phrase.text.trees.parsers import flat_tree, open_parser, parse_lines
from t2t_phrase.text.trees.trees import TreeError


class Fixed:
    """Returns given trees, and counts its calls."""

    def __init__(self, trees):
        self.trees = trees
        self.asked = []

    def parse(self, sentences):
        self.asked.append(list(sentences))
        return [self.trees[sentence] for sentence in sentences]


def test_lines_keep_their_places_and_their_words():
    parser = Fixed({"a b": "(S (X a) (X b))", "c (d)": "(S (X c) (X e))"})
    found = list(parse_lines(parser, ["a  b", "", " \t", "c (d)", "a b"]))
    assert [tree for tree, _ in found] == [
        "(S (X a) (X b))",
        "",
        "",
        "(ROOT (X c) (X -LRB-d-RRB-))",
        "(S (X a) (X b))",
    ]
    assert [fault for _, fault in found if fault] == [
        "word 2 of the tree is 'e', but the sentence has '(d)' there"
    ]
    assert parser.asked == [["a b", "c (d)", "a b"]]
    for line in ("c (d)", "C:\\ \\"):
        assert cut_by_tree(line, flat_tree(line)) == [line]


def test_long_texts_are_parsed_in_batches():
    parser = Fixed({"a": "(S a)"})
    lines = (line for line in ["a", ""] * 100)
    assert [tree for tree, _ in parse_lines(parser, lines)] == ["(S a)", ""] * 100
    assert [len(batch) for batch in parser.asked] == [32, 32, 32, 4]


def test_words_are_put_back_and_empty_ones_taken_away():
    tree = nltk.Tree.fromstring("(S (PP (P zu) (D dem)) (X (Y y)) (N Haus))")
    assert respelt(tree, ["zum", "", "", "Haus (2)"]) == "(S (PP (P zum)) (N Haus-LRB-2-RRB-))"
    with pytest.raises(TreeError, match="the tree has 4 words, the sentence 3"):
        respelt(tree, ["a", "b", "c"])


# The parts of Stanza's interface that we use.


class StanzaTree:
    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


def token(text, *words):
    parts = [types.SimpleNamespace(text=word) for word in words or (text,)]
    return types.SimpleNamespace(text=text, words=parts)


class FakeStanza(types.ModuleType):
    """Has models for English, and can parse three sentences."""

    def __init__(self):
        super().__init__("stanza")
        self.options = {}
        self.DATA = {
            "Zum Haus.": [
                (
                    "(ROOT (S (PP zu dem) (NN Haus) (. .)))",
                    [token("Zum", "zu", "dem"), token("Haus"), token(".")],
                )
            ],
            "I can't (yet).": [
                (
                    "(ROOT (S I ca n't -LRB- yet -RRB- .))",
                    [
                        token("I"),
                        token("can't", "ca", "n't"),
                        token("("),
                        token("yet"),
                        token(")"),
                        token("."),
                    ],
                )
            ],
            "Yes. No.": [
                ("(ROOT (X Yes .))", [token("Yes"), token(".")]),
                ("(ROOT (X No .))", [token("No"), token(".")]),
            ],
        }

    def Document(self, sentences, text):
        assert sentences == []
        return types.SimpleNamespace(text=text)

    def Pipeline(self, language, **options):
        self.options = options
        if language != "en":
            raise FileNotFoundError(f"Could not find the model file of {language}.")
        return self.run

    def run(self, documents):
        for document in documents:
            document.sentences = [
                types.SimpleNamespace(tokens=tokens, constituency=StanzaTree(tree))
                for tree, tokens in self.DATA[document.text]
            ]
        return documents


@pytest.fixture
def stanza(monkeypatch):
    fake = FakeStanza()
    monkeypatch.setitem(sys.modules, "stanza", fake)
    return fake


def test_stanza(stanza):
    parser = open_parser("stanza")
    assert stanza.options == {
        "processors": "tokenize,pos,constituency",
        "tokenize_no_ssplit": True,
        "download_method": None,
        "verbose": False,
    }
    lines = ["Zum Haus.", "", "I can't (yet).", "Yes.  No."]
    found = list(parse_lines(parser, lines))
    assert found == [
        ("(ROOT (S (PP Zum) (NN Haus) (. .)))", ""),
        ("", ""),
        ("(ROOT (S I ca n't -LRB- yet -RRB- .))", ""),
        ("(ROOT (ROOT (X Yes .)) (ROOT (X No .)))", ""),
    ]
    assert parser.parse([]) == []


def test_stanza_that_is_not_there(stanza, monkeypatch):
    match = r"no constituency models for --language=xx .*model file of xx.*stanza\.download\(\"xx\""
    with pytest.raises(UserError, match=match):
        open_parser("stanza", language="xx")
    monkeypatch.setitem(sys.modules, "stanza", None)
    match = r"Stanza is not installed .*pip install stanza.*stanza\.download\(\"en\"\)"
    with pytest.raises(UserError, match=match):
        open_parser("stanza")
    with pytest.raises(UserError, match=r"parser 'right' is unknown; expected one of stanza, cor"):
        open_parser("right")


class CoreNLP(http.server.BaseHTTPRequestHandler):
    """Answers in CoreNLP's JSON with flat trees; changes `"` and `zum` as CoreNLP does."""

    requests: list = []  # noqa: RUF012
    failing: dict = {}  # noqa: RUF012

    def log_message(self, *arguments):
        pass

    def do_POST(self):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query)
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        CoreNLP.requests.append((json.loads(query["properties"][0]), text))
        if text in CoreNLP.failing:
            self.send_response(CoreNLP.failing[text])
            self.end_headers()
            self.wfile.write(b"CoreNLP request timed out.\n")
            return
        tokens, at = [], 0
        for word in text.split():
            at = text.index(word, at)
            parts = {"zum": ["zu", "dem"], '"': ["``"]}.get(word, [word])
            # Java counts UTF-16 units.
            begin, end = (len(text[:i].encode("utf-16-le")) // 2 for i in (at, at + len(word)))
            tokens += [
                {"word": part, "characterOffsetBegin": begin, "characterOffsetEnd": end}
                for part in parts
            ]
            at += len(word)
        leaves = "\n  ".join(f"(X {part['word']})" for part in tokens)
        answer = {"sentences": [{"index": 0, "parse": f"(ROOT\n  {leaves})", "tokens": tokens}]}
        body = json.dumps(answer if text != "odd" else {"other": 1}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def corenlp(monkeypatch):
    monkeypatch.setenv("no_proxy", "*")
    CoreNLP.requests, CoreNLP.failing = [], {"slow (a)": 500, "gone": 503}
    with http.server.ThreadingHTTPServer(("localhost", 0), CoreNLP) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://localhost:{server.server_port}"
        server.shutdown()
        thread.join()


def test_corenlp(corenlp):
    parser = open_parser("corenlp", corenlp_url=corenlp)
    found = list(parse_lines(parser, ["Er geht zum Haus .", '🙂 " 🙂 zum .']))
    assert found == [
        ("(ROOT (X Er) (X geht) (X zum) (X Haus) (X .))", ""),
        ('(ROOT (X 🙂) (X ") (X 🙂) (X zum) (X .))', ""),
    ]
    properties, text = CoreNLP.requests[-1]
    assert text == '🙂 " 🙂 zum .'
    assert properties["ssplit.isOneSentence"] == "true" and "parse" in properties["annotators"]
    for sentence, fault in (
        ("gone", r"no CoreNLP server answers .*503"),
        ("odd", "does not answer like"),
    ):
        with pytest.raises(UserError, match=fault):
            parser.parse([sentence])


def test_a_sentence_that_corenlp_cannot_parse_has_a_flat_tree(corenlp):
    parser = open_parser("corenlp", corenlp_url=corenlp)
    assert list(parse_lines(parser, ["a", "slow (a)", "b"])) == [
        ("(ROOT (X a))", ""),
        ("(ROOT (X slow) (X -LRB-a-RRB-))", "CoreNLP answers 500 (CoreNLP request timed out.)"),
        ("(ROOT (X b))", ""),
    ]
    # A server that cannot parse at all.
    CoreNLP.failing["One test."] = 500
    with pytest.raises(UserError, match=r"no CoreNLP server answers .*answers 500 \(CoreNLP req"):
        open_parser("corenlp", corenlp_url=corenlp)


def test_corenlp_that_is_not_there(corenlp):
    with pytest.raises(UserError, match=r"no CoreNLP server .*localhost:1 .*CoreNLPServer -port"):
        open_parser("corenlp", corenlp_url="http://localhost:1")


@pytest.mark.parametrize("word", ["a(b)", r"a\/b(", "-LRB-", r"\*(c", "``(", "''"])
def test_a_flat_tree_spells_its_line(word):
    line = f"one {word} two"
    cut_by_tree(line, flat_tree(line))
