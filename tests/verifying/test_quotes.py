"""Quotes: a sentence has to hold words of its passage, and what counts as those words."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.evidence.cells import answer_cells
from esrag.evidence.statements import statements
from esrag.generating import GenerationTask, GeneratorOptions
from esrag.generating.extractive import ExtractiveGenerator
from esrag.records import Chunk, Evidence
from esrag.verifying.quotes import MAX_CHARACTERS
from esrag.verifying.verify import Check, Rules, verify

SIZES = (
    "The encapsulation key of ML-KEM-768 has 1184 bytes. The ciphertext has 1.088 kB, not more. "
    "It isn’t open."
)
WORDS = "key of ML-KEM-768 has 1184 bytes"
SAYS = "The key has 1184 bytes"


def passages(*texts, start=0):
    """Evidence c1… with these texts, each a chunk that starts there."""
    return tuple(
        Evidence(
            f"c{n}",
            Chunk(
                chunk_id=f"d::p0001::c{n:03d}",
                doc_id="d",
                ordinal=n,
                start=start,
                end=start + len(text),
                start_page=1,
                end_page=1,
                text=text,
            ),
            1 / n,
        )
        for n, text in enumerate(texts, 1)
    )


def checked(draft, *texts, **rules):
    """What a draft comes to where every sentence has to have its quote."""
    return verify(draft, passages(*(texts or (SIZES,)), start=100), quotes=True, **rules)


def test_the_quote_is_the_citations():
    """To the letter, with its place in the document; the sentence is supported without it."""
    answer = checked(f'{SAYS} ("{WORDS}"). [c1]')
    (citation,) = answer.citations

    assert answer.text == f"{SAYS} (“{WORDS}”). [c1]"
    assert (citation.quote, citation.support) == (WORDS, 1.0)
    assert SIZES[citation.start - 100 : citation.end - 100] == WORDS


@pytest.mark.parametrize(
    "draft",
    [
        f"{SAYS} (“{WORDS}”). [c1]",
        f"{SAYS} (»{WORDS}«). [c1]",
        f"{SAYS} („{WORDS}“) [c1].",
        f'{SAYS} "{WORDS}" [c1].',
        f'{SAYS}. "{WORDS}" [c1]',
        f'{SAYS}: "{WORDS}." [c1]',
        f'{SAYS} ("{WORDS}.") [c1]',
        f'{SAYS} ( "… {WORDS} …" ). [c1]',
        f'{SAYS} ("key of\nML-KEM-768  has 1184 bytes"). [c1]',
        f'{SAYS} ("key of ML‑KEM‑768 has 1184 bytes"). [c1]',
    ],
)
def test_models_may_write_it_in_their_way(draft):
    """Marks, brackets, full stops, white space and dashes of any shape: one answer."""
    assert checked(draft).text == f"{SAYS} (“{WORDS}”). [c1]"


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        (f"{SAYS}. [c1]", "it does not end with a quote of 3 words to 300 characters of c1"),
        (
            f'{SAYS} ("1184 bytes"). [c1]',
            "it does not end with a quote of 3 words to 300 characters of c1",
        ),
        (f'{SAYS} ("{"very " * 70}{WORDS}"). [c1]', "it does not end with a quote of 3 words to"),
        (f'{SAYS} ("{WORDS} or so"). [c1]', f"the quote '{WORDS} or so' is not in c1"),
        (f'{SAYS} ("key … has 1184 bytes"). [c1]', "the quote 'key … has 1184 bytes' is not in c1"),
        (
            f'{SAYS} ("KEM-768 has 1184 bytes"). [c1]',
            "the quote 'KEM-768 has 1184 bytes' is not in c1",
        ),
        (
            'The ciphertext has 1.088 kB ("088 kB, not more"). [c1]',
            "the quote '088 kB, not more' is not in c1",
        ),
        (f'{SAYS} ("ey of ML-KEM-768 has 1184 bytes"). [c1]', "is not in c1"),
        (f'{SAYS} ("key of ML-KEM-768 has 118"). [c1]', "is not in c1"),
        (f'{SAYS} ("The ciphertext has 1"). [c1]', "is not in c1"),
        (f'Penguins waddle ("{WORDS}"). [c1]', f"the quote '{WORDS}' does not speak of it in c1"),
        (f'The key swims in oceans ("{WORDS}"). [c1]', "only 33% of the words are in c1"),
        (f'The key has 1185 bytes ("{WORDS}"). [c1]', "the number 1185 is not in c1"),
        (
            f'The key of ML-KEM-768 does not have 1184 bytes ("{WORDS}"). [c1]',
            'except for a "not" it is in c1',
        ),
        (f'{SAYS} ("{WORDS[:-10]}118⁴ bytes"). [c1]', "is not in c1"),
        ('It is open ("It isn’t open"). [c1]', 'except for a "not" it is in c1'),
    ],
)
def test_what_is_no_proof_is_refused(draft, note):
    """No quote, too little, too much, other words, parts of words and numbers, or words that prove
    something else.
    """
    answer = checked(draft)

    assert answer.reason == "unsupported"
    assert note in answer.notes[0]


def test_two_sentences_are_not_proved_by_one_quote():
    """Whatever stands within marks: each has its own."""
    for draft in (
        f'Nobody made it. {SAYS} ("{WORDS}"). [c1]',
        f'"x !"Nobody made it. {SAYS} "{WORDS}" [c1]',
    ):
        assert checked(draft).refused


def test_a_sentence_without_a_quote_is_dropped_where_the_policy_says_so():
    """The others stay, and the note says why."""
    draft = (
        f'{SAYS} ("{WORDS}"). [c1] The ciphertext is small. [c1] {SAYS} ("bytes of the key"). [c1]'
    )
    answer = checked(draft, policy="drop")

    assert answer.text == f"{SAYS} (“{WORDS}”). [c1]"
    assert [note.partition(": ")[2].split(" c1")[0] for note in answer.notes] == [
        "it does not end with a quote of 3 words to 300 characters of",
        "the quote 'bytes of the key' is not in",
    ]


def test_what_a_document_says_of_itself_is_no_refusal():
    """Where it is quoted; what the model itself says is one."""
    text = "The documents do not contain the key, says the minister."
    proof = '("The documents do not contain the key")'

    assert not checked(f"The minister says that the key is not there {proof}. [c1]", text).refused
    assert (
        checked(f"The documents do not contain the minister {proof}. [c1]", text).reason
        == "model-refused"
    )


def test_a_quote_may_hold_quotation_marks():
    """The longest that stands is taken, whatever marks are in it, and is shown as it stands."""
    text = "She says the “open” door is 'shut' for the “night”."
    answer = checked('The door is shut ("the "open" door is ’shut’ for the "night""). [c1]', text)

    assert answer.citations[0].quote == "the “open” door is 'shut' for the “night”"
    assert answer.text == "The door is shut (“the “open” door is 'shut' for the “night””). [c1]"
    assert checked(answer.text, text) == answer


@pytest.mark.parametrize(
    ("text", "quote", "said"),
    [
        (
            "The post-\nquantum key is\n  long.",
            "post-\nquantum key is\n  long",
            "post-quantum key is long",
        ),
        (
            "The post-\nquantum key is long.",
            "post-\nquantum key is long",
            "post- quantum key is long",
        ),
        (
            "An encap-\nsulation key is long.",
            "encap-\nsulation key is long",
            "encapsulation key is long",
        ),
        (
            "An encap\xadsulation key is long.",
            "encap\xadsulation key is long",
            "encapsulation key is long",
        ),
        ("The 𝐾 of 𝐃𝐚𝐯𝐲 is long.", "The 𝐾 of 𝐃𝐚𝐯𝐲 is long", "The K of Davy is long"),
        ("It says [c9] the key is long.", "[c9] the key is long", "(c9) the key is long"),
    ],
)
def test_a_quote_may_run_over_the_end_of_a_line(text, quote, said):
    """Also within a word.

    Letters of mathematics are letters, and a document's own marker is as the answer shows it.
    """
    (citation,) = checked(f'It is long ("{said}"). [c1]', text).citations

    assert citation.quote == quote


def test_what_stands_in_the_passage_is_its_own_quote():
    """A sentence, or the row of a table with its header, without any marks."""
    table = "| Kettle | litres |\n| --- | --- |\n| A | 1.7 |\n| B | 1.0 |"
    draft = "The encapsulation key of ML-KEM-768 has 1184 bytes. [c1] Kettle: B, litres: 1.0 [c2]"
    answer = checked(draft, SIZES, table)

    assert answer.text == draft
    assert [citation.quote for citation in answer.citations] == [SIZES[:51], "| B | 1.0 |"]


def test_a_sentence_that_is_all_quote_is_one():
    """Its words are the passage's."""
    answer = checked('"The encapsulation key of ML-KEM-768 has 1184 bytes." [c1]')

    assert answer.text == "“The encapsulation key of ML-KEM-768 has 1184 bytes”. [c1]"


