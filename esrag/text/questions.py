"""Read from a question what kind of answer it asks for."""

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from esrag.text.figures import to_figures
from esrag.text.terms import find_years, terms

Kind = Literal[
    "comparison", "count", "definition", "list", "place", "reason", "time", "who", "yesno", "other"
]

_MORE = r"(?:more|less|fewer|better|worse|\w{2,20}er)"
_PLACED = "(?:at|by|for|in|on|under|with)"
_COMPARES = re.compile(
    r"\b(?:differences?|compared (?:against|to|with)|comparison (?:of|between|with)|versus|vs\.?"
    r"|differs?|different(?! (?!between|for|from|in|than|to|when|with)\w)|rather than|distinction"
    r"|similarit\w+|differently)\b"
    r"|\A\W*compare\b|\bhow\b[^?]{1,120}\bcompares?\b"
    r"|\b(?:tells?|distinguish(?:es)?|separates?)\b[^?]{1,80}\bfrom\b"
    r"|\bsets?\b[^?]{1,80}\bapart\b"
    r"|\b(?:which|what|who|where|when)\b[^?]{0,80}(?:er|more|less|worse)\b[^?]{0,80},[^?]{0,80}\bor\b"
    rf"|\b{_MORE}\b[^?]{{0,80}}? (?P<where>{_PLACED}) [^?]{{1,60}}? (?:or|than) (?P=where)\b"
    r"|\bhow (?:did|has|have)\b[^?]{1,80}\b(?:change|develop)\w*\b[^?]{0,80}\b(?:between|from)\b"
    r"|\A[^?:,]{2,60} or [^?:,]{1,60}, [^?,]{0,20}\b(?:which|what(?! else)|who|where|how)\b"
    r"|\A[^?:]{2,80}? or [^?:]{1,80}(?::| [–—-]) (?:\w{2,5} )?(?:which|what|who|where|how)\b"
    r"|\bwhat (?:does|do) [^?]{1,60} that [^?]{1,60} (?:does|do)(?: not|n['’]t)\b"
    rf"|\bhow much {_MORE} [^?]{{1,80}} instead of\b"
    r"|\A[^?:,]{1,60} and [^?:,]{1,60}[,:] (?:what|which|who|where|how)\b[^?]{1,80}\beach\b",
    re.IGNORECASE,
)
# "What is the default?", but not "What is the default font?"
_DEFAULTS = r"default(?! (?!(?:for|if|in|is|of|on|to|when|with)\b)[a-z])"
_MEASURES = (
    r"(?:maximum|minimum|max|min|number|size|length|width|height|depth|weight|amount|total|sum"
    rf"|count|limit|{_DEFAULTS}|price|cost|fee|rate|ratio|share|percentage|percent|proportion"
    r"|revenue"
    r"|income|profit|loss|value|volume|capacity|temperature|speed|distance|area|age|population"
    r"|duration|period|timeout|threshold|entropy|salary|budget|score|range|port|resolution"
    r"|latency|frequency|interval|factor|bandwidth|throughput|dimensions?|version(?! control))"
)
# Of something: "What is the deposit?" may ask for its definition.
_CHARGES = (
    r"(?:bonus|charge|deposit|discount|excess|fare|fine|penalty|postage|rent|subscription|surcharge"
    r"|tariff|toll|wage)"
)
_UNITS = "bit|byte|character|day|dollar|hour|minute|month|page|percent|second|space|week|word|year"
_DOES = "add|change|decrease|disable|enable|increase|limit|reduce|remove|reset|restore|set|use"
_COUNTS = re.compile(
    r"\bhow (?:many|much|long|large|big|far|wide|high|old|often|fast|short|tall|heavy|deep|strong"
    r"|thick|full|late|early|frequently|soon|small|low|great|close|loud|hot|cold|quickly|slowly)\b"
    rf"|\b(?:what|which)(?! do\b| does\b| did\b| counts as\b| order\b| (?:kind|sort|type)s? of\b"
    r"| (?:is|are) an? [\w-]{1,40} (?:for|in|of|on)\b| (?:is|are) [^?]{1,60} good for\b)"
    rf"(?!(?<=which)(?: [\w-]{{1,40}}){{0,2}} {_MEASURES}s\b)(?:'s| is| are| was| were)?"
    rf"(?: [\w'’-]+){{0,5}}? {_MEASURES}s?\b"
    rf"|\bwhat(?:'s| is| are| was| were) (?:my|our|the|your)(?: [\w-]{{1,40}}){{0,2}}? {_CHARGES}s?"
    r" (?:at|for|from|if|in|of|on|per|to|when|with|without)\b"
    r"|\A(?:at|above|below|over|under|beyond|up to) what \w|\b(?:after|within) what time\b"
    r"|\bwhat (?:do|does|did) [^?]{1,80}\b(?:cost|weigh|earn|pay|measure)\b"
    r"|\bwhat (?:is|are|was|were) [^?]{1,80}\b(?:paid|charged|worth)\b"
    r"|\bwhat(?:'s| is| was) the (?:furthest|farthest|fewest|(?:most|least) \w+s)\b"
    r"|\bwhat (?:should|must|is|are)\b[^?]{1,80}\bset to\b"
    r"|\bhow (?!(?:can|could|did|do|does|is|are|may|must|should|to|was|were|will|would)\b)"
    r"(?:\w+ ){1,2}(?:may|can|must|should|is|are|was|were|do|does)\b(?!.*\bto\b)"
    # keywords alone
    rf"|\A(?!.*\b(?:{_DOES})\b)(?:[\w.'-]{{1,40}} ){{1,8}}(?:{_MEASURES}|{_CHARGES}|{_UNITS})s?\Z",
    re.IGNORECASE,
)
_TIMES = re.compile(
    r"\A\s*(?:(?:(?:by|from|since|until) )?when\b"
    r"|(?:(?:as of|at|by|from|in|on|since|until) )?(?:what|which) (?:year|date|day|month|time"
    r"|century|decade)\b(?! \w+s (?:do|does|can|must|may|are)\b)|how long ago\b|[^?]{1,80}, when\b)"
    r"|\bwhen (?:did|was|is|were|does|do|will) ",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"\A(?:(?:define|explain|describe)\b|(?:the )?(?:definition|meaning) of\b"
    r"|(?:(?:in|for|within|under) [^?,]{1,60}, )?what (?:counts|qualifies) as\b"
    r"|(?:(?:in|for|within) [^?,]{1,60}, )?(?:who or )?what(?:'s| is| are| was| were)"
    r" (?:(?:a|an|the) )?(?:meant by\b|(?:meaning|definition|purpose) of\b)?)",
    re.IGNORECASE,
)
_AUXILIARY = "are|were|do|does|did|have|has|can|could|may|might|must|should|shall|will|would"
_VERBS = "causes|comes|does|gives|goes|happens|has|keeps|makes|means|needs|stands|takes|this|was"
_PLURAL = rf"(?!(?:{_VERBS})\b)[a-z]{{2,}}(?:[^suia\W]|ie|ue)s"
_NOUNS = (
    "steps|parts|types|kinds|elements|components|stages|phases|requirements|options|methods|reasons"
    "|examples|functions|conditions|categories|features|rules|factors|items|values"
    "|levels|tests|modes|roles|fields|attributes|arguments|criteria|goals|duties|exceptions"
    "|limitations|advantages|disadvantages|consequences"
)
_HOLDS = (
    "(?:includes?d?|contains?|consists?|made of|need|supposed to|allowed to|required|not"
    r"|(?:have|need) to \w+)"
)
_PURPOSE = "(?:used|meant|good|spent) (?:for|on|to)"
_LISTS = re.compile(
    "|".join(
        (
            r"\b(?:list|name|enumerate)\b",
            rf"\b(?:what|which)(?: are| were)?(?: [\w'’-]+){{0,5}}? (?:{_NOUNS})\b",
            rf"\b(?:what|which) {_PLURAL}\b",
            rf"\b(?:what|which) (?:\w+[ -]){{1,2}}{_PLURAL} (?:{_AUXILIARY}|of|in|for|to|count)\b",
            (
                r"\b(?:what|which) (?:\w+ of )?"
                r"(?:information|metadata|evidence|equipment|data|stuff|paperwork)\b"
            ),
            r"\bhow (?:do|does|can|should|to|would)\b|\bhas to be \w+ (?:up|in place)\b",
            r"\bin (?:what|which) ways?\b",
            rf"\bwhat (?:{_AUXILIARY}|is|was)\b[^?]{{1,80}}\b{_HOLDS}\b",
            rf"\bwhat (?:{_AUXILIARY}|is|was) [^?]{{1,80}} {_PURPOSE}\b",
            (
                r"\bwhat (?:can|may|must|should|shall) "
                r"(?:be\b|not\b|happen\b|[^?]{1,80} (?:do|try|bring|check)\b)"
            ),
            r"\bwhat to (?:do|try|bring|check)\b",
            r"\bwhat (?:can|may) [^?]{1,80} be (?:set to|one of)\b",
        )
    ),
    re.IGNORECASE,
)
# "What are the four transformations?", "What are the steps of it?", "How is a key checked?"; the
# steps of an algorithm are recognised by its number.
_ENUMERATES = re.compile(
    rf"\bwhat (?:are|were) the (?:[\w-]+ )?(?:{_NOUNS})\b(?![^?]{{1,80}}\balgorithm \d)"
    r"|\bwhat (?:are|were) the (?:two|three|four|five|six|seven|eight|nine|ten|\d+|main|different"
    r"|various)\b|\b(?:in )?(?:what|which) order\b"
    r"|\bhow (?:is|are|was|were) (?!\w+ (?:is|are|from)\b)"
    r"|\bwhat(?:['’]s| is| are| was| were)(?: all)? (?:on|in|inside|among|part of)"
    r" (?:the|my|our|this|an?)\b"
    r"|(?:\A|[.?!] )(?:list|name|enumerate) (?:all|the|its)\b|\bstep by step\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(
    r"\A\s*(?:is|are|was|were|am|do|does|did|can|could|may|might|must|shall|should|will|would|has"
    r"|have|had)(?:n't)?\b",
    re.IGNORECASE,
)
_WHO = re.compile(
    r"(?<!person )(?<!people )(?<!those )(?<!one )\b(?:who|whom|whose)\b(?! or what\b)"
    r"|\b(?:what|which) \w*(?:person|name|author|justice|judge"
    r"|company|president|officer|director|organi[sz]ation)\b",
    re.IGNORECASE,
)
_FIRST: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("comparison", _COMPARES),
    ("yesno", _YES_NO),
    ("time", _TIMES),
    ("count", _COUNTS),
    ("list", _ENUMERATES),
)
_THEN: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("who", _WHO),
    ("place", re.compile(r"\bwhere\b", re.IGNORECASE)),
    ("reason", re.compile(r"\b(?:why|reason)\b", re.IGNORECASE)),
    ("list", _LISTS),
)
# What limits or ends a subject: "a tunnel, in HTTP terms", "the Zen of Python".
_LIMIT = re.compile(
    r",|\s(?:among|in|for|of|according to|that|under|from|at|to|which)\s|\sfor[?]", re.IGNORECASE
)
_ARTICLE = re.compile(r"\A(?:an?|the)\s", re.IGNORECASE)
_OF_ANOTHER = re.compile(
    r"['’]s?\s|\d"
    r"|\b(?:good|used|spent|meant|worth|made|done|called|supposed|allowed|required|not|and|or)\b"
)
# "What are users of it allowed to do?", "What is the code for a square?"
_VALUE = re.compile(
    r"\b(?:able|allowed|entitled|expected|obliged|permitted|required|supposed) to\b"
    r"|\A[^?,]{1,60} for (?:an?|each|every) ",
    re.IGNORECASE,
)
_AROUND = " \"'“”?.!"
_MEANS = re.compile(
    r"\bwhat (?:does|do|did) [^?]{1,60} (?:mean by|call(?! (?:for|to|on)\b)) ([^?]{1,80})"
    r"|\bwhat [^?]{1,60} (?:understands?|understood) by ([^?]{1,80})"
    r"|\bwhat does it mean (?:when|if|that|for) [^?]{1,80}? (?:is|are|to be) ([^?]{1,60})"
    r"|\b(?:what|how) (?:does|do|did) (.{1,80}?) (?:mean|stand for|work)\b"
    r"|\bwhat (?:is|are) (?!(?:it|they|that|this)\b)([^?]{1,60}?) good for\b"
    r"|\bwhat (?:does|do) (?!(?:I|we|you|they|one)\b)([^?]{1,60}?) do(?: in [^?]{1,40})?[?.]?$"
    r"|\bhow (?:does|do|did|is|are) [^?]{1,80}? define (?:the term )?([^?]{1,80})"
    r"|\bhow (?:is|are) ([^?]{1,80}) defined\b",
    re.IGNORECASE,
)
_CALLED = re.compile(
    r"\bwhen (?:is|are) .{1,60}? (?:called|considered|said to be) (?:an?|the)? ?(.{2,60}?)[?]?$",
    re.IGNORECASE,
)
_BARE = re.compile(r"what (?:is|are) (?:an?|the) [\w-]+(?: [\w-]+){0,2}[?.]?", re.IGNORECASE)
_BARE_WORD = re.compile(r"what is [\w-]+[?.]?", re.IGNORECASE)  # "What is entropy?"
_EXACTLY = re.compile(
    r"\b(?:exactly|actually|really|precisely|basically|on earth|the (?:heck|hell)) ", re.IGNORECASE
)
# "Whats the fee?", "Wich lids fit?"
_WRITTEN_FAST = (
    (re.compile(r"\b(what|where|who|when|how)s\b", re.IGNORECASE), r"\1's"),
    (re.compile(r"\b(w)(?:ich|hitch|itch)\b", re.IGNORECASE), r"\1hich"),
)
_THING = r"[^?,]{2,60}?"
_END = r"(?: (?:when|if|while|where|on|for|during|after|before|at)\b.*)?[?.]?$"
_AGAINST = r"(?:compared (?:with|to)|versus|vs\.?|rather than)"
_NUMBERED = r"[A-Za-z][A-Za-z.]{0,20}[- ]?\d[\w.-]{0,20}"
_DO, _DIFFER = "(?:do|does|did|are)", "(?:differ|compare|distinguished)"
_PARTS = "(?:sets?|tells?|distinguish(?:es)?|separates?)"
_WITH = "(?:with|for|in|on)"
_THAN = f"(?:than|and|from)(?: {_WITH})?"
_WORD, _BOTH = r"(?<![\w.-])[\w.-]{1,40}?", "(?:both|the two|these|they|those)"
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\bbetween (?P<left>{_THING}) and (?P<right>{_THING})(?: in\b.*)?{_END}",
        rf"\b(?:differ(?:s|ent)?|distinguished) from (?P<right>{_THING}){_END}",
        rf"(?:,|\bis|\bare)\s(?P<left>{_THING}),? or (?P<right>{_THING})(?:, and .*)?{_END}",
        (
            rf"\A(?:.{{0,30}}\b(?:use|take) )?(?P<left>{_THING}) or (?P<right>{_THING})"
            r"(?: (?:for|in) [^?:]*)?(?::| [–—-]) "
        ),
        rf"\bwhat {_DO} (?P<left>{_THING}) \w+ that (?P<right>{_THING}) {_DO}(?: not|n['’]t)\b",
        # "How many rounds does AES-128 have compared with AES-256?"
        rf"\b(?P<left>{_NUMBERED})\b[^?,]{{0,80}}? {_AGAINST} (?P<right>{_NUMBERED}){_END}",
        # "… the root key, compared to the session key": with the same noun
        (
            rf"\b(?P<left>[\w.-]{{1,40}} (?P<noun>[\w-]{{1,40}}))\b.{{0,80}}? {_AGAINST} "
            rf"(?P<right>{_THING} (?P=noun)){_END}"
        ),
        (
            rf"(?P<left>[\w.-]{{2,40}}) {_AGAINST} (?P<right>{_THING})(?: in [^?:]*)?"
            rf"(?:(?::| [–—-]) .*)?{_END}"
        ),
        rf"\b{_PARTS} (?P<left>{_THING}) (?:apart )?from (?P<right>{_THING}){_END}",
        rf"\bhow {_DO} (?P<left>{_THING}) and (?P<right>{_THING}) {_DIFFER}\b",
        # "The modes are called fast and safe. How do they differ?"
        rf"(?P<left>{_WORD}) and (?P<right>{_WORD})[.,;:]? how {_DO} {_BOTH} {_DIFFER}\b",
        rf"\A\W*compare (?P<left>{_THING}) (?:and|against|to|with) (?P<right>{_THING}){_END}",
        rf"\bhow {_DO} (?P<left>{_THING}) compare (?:against|to|with) (?P<right>{_THING}){_END}",
        rf"\b{_DO} (?P<left>{_THING}) and (?P<right>{_THING}) (?:\w+ )?differently\b",
        rf"\bfrom (?P<left>{_THING}) to (?P<right>{_THING})(?: in\b.*)?{_END}",
        (
            rf"\A.* (?P<placed>{_PLACED}) (?P<left>{_THING}) (?:or|than) (?P=placed)"
            rf" (?P<right>{_THING})(?:, .*)?{_END}"
        ),
        rf"\A(?P<left>{_THING}) (?:and|or) (?P<right>{_THING}), .*\b(?:which|what|who|where|how)\b",
        rf"\b(?P<left>(?:\w{{1,40}} )?\w{{1,40}}) instead of (?P<right>{_THING}){_END}",
        rf"\bdifferently {_WITH} (?P<left>{_THING}) {_THAN} (?P<right>{_THING}){_END}",
    )
)
_DIFFERS = re.compile(
    rf"\bhow (?:do|does|is|are) (?P<left>{_THING}) (?:differ|different|distinguished)\b",
    re.IGNORECASE,
)

