"""t2t-phrase-insights: statistics and heat maps of a trained model's attention.

t2t-phrase-insights --output_dir=run --data_dir=data --stats
t2t-phrase-insights --output_dir=run --data_dir=data --heat_maps=maps --source="A house ."
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common, decoder
from t2t_phrase.bin.source_phrases import define_parser_flags, phrase_cutter
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams

if TYPE_CHECKING:
    from t2t_phrase.decoding.translator import Encoder
    from t2t_phrase.insights.pictures import Choice
    from t2t_phrase.runs.load_model import TrainedModel

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    decoder.define_model_flags()
    flags.DEFINE_bool("stats", False, "Print how much attention goes from and to n-grams.")
    flags.DEFINE_string("stats_file", None, "Where the statistics go as JSON, too.")
    flags.DEFINE_string(
        "insights_from_file", None, "Sources of the statistics; default: the development set's."
    )
    flags.DEFINE_string("references_file", None, "Their translations, line by line.")
    flags.DEFINE_string("heat_maps", None, "Folder for pictures of one sentence pair, as PNG.")
    flags.DEFINE_string("source", None, "The sentence of the pictures.")
    flags.DEFINE_string("target", None, "Its translation; default: the model's own.")
    flags.DEFINE_string(
        "source_tree", None, "Its tree in Penn brackets, for a model that reads phrases."
    )
    define_parser_flags()
    flags.DEFINE_list(
        "attentions",
        [],
        "Attentions to draw, such as encoder, decoder, cross; default: all.",
    )
    flags.DEFINE_list("layers", [], "Layers to draw, counted from 1; default: all.")
    flags.DEFINE_list(
        "heads",
        ["mean"],
        "Heads to draw, counted from 0; mean: the mean over all heads; all: each head.",
    )
    flags.DEFINE_string("decode_hparams", "", "Such as beam_size=4, and batch_size for --stats.")
    flags.DEFINE_bool("xla_compile", None, "Compile by XLA; default: on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Print statistics, draw heat maps, or both."""
    del argv
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    if not (FLAGS.stats or FLAGS.heat_maps):
        raise app.UsageError("--stats or --heat_maps=FOLDER is needed")
    if bool(FLAGS.insights_from_file) != bool(FLAGS.references_file):
        raise app.UsageError("--insights_from_file and --references_file belong together")
    if FLAGS.heat_maps and not (FLAGS.source or "").split():
        raise app.UsageError("--heat_maps needs the --source sentence to draw")
    if FLAGS.target is not None and not FLAGS.target.split():
        raise app.UsageError("--target has no words; leave it out for the model's own translation")
    for task, needed in (
        ("stats", ("stats_file", "insights_from_file")),
        ("heat_maps", ("source", "source_tree", "target", "attentions", "layers", "heads")),
    ):
        for flag in needed:
            if FLAGS[flag].present and not FLAGS[task].value:
                raise app.UsageError(f"--{flag} has a meaning only with --{task}")
    registry.discover(FLAGS.t2t_usr_dir)
    from t2t_phrase.evaluation.text_files import check_writable

    # What can fail at once does so before the model is loaded.
    if FLAGS.stats_file:
        check_writable(FLAGS.stats_file)
    pairs = read_files() if FLAGS.insights_from_file else []
    trained, encoder = decoder.load()
    if FLAGS.stats and trained.record.resolved().reads_phrases:
        raise UserError(
            f"{trained.checkpoint} reads the phrases of parsed sentences, which --stats has not; "
            "give it a model without, or draw --heat_maps"
        )
    phrases = phrases_of_source(trained.record) if FLAGS.heat_maps else None
    choice = choose_pictures(trained.model) if FLAGS.heat_maps else None
    if FLAGS.stats:
        show_statistics(trained, encoder, pairs or read_dev_set(trained), hparams)
    if choice is not None:
        draw_heat_maps(trained, encoder, hparams, choice, phrases)


def phrases_of_source(record: Any) -> list[str] | None:
    """Return the --source cut into phrases, or None for a model that does not read them.

    Raises:
        UserError: there is no tree, or it does not fit; or there is, and the model reads none.
    """
    from t2t_phrase.text.trees.subword_phrases import cut_lines

    if not record.resolved().reads_phrases:
        if FLAGS.source_tree:
            raise UserError(
                f"--source_tree: a model of {record.hparams_set} reads no trees; leave it out"
            )
        return None
    if FLAGS.source_tree:
        return cut_lines([FLAGS.source], [FLAGS.source_tree], "--source_tree")[0]
    if FLAGS.parser:
        return phrase_cutter(record)([FLAGS.source])[0]
    raise UserError(
        f"a model of {record.hparams_set} reads the phrases of parsed sentences: give the "
        "--source_tree in Penn brackets, or --parser=stanza or --parser=corenlp"
    )


def read_files() -> list[tuple[str, str]]:
    """Return the pairs of the two files.

    Raises:
        UserError: one cannot be read, or they do not belong together.
    """
    from t2t_phrase.evaluation.text_files import read_text

    sources, references = read_text(FLAGS.insights_from_file), read_text(FLAGS.references_file)
    if len(sources) != len(references):
        raise UserError(
            f"{FLAGS.insights_from_file} has {len(sources)} lines and {FLAGS.references_file} has "
            f"{len(references)}; each line of one must belong to the same line of the other"
        )
    if not sources:
        raise UserError(f"{FLAGS.insights_from_file} is empty: there is nothing to look at")
    return list(zip(sources, references, strict=True))


