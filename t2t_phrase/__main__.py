"""Entry point of `python -m t2t_phrase COMMAND`, see `bin.command`."""

from t2t_phrase.bin.command import run

if __name__ == "__main__":
    run()