_ASKS_DIFFERENCE = re.compile(r"\b(?:differ\w*|distinguish\w*|distinction|apart)\b", re.IGNORECASE)
_ONES = re.compile(r"\sones?\Z", re.IGNORECASE)  # "from ordinary ones"
_YEAR_BEFORE = re.compile(r"\b(?:in )?(?:the|a|one) (?:previous year|year (?:before|earlier))\b")

# What documents say instead of the words of a question.
_HOW = re.compile(
    r"\bhow (big|deep|expensive|far|fast|hard|heavy|high|hot|large|long|loud|old|tall|thick|wide)"
    r"\b",
    re.IGNORECASE,
)
_MEASURED = {
    "big": "size", "deep": "depth", "expensive": "price", "far": "distance", "fast": "speed",
    "hard": "hardness", "heavy": "weight", "high": "height", "hot": "temperature", "large": "size",
    "long": "length duration", "loud": "noise", "old": "age", "tall": "height",
    "thick": "thickness", "wide": "width",
}  # fmt: skip
_HYPHENATED = re.compile(r"(?<![\w-])[a-z]{2,5}-[a-z]{3,20}(?![\w-])")
_SET = "(?:change|configure|give|say|set|specify|specified|tell)"
_HAS_SET = "(?:nobody|no one) (?:has |ever )?(?:changed|configured|given|said|set|specified|told)"
_UNLESS = (
    r"(?:if|when|unless)\b[^?,]{0,40}"
    rf"(?:\b(?:otherwise|nothing|{_HAS_SET})|(?:\bnot|n['’]t) {_SET})\b"
    rf"|unless (?:I|you|we) {_SET}\b|out of the box"
)
_ASKS_DEFAULT = re.compile(
    rf"\bdefaults?\b|\b(?:leave|left) [^?]{{0,40}}?\b(?:out|empty|unset)\b|\bomit|\b(?:{_UNLESS})",
    re.IGNORECASE,
)
# H1 of 2023, 2023 H1; H2 alone may be hydrogen
_OF_YEAR, _IN_YEAR = r"(?= (?:of )?(?:FY ?)?20\d\d)", r"(?<=\b20\d\d )"
_OTHER_WORDS = tuple(
    (re.compile(rf"\b(?:{words})\b", re.IGNORECASE), others)
    for words, others in (
        ("wrote|written", "author"),
        ("authors?", "wrote written"),
        ("looks? after|takes? care of", "maintained maintains maintainer"),
        ("owns?|owned by", "owner"),
        ("creators?|inventors?", "created invented designed developed"),
        ("founders?", "founded started"),
        ("costs?", "price fee"),
        ("came up with|invent(?:s|ed)?|devised?|conceived", "designed invented created developed"),
        (r"(?:wrote|written|authors?)(?=[^?]{1,60} (?:opinion|judge?ment|speech)\b)", "delivered"),
        (r"(?:came|comes?|enter(?:s|ed)?|go(?:es)?|went) into (?:force|effect)", "effective"),
        (r"takes? effect|took effect", "effective"),
        (
            r"(?<=which )release|(?<=what )release|(?<=earliest )release|(?<=first )release",
            "version",
        ),
        ("bought|buys?", "purchase"),
        ("born", "birth"),
        ("died?|dies", "death"),
        ("earn(?:s|ed)?", "income earnings profit"),
        ("gr[eo]wn?|grows", "growth"),
        ("lost|loses?", "loss"),
        ("paid|pays?", "payment"),
        ("ram", "memory"),
        ("sells?|sold", "sales"),
        ("spends?|spent", "spending expenditure expense"),
        ("weigh(?:s|ed)?", "weight"),
        (r"once(?=\s*(?:[,.;?!]|\Z))", "one"),
        (r"twice(?=\s*(?:[,.;?!]|\Z))", "two"),
        (r"first three months(?= of\b)", "q1 first quarter"),
        (r"last three months(?= of\b)", "q4 fourth quarter"),
        ("whole|altogether|in all|in full|overall", "total"),
        (r"end(?= of (?:the (?:fiscal )?year )?(?:19|20)\d\d)", "December 31"),
        (_UNLESS, "default"),
        (
            rf"h1{_OF_YEAR}|{_IN_YEAR}h1|(?:first|1st) half|first six months",
            "january june half six",
        ),
        (
            rf"h2{_OF_YEAR}|{_IN_YEAR}h2|(?:second|2nd) half|last six months",
            "july december half six",
        ),
    )
)

