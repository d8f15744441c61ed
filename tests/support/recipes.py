"""Recipes of comparisons."""

import dataclasses


def changed_recipe(recipe, **changes):
    """Return a recipe with other settings and the same sentences."""
    made = dataclasses.replace(recipe, **changes)
    made.__dict__["test"] = recipe.test
    return made
