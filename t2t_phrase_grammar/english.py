"""English verb groups: auxiliaries, do-support, agreement, and the trees around them."""

from __future__ import annotations

import dataclasses
import re

from t2t_phrase_grammar.derivation import Tree
from t2t_phrase_grammar.words import Verb

BE = {
    "pres": {"1s": "am", "2s": "are", "3s": "is", "1p": "are", "3p": "are"},
    "past": {"1s": "was", "2s": "were", "3s": "was", "1p": "were", "3p": "were"},
}
PARTICLES = frozenset(
    ["up", "off", "out", "down", "away", "back", "in", "on", "over", "along", "around", "aloud"]
)
PREPOSITIONS = frozenset(
    [
        "at",
        "about",
        "after",
        "against",
        "before",
        "behind",
        "between",
        "by",
        "for",
        "from",
        "in",
        "into",
        "like",
        "of",
        "off",
        "on",
        "onto",
        "out",
        "over",
        "through",
        "to",
        "under",
        "with",
        "without",
        "up",
        "down",
        "around",
        "near",
    ]
)
_TAGS = {
    **dict.fromkeys(("the", "a", "an", "every", "all", "this", "that", "no", "these"), "DT"),
    **dict.fromkeys(("one's", "my", "your", "his", "her", "our", "their", "its"), "PRP$"),
    **dict.fromkeys(
        [
            "last",
            "next",
            "cold",
            "wrong",
            "right",
            "same",
            "big",
            "new",
            "white",
            "black",
            "red",
            "blind",
            "deaf",
            "low",
            "high",
            "hard",
            "short",
            "good",
            "bad",
            "own",
            "second",
            "fresh",
            "open",
            "dirty",
            "straight",
            "long",
            "real",
            "golden",
            "whole",
            "posted",
            "lost",
            "asleep",
            "married",
            "changed",
            "used",
            "angry",
            "early",
            "late",
            "clean",
            "green",
        ],
        "JJ",
    ),
    **dict.fromkeys(("two", "three", "nine", "one", "once", "twice"), "CD"),
    **dict.fromkeys(("and", "or", "but"), "CC"),
    "'s": "POS",
}


def word_tag(word: str) -> str:
    """Return the part of speech of a word in a fixed phrase."""
    if word in PREPOSITIONS:
        return "IN"
    if word in _TAGS:
        return _TAGS[word]
    if word[0].isupper():
        return "NNP"
    return "NNS" if word.endswith("s") and not word.endswith(("ss", "us")) else "NN"


def fixed_phrase(words: tuple[str, ...], link: int) -> Tree:
    """Build a constituent over the words of a fixed phrase."""
    first = words[0]
    if len(words) > 1 and first in PREPOSITIONS:
        return ("PP", [("IN", first, link), fixed_phrase(words[1:], link)])
    for at, word in enumerate(words[1:], 1):
        if word in PREPOSITIONS and at + 1 < len(words):
            return ("NP", [fixed_phrase(words[:at], link), fixed_phrase(words[at:], link)])
    if len(words) == 1:
        tag = word_tag(first)
        label = {"IN": "PP", "JJ": "ADJP"}.get(tag, "NP")
        return (label, [(tag, first, link)])
    return ("NP", [(word_tag(word), word, link) for word in words])


def rest_of_verb(words: tuple[str, ...], link: int) -> list[Tree]:
    """Build the constituents of a multi-word verb after its inflected head."""
    if all(word in PARTICLES for word in words):
        return [("PRT", [("RP", word, link)]) for word in words]
    if words[-1] == "aloud" or words[-1].endswith("ly") or words == ("forward",):
        return [("ADVP", [("RB", word, link) for word in words])]
    return [fixed_phrase(words, link)] if words else []


@dataclasses.dataclass(frozen=True, slots=True)
class Modal:
    """An English modal or its paraphrase, and the German modal verb.

    `kind` is `MD` for a true modal, otherwise the inflected verb before `to`: `want`, `have`,
    or `be` (in `be allowed to`).
    """

    en: str
    kind: str
    de: str
    tense: str
    negative_de: str


def finite(verb: Verb, tense: str, agreement: str) -> tuple[str, str]:
    """Return the tag and the finite form."""
    if verb.en == "be":
        tag = "VBD" if tense == "past" else ("VBZ" if agreement == "3s" else "VBP")
        return tag, BE[tense][agreement]
    if tense == "past":
        return "VBD", verb.past
    return ("VBZ", verb.third) if agreement == "3s" else ("VBP", verb.en)