# "When it boils, what …?" and "I have a kettle. How …?": what is asked comes last.
_ASKS = (
    r"(?:(?:at|by|for|from|in|on|to|with) )?(?:what|which|who|whom|whose|where|when|why|how"
    rf"|{_AUXILIARY}|is|was)\b"
)
_BEFORE = re.compile(
    r"\A(?:(?:when|if|while|once|after|before|because|since|where|unless|given)\b[^?.]{3,160}, "
    rf"(?={_ASKS})|[^?]{{8,300}}[.!;] (?={_ASKS}[^?]{{3,300}}\?\Z))",
    re.IGNORECASE,
)
# "In FIPS 203, what …?", "…, according to the guide?", "…, like a barge?": where, or an example.
_FRAME = re.compile(
    rf"\A(?:according to|as per|at|by|for|in|on|under|with) [^?,]{{2,80}}, (?={_ASKS})",
    re.IGNORECASE,
)
_ADDED = re.compile(
    r",? (?:according to|as (?:defined|described|given|listed|stated|used)|e\.g\.|like|such as)"
    r" [^?]{2,80}\?\Z|, (?:by|in|per|within) [^?,]{2,60}\?\Z|\s\([^()?]{2,80}\)(?=\?\Z)",
    re.IGNORECASE,
)
# What a name is of: "the tie_breaker parameter", "the option -q", but not "a hash function".
_TECHNICAL = r"[^\s=_.-]{0,60}[=_.-]\S{0,60}"
_NAMED = re.compile(
    rf"(?:argument|command|field|flag|function|option|parameter|setting|variable) ({_TECHNICAL})"
    r"|(\S{2,60}) (?:argument|directive|flag|option|parameter|setting)"
    rf"|({_TECHNICAL}) (?:attribute|command|field|function|variable)",
    re.IGNORECASE,
)
_PROGRAM = re.compile(r"the ([A-Z]\S{1,40}) (?:library|package|program|protocol|tool|utility)")
OPTION = re.compile(r"(?<!\S)--?[A-Za-z][\w-]{0,40}(?![\w-])")  # of a command: -q, --exclude
_PRONOUNS = "he|its?|ones?|she|them|these|they|this|those"
_PRONOUN = re.compile(rf"(?:{_PRONOUNS}|that)", re.IGNORECASE)
_REFERS = re.compile(rf"\b(?:{_PRONOUNS}|each|hers?|him|his|that one|theirs?)\b", re.IGNORECASE)
_PLAIN = re.compile(r"\A\W*what(?:['’]?s| is| are| was| were) (?:(?:an?|the) )?", re.IGNORECASE)
# "They need a salt. What is that?", "It has a 'dialect'. What does this word mean?"
_THAT = "(?:that|this|those|these|it|they)"
_ASKS_BACK = re.compile(
    rf"what(?:['’]s| is| are) {_THAT}(?: all about)?(?:[,?]| (?:in|for|according|supposed)\b)"
    rf"|what (?:do|does) {_THAT}(?: \w{{3,20}})?"
    r" (?:describe|do|influence|mean|refer to|stand for)\b"
    rf"|what (?:do|does) [^?]{{1,60}} (?:mean|understand) by {_THAT}\b",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"(?<!\w)[\"“‘']([^\"“”‘’'.!?]{2,40})[\"”’'](?!\w)")
