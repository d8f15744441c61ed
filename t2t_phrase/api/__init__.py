"""The library from Python: `t2t_phrase.load`, `t2t_phrase.train`, `t2t_phrase.generate_data`."""
