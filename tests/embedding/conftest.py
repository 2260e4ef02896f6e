"""The made-up BERT and the service that answers as it is told."""

from made_up_models import answering, bert_folder, clock, own_cache, reference, service

__all__ = ["answering", "bert_folder", "clock", "own_cache", "reference", "service"]