def test_without_the_mode_a_quotation_is_the_citations_too():
    """At its end, within, or none: then the nearest sentence."""
    for draft, quote in [
        (f'{SAYS} ("{WORDS}"). [c1]', WORDS),
        ('The key "of ML-KEM-768 has 1184 bytes" in all. [c1]', "of ML-KEM-768 has 1184 bytes"),
        ("The key has 1184 bytes. [c1]", "The encapsulation key of ML-KEM-768 has 1184 bytes."),
        (
            'The encapsulation key. [c1] The ciphertext "has 1.088 kB, not more". [c1]',
            "has 1.088 kB, not more",
        ),
    ]:
        (citation,) = verify(draft, passages(SIZES)).citations
        assert citation.quote == quote


QUOTED = [
    f"{SAYS} (“{WORDS}”). [c1]",
    f'It is "{WORDS}" [c1]',
    '"',
    "“",
    "”",
    "(",
    ")",
    ".",
    " ",
    "\n",
    "[c1]",
    "-",
]


@given(st.lists(st.sampled_from([*QUOTED, *SIZES.split()]), max_size=30), st.booleans())
def test_any_answer_is_one_again_and_every_sentence_has_its_proof(parts, is_joined):
    """Whatever a model writes: what is shown passes as it is, and every quote stands
    where it says.
    """
    answer = checked(("" if is_joined else " ").join(parts), policy="drop")
    again = checked(answer.text)

    assert (again.text, again.citations) == (answer.text, answer.citations)
    assert all(SIZES[one.start - 100 : one.end - 100] == one.quote for one in answer.citations)


