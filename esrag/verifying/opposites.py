"""Closed lists of words that make similar sentences say different things."""

import re
from collections import defaultdict

from esrag.text.terms import terms

Pair = tuple[frozenset[str], frozenset[str]]


def stems(text: str) -> list[str]:
    """Return the words of a text, stemmed unless they are stop words.

    >>> stems("It is above the floors")
    ['it', 'is', 'abov', 'the', 'floor']
    """
    words = (word.lower() for word in re.findall(r"[^\W_]+", text))
    return [(terms(word) or [word])[0] for word in words]


def any_of(words: str) -> re.Pattern[str]:
    """Return a pattern for any of the words.

    They are regular expressions with "_" for a blank.
    """
    return re.compile(rf"\b(?:{'|'.join(words.split()).replace('_', ' ')})\b", re.IGNORECASE)


# Phrases, each with an equivalent word, replaced in this order.
PHRASES = tuple(
    (re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE), plain)
    for pattern, plain in (
        (
            (
                r"if (?:at all |it is |that is |that can be |it can be |where "
                r")?(?:possible|avoid(?:ed|able))"
            ),
            " ",
        ),
        (r"(?:not|no) only", "also"),
        (r"whether or not", "whether"),
        (
            (
                r"(?:no|not) (?:less|fewer|lower|smaller|earlier|sooner|shorter) "
                r"than|at (?:the )?least"
            ),
            "atleast",
        ),
        (r"lower (?:limit|bound|end)|or (?:more|above|over)", "atleast"),
        (
            r"(?:no|not) (?:more|greater|higher|larger|later|longer) than|at (?:the )?most|up to",
            "atmost",
        ),
        (r"upper (?:limit|bound|end)|or (?:less|fewer|below|under)", "atmost"),
        (r"no longer|not any ?more", "not"),
        (r"can not", "cannot"),
        (r"(?P<before>\d) ?a\.?m", r"\g<before> forenoon"),
        (r"(?P<after>\d) ?p\.?m", r"\g<after> afternoon"),
        (
            r"(?P<one>[\w-]{1,40}) (?:is|are|was|were) (?:missing|absent|omitted|left out)",
            r"no \g<one>",
        ),
        (r"non-(?=\w)", "not "),
        (r"(?:has|have|had|is|are) (?:got )?to(?= \w)", "must"),
        (r"(?:is|are) (?:required|obliged) to|it is mandatory", "must"),
        (r"(?:is|are) (?:allowed|permitted) to", "may"),
        (r"neither\b(?P<both>[^.;]{0,80}?)\bnor", r"not\g<both> or"),
        (r"(?:no one|nobody|nothing|none) (?:but|except|other than)", "only"),
        (r"in (?:some|many|most|certain|several) (?:\w+ )?cases", "sometimes"),
        (r"in (?:every|all|each|any) cases?", "always"),
    )
)

# Words that a prefix negates, unlike those that only begin with the same letters. Words of a pair
# below are not in this list.
_NEGATED = """unacceptable unaffected unaltered unapproved unattended unauthorized unauthorised
    unavailable unavoidable unaware unbalanced unbounded unchanged unchecked unclear uncommon
    unconditional uncontrolled uncovered undamaged undefined undesirable undocumented unencrypted
    unexpected unfair unfamiliar unfinished unharmed unidentified unimportant uninformed unintended
    unlimited unlisted unmarked unmodified unnecessary unoccupied unofficial unopened unopposed
    unpaid unpatched unplanned unpleasant unpopular unpredictable unprepared unprotected unproven
    unpublished unqualified unreadable unreasonable unregistered unrelated unreliable unreported
    unresolved unrestricted unsigned unsolved unspecified unstable unsuccessful unsuitable
    unsupervised unsupported untested untreated unused unusable unusual unverified unwanted
    unwilling"""
_BASES = "|".join(word.removeprefix("un") for word in _NEGATED.split())
PHRASES += ((re.compile(rf"\bun(?=(?:{_BASES})\b)", re.IGNORECASE), "not "),)

_NEGATION_WORDS = """not no never none nor neither without cannot nobody nothing hardly rarely
    seldom scarcely false(?:ly)? unless except unable unlikely impossible fail(?:s|ed|ing)?(?=_to_)
    lack(?:s|ed|ing)? avoid(?:s|ed|ing)? refus(?:e|es|ed|al) prevent(?:s|ed|ing)?
    prohibit(?:s|ed|ing|ion)? forbid(?:s|den)? forbade ban(?:s|ned)? ignor(?:e|es|ed|ing)
    stop(?:s|ped)?(?=_\\w+ing) omit(?:s|ted)?
    miss(?:es|ed)?(?=_(?:the|an?|any|it|them)_) \\w+n['’]t"""
NEGATION = any_of(_NEGATION_WORDS)
PLAIN_NOT = any_of("not no cannot nothing never none \\w+n['’]t")

# Sentences with these words may mean the same with and without a negation: "only the staff" is "no
# one but the staff".
COMPARISON = re.compile(r"\bthan (?!\d)", re.IGNORECASE)
EITHER_WAY = any_of("only alone solely until instead otherwise")

