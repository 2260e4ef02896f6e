"""The service that answers as it is told."""

from made_up_models import answering, clock, service

__all__ = ["answering", "clock", "service"]
