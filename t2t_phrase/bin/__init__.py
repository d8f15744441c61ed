"""Command-line tools; each parses its flags and makes one library call."""

# The commands `t2t-phrase-NAME` and their modules, in the order in which users meet them.
COMMANDS = {
    "demo": "t2t_phrase.bin.demo",
    "datagen": "t2t_phrase.bin.datagen",
    "trainer": "t2t_phrase.bin.trainer",
    "cluster": "t2t_phrase.bin.cluster",
    "avg": "t2t_phrase.bin.avg",
    "report": "t2t_phrase.bin.report",
    "decoder": "t2t_phrase.bin.decoder",
    "eval": "t2t_phrase.bin.eval",
    "compare": "t2t_phrase.bin.compare",
    "contrast": "t2t_phrase.bin.contrast",
    "insights": "t2t_phrase.bin.insights",
    "probe": "t2t_phrase.bin.probe",
    "exporter": "t2t_phrase.bin.exporter",
    "serve": "t2t_phrase.bin.serve",
    "parse": "t2t_phrase.bin.parse",
    "align": "t2t_phrase.bin.align",
    "dictionary": "t2t_phrase.bin.dictionary",
    "parameters": "t2t_phrase.bin.parameters",
    "import": "t2t_phrase.bin.import_t2t",
}