TEXTS = st.lists(
    st.sampled_from(
        [
            *SIZES.split(),
            *(
                "| A | 1.7 |",
                "Table 3. Sizes",
                "\n",
                "\n\n",
                "- one item",
                "(a)",
                "2. Keys",
                "cf. Sec. 3.",
                "“x y z”",
            ),
            *('"', "[c7]", "-", "C++", "1:", "No.", "post-\nquantum", "kB.Next", "Ā̂", "f(x)", "…"),
        ]
    ),
    min_size=3,
    max_size=30,
).map(" ".join)


@given(TEXTS)
def test_the_extractive_answer_needs_no_other_quote(text):
    """Its sentences are the document's: it is the same with quotes as without."""
    given_evidence = passages(text, start=100)
    found = statements("key bytes", given_evidence)
    task = GenerationTask(
        question="key bytes",
        evidence=given_evidence,
        statements=found,
        max_sentences=3,
        cells=answer_cells("key bytes", given_evidence, found),
    )
    draft = ExtractiveGenerator(GeneratorOptions()).generate(task).text

    plain = verify(draft, given_evidence)
    assert plain.refused or checked(draft, text) == plain


def test_a_draft_full_of_quotation_marks_costs_little():
    """A hundred thousand characters of them, and of blanks."""
    began = time.monotonic()
    for piece in ('"a b c ', "“ ", '" ', " "):
        draft = " ".join(f'{SAYS} {piece * 45}("{WORDS} x"). [c1]' for _ in range(200))
        checked(draft, f"{SIZES} cipher-\ntext", policy="drop")
    check = Check("", passages(SIZES), Rules("drop", quotes=True))
    check.read(f'The key "{" " * 90_000}x [c1] "{"a " * MAX_CHARACTERS}" [c1]')

    assert check.answer().refused
    assert time.monotonic() - began < 20
