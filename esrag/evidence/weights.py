"""Weights of the features of a statement, as benchmarks/choice.py fits them."""

import numpy as np

from esrag.evidence.features import NAMES

MEANING = 0.3431
OFFSET = -0.1332
WORDS_ALONE_OFFSET = -0.0518

# With meanings, and for words alone.
_WEIGHTS = {
    "words": (0.1576, 0.3432),
    "pairs": (-0.0415, -0.0231),
    "around": (0.2499, 0.2479),
    "title": (0.0548, 0.1820),
    "section": (-0.0100, -0.0081),
    "nearby": (-0.0090, 0.0067),
    "place": (0.0567, 0.1390),
    "closeness": (0.2658, 0.0000),
    "length": (0.0255, 0.0490),
    "front": (0.0600, 0.1193),
    "novelty": (0.0083, -0.0258),
    "row": (0.0352, 0.0471),
    "sentence": (0.0388, 0.0398),
    "pronoun": (0.0258, 0.0139),
    "connects": (0.0352, 0.0392),
    "capitals": (-0.1222, -0.1353),
    "digits": (0.2113, 0.2135),
    "address": (-0.2048, -0.1967),
    "example": (0.0034, 0.0023),
    "verb": (-0.0370, -0.0240),
    "short": (-0.0127, -0.0132),
    "long": (-0.0386, -0.0807),
    "definition": (0.0817, 0.1184),
    "defines": (0.1107, 0.1499),
    "count": (0.0942, 0.1197),
    "count_unit": (0.0422, 0.0456),
    "count_limit": (0.0280, 0.0558),
    "often": (0.0000, 0.0000),
    "time": (0.1494, 0.1639),
    "who": (0.0238, 0.0226),
    "place_name": (0.0571, 0.0283),
    "reason": (0.0266, 0.0331),
    "duty": (0.1069, 0.0985),
    "differs": (-0.0983, -0.1233),
    "heads": (0.1592, 0.2014),
    "list": (0.0849, 0.1035),
    "table_count": (0.0998, 0.1005),
    "rare": (0.0116, -0.0151),
    "technical": (-0.1054, -0.1280),
    "lead": (-0.0133, -0.0065),
    "other_member": (-0.1293, -0.1026),
    "other_year": (-0.0935, -0.0849),
    "typed_words": (0.0883, 0.0989),
}
WEIGHTS, WORDS_ALONE = np.array([_WEIGHTS[name] for name in NAMES]).T