_BEFORE_NAME = (
    "about|an?|by|called|from|has|have|mention(?:ed|s)?|needs?|of|on|said|says|suggest(?:ed|s)?"
    "|the|uses?|wants?|with"
)
_NAMED_LAST = re.compile(
    rf"(?:\b(?:{_BEFORE_NAME})|['’]s?) (?:(?:an?|the) )?(?:(?:abbreviation|acronym|term|word) )?"
    r"([\w-]{2,40}(?: [\w-]{2,40})?)"
    r"(?: (?:all|for|in|of|on) [^?]{1,100})?[.!;]*\Z"
)
_KEYWORDS = re.compile(r"(?:\S+ ){1,8}\S*[^\s.?!:]")
_MIN_CORE = 4  # words
_MAX_TYPED = 3  # words of a question that only names an option

_MAX_READ = 500  # characters of a question
_MAX_SUBJECT = 6  # words: "What is the effect of a change in …" asks for no definition


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question asks for: the kind of answer, and the subject of a definition.

    "What is the annual fee?" asks for a number, or for a definition.
    """

    kind: Kind
    subject: str = ""


@lru_cache(maxsize=256)  # an answer asks some thirty times for the same question
def read_question(question: str) -> Asked:
    """Return what a question asks for, by its words.

    >>> read_question("What is a relying party?")
    Asked(kind='definition', subject='relying party')
    >>> [read_question(text).kind for text in ("How long must a key be?", "Who wrote PEP 8?")]
    ['count', 'who']
    """
    question = _shorten(question)
    if meant := _find_meant(question):
        return Asked("definition", meant)

    question = _BEFORE.sub("", question)
    if found := _CALLED.search(question):
        return Asked("definition", _cut(found[1]))
    if _BARE_WORD.fullmatch(question):
        return Asked("definition", _subject(question))
    for kind, pattern in _FIRST:
        if pattern.search(question):
            is_bare = kind == "count" and _BARE.fullmatch(question)
            return Asked(kind, _subject(question) if is_bare else "")
    if subject := _subject(question):
        return Asked("definition", subject)
    return Asked(next((kind for kind, pattern in _THEN if pattern.search(question)), "other"))


def find_core(question: str) -> str:
    """Return a question without what it says of its circumstances, if the rest stands by itself.

    Keywords become a question, and "that" becomes what the sentence before names.

    >>> find_core("In curling, what is a crampit, according to the book?")
    'What is a crampit?'
    >>> find_core("kettle boiling time")
    'What is kettle boiling time?'
    >>> find_core("Passwords need a salt. What is that?")
    'What is salt?'
    >>> find_core("I have a kettle. How long does it boil?")
    'I have a kettle. How long does it boil?'
    """
    said = _shorten(question)
    if _KEYWORDS.fullmatch(said) and read_question(said).kind == "other":
        return f"What is {said}?"
    if meant := _find_meant(said):
        return f"What is {meant}?"
    core = _ADDED.sub("?", _FRAME.sub("", _BEFORE.sub("", said)))
    if core == said or len(core.split()) < _MIN_CORE or _REFERS.search(core):
        return question
    return core[:1].upper() + core[1:]


def ask_meaning(question: str) -> str:
    """Return a plainer question for what a question wants to have defined.

    It is "" if there is none, or if the question begins like that by itself.

    >>> ask_meaning("How did the old rules define an enumeration?")
    'What is enumeration?'
    >>> [ask_meaning(each) for each in ("What is an enumeration here?", "How heavy is it?")]
    ['', '']
    """
    subject = read_question(question).subject
    is_plain = _PLAIN.sub("", find_core(question)).startswith(subject)
    return "" if not subject or is_plain or f"{subject} of " in question else f"What is {subject}?"


def find_other_words(question: str) -> dict[str, str]:
    """Return what documents may say instead of words of a question, by these.

    >>> find_other_words("How old is whoever wrote the opinion?")
    {'old': 'age', 'wrote': 'author delivered'}
    >>> find_other_words("Is it re-evaluated?")
    {'re-evaluated': 'reevaluated'}
    >>> find_other_words("What is the purity of H2?"), find_other_words("What was sold in H2 2023?")
    ({}, {'sold': 'sales', 'H2': 'july december half six'})
    >>> find_other_words("How big is it if I don't set it?")
    {'big': 'size', "if I don't set": 'default'}
    """
    question = _shorten(question)
    found = {word: _MEASURED[word.casefold()] for word in _HOW.findall(question)}
    found |= {word: word.replace("-", "") for word in _HYPHENATED.findall(question)}
    for pattern, other in _OTHER_WORDS:
        for said in pattern.finditer(question):
            found[said[0]] = " ".join(filter(None, (found.get(said[0]), other)))
    return found


def find_other_terms(question: str) -> dict[str, set[str]]:
    """Return the terms that documents may have instead of terms of a question, by these.

    >>> find_other_terms("How old is it?")
    {'old': {'age'}}
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for said, others in find_other_words(question).items():
        for term in terms(to_figures(said)):
            found[term].update(terms(to_figures(others)))
    return dict(found)


