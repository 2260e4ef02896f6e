"""Retrieving: question → hits.

`search_legs` embeds the question when the method needs it, asks the engine once and returns what
the engine says: fused hits, best first, with each leg's rank and score, and the path taken. The
same index and question give the same hits. `esrag.retrieval.retrieve` calls it for each wording of
a question.
"""
