import json

import numpy as np

from t2t_phrase.insights.statistics import LayerStatistics, Sums
from t2t_phrase.insights.tables import format_statistics, statistics_to_dict, statistics_to_rows
from t2t_phrase.layers.attention.layout import Layout, Units

ONE, TWO, THREE = map(Units, (1, 2, 3))
INTERLEAVED = Layout(2, (ONE, TWO), (ONE, TWO))


def entry(attention, layer, layout, mass, rows, strongest, positions):
    # Each query has an entropy of 0.5 nats and a largest weight of 0.75.
    focus = 0.5 * np.array(rows), 0.75 * np.array(rows)
    sums = Sums(np.array(mass), np.array(rows), np.array(strongest), np.array(positions), *focus)
    title = {"cross": "cross-attention", "encoder": "encoder self-attention"}[attention]
    return LayerStatistics(attention, title, layer, layout, sums)


CROSS = [
    entry("cross", 1, INTERLEAVED, [[3.0, 1.0], [0.5, 1.5]], [4, 2], [[1, 0.5], [2.5, 0]], 4),
    entry("cross", 2, INTERLEAVED, [[1.0, 3.0], [0.0, 0.0]], [4, 0], [[1.0, 3.0], [0, 0]], 4),
]


def test_the_form_of_the_papers_tables():
    assert format_statistics(CROSS) == (
        "cross-attention: from tokens, 2-grams to tokens, 2-grams\n\n"
        "  softmax mass (% of the attention of a query; mean over queries and heads)\n"
        "  layer  token-to-token  token-to-phrase  phrase-to-token  phrase-to-phrase\n"
        "      1           75.00            25.00            25.00             75.00\n"
        "      2           25.00            75.00                -                 -\n\n"
        "  strongest activation (% of positions)\n"
        "  layer  token-to-token  token-to-phrase  phrase-to-token  phrase-to-phrase\n"
        "      1           25.00            12.50            62.50              0.00\n"
        "      2           25.00            75.00             0.00              0.00\n\n"
        "  focus (mean over queries and heads)\n"
        "  layer  entropy (nats)  largest weight (%)\n"
        "      1           0.500               75.00\n"
        "      2           0.500               75.00"
    )


def test_tokens_alone_have_no_shares():
    plain = entry("encoder", 1, Layout(2), [[4.0]], [4], [[4.0]], 4)
    assert format_statistics([plain]).split("\n\n") == [
        "encoder self-attention: from tokens to tokens",
        "  focus (mean over queries and heads)\n"
        "  layer  entropy (nats)  largest weight (%)\n"
        "      1           0.500               75.00",
    ]
    none = entry("encoder", 1, Layout(2), [[0.0]], [0], [[0.0]], 0)
    assert format_statistics([none]).endswith("\n      1               -                   -")
    assert statistics_to_rows([none])[-1][-2:] == ["", ""]


def test_attentions_keep_their_order_and_higher_orders_come_one_by_one():
    layout = Layout(2, columns=(ONE, TWO, THREE))
    encoder = entry("encoder", 1, layout, [[1.0, 2.0, 1.0]], [4], [[4.0, 0.0, 0.0]], 4)
    text = format_statistics([encoder, *CROSS])
    blocks = text.split("\n\n")
    assert blocks[0] == "encoder self-attention: from tokens to tokens, 2-grams, 3-grams"
    assert blocks[1].split("\n")[1:] == [
        "  layer  token-to-token  token-to-phrase",
        "      1           25.00            75.00",
    ]
    assert blocks[3].split("\n") == [
        "  softmax mass (% of the attention of a query; mean over queries and heads), "
        "order by order",
        "  layer  1-to-1  1-to-2  1-to-3",
        "      1   25.00   50.00   25.00",
    ]
    assert blocks[6:] == format_statistics(CROSS).split("\n\n")


def test_the_same_as_json():
    found = json.loads(json.dumps(statistics_to_dict(CROSS), allow_nan=False))
    assert list(found) == ["cross"]
    first, second = found["cross"]
    assert first == {
        "layer": 1,
        "query_orders": [1, 2],
        "key_orders": [1, 2],
        "queries": [4, 2],
        "positions": 4,
        "mass": {
            "quadrants": CROSS[0].quadrants("mass"),
            "orders": {"1-to-1": 0.75, "1-to-2": 0.25, "2-to-1": 0.25, "2-to-2": 0.75},
        },
        "strongest": {
            "quadrants": CROSS[0].quadrants("strongest"),
            "orders": {"1-to-1": 0.25, "1-to-2": 0.125, "2-to-1": 0.625, "2-to-2": 0.0},
        },
        "focus": {"entropy": 0.5, "largest": 0.75},
    }
    assert second["mass"]["quadrants"]["phrase-to-token"] is None


def test_one_table_of_all_layers():
    encoder = entry("encoder", 1, Layout(2, columns=(ONE, TWO)), [[1.0, 3.0]], [4], [[4, 0]], 4)
    header, *rows = statistics_to_rows([encoder, *CROSS])
    assert header[:5] == ["attention", "layer", "measure", "token-to-token", "token-to-phrase"]
    assert [row[:3] for row in rows[:4]] == [
        ["encoder", "1", "mass"],
        ["encoder", "1", "strongest"],
        ["encoder", "1", "focus"],
        ["cross", "1", "mass"],
    ]
    assert rows[0][3:7] == ["25.00", "75.00", "", ""]
    assert header[-2:] == ["entropy", "largest"] and rows[2][-2:] == ["0.500", "75.00"]
    assert dict(zip(header, rows[3], strict=True))["2-to-1"] == "25.00"
    assert rows[6][5:7] == ["", ""] and all(len(row) == len(header) for row in rows)