def asks_default(question: str) -> bool:
    """Return whether a question asks for what holds if nothing is set.

    >>> [asks_default(f"How big is it if I {text} it?") for text in ("don't set", "omit", "have")]
    [True, True, False]
    """
    return bool(_ASKS_DEFAULT.search(question))


def _find_meant(question: str) -> str:
    """Return what the sentence before names last, if a question asks what "that" is; else "".

    >>> _find_meant("They keep talking of a 'dialect'. What is that, in short?")
    'dialect'
    >>> _find_meant("It uses the abbreviation FAL. What does this level describe?")
    'FAL'
    >>> _find_meant("My van goes on the mezzanine of the Fulmar. What is that?")
    'mezzanine'
    >>> _find_meant("I have a kettle. How long does it boil?")
    ''
    """
    said = _BEFORE.match(question)
    if not said or not _ASKS_BACK.match(question, said.end()):
        return ""
    named = _QUOTED.search(said[0]) or _NAMED_LAST.search(said[0].rstrip())
    return named[1] if named else ""


def _shorten(question: str) -> str:
    """Return a question of bounded length, without words that only stress it.

    >>> _shorten("Wich lid fits?"), _shorten("Whats  on earth a lid?")
    ('Which lid fits?', "What's a lid?")
    """
    said = " ".join(question[:_MAX_READ].split())
    for pattern, meant in _WRITTEN_FAST:
        said = pattern.sub(meant, said)
    return _EXACTLY.sub("", said)


