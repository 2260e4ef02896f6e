"""Verifying: a draft and its evidence → the sentences that the passages they cite support."""
