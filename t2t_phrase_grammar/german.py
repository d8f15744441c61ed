"""German inflection: determiners, adjectives, verbs."""

from __future__ import annotations

import dataclasses
import re

CASES = ("nom", "acc", "dat", "gen")
GENDERS = ("m", "f", "n")
VOWEL = "aeiouäöü"

# Rows: case; columns: masculine, feminine, neuter, plural.
_DEFINITE = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
_RELATIVE = {**_DEFINITE, "dat": ("dem", "der", "dem", "denen"), "gen": ("dessen", "deren") * 2}
_STRONG_DETERMINER = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
_EIN = {**_STRONG_DETERMINER, "nom": ("", "e", "", "e"), "acc": ("en", "e", "", "e")}
_STRONG = {**_STRONG_DETERMINER, "gen": ("en", "er", "en", "er")}
_WEAK = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en",) * 4,
    "gen": ("en",) * 4,
}
_MIXED = {**_WEAK, "nom": ("er", "e", "es", "en"), "acc": ("en", "e", "es", "en")}
_ADJECTIVE = {"strong": _STRONG, "weak": _WEAK, "mixed": _MIXED}
_COLUMN = {"m": 0, "f": 1, "n": 2, "p": 3}


def determiner(lemma: str, case: str, gender: str) -> str:
    """Inflect an article or article word.

    Args:
        lemma: `der`, an ein-word (`ein`, `kein`, `mein`...), or the stem of a der-word (`dies-`).
        case: one of `CASES`.
        gender: `m`, `f`, `n`, or `p` for the plural of any gender.
    """
    column = _COLUMN[gender]
    if lemma == "der":
        return _DEFINITE[case][column]
    if lemma.endswith("-"):
        return lemma[:-1] + _STRONG_DETERMINER[case][column]
    ending = _EIN[case][column]
    return ("unser" if lemma == "unser" else lemma) + ending


def relative_pronoun(case: str, gender: str) -> str:
    """Inflect the relative pronoun; genders as in `determiner`."""
    column = _COLUMN[gender]
    if case == "gen":
        return "deren" if gender in "fp" else "dessen"
    return _RELATIVE[case][column]


def adjective(stem: str, declension: str, case: str, gender: str) -> str:
    """Inflect an attributive adjective; `declension` is strong, weak or mixed."""
    return stem + _ADJECTIVE[declension][case][_COLUMN[gender]]


def weak_principal_parts(infinitive: str) -> tuple[str, str]:
    """Return the third person singular of the present and past of a regular verb."""
    stem = infinitive[:-1] if infinitive.endswith(("eln", "ern")) else infinitive[:-2]
    link = "e" if re.search(rf"([dt]|chn|[^lrhmn{VOWEL}][mn])$", stem) else ""
    third = stem + link + "t"
    return (stem + "t" if re.search("[sßxz]$", stem) else third), stem + link + "te"


_IRREGULAR_PRESENT = {
    "sein": ("bin", "bist", "ist", "sind"),
    "haben": ("habe", "hast", "hat", "haben"),
    "werden": ("werde", "wirst", "wird", "werden"),
    "wissen": ("weiß", "weißt", "weiß", "wissen"),
    "können": ("kann", "kannst", "kann", "können"),
    "müssen": ("muss", "musst", "muss", "müssen"),
    "dürfen": ("darf", "darfst", "darf", "dürfen"),
    "sollen": ("soll", "sollst", "soll", "sollen"),
    "wollen": ("will", "willst", "will", "wollen"),
    "mögen": ("mag", "magst", "mag", "mögen"),
    "möchten": ("möchte", "möchtest", "möchte", "möchten"),
    "tun": ("tue", "tust", "tut", "tun"),
}
Paradigm = dict[str, str]


