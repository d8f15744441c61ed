"""The corpus: unlimited distinct sentence pairs in three disjoint splits."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator

from t2t_phrase_grammar.derivation import Context, Token, bracketed, leaves, tidy
from t2t_phrase_grammar.lexicon import lexicon
from t2t_phrase_grammar.pair import (
    COMPOUND,
    IDIOM,
    PARTICLE_VERB,
    Facts,
    Rendering,
    SentencePair,
)
from t2t_phrase_grammar.sentences import Sentence, sentence
from t2t_phrase_grammar.tokens import PUNCTUATION, detokenize

SPLITS = ("train", "dev", "test")
# One in SHARE English sentences belongs to dev, and as many to test.
SHARE = 16


def split_of(source: str) -> str:
    """Return the split of an English sentence, which does not depend on the seed."""
    digest = hashlib.blake2b(source.lower().encode(), digest_size=4).digest()
    return {0: "test", 1: "dev"}.get(int.from_bytes(digest, "big") % SHARE, "train")


def generate(split: str = "train", size: int = 20000, *, seed: int = 0) -> Iterator[SentencePair]:
    """Yield distinct sentence pairs.

    The pairs depend only on `split` and `seed`: a smaller `size` gives a prefix of the same
    sequence. An English sentence belongs to the same split with any seed.

    Args:
        split: train, dev or test.
        size: number of pairs.
        seed: selects another sequence of pairs.

    Raises:
        ValueError: the split is unknown.
    """
    if split not in SPLITS:
        raise ValueError(f"split {split!r} is unknown; expected one of {', '.join(SPLITS)}")
    return _generate(split, size, seed)


def _generate(split: str, size: int, seed: int) -> Iterator[SentencePair]:
    rng = random.Random(f"{split} {seed}")
    words = lexicon()
    seen: set[str] = set()
    while len(seen) < size:
        ctx = Context(rng, words)
        drawn = sentence(ctx)
        tree_leaves = list(leaves(drawn.tree))
        source_tokens = [leaf[1] for leaf in tree_leaves]
        source_tokens[0] = source_tokens[0][0].upper() + source_tokens[0][1:]
        source_tokens.append(drawn.mark)
        source = detokenize(source_tokens)
        if source in seen or len(source_tokens) > MAX_TOKENS or split_of(source) != split:
            continue
        seen.add(source)
        yield _pair(ctx, drawn, source, source_tokens, [leaf[2] for leaf in tree_leaves])


MAX_TOKENS = 30


def _pair(
    ctx: Context, drawn: Sentence, source: str, source_tokens: list[str], links: list[int]
) -> SentencePair:
    end = ctx.link()
    derivation = tidy([*drawn.tokens, Token(drawn.mark, (end,))])
    renderings = _renderings(ctx, derivation)
    first = derivation[0]
    derivation[0] = first._replace(form=first.form[0].upper() + first.form[1:])
    target_tokens = [token.form for token in derivation]
    sources: dict[int, list[int]] = {}
    for at, link in enumerate([*links, end]):
        sources.setdefault(link, []).append(at)
    points = {
        (i, j)
        for j, token in enumerate(derivation)
        for link in token.links
        for i in sources.get(link, ())
    }
    label, children = drawn.tree
    tree = (label, [*children, (".", drawn.mark, end)])
    target_distance, source_distance = _distances(drawn, derivation, source_tokens, sources)
    main = drawn.main
    facts = Facts(
        sentence_type=drawn.kind,
        tense=main.tense,
        voice="passive" if main.passive else "active",
        modal=main.modal.de if main.modal else "",
        negated=main.negated,
        clauses=tuple(ctx.clauses),
        constructions=tuple(ctx.constructions),
        idioms=_citations(ctx, IDIOM),
        compounds=_citations(ctx, COMPOUND),
        particle_verbs=_citations(ctx, PARTICLE_VERB),
        renderings=renderings,
        subject_verb_distance=target_distance,
        source_subject_verb_distance=source_distance,
    )
    return SentencePair(
        source=source,
        target=detokenize(target_tokens),
        source_tokens=tuple(source_tokens),
        target_tokens=tuple(target_tokens),
        alignment=" ".join(f"{i}-{j}" for i, j in sorted(points)),
        tree=bracketed(tree, iter(source_tokens)),
        facts=facts,
        derivation=tuple(derivation),
    )


def _citations(ctx: Context, kind: str) -> tuple[str, ...]:
    return tuple(citation for found, citation, _ in ctx.phenomena if found == kind)


# Notes of the words of a particle verb. Other words with the same link belong to an idiom.
_VERB_NOTES = ("finite", "particle", "joined", "imperative")


def _renderings(ctx: Context, derivation: list[Token]) -> tuple[Rendering, ...]:
    """Return the German words of each phenomenon in the sentence."""
    found = []
    for kind, citation, link in ctx.phenomena:
        tokens = [token for token in derivation if link in token.links]
        if kind == PARTICLE_VERB:
            tokens = [token for token in tokens if token.note and token.note[0] in _VERB_NOTES]
        if tokens:
            found.append(Rendering(kind, citation, tuple(token.form for token in tokens)))
    return tuple(found)


def words_between(tokens: list[str] | tuple[str, ...], first: int, second: int) -> int:
    """Count the words between two positions, without punctuation."""
    low, high = sorted((first, second))
    return sum(token not in PUNCTUATION for token in tokens[low + 1 : high])


def _distances(
    drawn: Sentence,
    derivation: list[Token],
    source_tokens: list[str],
    sources: dict[int, list[int]],
) -> tuple[int, int]:
    main = drawn.main
    head = main.subject.head
    finite = next(
        (
            at
            for at, token in enumerate(derivation)
            if token.note and token.note[0] == "finite" and token.note[3] == head
        ),
        None,
    )
    subject = next((at for at, token in enumerate(derivation) if head in token.links), None)
    if finite is None or subject is None:
        return 0, 0
    target = words_between([token.form for token in derivation], finite, subject)
    verb = sources.get(derivation[finite].links[0])
    heads = sources.get(head)
    if not verb or not heads:
        return target, 0
    return target, words_between(source_tokens, verb[0], heads[-1])
