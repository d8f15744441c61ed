"""Metadata and package mapping. Tool settings are in pyproject.toml."""

import pathlib
import re

from setuptools import find_packages, setup

ROOT = pathlib.Path(__file__).parent
VERSION = re.search(r'__version__ = "(.+)"', (ROOT / "t2t_phrase/__init__.py").read_text())[1]

# `t2t_phrase_grammar/`, the generated corpus, may be missing from the checkout.
# `problems/` and `hparams/` stay top-level folders of the checkout but install inside the package,
# so that no generic name lands in site-packages.
MAPPED = {"t2t_phrase.problems": "problems", "t2t_phrase.hparams": "hparams"}

COMMANDS = (
    "demo",
    "parse",
    "align",
    "datagen",
    "trainer",
    "cluster",
    "decoder",
    "dictionary",
    "avg",
    "report",
    "eval",
    "compare",
    "contrast",
    "insights",
    "probe",
    "exporter",
    "serve",
    "import",
    "parameters",
)

TEST = (
    "pytest>=8",
    "pytest-xdist>=3.7",
    "hypothesis>=6.100",
    "jax>=0.4.30",
    "pyyaml>=6.0.1",
    "sacremoses>=0.1.1",
    "selenium>=4.15",
    "fastapi>=0.115",
    "fastapi-offline>=1.7",
    "prometheus-client>=0.20",
    "uvicorn>=0.30",
    # They execute notebooks.
    "nbclient>=0.10",
    "nbformat>=5.10",
    "ipykernel>=6.29",
)

DOCS = (
    "mkdocs>=1.6",
    "mkdocs-material>=9.6",
    "mkdocstrings[python]>=1",
    "latex2mathml>=3.78",
    # It brings the font of the equations.
    "ziamath>=0.12",
    "nbformat>=5.10",
    # It breaks the lines of signatures.
    "ruff>=0.6",
)

setup(
    name="t2t_phrase",
    version=VERSION,
    description="Neural machine translation with phrase-aware attention on TensorFlow 2 and "
    "Keras 3, following the conventions of tensor2tensor",
    long_description=(ROOT / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    classifiers=[
        "Operating System :: MacOS",
        "Operating System :: POSIX :: Linux",
        "Programming Language :: Python :: 3.11",
        "Programming Language :: Python :: 3.12",
        "Topic :: Scientific/Engineering :: Artificial Intelligence",
    ],
    python_requires=">=3.11",
    packages=find_packages(include=["t2t_phrase", "t2t_phrase.*", "t2t_phrase_grammar"])
    + list(MAPPED),
    package_dir=MAPPED,
    package_data={
        "t2t_phrase_grammar": ["tables/*.tsv", "py.typed"],
        "t2t_phrase.text.dictionaries": ["stop_words.en.txt"],
        "t2t_phrase": ["py.typed"],
        "t2t_phrase.bin": ["registered.json"],
        "t2t_phrase.reports": ["templates/*"],
        "t2t_phrase.serving": ["form.html"],
    },
    install_requires=[
        "tensorflow>=2.20",
        "tensorflow-text>=2.20",
        "keras>=3.14",
        "tensorflow-datasets>=4.9.8",
        # Generated code in what tensorflow-datasets needs refuses older ones.
        "protobuf>=6.31.1",
        "sentencepiece>=0.2",
        "sacrebleu>=2.4",
        "absl-py>=2.1",
        "nltk>=3.8.1",
        "numpy>=1.26",
        "matplotlib>=3.8",
        "jinja2>=3.1",
        "markupsafe>=2.1",
        "tensorboard>=2.20",
        "tqdm>=4.66",
    ],
    extras_require={
        "jax": ["jax>=0.4.30"],
        "ctranslate2": ["ctranslate2>=4.5"],
        "onnx": ["onnx>=1.18", "onnxruntime>=1.22", "tf2onnx>=1.17"],
        "serve": [
            "fastapi>=0.115",
            "fastapi-offline>=1.7",
            "prometheus-client>=0.20",
            "uvicorn>=0.30",
        ],
        "ray": ["ray[data,serve]>=2.50"],
        "yaml": ["pyyaml>=6.0.1"],
        "comet": ["unbabel-comet"],
        "datasets": ["datasets"],
        "wandb": ["wandb"],
        "mlflow": ["mlflow"],
        "moses": ["sacremoses>=0.1.1"],
        "test": list(TEST),
        "docs": list(DOCS),
        "dev": [
            "mypy>=1.11",
            "pre-commit>=3.5",
            "ray[data,serve]>=2.50",
            *TEST,
            *DOCS,
        ],
    },
    entry_points={
        "console_scripts": ["t2t-phrase = t2t_phrase.bin.command:run"]
        + [
            f"t2t-phrase-{name} = t2t_phrase.bin.{name if name != 'import' else 'import_t2t'}:run"
            for name in COMMANDS
        ]
    },
)
