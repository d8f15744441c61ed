"""An English-German corpus without end, derived from a synchronous grammar.

`generate` yields sentence pairs with word alignment, English constituency tree and the facts that
were chosen; `wrong_twins` gives minimally wrong variants of the German side. Words are in
`tables/*.tsv`; rules are in the modules.
"""

from t2t_phrase.grammar.generator import SPLITS, generate, split_of
from t2t_phrase.grammar.pair import Facts, SentencePair, Twin
from t2t_phrase.grammar.tokens import detokenize, tokenize
from t2t_phrase.grammar.twins import wrong_twins

__all__ = [
    "SPLITS",
    "Facts",
    "SentencePair",
    "Twin",
    "detokenize",
    "generate",
    "split_of",
    "tokenize",
    "wrong_twins",
]