def _subject(question: str) -> str:
    """Return what a question wants to have defined; "" if it asks for something else.

    >>> _subject("What is a public key?"), _subject("tar --exclude"), _subject("tar: how?")
    ('public key', '--exclude', '')
    """
    if len(question.split()) <= _MAX_TYPED and (option := _only_option(question)):
        return option
    if found := _MEANS.search(question):
        return _cut(next(filter(None, found.groups())))
    if not (found := _DEFINES.match(question)):
        return ""
    if _VALUE.search(rest := question[found.end() :]):
        return ""
    article = "the " if found[0].lower().endswith(" the ") else ""
    subject = _cut(article + rest)
    is_named = 0 < len(subject.split()) <= _MAX_SUBJECT and not _OF_ANOTHER.search(subject)
    is_named = is_named and not _PRONOUN.fullmatch(subject)
    return subject if is_named else ""


def _cut(subject: str) -> str:
    """Return a subject without its article, what limits it, and what it says that a name is of.

    >>> _cut("the tie_breaker parameter of a query"), _cut("the option -q"), _cut("a public key")
    ('tie_breaker', '-q', 'public key')
    >>> _cut("tar --exclude"), _cut("a well-known file")
    ('--exclude', 'well-known file')
    >>> _cut("the DHAT tool that comes with Valgrind"), _cut("a Debian package")
    ('DHAT', 'Debian package')
    """
    named = _LIMIT.split(subject.strip(), maxsplit=1)[0].strip(_AROUND)
    bare = _ARTICLE.sub("", named).strip(_AROUND)
    found = _NAMED.fullmatch(bare) or _PROGRAM.fullmatch(named)
    said = next(filter(None, found.groups())) if found else bare
    return _only_option(bare) or said


