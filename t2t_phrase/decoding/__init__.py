"""Search over a step function: beam, greedy, sampling."""
