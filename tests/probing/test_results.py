import json

from planted_probes import planted

from t2t_phrase.probing.corpus import ProbeCorpus
from t2t_phrase.probing.results import SCRATCH, Result, as_json, table


def result(encoder, task, seed, accuracy):
    frozen = encoder != SCRATCH
    return Result(
        setting="frozen" if frozen else "scratch",
        hparams_set="transformer_demo",
        encoder=encoder,
        checkpoint="c" if frozen else "",
        task=task,
        seed=seed,
        accuracy=accuracy,
        dev_accuracy=0.5,
        epoch=1,
        steps=2,
    )


def test_one_table_of_all_encoders():
    tasks = [planted(unit)[1] for unit in ("sentence", "word")]
    results = [
        result("runs/a", "voice", 1, 0.9),
        result("runs/a", "voice", 2, 0.92),
        result("runs/a", "pos", 1, 0.5),
        result(SCRATCH, "voice", 1, 1.0),
    ]
    majority = [f"{100 * data.majority:.2f}" for data in tasks]
    assert table(tasks, results).split("\n") == [
        "| hparams set | encoder | voice | pos |",
        "| --- | --- | ---: | ---: |",
        f"| majority |  | {majority[0]} | {majority[1]} |",
        "| `transformer_demo` | runs/a | 91.00 ± 1.41 | 50.00 |",
        "| `transformer_demo` | from scratch | 100.00 |  |",
    ]
    assert results[0].line(tasks[0]) == (
        f"voice: 90.00% of 64 sentences (majority {majority[0]}%), transformer_demo, runs/a, seed 1"
    )
    splits = {"train": [], "dev": [], "test": []}
    found = as_json("f", ProbeCorpus(splits, {"repeated": 2}), tasks, results, {"patience": 5})
    assert json.loads(json.dumps(found)) == found
    assert found["results"][1]["accuracy"] == 0.92 and found["left_out"] == {"repeated": 2}
    assert found["tasks"]["pos"]["labels"]["dev"] == tasks[1].size("dev")
    assert set(found["tasks"]["voice"]["classes"]) == {"even", "odd"}