def present(infinitive: str, third: str) -> Paradigm:
    """Conjugate the present, by `1s 2s 3s 1p 3p`, from the infinitive without its particle."""
    if infinitive in _IRREGULAR_PRESENT:
        first, second, third, plural = _IRREGULAR_PRESENT[infinitive]
        return {"1s": first, "2s": second, "3s": third, "1p": plural, "3p": plural}
    if infinitive.endswith("eln"):
        stem, first = infinitive[:-1], infinitive[:-3] + "le"
    elif infinitive.endswith("ern"):
        stem, first = infinitive[:-1], infinitive[:-1] + "e"
    else:
        stem = infinitive[:-2]
        first = stem + "e"
    if third.endswith("et"):
        second = third[:-1] + "st"
    elif stem.endswith(("t", "d")) and third[:-1] != stem and not third.endswith("dt"):
        second = third + "st"
    else:
        base = third[:-1]
        second = base + ("t" if base[-1] in "sßxz" else "st")
    return {"1s": first, "2s": second, "3s": third, "1p": infinitive, "3p": infinitive}


def preterite(past: str) -> Paradigm:
    """Conjugate the simple past from its third person singular."""
    if past.endswith("te"):
        second, plural = past + "st", past + "n"
    else:
        second = past + ("est" if past[-1] in "dtsßz" else "st")
        plural = past + ("n" if past.endswith("e") else "en")
    return {"1s": past, "2s": second, "3s": past, "1p": plural, "3p": plural}


@dataclasses.dataclass(frozen=True, slots=True)
class GermanVerb:
    """All forms of a verb; `particle` is empty for inseparable verbs."""

    particle: str
    infinitive: str
    zu_infinitive: str
    participle: str
    auxiliary: str
    reflexive: str
    present: Paradigm
    preterite: Paradigm
    imperative: str

    @property
    def joined_infinitive(self) -> str:
        """The infinitive with the particle."""
        return self.particle + self.infinitive


def imperative(infinitive: str, third: str) -> str:
    """Return the imperative for `du`."""
    if infinitive == "sein":
        return "sei"
    stem = infinitive[:-1] if infinitive.endswith(("eln", "ern")) else infinitive[:-2]
    if infinitive.endswith("eln"):
        return infinitive[:-3] + "le"
    if infinitive.endswith("ern"):
        return stem + "e"
    # The imperative has the vowel change from e to i (nimm), but not the umlaut (fahr).
    if re.search(rf"e[^{VOWEL}]*$", stem) and re.search(rf"ie?[^{VOWEL}]*$", third[:-1]):
        return third if stem.endswith("t") else third[:-1]
    link = re.search(rf"([dt]|chn|ig|[^lrhmn{VOWEL}][mn])$", stem)
    return stem + "e" if link else stem


def make_verb(
    infinitive: str,
    *,
    third: str,
    past: str,
    participle: str,
    auxiliary: str = "haben",
    reflexive: str = "",
) -> GermanVerb:
    """Build the forms from principal parts; `an|rufen` has the particle `an`."""
    particle, _, base = infinitive.rpartition("|")
    return GermanVerb(
        particle=particle,
        infinitive=base,
        zu_infinitive=f"{particle}zu{base}" if particle else base,
        participle=particle + participle,
        auxiliary=auxiliary,
        reflexive=reflexive,
        present=present(base, third),
        preterite=preterite(past),
        imperative=imperative(base, third),
    )


SEIN = make_verb("sein", third="ist", past="war", participle="gewesen", auxiliary="sein")
HABEN = make_verb("haben", third="hat", past="hatte", participle="gehabt")
WERDEN = make_verb("werden", third="wird", past="wurde", participle="geworden", auxiliary="sein")
MODALS = {
    name: make_verb(name, third=third, past=past, participle="")
    for name, third, past in (
        ("können", "kann", "konnte"),
        ("müssen", "muss", "musste"),
        ("dürfen", "darf", "durfte"),
        ("sollen", "soll", "sollte"),
        ("wollen", "will", "wollte"),
        ("möchten", "möchte", "wollte"),
    )
}
