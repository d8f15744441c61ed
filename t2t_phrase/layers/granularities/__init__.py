"""Self-attention whose heads attend at several granularities (Hao et al., 2019)."""
