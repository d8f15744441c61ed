"""t2t-phrase-insights: statistics and heat maps of a trained model's attention.

t2t-phrase-insights --output_dir=run --data_dir=data --stats
t2t-phrase-insights --output_dir=run --data_dir=data --heat_maps=maps --source="A house ."
"""

from __future__ import annotations

import io
import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from absl import app, flags

from t2t_phrase import registry
from t2t_phrase.bin import common
from t2t_phrase.bin.insights_input import read_dev_set, read_files, texts_of_features
from t2t_phrase.bin.model_flags import define_model_flags, load
from t2t_phrase.bin.reporting import Ticker, note
from t2t_phrase.bin.source_features import define_parser_flags
from t2t_phrase.bin.text_job import check_paths
from t2t_phrase.config import UserError
from t2t_phrase.decoding.hparams import DecodeHParams
from t2t_phrase.special_ids import EOS_ID

if TYPE_CHECKING:
    from t2t_phrase.decoding.sides import FeatureTexts
    from t2t_phrase.features import Side
    from t2t_phrase.insights.labels import Token
    from t2t_phrase.insights.pictures import Choice
    from t2t_phrase.runs.load_model import TrainedModel
    from t2t_phrase.text.vocabularies import Encoder, Vocabularies

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    define_model_flags()
    flags.DEFINE_bool("stats", False, "Print how much attention n-grams give and receive.")
    flags.DEFINE_string("stats_file", None, "File for the statistics as JSON.")
    flags.DEFINE_string(
        "insights_from_file",
        None,
        "Source sentences for the statistics; default: the development set.",
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
    flags.DEFINE_string("source", None, "The source sentence of the pictures.")
    flags.DEFINE_string("target", None, "Its translation; default: that of the model.")
    flags.DEFINE_multi_string(
        "feature",
        [],
        "NAME=LINE: a feature of the sentence, for a model that reads any, as in the file "
        "next to a corpus: --feature='phrases=(S (NP A house) .)'. May be repeated.",
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
    flags.DEFINE_string(
        "decode_hparams",
        "",
        "Options of decoding, such as beam_size=4; batch_size is also used by --stats.",
    )
    flags.DEFINE_bool("xla_compile", None, "Compile with XLA; default: only on a GPU.")


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
    for flag in ("attentions", "layers", "heads"):
        if FLAGS[flag].present and not FLAGS[flag].value:
            raise app.UsageError(f"--{flag}= chooses nothing to draw; leave it out for the default")
    for task, needed in (
        ("stats", ("stats_file", "insights_from_file")),
        (
            "heat_maps",
            (
                *("source", "feature", "target", "attentions", "layers", "heads", "format"),
                *("merge_subwords", "weights_file"),
            ),
        ),
    ):
        for flag in needed:
            if FLAGS[flag].present and not FLAGS[task].value:
                raise app.UsageError(f"--{flag} is only used with --{task}")
    registry.discover(FLAGS.t2t_usr_dir)
    # What can fail at once does so before the model is loaded.
    if FLAGS.stats_file:
        check_paths(
            FLAGS.stats_file, filter(None, (FLAGS.insights_from_file, FLAGS.references_file))
        )
    pairs = read_files() if FLAGS.insights_from_file else []
    trained, vocabularies = load(ensembles=False)
    if FLAGS.stats:
        check_statistics(trained)
    texts = texts_of_features(trained.model.hparams.features) if FLAGS.heat_maps else {}
    choice = choose_pictures(trained.model) if FLAGS.heat_maps else None
    if FLAGS.stats:
        show_statistics(trained, vocabularies, pairs or read_dev_set(trained), hparams)
    if choice is not None:
        draw_heat_maps(trained, vocabularies, hparams, choice, texts)


def check_statistics(trained: TrainedModel) -> None:
    """Refuse a model whose attention has no statistics.

    Raises:
        UserError: the model has no n-grams, or reads features that are not available.
    """
    layouts = [
        layout
        for attention in trained.model.attention_maps().values()
        for layout in attention.layouts
    ]
    if not any(layout.has_ngrams for layout in layouts):
        named = [
            units.partition
            for layout in layouts
            for units in (*layout.rows, *layout.all_columns)
            if units.partition
        ]
        segments = f" (segments, here {', '.join(dict.fromkeys(named))}, do not overlap)"
        raise UserError(
            f"{trained.checkpoint} ({trained.record.hparams_set}) has no attention to n-grams, "
            f"which --stats are about{segments if named else ''}; use --heat_maps"
        )
    if trained.model.hparams.features:
        names = ", ".join(feature.name for feature in trained.model.hparams.features)
        raise UserError(
            f"{trained.checkpoint} reads features of the sentences ({names}), which --stats does "
            "not have; draw --heat_maps instead"
        )


def show_statistics(
    trained: TrainedModel,
    vocabularies: Vocabularies,
    pairs: Sequence[tuple[str, str]],
    hparams: DecodeHParams,
) -> None:
    """Print the tables, and write --stats_file.

    Raises:
        UserError: the pairs have no words.
    """
    from t2t_phrase.insights.statistics import attention_statistics
    from t2t_phrase.insights.tables import format_statistics, statistics_to_dict
    from t2t_phrase.io.text_files import write_text

    ids = [
        (
            [*vocabularies.source.encode(source), EOS_ID],
            [*vocabularies.target.encode(target), EOS_ID],
        )
        for source, target in pairs
        if source.split() and target.split()
    ]
    if not ids:
        raise UserError("no line has words on both sides: there is nothing to look at")
    if len(ids) < len(pairs):
        note(f"{len(pairs) - len(ids)} lines without words on both sides are left out")
    found = attention_statistics(
        trained.model,
        ids,
        batch_size=hparams.batch_size,
        xla=FLAGS.xla_compile,
        progress=Ticker("read", len(ids)),
    )
    print(format_statistics(found), flush=True)
    note(f"{len(ids)} sentence pairs, teacher-forced")
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
        note(f"written to {FLAGS.stats_file}")


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
        words=FLAGS.merge_subwords,
    )
    if FLAGS.weights_file:
        check_paths(FLAGS.weights_file, [])
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
    from t2t_phrase.compile import compiled
    from t2t_phrase.insights.heat_map import picture_of, unknown_characters
    from t2t_phrase.insights.labels import tokens_of
    from t2t_phrase.insights.pictures import draw
    from t2t_phrase.io.files import write

    folder = make_folder(FLAGS.heat_maps)
    source = features_of("source", trained.model, vocabularies.source, FLAGS.source, texts)
    if FLAGS.target is None:
        target = {"targets": np.array([translate(trained.model, source, hparams)], "int32")}
        translation = vocabularies.target.decode(target["targets"][0].tolist())
        note(f"translation: {translation}")
    else:
        target = features_of(
            "target",
            trained.model,
            vocabularies.target,
            FLAGS.target,
            texts,
            other=(vocabularies.source, FLAGS.source),
        )
    features = {**source, **target}
    weights = compiled(
        trained.model.attention_weights,
        variables=trained.model.variables,
        xla=FLAGS.xla_compile,
    )(features)
    # Not compiled: few models have any, and these look once.
    windows = trained.model.attention_windows(features)
    tokens = [
        tokens_of(features[name][0].tolist(), encoder)
        for name, encoder in zip(("inputs", "targets"), vocabularies, strict=True)
    ]
    if missing := unknown_characters(token.text for side in tokens for token in side):
        note(f"no font here has {missing}, drawn as boxes; install one, say Noto Sans CJK")
    caption = f"{trained.record.hparams_set}, step {trained.step}"
    count = 0
    partitions = {
        name: np.asarray(membership)[0]
        for name, membership in trained.model.partitions(features).items()
    }
    maps = trained.model.attention_maps()
    for picture in draw(
        weights,
        maps,
        *tokens,
        partitions=partitions,
        windows=windows,
        choice=choice,
        caption=caption,
    ):
        content = picture_of(picture.figure, FLAGS.format)
        write(folder / f"{picture.name}.{FLAGS.format}", content)
        count += 1
    if not count:
        raise UserError("--attentions, --layers and --heads together choose nothing to draw")
    note(f"{count} pictures written to {folder}, such as {picture.name}.{FLAGS.format}")
    if FLAGS.weights_file:
        write(FLAGS.weights_file, archive_of(weights, tokens))
        note(f"weights written to {FLAGS.weights_file}")


def archive_of(weights: Mapping[str, Sequence[Any]], tokens: Sequence[Sequence[Token]]) -> bytes:
    """Return an .npz file with the weights of one sentence pair.

    Args:
        weights: from `model.attention_weights`.
        tokens: of the source and of the target.
    """
    arrays: dict[str, Any] = {
        f"{name}_layer{number}": np.asarray(layer)[0]
        for name, layers in weights.items()
        for number, layer in enumerate(layers, start=1)
    }
    for side, own in zip(("source", "target"), tokens, strict=True):
        arrays[side] = np.array([token.text for token in own])
    archive = io.BytesIO()
    np.savez_compressed(archive, **arrays)
    return archive.getvalue()


def features_of(
    side: Side,
    model: Any,
    encoder: Encoder,
    sentence: str,
    texts: FeatureTexts,
    *,
    other: tuple[Encoder, str] | None = None,
) -> dict[str, np.ndarray]:
    """Return the ids and features of one sentence, without padding.

    Args:
        side: of the sentence.
        model: which reads them.
        encoder: of the sentence's language.
        sentence: in natural text.
        texts: of its features.
        other: the encoder and the sentence of the other side, if they are known.
    """
    from t2t_phrase.decoding.sides import encode_side, tokenize
    from t2t_phrase.features import IDS, of_side

    features = of_side(model.hparams.features, side)
    sentences = tokenize(encoder, [sentence], starts=bool(features))
    others = tokenize(other[0], [other[1]], starts=bool(features)) if other else None
    encoded = encode_side(side, sentences, features, texts, others=others, keep_empty=True)
    arrays = {IDS[side]: encoded.ids, **encoded.features}
    return {name: np.array(rows, "int32") for name, rows in arrays.items()}


def make_folder(path: str) -> pathlib.Path:
    """Return a folder, made if it is not there.

    Raises:
        UserError: the folder cannot be created.
    """
    from t2t_phrase.io.files import explain_os_error

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

    if model.capabilities.cannot_translate:
        raise UserError("--target is needed: the model has no translation of its own to draw")

    def run(features: Any) -> Any:
        return translate_ids(model, features, hparams, seed=np.int32(0)).ids

    found = compiled(run, variables=model.variables, xla=FLAGS.xla_compile)(features)
    best = np.asarray(found)[0, 0]
    return [int(token) for token in best if token]


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
