"""Find words that claim more than any passage does: "always", "regardless of", "the best"."""

from collections.abc import Sequence

from esrag.verifying.opposites import any_of

# Words that make a claim strong, and the words of a passage that may stand behind them.
CLAIMS = tuple(
    (any_of(claims), any_of(f"{claims} {backing}"))
    for claims, backing in (
        (
            "always invariably at_all_times every_time",
            """never every all each any no not none must shall constant(?:ly)? cannot
            permanent(?:ly)? without whenever""",
        ),
        ("never", r"no not none neither nor without cannot \w+n['’]t non"),
        (
            "solely exclusively merely",
            r"""only sole exclusive alone mere just except unless but limited restrict\w* nothing
            none nobody no not single other_than reserved until without if \w+n['’]t""",
        ),
        (
            "certainly definitely undoubtedly guarantee[sd]? prove[sdn]? inevitably ensures?",
            r"""certain(?:ty)? definite doubt\w* guarantee\w* proofs? proving inevitable ensur\w*
            must shall assur\w* make_sure always""",
        ),
        (
            """regardless irrespective whatever no_matter unconditional(?:ly)?
            in_(?:every|all)_cases? under_(?:all|any)_circumstances without_exception""",
            r"""independent\w* whichever any all every always even_(?:if|when) without either
            whether each no""",
        ),
        (
            "completely entirely fully totally perfectly wholly absolutely",
            r"""complet\w* entire\w* full\w* total\w* perfect\w* whol\w* absolut\w* all every no any
            none eliminat\w* pure\w* 100""",
        ),
        ("automatically", r"auto\w* itself without default implicit\w*"),
        (
            "immediately instantly",
            r"""immediate instant\w* as_soon_as right_away direct\w* prompt\w* straight\w* forthwith
            soon""",
        ),
        (
            "(?<!after_)(?<!at_)(?<!for_)(?<!in_)all every",
            r"all each any\w* whole entire\w* both no none always must shall total\w*",
        ),
        ("anyone everyone anybody everybody", "all any every each no_one people public whoever"),
        ("best", r"ideal\w* optim\w* prefer\w* top"),
        ("easiest simplest", "least"),
        ("hardest most_difficult", "least"),
        ("safest most_secure", "least"),
        ("fastest quickest", r"least most_rapid\w*"),
        ("cheapest", "least"),
        ("strongest", "least"),
        ("weakest", "least"),
        ("worst", "least"),
    )
)


def find_overclaim(sentence: str, texts: Sequence[str]) -> str:
    """Return a word that claims more than any of the texts, or "".

    >>> find_overclaim("It always rings.", ["It rings at noon."])
    'always'
    >>> find_overclaim("It always rings.", ["It rings every day."])
    ''
    """
    for claims, backing in CLAIMS:
        found = claims.search(sentence)
        if found and not any(map(backing.search, texts)):
            return found[0]
    return ""
