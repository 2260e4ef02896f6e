"""Weights of the features of a statement, as benchmarks/choice.py fits them."""

import numpy as np

from esrag.evidence.features import NAMES

MEANING = 0.3486
OFFSET = -0.1362
WORDS_ALONE_OFFSET = -0.0536

# With meanings, and for words alone.
_WEIGHTS = {
    "words": (-0.0926, 0.0844),
    "pairs": (-0.0303, -0.0116),
    "around": (0.1183, 0.1289),
    "title": (0.0529, 0.1230),
    "section": (-0.0036, -0.0009),
    "nearby": (0.0422, 0.0432),
    "place": (0.0492, 0.1142),
    "closeness": (0.2305, 0.0000),
    "length": (0.0548, 0.1199),
    "front": (0.0571, 0.1170),
    "novelty": (0.0163, -0.0550),
    "row": (0.0250, 0.0329),
    "sentence": (0.0094, 0.0207),
    "pronoun": (0.0124, 0.0048),
    "connects": (0.0064, 0.0227),
    "capitals": (-0.0152, -0.0491),
    "digits": (0.1239, 0.1135),
    "address": (-0.0797, -0.0898),
    "example": (-0.0122, -0.0209),
    "verb": (-0.0198, -0.0174),
    "short": (0.0192, -0.0055),
    "long": (-0.0407, -0.0547),
    "definition": (0.1231, 0.1834),
    "defines": (0.1353, 0.1695),
    "count": (0.0710, 0.0729),
    "count_unit": (0.0069, 0.0298),
    "count_limit": (0.0407, 0.0500),
    "often": (-0.0004, -0.0006),
    "time": (0.1537, 0.1635),
    "who": (0.0707, 0.0554),
    "place_name": (0.0441, 0.0151),
    "reason": (0.0833, 0.1127),
    "duty": (0.0422, 0.0428),
    "differs": (-0.1365, -0.1639),
    "heads": (0.2297, 0.2535),
    "list": (0.0547, 0.0645),
    "table_count": (0.0487, 0.0676),
    "rare": (0.0516, 0.0163),
    "technical": (-0.0891, -0.1110),
    "lead": (0.0017, 0.0075),
    "other_member": (-0.0902, -0.0705),
    "other_year": (-0.1559, -0.1821),
    "typed_words": (0.0778, 0.1037),
    "in_context": (0.3188, 0.3317),
    "measured": (0.0467, 0.0579),
    "counted": (0.0981, 0.1230),
    "introduces": (-0.0985, -0.0982),
}
WEIGHTS, WORDS_ALONE = np.array([_WEIGHTS[name] for name in NAMES]).T
