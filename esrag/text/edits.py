"""Compare the spelling of words."""

MAX_EDITS = 2


def is_near(word: str, other: str, most: int) -> bool:
    """Return whether at most `most` edits of one character turn a word into the other.

    An edit inserts, deletes or replaces a character, or swaps two neighbours (optimal string
    alignment).

    >>> is_near("recieve", "receive", 1), is_near("kettle", "metal", 2)
    (True, False)
    """
    if abs(len(word) - len(other)) > most:
        return False

    before: list[int] = []
    above = list(range(len(other) + 1))
    for i, letter in enumerate(word, 1):
        row = [i]
        for j, other_letter in enumerate(other, 1):
            cost = min(above[j] + 1, row[-1] + 1, above[j - 1] + (letter != other_letter))
            if i > 1 and j > 1 and letter == other[j - 2] and word[i - 2] == other_letter:
                cost = min(cost, before[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return False
        before, above = above, row

    return above[-1] <= most


def max_edits(word: str) -> int:
    """Return how many edits a reader would take for a slip in a word of this length."""
    return MAX_EDITS if len(word) >= 8 else 1  # noqa: PLR2004 -- as in Lucene's fuzziness, but later
