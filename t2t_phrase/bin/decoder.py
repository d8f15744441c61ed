"""t2t-phrase-decoder: translates text, or scores translations, with a trained model."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.source_features import annotator, define_feature_flags, feature_texts
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.features import of_side

if TYPE_CHECKING:
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    flags.DEFINE_string("decode_from_file", None, "File to translate; default: standard input.")
    flags.DEFINE_string(
        "decode_to_file",
        None,
        "File for the translations or scores; default: FILE.MODEL.SET.PROBLEM.beamB.alphaA.decodes "
        "for --decode_from_file=FILE, standard output otherwise.",
    )
    flags.DEFINE_bool("decode_interactive", False, "Translate lines as you type them.")
    flags.DEFINE_string(
        "score_file",
        None,
        "File with source<TAB>target in each line: write the negative log-probability of each "
        "target, in nats, instead of translating.",
    )
    define_feature_flags()
    flags.DEFINE_string(
        "decode_hparams", "", "Options of decoding, such as beam_size=4,alpha=0.6,extra_length=50."
    )
    flags.DEFINE_integer(
        "random_seed", None, "Seed of sampling; the same as random_seed in --decode_hparams."
    )
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


def define_model_flags() -> None:
    """Define the flags that choose a model, shared by several commands."""
    flags.DEFINE_string("output_dir", None, "Folder of the training run.")
    flags.DEFINE_string(
        "checkpoint_path",
        None,
        "A checkpoint or a folder of checkpoints; `best`: the best one of --output_dir. Default: "
        "the latest of --output_dir.",
    )
    flags.DEFINE_string("data_dir", None, "Folder of the vocabulary.")
    flags.DEFINE_string("problem", None, "If given, must be that of the run.")
    flags.DEFINE_string("model", None, "If given, must be that of the run.")
    flags.DEFINE_string("hparams_set", None, "If given, must be that of the run.")
    flags.DEFINE_string(
        "t2t_usr_dir", "", "Folder of a Python package with your own registrations."
    )


def load() -> tuple[TrainedModel, Vocabularies]:
    """Return the model that the flags name and its vocabularies; say on stderr which it is.

    Raises:
        UserError: there is none, or it is not what the flags say.
    """
    from t2t_phrase.runs.directory import BEST
    from t2t_phrase.runs.load_model import load_model
    from t2t_phrase.runs.vocabulary import run_vocabularies

    path = FLAGS.checkpoint_path or FLAGS.output_dir
    if not path or (path == BEST and not FLAGS.output_dir):
        raise app.UsageError("--output_dir (or the --checkpoint_path of one checkpoint) is needed")
    if path == BEST:
        path = f"{FLAGS.output_dir}/{BEST}"
    trained = load_model(path)
    for flag in ("problem", "model", "hparams_set"):
        given, recorded = FLAGS[flag].value, getattr(trained.record, flag)
        if given and recorded and given != recorded:
            raise UserError(
                f"--{flag}={given}: {trained.checkpoint} is a run of {recorded}; leave the flag "
                "out, or give another --output_dir"
            )
    vocabularies = run_vocabularies(trained, data_dir=FLAGS.data_dir, problem=FLAGS.problem)
    note(f"{trained.checkpoint} (step {trained.step}): {trained.record.hparams_set}")
    return trained, vocabularies


def note(text: str) -> None:
    """Print to standard error; standard output is for results."""
    print(text, file=sys.stderr, flush=True)


def main(argv: Sequence[str]) -> None:
    """Translate or score."""
    del argv
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    if FLAGS.random_seed is not None:
        hparams = hparams.replace(random_seed=FLAGS.random_seed)
    tasks = [f for f in ("decode_from_file", "decode_interactive", "score_file") if FLAGS[f].value]
    if len(tasks) > 1:
        raise app.UsageError(f"--{tasks[0]} and --{tasks[1]} exclude each other")
    registry.discover(FLAGS.t2t_usr_dir)
    if FLAGS.decode_interactive:
        converse(hparams)
    elif FLAGS.score_file:
        score(hparams)
    else:
        translate(hparams)


def translate(hparams: DecodeHParams) -> None:
    """Translate a file or standard input; the output has as many lines, in the same order."""
    from t2t_phrase.decoding.length_notes import length_notes
    from t2t_phrase.decoding.translator import Translator, format_hypotheses
    from t2t_phrase.evaluation.text_files import check_writable, decode_stream, read_text

    # Mistakes in file names should show before the model is loaded.
    if FLAGS.decode_to_file:
        check_writable(FLAGS.decode_to_file)
    if FLAGS.decode_from_file:
        lines = read_text(FLAGS.decode_from_file)
    else:
        lines = list(decode_stream(sys.stdin.buffer, "standard input"))
    trained, vocabularies = load()
    target = FLAGS.decode_to_file
    if FLAGS.decode_from_file and not target:
        target = default_target(FLAGS.decode_from_file, trained.record, hparams)
        check_writable(target)
    translator = Translator(trained.model, vocabularies, hparams, xla=FLAGS.xla_compile)
    features = feature_texts(
        translator.features, {"source": lines}, {"source": FLAGS.decode_from_file}
    )
    encoded = translator.encode(lines, features)
    max_length = trained.record.resolved().max_length
    for sentence in length_notes(
        encoded, max_input_size=hparams.max_input_size, max_length=max_length
    ):
        note(sentence)
    start = time.monotonic()
    found = translator.translate_encoded(encoded, progress=Ticker("translated", len(lines)))
    seconds = time.monotonic() - start
    write(target, [format_hypotheses(hypotheses, hparams) for hypotheses in found])
    tokens = sum(hypotheses[0].tokens for hypotheses in found)
    note(
        f"{len(lines)} sentences, {tokens} target tokens in {seconds:.1f} s "
        f"({tokens / max(seconds, 1e-9):.0f} tokens/s, compilation included) "
        f"written to {target or 'standard output'}"
    )


def score(hparams: DecodeHParams) -> None:
    """Write the negative log-probability of each pair in --score_file."""
    from t2t_phrase.decoding.scoring import Scorer
    from t2t_phrase.evaluation.text_files import check_writable, read_pairs

    if FLAGS.decode_to_file:
        check_writable(FLAGS.decode_to_file)
    pairs = read_pairs(FLAGS.score_file)
    trained, vocabularies = load()
    scorer = Scorer(
        trained.model, vocabularies, batch_size=hparams.batch_size, xla=FLAGS.xla_compile
    )
    sides: dict[str, Sequence[str]] = {
        "source": [source for source, _ in pairs],
        "target": [target for _, target in pairs],
    }
    features = feature_texts(scorer.features, sides, dict.fromkeys(sides, FLAGS.score_file))
    start = time.monotonic()
    scores = scorer.score(pairs, features=features, progress=Ticker("scored", len(pairs)))
    write(FLAGS.decode_to_file, [f"{-value:.6f}" for value in scores])
    note(
        f"{len(pairs)} pairs scored in {time.monotonic() - start:.1f} s, sum {-sum(scores):.4f}, "
        f"written to {FLAGS.decode_to_file or 'standard output'}"
    )


def converse(hparams: DecodeHParams) -> None:
    """Answer typed lines until `q` or the end of the input."""
    from t2t_phrase.decoding.interactive import HELP, Conversation
    from t2t_phrase.decoding.translator import Translator

    trained, vocabularies = load()
    conversation = Conversation(
        lambda options: Translator(trained.model, vocabularies, options, xla=FLAGS.xla_compile),
        hparams,
        annotate=annotator(of_side(trained.model.hparams.features, "source")),
    )
    note(HELP)
    while True:
        print("> ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        answer = conversation.answer(line.rstrip("\r\n")) if line else None
        if answer is None:
            return
        print(answer, flush=True)


def default_target(source: str, record: Any, hparams: DecodeHParams) -> str:
    """Return the file name that tensor2tensor would give to the translations of a file."""
    named = ".".join(filter(None, (record.model, record.hparams_set, record.problem)))
    return f"{source}.{named}.beam{hparams.beam_size}.alpha{hparams.alpha}.decodes"


def write(target: str | None, lines: Sequence[str]) -> None:
    """Write to a file, whole or not at all, or to standard output."""
    from t2t_phrase.evaluation.text_files import write_text

    if target:
        write_text(target, lines)
    else:
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode("utf-8"))
        sys.stdout.buffer.flush()


class Ticker:
    """Reports progress on standard error every ten seconds."""

    def __init__(self, verb: str, total: int) -> None:
        self._verb, self._total = verb, total
        self._last = time.monotonic()

    def __call__(self, done: int) -> None:
        """Report the number of lines that are done, if it is time."""
        if time.monotonic() - self._last >= 10:
            self._last = time.monotonic()
            note(f"{self._verb} {done} of {self._total} lines")


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
