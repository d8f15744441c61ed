"""Speed and BLEU of a trained model with shortlists, relative to its whole target vocabulary.

    t2t-phrase-align --source=train.en --target=train.de --lexicon_file=lexicon.tsv
    python benchmarks/shortlist.py --run=runs/ende --source=test.en --reference=test.de \\
                                   --lexicon=lexicon.tsv [--sizes=100x100,50x20] [--xla]

A size is shortlist_frequent x shortlist_best. In every repeat, the text is translated with the
whole vocabulary and with each size in turn, after all have been compiled. The first line is that of
the whole vocabulary; `speed` is the number of target tokens per second relative to it.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from measure import limit_threads, parser, report, workers_for
from script import run_script


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--run", required=True, help="folder of a training run")
    options.add_argument("--source", required=True, help="text to translate")
    options.add_argument("--reference", required=True, help="its translation")
    options.add_argument("--lexicon", required=True, help="from t2t-phrase-align --lexicon_file")
    options.add_argument("--sizes", default="100x100,50x20", help="of shortlists")
    options.add_argument("--beam", type=int, default=4, help="size of the beam")
    args = options.parse_args()
    limit_threads()
    from t2t_phrase import registry
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.lexicon_files import read_lexicon
    from t2t_phrase.decoding.translator import Translator
    from t2t_phrase.evaluation.bleu import corpus_bleu
    from t2t_phrase.io.text_files import read_text
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    registry.discover()
    trained = load_model(args.run, dtype_policy=args.dtype)
    vocabularies = run_vocabularies(trained, data_dir=None)
    lines, reference = read_text(args.source), read_text(args.reference)
    workers = workers_for(len(lines), xla=args.xla)
    ways: dict[str, tuple[Translator, object]] = {}
    for size in ["", *args.sizes.split(",")]:
        hparams = DecodeHParams(beam_size=args.beam)
        if size:
            frequent, best = map(int, size.split("x"))
            hparams = hparams.replace(shortlist_frequent=frequent, shortlist_best=best)
        translator = Translator(
            trained.model, vocabularies, hparams, xla=args.xla or None, workers=workers
        )
        encoded = translator.encode(lines)
        if size:
            shortlister = read_lexicon(hparams, args.lexicon).shortlister(vocabularies, hparams)
            assert shortlister is not None
            encoded = shortlister.propose(encoded, lines)
        ways[size] = (translator, encoded)
    found = {
        name: translator.translate_encoded(given) for name, (translator, given) in ways.items()
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(args.repeats):
        for name, (translator, given) in ways.items():
            start = time.perf_counter()
            hypotheses = translator.translate_encoded(given)
            seconds = time.perf_counter() - start
            rates[name].append(sum(each[0].tokens for each in hypotheses) / seconds)
    for name, (_, given) in ways.items():
        texts = [each[0].text for each in found[name]]
        bleu = corpus_bleu(texts, reference)
        report(
            benchmark="shortlist",
            size=name or "whole vocabulary",
            dtype=args.dtype,
            xla=args.xla,
            beam=args.beam,
            workers=workers,
            tokens_of_a_sentence=round(np.mean([len(x) for x in given.shortlists]))
            if name
            else vocabularies.target.vocab_size,
            bleu=round(bleu.value, 2),
            signature=bleu.signature,
            changed=sum(text != each[0].text for text, each in zip(texts, found[""], strict=True)),
            tokens_per_second=round(statistics.median(rates[name])),
            speed=round(
                statistics.median(
                    own / whole for own, whole in zip(rates[name], rates[""], strict=True)
                ),
                3,
            ),
        )


if __name__ == "__main__":
    run_script(main)
