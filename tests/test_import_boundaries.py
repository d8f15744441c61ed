"""Who may import what, and that the models need no TensorFlow."""

import ast
import functools
import graphlib
import importlib.util
import os
import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "t2t_phrase"
MODULES = sorted(PACKAGE.rglob("*.py"))
# What anything may import; these modules themselves need the standard library and each other only.
FOUNDATION = (
    "config",
    "features",
    "io",
    "registry",
    "special_ids",
    "corpus_sizes",
    "tensor2tensor_options",
    "training_hparams",
    "text.vocabularies",
    "text.whitespace",
)
# For every part of the package, what it may import: other parts, which are below it, and packages
# beside the standard library.
KERAS, TENSORFLOW = {"keras", "numpy"}, {"keras", "numpy", "tensorflow"}
PARTS: dict[str, tuple[set[str], set[str]]] = {
    # What `t2t_phrase.NAME` leads to, and the command `python -m t2t_phrase`.
    "__init__": (
        {"api", "data", "decoding", "export", "keras_objects", "layers", "training"},
        set(),
    ),
    "__main__": ({"bin"}, set()),
    "keras_objects": (set(), set()),
    "api": (
        {
            "training",
            "evaluation",
            "decoding",
            "runs",
            "models",
            "data",
            "text",
            "cores",
            "insights",
            "reports",
        },
        TENSORFLOW,
    ),
    "config": (set(), set()),
    "corpus_sizes": (set(), set()),
    "features": (set(), set()),
    "io": (set(), set()),
    "registry": (set(), set()),
    "special_ids": (set(), set()),
    "tensor2tensor_options": (set(), set()),
    "training_hparams": (set(), set()),
    "compile": (set(), KERAS),
    "cores": (set(), set()),
    "figure_files": (set(), {"matplotlib"}),
    "figure_fonts": (set(), {"matplotlib"}),
    "grammar": (set(), {"t2t_phrase_grammar"}),
    "word_aligner": (set(), {"numpy"}),
    "ops": ({"compile"}, KERAS),
    "layers": ({"ops"}, KERAS),
    "models": ({"layers", "ops"}, KERAS),
    "text": (set(), {"numpy", "tensorflow", "tensorflow_text", "sentencepiece", "nltk"}),
    "decoding": ({"text", "models", "layers", "ops", "compile", "cores", "word_aligner"}, KERAS),
    "data": ({"text", "grammar", "cores"}, {"numpy", "tensorflow", "tensorflow_datasets"}),
    "runs": ({"data", "text", "models"}, TENSORFLOW),
    "tensor2tensor": ({"runs", "text", "models"}, {"numpy", "tensorflow"}),
    "insights": (
        {"decoding", "models", "layers", "ops", "compile", "figure_fonts"},
        KERAS | {"matplotlib"},
    ),
    "probing": (
        {"decoding", "evaluation", "text", "models", "ops", "compile"},
        TENSORFLOW | {"nltk"},
    ),
    "evaluation": ({"data", "text", "grammar"}, {"numpy", "sacrebleu", "matplotlib"}),
    "comparison": ({"evaluation", "runs", "data", "decoding", "grammar"}, set()),
    "export": ({"decoding", "text", "models", "ops", "compile"}, TENSORFLOW | {"tensorflow_text"}),
    "serving": (
        {"export", "decoding", "runs", "text", "models"},
        TENSORFLOW
        | {"tensorflow_text", "fastapi", "fastapi_offline", "starlette", "uvicorn"}
        | {"prometheus_client"},
    ),
    "training": ({"runs", "data", "text", "models", "compile"}, TENSORFLOW | {"jax"}),
    "reports": (
        {
            "evaluation",
            "insights",
            "decoding",
            "runs",
            "data",
            "text",
            "models",
            "grammar",
            "figure_files",
            "figure_fonts",
        },
        {"numpy", "jinja2", "markupsafe", "matplotlib", "tensorboard"},
    ),
}
# Chosen by the backend, in functions.
LAZY = {
    "io": {"tqdm"},
    "compile": {"tensorflow", "jax", "torch"},
    "cores": {"keras", "tensorflow"},
    "ops": {"tensorflow", "jax", "torch"},
    "text": {"stanza", "sacremoses"},
    "evaluation": {"comet"},
    "export": {"ctranslate2", "onnx", "onnxruntime", "tf2onnx"},
}


