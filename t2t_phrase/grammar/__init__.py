"""An English-German corpus without end, derived from a synchronous grammar.

`generate` yields sentence pairs with word alignment, English constituency tree and the facts that
were chosen; `wrong_twins` gives minimally wrong variants of the German side.

English decides: the same English sentence always has the same German one. Where English is open,
one reading is the convention: `you` is `du`, the progressive is `gerade`, `it` behind `because` is
the object, `both ... and` is `sowohl ... als auch`.

Words are in `tables/*.tsv`, one row each, all forms written out, `-` where there is none:

    nouns, compounds     class is the selectional class; place is the preposition of places (in, an,
                         auf), after a colon the English one if it is not the usual one
    modifiers            first parts of compounds, German with the linking element, and their heads
    verbs                one row for each frame: particles stand before `|`, subject and object name
                         groups of nouns
    idioms               de_words are the fixed words, the German verb is inflected
    adjectives           nouns names the groups that an adjective goes with; stem takes the endings
    comparison           comparatives and superlatives
    adverbs              tenses of the clause that they fit
    groups               names for sets of classes and single nouns
    determiners, pronouns, modals, names, places
"""

from t2t_phrase.grammar.generator import SPLITS, generate, split_of
from t2t_phrase.grammar.pair import PHENOMENA, Facts, Rendering, SentencePair, Twin
from t2t_phrase.grammar.tokens import detokenize, tokenize
from t2t_phrase.grammar.twins import wrong_twins

__all__ = [
    "PHENOMENA",
    "SPLITS",
    "Facts",
    "Rendering",
    "SentencePair",
    "Twin",
    "detokenize",
    "generate",
    "split_of",
    "tokenize",
    "wrong_twins",
]
