"""t2t-phrase-insights: pages, statistics and heat maps of a trained model's attention.

t2t-phrase-insights --output_dir=run --data_dir=data --html=page.html --insights_from_file=test.en
t2t-phrase-insights --output_dir=run --data_dir=data --stats
t2t-phrase-insights --output_dir=run --data_dir=data --heat_maps=maps --source="A house ."
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.insights_checks import check_decoding, check_flags
from t2t_phrase.bin.insights_input import (
    check_outputs,
    feature_texts_of_files,
    read_dev_set,
    read_files,
    texts_of_features,
)
from t2t_phrase.bin.insights_page import define_page_flags, write_page_of
from t2t_phrase.bin.model_flags import define_model_flags, load
from t2t_phrase.bin.source_features import define_feature_flags
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.io.files import expanded
from t2t_phrase.io.line_counts import counted
from t2t_phrase.io.reporting import Ticker, note

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.insights.pictures import Choice
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Vocabularies

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    flags.DEFINE_bool("stats", False, "Print how attention is distributed, in all layers.")
    flags.DEFINE_string(
        "stats_file",
        None,
        "File for the statistics as JSON; FILE.csv: one table, a line for each layer and measure.",
    )
    flags.DEFINE_string(
        "insights_from_file",
        None,
        "Source sentences for the statistics (default: the development set) or for the page.",
    )
    flags.DEFINE_string("references_file", None, "Their translations, one per line.")
    flags.DEFINE_string("heat_maps", None, "Folder for pictures of one sentence pair.")
    flags.DEFINE_enum("format", "png", ["png", "pdf", "svg"], "Format of the pictures.")
    flags.DEFINE_bool(
        "merge_subwords",
        False,
        "Draw words instead of subwords: the mean over the subwords of a query, the sum over those "
        "of a key.",
    )
    flags.DEFINE_string(
        "weights_file",
        None,
        "File.npz for all weights of the sentence pair: an array (heads, rows, columns) for each "
        "layer, such as cross_layer1, and the tokens as source and target.",
    )
    flags.DEFINE_string("source", None, "The source sentence of the pictures, or of the page.")
    flags.DEFINE_string("target", None, "Its translation; default: that of the model.")
    flags.DEFINE_multi_string(
        "feature",
        [],
        "NAME=LINE: a feature of the sentence, for a model that reads any, as in the file "
        "next to a corpus: --feature='phrases=(S (NP A house) .)'. May be repeated.",
    )
    define_feature_flags()
    define_page_flags()
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
    flags.DEFINE_string(
        "decode_hparams",
        "",
        "Options of decoding, such as beam_size=4; batch_size is also used by --stats.",
    )
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


def main(argv: Sequence[str]) -> None:
    """Write a page, print statistics, draw heat maps, or several of these."""
    del argv
    hparams = DecodeHParams().override(FLAGS.decode_hparams)
    check_flags()
    check_decoding(hparams)
    registry.discover(FLAGS.t2t_usr_dir)
    # Checks that can fail at once come before the model is loaded.
    check_outputs()
    pairs = read_files() if FLAGS.insights_from_file and FLAGS.stats else []
    trained, vocabularies = load(
        ensembles=bool(FLAGS.html and not (FLAGS.stats or FLAGS.heat_maps))
    )
    if FLAGS.stats:
        from t2t_phrase.insights.corpus import check_statistics

        check_statistics(trained.model, f"{trained.checkpoint} ({trained.record.hparams_set})")
    texts = texts_of_features(trained.model.hparams.features) if FLAGS.heat_maps else {}
    choice = choose_pictures(trained.model) if FLAGS.heat_maps else None
    if FLAGS.stats:
        features = trained.model.hparams.features
        if pairs:
            own = feature_texts_of_files(features, *map(list, zip(*pairs, strict=True)))
        else:
            pairs, own = read_dev_set(trained)
        show_statistics(trained, vocabularies, pairs, own, hparams)
    if choice is not None:
        draw_heat_maps(trained, vocabularies, hparams, choice, texts)
    if FLAGS.html:
        write_page_of(trained, vocabularies, hparams)


def show_statistics(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    pairs: Sequence[tuple[str, str]],
    texts: FeatureTexts,
    hparams: DecodeHParams,
) -> None:
    """Print the tables, and write --stats_file.

    Raises:
        UserError: the pairs have no words.
    """
    from t2t_phrase.insights.corpus import corpus_statistics
    from t2t_phrase.insights.tables import (
        format_statistics,
        statistics_to_dict,
        statistics_to_rows,
    )
    from t2t_phrase.io.text_files import write_text

    found, count = corpus_statistics(
        trained.model,
        vocabularies,
        pairs,
        texts=texts,
        batch_size=hparams.batch_size,
        xla=FLAGS.xla_compile,
        progress=Ticker("read", len(pairs)),
    )
    if count < len(pairs):
        note(f"left out: {counted(len(pairs) - count, 'line')} without words on both sides")
    print(format_statistics(found), flush=True)
    note(f"{counted(count, 'sentence pair')}, teacher-forced")
    if FLAGS.stats_file and FLAGS.stats_file.lower().endswith(".csv"):
        write_text(FLAGS.stats_file, [",".join(row) for row in statistics_to_rows(found)])
        note(f"written to {FLAGS.stats_file}")
    elif FLAGS.stats_file:
        about = {
            "checkpoint": trained.checkpoint,
            "step": trained.step,
            "problem": trained.record.problem,
            "hparams_set": trained.record.hparams_set,
            "pairs": count,
            "attentions": statistics_to_dict(found),
        }
        write_text(FLAGS.stats_file, json.dumps(about, indent=2).split("\n"))
        note(f"written to {FLAGS.stats_file}")


def choose_pictures(model: Any) -> Choice:
    """Return the attentions, layers and heads to draw, and make the folder of the pictures.

    Raises:
        UserError: the model has no such attention, layer or head, or the folder cannot be made.
    """
    from t2t_phrase.insights.pictures import choose

    choice = choose(
        model.attention_maps(),
        attentions=FLAGS.attentions,
        layers=FLAGS.layers,
        heads=FLAGS.heads,
        words=FLAGS.merge_subwords,
    )
    make_folder(FLAGS.heat_maps)
    return choice


def draw_heat_maps(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    hparams: DecodeHParams,
    choice: Choice,
    texts: FeatureTexts,
) -> None:
    """Write a picture for each attention, layer and head chosen."""
    from t2t_phrase.figure_files import picture_of
    from t2t_phrase.figure_fonts import font_notes
    from t2t_phrase.insights.sentence import sentence_attention
    from t2t_phrase.io.files import write

    folder = make_folder(FLAGS.heat_maps)
    found = sentence_attention(
        trained.model,
        vocabularies,
        FLAGS.source,
        FLAGS.target,
        texts=texts,
        hparams=hparams,
        xla=FLAGS.xla_compile,
    )
    for sentence in found.notes:
        note(sentence)
    if FLAGS.target is None:
        note(f"translation: {found.text}")
    for sentence in font_notes(token.text for token in (*found.source, *found.target)):
        note(sentence)
    count = 0
    for picture in found.pictures(
        choice, caption=f"{trained.record.hparams_set}, step {trained.step}"
    ):
        content = picture_of(picture.figure, FLAGS.format)
        write(folder / f"{picture.name}.{FLAGS.format}", content)
        count += 1
    if not count:
        raise UserError("--attentions, --layers and --heads together choose nothing to draw")
    note(f"{counted(count, 'picture')} written to {folder}, such as {picture.name}.{FLAGS.format}")
    if FLAGS.weights_file:
        found.save_weights(FLAGS.weights_file)
        note(f"weights written to {FLAGS.weights_file}")


def make_folder(path: str) -> pathlib.Path:
    """Return a folder, created if it does not exist.

    Raises:
        UserError: the folder cannot be created.
    """
    from t2t_phrase.io.files import explain_os_error

    folder = expanded(path)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise explain_os_error(error, folder) from error
    return folder


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
