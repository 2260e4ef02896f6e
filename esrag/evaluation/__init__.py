"""Evaluation: how good answers and refusals are, by questions whose answers are known."""