# Words that turn a sentence into its opposite when one replaces the other.
OPPOSITES = (
    (
        "above over exceed more greater higher longer larger bigger minimum minimal atleast",
        "below under less fewer lower smaller shorter maximum maximal atmost",
    ),
    ("older elder", "younger newer"),
    ("before prior", "after"),
    ("precede", "follow"),
    ("earlier sooner early", "later late"),
    ("grant allow permit approve accept admit", "deny reject refuse forbid prohibit disallow"),
    (
        "rise rose risen increase grow grew grown gain climb raise",
        "fall fell fallen decrease decline drop shrink shrank lose lost reduce lower",
    ),
    ("open opened", "close closed shut"),
    ("enable", "disable"),
    ("include", "exclude except"),
    ("start begin began begun", "stop end finish cease"),
    ("on", "off"),
    ("in inside internal inward", "out outside external outward"),
    ("with", "without"),
    ("win won", "lose lost"),
    ("first", "last final"),
    ("upper top", "lower bottom"),
    ("left", "right"),
    ("front", "back rear"),
    ("up upward", "down downward"),
    ("hot warm", "cold cool"),
    ("heat warmed", "cool chill"),
    ("fast quick quickly rapid rapidly", "slow slowly"),
    ("high tall", "low"),
    ("large big", "small little"),
    ("long", "short brief"),
    ("strong", "weak"),
    ("heavy", "light"),
    ("thick", "thin"),
    ("wide broad", "narrow"),
    ("deep", "shallow"),
    ("full", "empty"),
    ("wet", "dry"),
    ("hard", "soft"),
    ("new", "old"),
    ("same identical equal", "different unequal"),
    ("public", "private secret"),
    ("import", "export"),
    ("encrypt encryption", "decrypt decryption"),
    ("encode", "decode"),
    ("lock", "unlock"),
    ("connect attach", "disconnect detach"),
    ("add", "remove subtract delete"),
    ("buy bought purchase", "sell sold"),
    ("send sent", "receive"),
    ("pass", "fail"),
    ("true", "false"),
    ("legal lawful", "illegal unlawful"),
    ("valid", "invalid"),
    ("safe", "unsafe dangerous"),
    ("secure", "insecure"),
    ("possible", "impossible"),
    ("known", "unknown"),
    ("guilty", "innocent"),
    ("positive", "negative"),
    ("mandatory compulsory", "optional voluntary"),
    ("compatible", "incompatible"),
    ("visible", "invisible hidden"),
    ("profit", "loss"),
    ("north northern", "south southern"),
    ("east eastern", "west western"),
    ("male men man", "female women woman"),
    ("married", "unmarried single divorced"),
    ("present", "absent"),
    ("parent", "child"),
    ("majority", "minority"),
    ("input", "output"),
    ("horizontal", "vertical"),
    ("summer", "winter"),
    ("day", "night"),
    ("morning", "evening"),
    ("forenoon", "afternoon"),
    ("weekday", "weekend"),
    ("highest largest biggest greatest longest tallest", "lowest smallest shortest least fewest"),
    ("oldest eldest earliest", "newest youngest latest"),
    ("better best", "worse worst"),
    ("stronger strongest", "weaker weakest"),
    ("faster fastest quicker quickest", "slower slowest"),
    ("heavier heaviest", "lighter lightest"),
    ("thicker thickest", "thinner thinnest"),
    ("hotter hottest warmer warmest", "colder coldest cooler coolest"),
    ("wider widest broader broadest", "narrower narrowest"),
    ("deeper deepest", "shallower shallowest"),
    ("cheap cheaper cheapest", "expensive dearer dearest"),
    ("nearest closest nearer closer", "farthest furthest farther further"),
    ("easy easily easier easiest", "difficult hardest"),
    ("many", "few"),
    ("once", "twice"),
    ("rich", "poor"),
    ("correct right", "incorrect wrong"),
    ("active", "inactive"),
    ("complete", "incomplete"),
    ("direct", "indirect"),
    ("regular", "irregular"),
    ("relevant", "irrelevant"),
    ("sufficient adequate", "insufficient inadequate"),
    ("independent", "dependent"),
    ("symmetric symmetrical", "asymmetric asymmetrical"),
    ("trusted", "untrusted"),
    ("inner", "outer"),
    ("ascending", "descending"),
    ("support endorse", "oppose"),
    ("agree", "disagree"),
    ("confirm", "contradict refute"),
    ("survive", "die died"),
    ("enact", "repeal revoke"),
    ("hire", "fire dismiss"),
    ("arrive arrival", "depart departure"),
    ("appear", "disappear"),
    ("succeed success successful", "failure unsuccessful"),
    ("encourage recommend", "discourage"),
    ("advantage benefit", "disadvantage drawback"),
    ("approve", "disapprove"),
    ("inhibit suppress", "promote stimulate induce"),
    ("simple", "complex complicated"),
    ("temporary", "permanent"),
    ("common", "rare uncommon"),
    ("major", "minor"),
    ("predecessor", "successor"),
    ("buyer", "seller"),
    ("lender creditor", "borrower debtor"),
    ("employer", "employee"),
    ("plaintiff petitioner", "defendant respondent"),
    ("sender", "receiver recipient"),
    ("landlord", "tenant"),
    ("husband", "wife"),
    ("upload", "download"),
    ("compress", "decompress"),
    ("install", "uninstall"),
    ("mount", "unmount"),
    ("create build generate produce", "destroy"),
)

