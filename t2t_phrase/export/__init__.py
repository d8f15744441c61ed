"""Exports of models: SavedModels from strings to strings, and models for CTranslate2 and ONNX."""
