"""The commands that repeat a run."""

from __future__ import annotations

import math
import shlex

from t2t_phrase import registry
from t2t_phrase.config import UserError
from t2t_phrase.data.sources.grammar_problem import GrammarProblem
from t2t_phrase.reports.run.facts import RunFacts
from t2t_phrase.runs import checkpoints
from t2t_phrase.runs.commands import last_value
from t2t_phrase.runs.directory import BEST


def repeating(facts: RunFacts) -> tuple[list[str], list[str]]:
    """Return the commands, and notes on what they leave open.

    The commands of training are the recorded ones, or else built from the settings of the run.
    """
    base, data = facts.problem.base_name, str(facts.data_dir)
    if isinstance(facts.problem, GrammarProblem):
        raw, notes = "", ["The first command generates the corpus, with the options below."]
    else:
        raw = "raw"
        notes = [
            "The first command needs the raw corpus in --tmp_dir (raw here); the data were made "
            "with the options and from the files below."
        ]
    registrations = _given(tmp_dir=raw, t2t_usr_dir=facts.record.t2t_usr_dir)
    lines = [_line("datagen", f"--problem={base}", f"--data_dir={data}", *registrations)]
    if facts.commands:
        lines += [_line("trainer", *command.arguments) for command in facts.commands]
        if _is_average(facts):
            notes.append(
                "The weights are an average of checkpoints of this training, made with "
                "t2t-phrase-avg; which checkpoints is not recorded."
            )
    else:
        lines.append(_line("trainer", *reconstructed(facts)))
        notes.append(
            "The run does not record its command: this one is reconstructed from its settings. "
            "Flags that are not settings, such as those of early stopping, may be missing."
        )
    return lines + _scoring(facts), notes


def reconstructed(facts: RunFacts) -> list[str]:
    """Return flags of t2t-phrase-trainer that give the settings of a run."""
    record = facts.record
    flags = {
        "problem": record.problem,
        "hparams_set": record.hparams_set,
        "hparams": record.overrides,
        "model": "" if _is_default_model(facts) else record.model,
        "data_dir": str(facts.data_dir),
        "output_dir": str(facts.folder),
        "train_steps": str(record.train_steps or facts.steps),
        "local_eval_frequency": str(math.gcd(*facts.scores.scores) or ""),
        "random_seed": str(record.random_seed),
        "t2t_usr_dir": record.t2t_usr_dir,
    }
    return _given(**flags)


def _is_default_model(facts: RunFacts) -> bool:
    try:
        return bool(registry.hparams[facts.record.hparams_set]().model == facts.record.model)
    except UserError:
        return True


def _is_average(facts: RunFacts) -> bool:
    """Return whether the weights are an average: checkpoints of a run have an optimizer's state."""
    latest = checkpoints.latest(facts.folder)
    try:
        return latest is not None and not checkpoints.has_optimizer(latest)
    except UserError:
        return False  # It is damaged.


def _scoring(facts: RunFacts) -> list[str]:
    """Return commands that translate and score the test set with the best or latest checkpoint.

    The options and the tokenizer are those of the development set.
    """
    if facts.manifest is None or facts.best is None or facts.best.metric != "bleu":
        return []
    names = list(facts.manifest.splits.get("test", {"text": []})["text"])
    if len(names) < 2:
        return []
    source, *references = (str(facts.data_dir / name) for name in names)
    # Without it, the checkpoint that was translated is the latest one of the folder.
    has_best = checkpoints.latest(facts.folder / BEST) is not None
    if facts.problem.reversed:
        source, references = references[0], [source]
    made, tokenize = "test.out", facts.problem.bleu_tokenize
    return [
        _line(
            "decoder",
            f"--output_dir={facts.folder}",
            *_given(checkpoint_path=BEST if has_best else ""),
            f"--data_dir={facts.data_dir}",
            f"--decode_from_file={source}",
            f"--decode_to_file={made}",
            *_given(
                decode_hparams=last_value(facts.commands, "decode_hparams"),
                t2t_usr_dir=facts.record.t2t_usr_dir,
            ),
        ),
        _line(
            "eval",
            f"--translation={made}",
            *(f"--reference={path}" for path in references),
            *_given(tokenize="" if tokenize == "13a" else tokenize),
        ),
    ]


def _given(**flags: str) -> list[str]:
    return [f"--{name}={value}" for name, value in flags.items() if value]


def _line(command: str, *arguments: str) -> str:
    return " \\\n    ".join([f"t2t-phrase-{command}", *map(shlex.quote, arguments)])