def read_dev_set(trained: TrainedModel) -> list[tuple[str, str]]:
    """Return the pairs of the problem's development set.

    Raises:
        UserError: it is not there.
    """
    from t2t_phrase.data.problem import get_problem

    name = trained.record.problem or FLAGS.problem
    if not name or not FLAGS.data_dir:
        raise UserError(
            "the development set is known by --problem and --data_dir: give both, or "
            "--insights_from_file and --references_file"
        )
    return list(zip(*get_problem(name).raw_text(FLAGS.data_dir, "dev"), strict=True))


def show_statistics(
    trained: TrainedModel,
    encoder: Encoder,
    pairs: Sequence[tuple[str, str]],
    hparams: DecodeHParams,
) -> None:
    """Print the tables, and write --stats_file.

    Raises:
        UserError: the model has no n-grams, or the pairs have no words.
    """
    from t2t_phrase.decoding.search.beam_search import EOS_ID
    from t2t_phrase.evaluation.text_files import write_text
    from t2t_phrase.insights.statistics import attention_statistics
    from t2t_phrase.insights.tables import format_statistics, statistics_to_dict

    maps = trained.model.attention_maps().values()
    if not any(layout.has_ngrams for attention in maps for layout in attention.layouts):
        raise UserError(
            f"{trained.checkpoint} ({trained.record.hparams_set}) has no attention to n-grams, "
            "which --stats are about; use --heat_maps"
        )
    ids = [
        ([*encoder.encode(source), EOS_ID], [*encoder.encode(target), EOS_ID])
        for source, target in pairs
        if source.split() and target.split()
    ]
    if not ids:
        raise UserError("no line has words on both sides: there is nothing to look at")
    if len(ids) < len(pairs):
        decoder.note(f"{len(pairs) - len(ids)} lines without words on both sides are left out")
    found = attention_statistics(
        trained.model,
        ids,
        batch_size=hparams.batch_size,
        xla=FLAGS.xla_compile,
        progress=decoder.Ticker("read", len(ids)),
    )
    print(format_statistics(found), flush=True)
    decoder.note(f"{len(ids)} sentence pairs, teacher-forced")
    if FLAGS.stats_file:
        about = {
            "checkpoint": trained.checkpoint,
            "step": trained.step,
            "problem": trained.record.problem,
            "hparams_set": trained.record.hparams_set,
            "pairs": len(ids),
            "attentions": statistics_to_dict(found),
        }
        write_text(FLAGS.stats_file, json.dumps(about, indent=2).split("\n"))
        decoder.note(f"written to {FLAGS.stats_file}")


def choose_pictures(model: Any) -> Choice:
    """Return which attentions, layers and heads to draw; make the folder of the pictures.

    Raises:
        UserError: the model has no such attention, layer or head, or the folder cannot be made.
    """
    from t2t_phrase.insights.pictures import choose

    choice = choose(
        model.attention_maps(),
        attentions=FLAGS.attentions,
        layers=FLAGS.layers,
        heads=FLAGS.heads,
    )
    make_folder(FLAGS.heat_maps)
    return choice


def draw_heat_maps(
    trained: TrainedModel,
    encoder: Encoder,
    hparams: DecodeHParams,
    choice: Choice,
    phrases: list[str] | None,
) -> None:
    """Write a PNG for each attention, layer and head chosen."""
    from t2t_phrase.compile import compiled
    from t2t_phrase.data.files import write_bytes
    from t2t_phrase.decoding.search.beam_search import EOS_ID
    from t2t_phrase.decoding.translator import encode_all
    from t2t_phrase.insights.heat_map import png_of, unknown_characters
    from t2t_phrase.insights.labels import tokens_of
    from t2t_phrase.insights.pictures import draw

    folder = make_folder(FLAGS.heat_maps)
    (ids,), numbers = encode_all(encoder, [FLAGS.source], phrases and [phrases])
    source = [*ids, EOS_ID]
    features = {"inputs": np.array([source], "int32")}
    if numbers is not None:
        features["phrases"] = np.array([[*numbers[0], numbers[0][-1] + 1]], "int32")
    if FLAGS.target is None:
        target = translate(trained.model, features, hparams)
        decoder.note(f"translation: {encoder.decode(target)}")
    else:
        target = [*encoder.encode(FLAGS.target), EOS_ID]
    features["targets"] = np.array([target], "int32")
    weights = compiled(trained.model.attention_weights, xla=FLAGS.xla_compile)(features)
    tokens = [tokens_of(ids, encoder) for ids in (source, target)]
    if missing := unknown_characters(token.text for side in tokens for token in side):
        decoder.note(f"no font here has {missing}, drawn as boxes; install one, say Noto Sans CJK")
    caption = f"{trained.record.hparams_set}, step {trained.step}"
    count = 0
    partitions = {
        name: np.asarray(membership)[0]
        for name, membership in trained.model.partitions(features).items()
    }
    maps = trained.model.attention_maps()
    for picture in draw(
        weights, maps, *tokens, partitions=partitions, choice=choice, caption=caption
    ):
        write_bytes(folder / f"{picture.name}.png", png_of(picture.figure))
        count += 1
    decoder.note(f"{count} pictures written to {folder}, such as {picture.name}.png")


def make_folder(path: str) -> pathlib.Path:
    """Return a folder, made if it is not there.

    Raises:
        UserError: it cannot be made.
    """
    from t2t_phrase.data.files import explain_os_error

    folder = pathlib.Path(path).expanduser()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from error
    return folder


def translate(model: Any, features: dict[str, Any], hparams: DecodeHParams) -> list[int]:
    """Return the ids of the best translation of one sentence, EOS included."""
    from t2t_phrase.compile import compiled
    from t2t_phrase.decoding.search.translate_ids import translate_ids

    def run(features: Any) -> Any:
        return translate_ids(model, features, hparams, seed=np.int32(0)).ids

    found = compiled(run, xla=FLAGS.xla_compile)(features)
    best = np.asarray(found)[0, 0]
    return [int(token) for token in best if token]


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
