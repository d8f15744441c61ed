"""A word aligner: IBM model 1 and a hidden Markov model in both directions, symmetrised.

Plain NumPy. It learns from the sentence pairs that it aligns and needs nothing else.
"""
