"""Retrieving: question → hits.

`retrieve` embeds the question when the method needs it, asks the engine once and gives back what
the engine says: fused hits, best first, with each leg's rank and score, and the path taken. The
same index and question give the same hits.
"""