PAIRS: tuple[Pair, ...] = tuple(
    (frozenset(stems(left)), frozenset(stems(right))) for left, right in OPPOSITES
)

# Words that say the same when one replaces the other, beside those of one side above.
_ALIKE = (
    "about around approximately roughly nearly almost",
    "all every each any",
    "also too additionally",
    "begin start commence",
    "buy purchase",
    "change modify alter",
    "check verify examine inspect",
    "choose select pick",
    "create generate produce make build construct",
    "delete remove erase",
    "display show print present",
    "error mistake fault",
    "find detect discover recognise recognize identify",
    "fix repair mend correct solve resolve",
    "get obtain receive acquire",
    "give provide supply offer",
    "happen occur",
    "have contain hold include comprise",
    "help assist aid",
    "keep retain maintain preserve",
    "let allow permit enable",
    "main primary chief principal",
    "need require demand",
    "often frequently",
    "person people individual",
    "put place set",
    "say state mention note",
    "stay remain",
    "use employ utilise utilize apply",
    "usually normally typically generally commonly",
    "whole entire complete",
    "write author pen",
)


def _index_synonyms() -> dict[str, set[str]]:
    """Return the stems that say the same as each."""
    found: dict[str, set[str]] = defaultdict(set)
    for same in (*map(stems, _ALIKE), *(side for pair in PAIRS for side in pair)):
        for stem in same:
            found[stem].update(same)
    return found


SYNONYMS = _index_synonyms()


def _index_pairs() -> dict[str, list[Pair]]:
    """Return the pairs that each stem is in."""
    found: dict[str, list[Pair]] = defaultdict(list)
    for left, right in PAIRS:
        for stem in left | right:
            found[stem].append((left, right))
    return found


PAIRS_WITH = _index_pairs()

_COUNT = r"(?:two|three|four|five|six|seven|eight|nine|ten|\d+)"
ALL = any_of("all every(?:one|body|thing)? each always any entire whole both no none")
SOME = re.compile(
    any_of(
        f"""some(?:times)? most(?:ly)? many several few certain part(?:s|ly|ially)? usually
        typically generally often frequently occasionally half majority {_COUNT}_of one_of"""
    ).pattern
    + rf"|^\W*{_COUNT}\b",
    re.IGNORECASE,
)

DUTY = any_of("must shall required? requires mandatory obliged")
LEAVE = any_of("may can might could optional(?:ly)? allowed permitted allows?")

SURE = any_of("will shall must is_certain_to are_certain_to")
UNSURE = any_of("may might could possibly perhaps")
MAYBE = any_of(
    """might may can could would possibl[ey] probabl[ey] perhaps maybe likely potential(?:ly)?
    alleged(?:ly)? reported(?:ly)? suspect(?:s|ed) believe[ds]? thought presum(?:ed|ably)
    appear(?:s|ed)? seem(?:s|ed)? suggest(?:s|ed)? estimated expected"""
)
ONLY_MAYBE = any_of(
    """might (?:may|could)_have (?:may|could)_be_(?:due|caused) possibly probably perhaps maybe
    allegedly reportedly presumably (?:is|are|was|were)_(?:believed|suspected|thought) appears?_to
    seems?_to"""
)

# Words that make a sentence more certain than a statement, unless the statement has one of the
# second list.
SURER = tuple(
    (any_of(surer), any_of(backing))
    for surer, backing in (
        (
            "only solely exclusively merely",
            """only sole(?:ly)? exclusive(?:ly)? alone mere(?:ly)? just except unless but limited
            restrict\\w* nothing none nobody no not single other_than reserved until""",
        ),
        (
            "always invariably",
            """always never every all each any no not none invariably must shall constant(?:ly)?
            cannot permanent(?:ly)?""",
        ),
        (
            "confirm(?:s|ed)? demonstrate[sd]? establish(?:es|ed) show(?:s|ed|n)?",
            """confirm\\w* demonstrat\\w* establish\\w* show\\w* prov\\w* proof f[io]und find\\w*
            reveal\\w* indicat\\w* report\\w* display\\w* see[ns]? see visible figure table""",
        ),
        (
            "certainly definitely undoubtedly guarantees? guaranteed prove[sdn]? inevitably",
            """certain(?:ly|ty)? definite(?:ly)? doubt\\w* guarantee\\w* prove[sdn]? proofs? proving
            inevitabl[ey] ensure\\w* must shall assure\\w*""",
        ),
    )
)

# Modifiers, which are not part of what a sentence is about.
COLOUR = any_of(
    """all every each any some most many several few always usually typically generally often
    sometimes must shall may can might could should need(?:s|ed)? required? only solely certainly
    definitely possibly probably perhaps just also atleast atmost while when(?:ever)? where since
    because once during then both however so thus therefore allowed permitted"""
)
