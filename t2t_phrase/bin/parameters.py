"""t2t-phrase-parameters: prints the parameter counts of hparams sets next to those published.

t2t-phrase-parameters
t2t-phrase-parameters --hparams_sets=transformer_tiny --hparams=num_heads=8 --vocab_size=8000
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from absl import flags

from t2t_phrase import registry
from t2t_phrase.bin import common

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Define the command's flags."""
    flags.DEFINE_list("hparams_sets", [], "Hparams sets; default: all whose size a paper reports.")
    flags.DEFINE_string("hparams", "", "Overrides of each set, such as num_heads=4,norm=post.")
    flags.DEFINE_integer(
        "vocab_size", 0, "Number of subwords; 0: as in the paper, or 37,000.", lower_bound=0
    )
    flags.DEFINE_string("t2t_usr_dir", "", "Python package with your own registrations.")


def main(argv: Sequence[str]) -> None:
    """Print the table."""
    del argv
    registry.discover(FLAGS.t2t_usr_dir)
    for line in parameter_lines(
        FLAGS.hparams_sets, overrides=FLAGS.hparams, vocab_size=FLAGS.vocab_size
    ):
        print(line, flush=True)


def parameter_lines(
    hparams_sets: Sequence[str], *, overrides: str = "", vocab_size: int = 0
) -> Iterator[str]:
    """Yield the header and a line for each set.

    Args:
        hparams_sets: registered names; if empty, those of `PUBLISHED`.
        overrides: overrides of each set.
        vocab_size: number of subwords; 0: as in the paper, or 37,000.

    Raises:
        UserError: a set is unknown, or the overrides are invalid.
    """
    from t2t_phrase.models.parameter_count import count_parameters
    from t2t_phrase.models.published import PUBLISHED
    from t2t_phrase.training_hparams import registered_hparams

    names = list(hparams_sets) or list(PUBLISHED)
    chosen = {name: registered_hparams(name).override(overrides) for name in names}
    width = max(map(len, ["hparams set", *names]))
    yield f"{'hparams set':<{width}}  {'subwords':>8}  {'millions':>8}  {'paper':>6}"
    for name, hparams in chosen.items():
        paper = PUBLISHED.get(name)
        subwords = vocab_size or (paper.vocab_size if paper else 37_000)
        millions = count_parameters(hparams, vocab_size=subwords) / 1e6
        line = f"{name:<{width}}  {subwords:>8,}  {millions:>8.1f}"
        if paper and not overrides and subwords == paper.vocab_size:
            remark = f"; {paper.remark}" if paper.remark else ""
            line += f"  {paper.millions:>6g}  {paper.where}{remark}"
        yield line


def run() -> None:
    """Start the command."""
    define_flags()
    common.run(main)


if __name__ == "__main__":
    run()
