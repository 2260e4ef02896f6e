"""Weights of the features of a statement, as benchmarks/choice.py fits them."""

import numpy as np

from esrag.evidence.features import NAMES

MEANING = 0.3437
OFFSET = -0.1326
WORDS_ALONE_OFFSET = -0.0511

# With meanings, and for words alone.
_WEIGHTS = {
    "words": (0.1556, 0.3412),
    "pairs": (-0.0409, -0.0234),
    "around": (0.2498, 0.2473),
    "title": (0.0538, 0.1803),
    "section": (-0.0087, -0.0051),
    "nearby": (-0.0081, 0.0076),
    "place": (0.0570, 0.1397),
    "closeness": (0.2662, 0.0000),
    "length": (0.0248, 0.0485),
    "front": (0.0599, 0.1199),
    "novelty": (0.0091, -0.0255),
    "row": (0.0358, 0.0462),
    "sentence": (0.0378, 0.0389),
    "pronoun": (0.0263, 0.0149),
    "connects": (0.0352, 0.0397),
    "capitals": (-0.1214, -0.1324),
    "digits": (0.2109, 0.2145),
    "address": (-0.2049, -0.1957),
    "example": (0.0053, 0.0046),
    "verb": (-0.0369, -0.0242),
    "short": (-0.0128, -0.0136),
    "long": (-0.0415, -0.0735),
    "definition": (0.0807, 0.1165),
    "defines": (0.1107, 0.1504),
    "count": (0.0939, 0.1191),
    "count_unit": (0.0421, 0.0454),
    "count_limit": (0.0284, 0.0562),
    "often": (0.0000, 0.0000),
    "time": (0.1490, 0.1629),
    "who": (0.0233, 0.0215),
    "place_name": (0.0567, 0.0273),
    "reason": (0.0264, 0.0325),
    "duty": (0.1070, 0.0983),
    "differs": (-0.0983, -0.1238),
    "heads": (0.1587, 0.2006),
    "list": (0.0947, 0.1176),
    "table_count": (0.0989, 0.0994),
    "rare": (0.0118, -0.0152),
    "technical": (-0.1049, -0.1280),
    "lead": (-0.0130, -0.0064),
    "other_member": (-0.1293, -0.1028),
    "other_year": (-0.0938, -0.0849),
    "typed_words": (0.0895, 0.1015),
}
WEIGHTS, WORDS_ALONE = np.array([_WEIGHTS[name] for name in NAMES]).T
