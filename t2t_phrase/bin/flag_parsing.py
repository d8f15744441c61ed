"""Parses a command's flags; every mistake is reported in one sentence."""

from __future__ import annotations

import itertools
import math
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence

from absl import app, flags

import t2t_phrase
from t2t_phrase.config import LARGEST_INT, UserError, clipped, nearest
from t2t_phrase.tensor2tensor_options import flag_instead

HELP = "(--help lists all flags)"
_REPEAT = ";\n    repeat this option"


class WrongUsage(UserError):
    """A command line that cannot be understood; the message ends with a hint at `--help`."""

    def __str__(self) -> str:
        return f"{super().__str__()} {HELP}"


def parse_flags(argv: Sequence[str]) -> list[str]:
    """Parse the command line into `flags.FLAGS`.

    `--help` and `--version` print and exit with code 0.

    Args:
        argv: the command's name and its arguments.

    Returns:
        The name and the arguments that are not flags.

    Raises:
        WrongUsage: a flag is unknown, lacks its value, or has a wrong one.
    """
    aliases = {"-h": "--help", "--registry_help": "--registry_help=all"}
    arguments = [aliases.get(argument, argument) for argument in argv]
    if "--help" in arguments[1:]:
        print(help_text())
        sys.exit(0)
    _check_values_are_there(arguments[1:])
    _check_repeats(arguments[1:])
    try:
        rest = flags.FLAGS(arguments)
    except SystemExit:
        # absl's help flags exit with code 1, as if they were mistakes.
        sys.exit(0)
    except (flags.Error, ValueError) as error:
        raise WrongUsage(_explain(error)) from error
    if flags.FLAGS.version:
        print(f"{_command(argv[0])} {t2t_phrase.__version__}")
        sys.exit(0)
    if len(rest) > 1:
        raise WrongUsage(f"unexpected argument {rest[1]!r}; flags are written --name=value")
    for flag in own_flags():
        _check_range(flag)
    return rest


def help_text() -> str:
    """Return the command's description and its flags, in the order of their definition.

    Commands define the flags that users need first before the others.
    """
    own = {flag.name for flag in own_flags()}
    lines = [str(sys.modules["__main__"].__doc__ or "").strip(), "", "flags:"]
    # `FLAGS` yields names in the order of their definition.
    for name in (name for name in flags.FLAGS if name in own):
        flag = flags.FLAGS[name]
        title = f"--{'[no]' * bool(flag.boolean)}{name}"
        # absl adds a line to the help of flags that may be repeated; ours say so themselves.
        text = f"{title}: {flag.help.partition(_REPEAT)[0]}"
        if flag.default not in (None, "", [], False, 0):
            default = str(flag.default_as_str).strip("'")
            text += f" (default: {default})"
        lines += textwrap.wrap(
            text, 96, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False
        )
    return "\n".join([*lines, "", "--helpfull lists the flags of other libraries, too."])


def own_flags() -> Iterator[flags.Flag]:
    """Yield the flags that this library defines, without those of other libraries."""
    for module, defined in flags.FLAGS.flags_by_module_dict().items():
        # A module run with `python -m` is known by the path of its file.
        if module.startswith("t2t_phrase.") or module == sys.argv[0]:
            yield from defined


def refuse_empty(*names: str) -> None:
    """Refuse flags that are given without a file, as by `--source=$FILE` if FILE is not set.

    Args:
        names: of flags that name files.

    Raises:
        UsageError: such a flag is empty.
    """
    for name in names:
        flag = flags.FLAGS[name]
        values = flag.value if isinstance(flag.value, list) else [flag.value]
        if flag.present and (not values or "" in values):
            raise app.UsageError(f"--{name}= names no file; leave the flag out, or give one")


def _check_values_are_there(arguments: Sequence[str]) -> None:
    """Refuse `--output_dir --data_dir=x`, which would take the second flag as a value."""
    known = flags.FLAGS
    for argument, following in itertools.zip_longest(arguments, arguments[1:]):
        name = argument.lstrip("-")
        if argument == "--":
            return
        if not argument.startswith("-"):
            continue
        if name not in known or known[name].boolean:
            continue
        if following is None or following.startswith("--"):
            found = f"; {following!r} follows" if following else ""
            raise WrongUsage(f"--{name} lacks its value{found}; write --{name}=VALUE")


def _check_repeats(arguments: Sequence[str]) -> None:
    """Refuse a flag that is given twice with different values."""
    seen: dict[str, str] = {}
    for argument, following in itertools.zip_longest(arguments, arguments[1:]):
        if argument == "--":
            return
        if not argument.startswith("-"):
            continue
        name, equals, value = argument.lstrip("-").partition("=")
        if name not in flags.FLAGS and name.removeprefix("no") in flags.FLAGS:
            name, value = name.removeprefix("no"), "false"
        elif not equals:
            is_boolean = name in flags.FLAGS and flags.FLAGS[name].boolean
            value = "true" if is_boolean else str(following)
        # A value may begin like a flag, as in `--random_seed -1`.
        if name not in flags.FLAGS or isinstance(flags.FLAGS[name], flags.MultiFlag):
            continue
        if seen.setdefault(name, value) != value:
            raise WrongUsage(
                f"--{name} is given twice: {clipped(seen[name])} and {clipped(value)}; "
                "leave one out"
            )


def _check_range(flag: flags.Flag) -> None:
    values = flag.value if isinstance(flag.value, list) else [flag.value]
    for value in values:
        if isinstance(value, int) and abs(value) > LARGEST_INT:
            most = f"{_expected(flag)} up to {LARGEST_INT}"
            raise WrongUsage(f"--{flag.name}={clipped(str(value))}: expected {most}")
        if isinstance(value, float) and not math.isfinite(value):
            raise WrongUsage(f"--{flag.name}={value}: expected {_expected(flag)}")


def _explain(error: Exception) -> str:
    if isinstance(error, flags.UnrecognizedFlagError):
        known = [flag.name for flag in own_flags()]
        instead = flag_instead(error.flagname)
        named = re.match(r"--(\w+)", instead)
        if named and named[1] not in known:
            instead = ""  # Another command has this flag.
        hint = nearest(error.flagname, known, prefix="--", instead=instead)
        return f"--{clipped(error.flagname)} is unknown{hint}"
    if isinstance(error, flags.CantOpenFlagFileError):
        return f"--flagfile cannot be read: {str(error).rsplit('flagfile: ')[-1]}"
    if isinstance(error, UnicodeDecodeError):
        return f"--flagfile is not UTF-8: {error}"
    message = clipped(str(error), 500)
    name, _, value = message.removeprefix("flag --").partition("=")
    if not isinstance(error, flags.IllegalFlagValueError) or name not in flags.FLAGS:
        return message
    value = value.removesuffix(f": {error.__context__}")
    flag = flags.FLAGS[name]
    hint = ""
    if isinstance(flag.parser, flags.EnumParser):
        hint = nearest(value, flag.parser.enum_values)
    return f"--{name}={clipped(value)}: expected {_expected(flag)}{hint}"


def _expected(flag: flags.Flag) -> str:
    if flag.boolean:
        return "true or false"
    if isinstance(flag.parser, flags.EnumParser):
        return f"one of {', '.join(flag.parser.enum_values)}"
    if isinstance(flag.parser, flags.ListParser):
        return "a list separated by commas"
    return flag.parser.syntactic_help or "another value"


def _command(program: str) -> str:
    """Return the name of the command, even for `python -m t2t_phrase.bin.eval`."""
    name = program.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".py")
    return name if name.startswith("t2t-phrase-") else f"t2t-phrase-{name.removesuffix('_t2t')}"