def _auxiliary(name: str, tense: str, agreement: str) -> tuple[str, str]:
    past = tense == "past"
    tag = "VBD" if past else ("VBZ" if agreement == "3s" else "VBP")
    if name == "be":
        return tag, BE[tense][agreement]
    forms = {
        "have": ("have", "has", "had"),
        "do": ("do", "does", "did"),
        "want": ("want", "wants", "wanted"),
    }
    base, third, preterite = forms[name]
    return tag, preterite if past else (third if agreement == "3s" else base)


@dataclasses.dataclass(slots=True)
class VerbGroup:
    """The verbs of a clause: [(tag, word, link), ...], the finite verb first."""

    chain: list[tuple[str, str, int]]
    auxiliary_first: bool


@dataclasses.dataclass(frozen=True, slots=True)
class VerbForm:
    """The form of a clause's verbs.

    Attributes:
        tense: pres, past, perf, plup, fut; that of the modal (pres, past) if there is one.
        agreement: that of the subject.
        modal: the modal; None: there is none.
        passive: whether the clause is passive.
        progressive: whether the clause is progressive.
    """

    tense: str
    agreement: str
    modal: Modal | None = None
    passive: bool = False
    progressive: bool = False


def verb_group(
    verb: Verb,
    links: dict[str, int],
    form: VerbForm,
    *,
    support: bool = False,
    infinitive: bool = False,
) -> VerbGroup:
    """Build the chain.

    Args:
        verb: the full verb.
        links: the links of `verb`, `modal`, `future`, `perfect`, `be`.
        form: the form of the verbs.
        support: whether to add `do` if there is no auxiliary (negation, questions).
        infinitive: whether to use the infinitive with `to` instead of a finite verb.
    """
    chain: list[tuple[str, str, int]] = []
    tense, agreement, modal = form.tense, form.agreement, form.modal
    finite_tense = "past" if tense in ("past", "plup") else "pres"
    need = "finite"

    def add(name: str, link: int) -> None:
        nonlocal need
        if need == "finite":
            tag, word = _auxiliary(name, finite_tense, agreement)
        elif need == "pp":
            tag, word = "VBN", {"be": "been", "have": "had"}[name]
        elif need == "ing":
            tag, word = "VBG", "being"
        else:
            tag, word = "VB", name
        chain.append((tag, word, link))

    auxiliary_first = True
    if infinitive:
        chain.append(("TO", "to", links["to"]))
        need = "base"
    elif modal is not None:
        link = links["modal"]
        if modal.kind == "MD":
            chain += [("MD", word, link) for word in modal.en.split(" ") if word != "not"]
        elif modal.kind == "be":
            add("be", link)
            chain += [("JJ", "allowed", link), ("TO", "to", link)]
        elif modal.kind == "would":
            chain += [("MD", "would", link), ("VB", "like", link), ("TO", "to", link)]
        else:
            if support:
                chain.append((*_auxiliary("do", finite_tense, agreement), link))
                chain.append(("VB", modal.kind, link))
            else:
                add(modal.kind, link)
                auxiliary_first = False
            chain.append(("TO", "to", link))
        need = "base"
    elif tense == "fut":
        chain.append(("MD", "will", links["future"]))
        need = "base"
    if tense in ("perf", "plup") and modal is None:
        add("have", links["perfect"])
        need = "pp"
    if form.progressive:
        add("be", links["be"])
        need = "ing"
    if form.passive:
        add("be", links["be"])
        need = "pp"
    if need == "finite":
        if support and verb.en != "be":
            chain.append((*_auxiliary("do", finite_tense, agreement), links["verb"]))
            chain.append(("VB", verb.en, links["verb"]))
        else:
            auxiliary_first = verb.en == "be"
            chain.append((*finite(verb, finite_tense, agreement), links["verb"]))
    else:
        tag, word = {
            "pp": ("VBN", verb.participle),
            "ing": ("VBG", verb.gerund),
            "base": ("VB", verb.en),
        }[need]
        chain.append((tag, word, links["verb"]))
    return VerbGroup(chain, auxiliary_first)


def wrap(chain: list[tuple[str, str, int]], inner: list[Tree]) -> Tree:
    """Nest verb phrases: each verb governs the next, and the last one governs `inner`."""
    tree: Tree = ("VP", [chain[-1], *inner])
    for at in range(len(chain) - 2, -1, -1):
        leaf = chain[at]
        if leaf[0] == "JJ":
            tree = ("ADJP", [leaf, tree])
        elif leaf[0] == "TO" and at:
            tree = ("S", [("VP", [leaf, tree])])
        else:
            tree = ("VP", [leaf, tree])
    return tree


def indefinite_article(word: str) -> str:
    """Return `a` or `an`, depending on the first sound of a word."""
    lowered = word.lower()
    if re.match("uni(?!n|m)|us(e|u)|eu|one", lowered):
        return "a"
    return "an" if lowered[0] in "aeiou" or lowered.startswith(("hour", "honest")) else "a"