@functools.cache
def imports(path: pathlib.Path) -> list[tuple[str, int, bool]]:
    """Return (dotted name, line, whether it stands inside a function) of everything imported."""

    def walk(node: ast.AST, inside: bool) -> Iterator[tuple[str, int, bool]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                for alias in child.names:
                    yield alias.name, child.lineno, inside
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{path}:{child.lineno}: relative import"
                for alias in child.names:
                    yield f"{child.module}.{alias.name}", child.lineno, inside
            function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            yield from walk(child, inside or function)

    return list(walk(ast.parse(path.read_text(encoding="utf-8")), False))


def forbidden(paths: list[pathlib.Path], allowed: Callable[[str, bool], bool]) -> list[str]:
    """Return "FILE:LINE: NAME" of imports that are not allowed.

    Args:
        paths: the modules.
        allowed: takes the dotted name and whether it is imported inside a function.
    """
    return [
        f"{name_of(path)}:{line}: {imported}"
        for path in paths
        for imported, line, inside in imports(path)
        if not allowed(imported, inside)
    ]


def place(path: pathlib.Path) -> str:
    """Return "ops" for ops/masks.py and "config" for config.py."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def name_of(path: pathlib.Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def in_foundation(imported: str) -> bool:
    return any(f"{imported}.".startswith(f"t2t_phrase.{name}.") for name in FOUNDATION)


def test_every_part_of_the_package_is_covered() -> None:
    assert {place(path) for path in MODULES} == {*PARTS, "bin"}


@pytest.mark.parametrize("name", FOUNDATION)
def test_the_foundation_needs_the_standard_library_only(name: str) -> None:
    path = PACKAGE / name.replace(".", "/")
    for module in sorted(path.glob("*.py")) or [path.with_suffix(".py")]:
        for imported, line, inside in imports(module):
            top = imported.split(".")[0]
            fine = top in sys.stdlib_module_names or in_foundation(imported)
            fine = fine or (inside and top in LAZY.get(name, ()))
            assert fine, f"{name_of(module)}:{line}: {imported}"


@pytest.mark.parametrize("own", PARTS)
def test_arrows_go_down_only(own: str) -> None:
    parts, packages = PARTS[own]

    def allowed(imported: str, inside: bool) -> bool:
        top, *rest = imported.split(".")
        if top == "t2t_phrase":
            # `import t2t_phrase` is for its version.
            return not rest or rest[0] in (*parts, own, "__version__") or in_foundation(imported)
        if top in sys.stdlib_module_names or (inside and top in LAZY.get(own, ())):
            return True
        return top in packages and not imported.startswith("keras.src")

    modules = [path for path in MODULES if place(path) == own]
    assert modules and not forbidden(modules, allowed)


def arrows() -> Iterator[tuple[str, str]]:
    """Yield (importing module, imported module), such as ("ops.masks", "ops.position")."""
    names = {".".join(path.relative_to(PACKAGE).with_suffix("").parts): path for path in MODULES}
    for name, path in names.items():
        for imported, _, _ in imports(path):
            # Of a module, or of a name inside it.
            inner = imported.removeprefix("t2t_phrase.")
            for found in {inner, inner.rpartition(".")[0]} & names.keys():
                yield name, found


def check_no_circle(pairs: Iterator[tuple[str, str]]) -> None:
    graph: dict[str, set[str]] = {}
    for importing, imported in pairs:
        graph.setdefault(importing, set()).add(imported)
    graphlib.TopologicalSorter(graph).prepare()


def test_parts_have_no_circle() -> None:
    check_no_circle((part, below) for part, (parts, _) in PARTS.items() for below in parts)


def test_files_have_no_circle() -> None:
    check_no_circle(arrows())


def test_folders_have_no_circle() -> None:
    folders = ((a.rpartition(".")[0], b.rpartition(".")[0]) for a, b in arrows())
    # A folder and one inside it are one thing, such as `data/problem.py` and `data/sources/`.
    check_no_circle(
        (a, b)
        for a, b in folders
        if not f"{a}.".startswith(f"{b}.") and not f"{b}.".startswith(f"{a}.") and a and b
    )


def test_circles_are_found() -> None:
    with pytest.raises(graphlib.CycleError):
        check_no_circle(iter([("a", "b"), ("b", "c"), ("c", "a")]))


def test_flags_stay_in_bin_and_bin_stays_on_top() -> None:
    below = [path for path in MODULES if place(path) not in ("bin", "__main__")]
    assert not forbidden(
        below, lambda imported, _: not imported.startswith(("absl", "t2t_phrase.bin"))
    )


def test_registrations_are_reached_by_the_registry_only() -> None:
    def allowed(imported: str, inside: bool) -> bool:
        first, second, *_ = *imported.split("."), "", ""
        return not {"problems", "hparams"} & {first, second if first == "t2t_phrase" else ""}

    assert not forbidden(MODULES, allowed)


def test_the_mapped_folders_have_no_double_inside_the_package() -> None:
    for name in ("problems", "hparams"):
        assert (ROOT / name).is_dir()
        assert not (PACKAGE / name).exists()
        assert not (PACKAGE / f"{name}.py").exists()


def test_tests_are_no_package() -> None:
    assert not list((ROOT / "tests").rglob("__init__.py"))


def test_the_walk_sees_imports_inside_functions(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "sample.py"
    path.write_text("import a.b\ndef f():\n    from c import d as e\n")
    assert imports(path) == [("a.b", 1, False), ("c.d", 3, True)]


def test_commands_import_tensorflow_only_when_they_run() -> None:
    # The import takes seconds, which --help need not wait for, and writes messages, which
    # `common.load_tensorflow` keeps back.
    program = (
        "import importlib, pkgutil, sys, t2t_phrase.bin as commands\n"
        "for found in pkgutil.iter_modules(commands.__path__):\n"
        "    importlib.import_module(f'{commands.__name__}.{found.name}')\n"
        "    heavy = {'keras', 'tensorflow', 'nltk'} & set(sys.modules)\n"
        "    assert not heavy, (found.name, heavy)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


WITHOUT_TENSORFLOW = """
    import os, sys
    os.environ["KERAS_BACKEND"] = "jax"
    os.environ["JAX_PLATFORMS"] = "cpu"
    sys.modules["tensorflow"] = None
    import functools, importlib, pkgutil
    import jax, keras, numpy as np
    import t2t_phrase
    from t2t_phrase import registry
    from t2t_phrase.compile import compiled
    from t2t_phrase.decoding.hparams import DecodeHParams
    from t2t_phrase.decoding.search.alignment_expansion import alignment_expansion
    from t2t_phrase.decoding.search.output_limits import OutputLimits, output_limits
    from t2t_phrase.decoding.search.translate_ids import search, translate_ids
    from t2t_phrase.models.aligned_pair import AlignedPair

    for folder in ("ops", "layers", "models", "decoding", "insights", "text.annotations"):
        package = importlib.import_module(f"t2t_phrase.{folder}")
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(found.name)
    inputs = np.array([[3, 4, 5, 1], [6, 1, 0, 0]], "int32")
    features = {"inputs": inputs, "targets": inputs[:, ::-1].copy()}
    features["alignment"] = np.array([[0, 2, 1, 3], [0, 0, 1, 1]], "int32")
    searched = sys.argv[1] == "searched"
    options = DecodeHParams(beam_size=3, extra_length=2)
    limits = output_limits(inputs, options).each
    together = {}
    for name in registry.models:
        model_class = registry.models[name]
        sizes = {"hidden_size": 16, "filter_size": 16, "num_heads": 4, "num_hidden_layers": 1}
        fields = model_class.hparams_class.__dataclass_fields__
        own = {field: size for field, size in sizes.items() if field in fields}
        hparams = model_class.hparams_class(**own)
        model = model_class.from_hparams(hparams, vocab_size=12)
        def loss(values):
            state = list(zip(model.trainable_variables, values, strict=True))
            with keras.StatelessScope(state_mapping=state):
                return model.batch_loss(features, training=False).objective, model(features)

        values = [variable.value for variable in model.trainable_variables]
        gradients, logits = jax.jit(jax.grad(loss, has_aux=True))(values)
        size = 201 if model.capabilities.predicts_jumps else 12
        assert logits.shape == (2, 4, size) and np.isfinite(logits).all(), logits
        assert all(np.isfinite(gradient).all() for gradient in gradients)
        assert sum(float(abs(gradient).sum()) for gradient in gradients) > 0
        print("ran", name)
        if not searched:
            continue
        if model.capabilities.cannot_translate:
            together["alignment" if model.capabilities.predicts_jumps else "lexical"] = model
            continue
        if name in ("transformer", "phrase_transformer"):
            continue  # Their searches are compared with TensorFlow's elsewhere.
        run = compiled(
            lambda ids, limits: search(model, {"inputs": ids}, OutputLimits(limits, 6), options)
        )
        ids, scores, _ = run(inputs, limits)
        assert ids.shape == (2, 3, 6) and np.isfinite(scores[:, 0]).all(), (ids, scores)
        last = model
    if not searched:
        assert not any(m.startswith("tensorflow") for m in sys.modules if sys.modules[m])
        sys.exit()
    drawn = options.replace(sampling_temp=1.0, sampling_keep_top_k=5)
    run_drawn = compiled(
        lambda ids, seed: translate_ids(last, {"inputs": ids}, drawn, seed=seed).ids
    )
    draws = [np.asarray(run_drawn(inputs, np.int32(seed))).tolist() for seed in (0, 0, 1, 2)]
    assert draws[0] == draws[1] and draws[1:].count(draws[0]) < 3, draws
    pair = AlignedPair(**together)
    expansion = functools.partial(alignment_expansion, pair)
    run = compiled(
        lambda ids: translate_ids(pair, {"inputs": ids}, options, make_expansion=expansion)
    )
    found = run(inputs)
    assert found.ids.shape == (2, 3, 6) and np.isfinite(found.scores[:, 0]).all(), found
    assert not any(module.startswith("tensorflow") for module in sys.modules if sys.modules[module])
"""


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("jax") is None, reason="jax is not installed")
@pytest.mark.parametrize("work", ["learnt", "searched"])
def test_every_model_runs_without_tensorflow(work: str) -> None:
    from t2t_phrase import registry

    registry.discover()
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(WITHOUT_TENSORFLOW), work],
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if k != "KERAS_BACKEND"},
    )
    assert result.returncode == 0, result.stderr
    # Other tests may have registered models of their own.
    own = [n for n in registry.models if registry.models[n].__module__.startswith("t2t_phrase.")]
    assert result.stdout.split("\n")[:-1] == [f"ran {name}" for name in own]
