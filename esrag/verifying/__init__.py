"""Verify a draft against its evidence: keep the sentences that their cited passages support."""