def _only_option(text: str) -> str:
    """Return the option that a text names, "" if it names none or several."""
    found = OPTION.findall(text)
    return str(found[0]) if len(found) == 1 else ""


def read_sides(question: str) -> list[list[str]]:
    """Return the terms of the two things that a question compares; [] if it compares none.

    >>> read_sides("What's the difference between PUT and POST?")
    [['put'], ['post']]
    >>> read_sides("What is the difference between must and should?")
    [['must'], ['should']]
    >>> read_sides("It can be set to fast and safe. How do they differ?")
    [['fast'], ['safe']]
    """
    question = _name_year_before(_shorten(question))
    found = _find_sides(question)
    if not found:
        return []
    left, right = _get_sides(found)
    return _tell_apart(_list_terms(left), _name_ones(right, left))


def split_sides(question: str) -> tuple[str, ...]:
    """Return what each of two things is, as questions, if a question asks how they differ.

    >>> split_sides("What's the difference between a kettle and a pot?")
    ('What is a kettle?', 'What is a pot?')
    >>> split_sides("How long does a kettle last compared with a pot?")
    ()
    """
    question = _shorten(question)
    found = _find_sides(question) if _ASKS_DIFFERENCE.search(question) else None
    return tuple(f"What is {each}?" for each in _get_sides(found) if each) if found else ()


def _find_sides(question: str) -> re.Match[str] | None:
    """Return where a comparison names what it compares; None if this is none, or it does not."""
    if read_question(question).kind != "comparison":
        return None
    return next(filter(None, (pattern.search(question) for pattern in _SIDES)), None)


def _get_sides(found: re.Match[str]) -> tuple[str, str]:
    """Return the names of the two things that are compared; the first may be ""."""
    given = found.groupdict()
    left = given.get("left") or (_DIFFERS.search(found.string) or {"left": ""})["left"]
    return left, given["right"]


def _name_year_before(question: str) -> str:
    """Return a question with the number of "the year before", if it has one year.

    >>> _name_year_before("Was it more in 2024 than the year before?")
    'Was it more in 2024 than in 2023?'
    """
    years = find_years(question)
    if len(years) != 1:
        return question
    (year,) = years
    return _YEAR_BEFORE.sub(f"in {int(year) - 1}", question)


def _name_ones(right: str, left: str) -> list[str]:
    """Return the terms of the right side, with the left side's noun instead of "ones".

    >>> _name_ones("a sour one", "a sweet cherry"), _name_ones("a plum", "a cherry")
    (['sour', 'cherri'], ['plum'])
    """
    _, _, noun = left.rpartition(" ")
    return _list_terms(_ONES.sub(f" {noun}", right) if " " in left else _ONES.sub("", right))


def _list_terms(name: str) -> list[str]:
    """Return the terms of a name; its words if it has none: "should" may be one."""
    return terms(name) or name.lower().split()


def _tell_apart(left: Sequence[str], right: Sequence[str]) -> list[list[str]]:
    """Return the words of each side that the other has not; [] if one side has no other."""
    shared = {*left} & {*right}
    own = [[word for word in side if word not in shared] for side in (left, right)]
    # "substitute() and safe_substitute()": one may have the words of the other and more.
    if not (left and right and any(own)):
        return []
    return [words or [*side] for words, side in zip(own, (left, right), strict=True)]
