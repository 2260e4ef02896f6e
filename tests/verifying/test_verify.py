"""The citation contract, rule by rule; each draft breaks one and becomes the refusal."""

import itertools
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from esrag.citations import REFUSAL
from esrag.records import Break, Chunk, Evidence
from esrag.verifying.drafts import to_evidence
from esrag.verifying.verify import Check, Rules, is_refusal, verify

SIZES = "The encapsulation key of ML-KEM-768 has 1184 bytes. The ciphertext has 1088 bytes."
USES = "A key-encapsulation mechanism establishes a shared secret key over a public channel."


def passage(key, text, page=48, end_page=None):
    """Evidence with one chunk."""
    last = page if end_page is None else end_page
    chunk = Chunk(
        chunk_id=f"FIPS.203::p{page:04d}::c001",
        doc_id="FIPS.203",
        ordinal=0,
        start=0,
        end=len(text),
        start_page=page,
        end_page=last,
        text=text,
    )
    return Evidence(key, chunk, 0.5)


EVIDENCE = (passage("c1", SIZES), passage("c2", USES, page=1))


def test_a_cited_and_supported_draft_is_the_answer():
    """The text stays, and the citation points at page, chunk and the sentence that says it."""
    answer = verify("The encapsulation key of ML-KEM-768 has 1184 bytes. [c1]", EVIDENCE)

    assert not answer.refused
    assert answer.text == "The encapsulation key of ML-KEM-768 has 1184 bytes. [c1]"
    (citation,) = answer.citations
    assert (citation.key, citation.start_page, citation.chunk_id) == (
        "c1",
        48,
        "FIPS.203::p0048::c001",
    )
    assert citation.quote == "The encapsulation key of ML-KEM-768 has 1184 bytes."
    assert citation.support == 1.0


def test_a_marker_may_stand_before_the_full_stop():
    """`… bytes [c1].` reads the same as `… bytes. [c1]`."""
    assert verify("The ciphertext has 1088 bytes [c1].", EVIDENCE) == verify(
        "The ciphertext has 1088 bytes. [c1]", EVIDENCE
    )


@pytest.mark.parametrize(
    ("draft", "reason"),
    [
        ("The ciphertext has 1088 bytes.", "contract"),
        ("The ciphertext has 1088 bytes. The ciphertext has 1088 bytes. [c1]", "contract"),
        ("The ciphertext has 1088 bytes. [c1] A shared secret key is established.", "contract"),
        ("The ciphertext has 1088 bytes. [c99]", "contract"),
        ("[c1]", "contract"),
        ("The ciphertext has 1089 bytes. [c1]", "unsupported"),
        ("The ciphertext has 1088 bytes. [c2]", "unsupported"),
        ("Penguins waddle across frozen beaches every winter. [c1]", "unsupported"),
        ("", "model-refused"),
        ("I could not find this in the documents.", "model-refused"),
        ("Not found in the provided documents.", "model-refused"),
    ],
)
def test_what_breaks_the_contract_is_refused_with_its_reason(draft, reason):
    """The fixed text, no citation, and a note that says where."""
    answer = verify(draft, EVIDENCE)

    assert (answer.text, answer.refused, answer.citations) == (REFUSAL, True, ())
    assert answer.reason == reason
    assert answer.notes


@pytest.mark.parametrize(("start", "end"), [(0, 0), (0, 1), (-1, 2), (3, 2), (1, 0)])
def test_a_passage_without_a_true_place_cannot_be_cited(start, end):
    """Pages count from 1 and do not run backwards; what is not cited may be anywhere."""
    evidence = (passage("c1", SIZES, start, end), passage("c2", SIZES, 2, 3))
    answer = verify("The ciphertext has 1088 bytes. [c2][c1]", evidence)

    assert (answer.text, answer.reason, answer.citations) == (REFUSAL, "contract", ())
    assert answer.notes == (f"cites c1, which is on pages {start} to {end}",)
    (citation,) = verify("The ciphertext has 1088 bytes. [c2]", evidence).citations
    assert (citation.start_page, citation.end_page) == (2, 3)


def test_only_used_keys_are_cited_in_numerical_order():
    """c10 comes after c2, and evidence that no sentence uses is not cited."""
    evidence = (*EVIDENCE, passage("c10", SIZES, page=50))
    answer = verify(f"{USES} [c2] The ciphertext has 1088 bytes. [c10][c1]", evidence)

    assert [citation.key for citation in answer.citations] == ["c1", "c2", "c10"]
    assert answer.text.endswith("[c1][c10]")


def test_the_fixed_refusal_is_one_and_a_cited_sentence_is_none():
    """A sentence about not finding something is an answer when it is cited."""
    assert is_refusal(REFUSAL)
    assert not is_refusal("The parser could not find the header. [c1]")


@given(st.text(max_size=200))
def test_any_draft_gives_an_answer_that_keeps_the_contract(draft):
    """Whatever a model says: cited, or the exact refusal."""
    answer = verify(draft, EVIDENCE)

    assert answer.refused == (answer.text == REFUSAL)
    assert answer.refused != bool(answer.citations)
    assert all(citation.key in {"c1", "c2"} for citation in answer.citations)


DRAFTS = st.lists(
    st.sampled_from(
        [
            *USES.split(),
            "1088",
            "1089",
            ".",
            " ",
            "\n",
            "[c1]",
            "[c2]",
            "[c9]",
            "[",
            "]",
            "c1",
            "not found",
        ]
    ),
    max_size=40,
)


@given(DRAFTS, st.data())
def test_a_draft_that_comes_in_pieces_is_the_same_answer(parts, data):
    """Wherever it is cut, and what was shown on the way is the answer, as long as there is one."""
    draft = " ".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(draft)), max_size=9)))
    shown: list[str] = []
    check = Check("", EVIDENCE, Rules("drop"), on_sentence=shown.append)
    for start, end in itertools.pairwise([0, *cuts, len(draft)]):
        check.read(draft[start:end])
    answer = check.answer()

    assert answer == verify(draft, EVIDENCE, policy="drop")
    assert answer.refused or answer.text == " ".join(shown)


@pytest.mark.parametrize("markers", ["**[c1]** **[c2]**", "([c1]) ([c2])", "[c1] ( [c2] )"])
def test_markers_in_brackets_or_in_bold_may_be_cut_anywhere(markers):
    """Those that follow belong to the same sentence, even before their brackets are closed."""
    draft = f"The ciphertext has 1088 bytes {markers}."
    whole = verify(draft, EVIDENCE)

    for cut in range(len(draft)):
        check = Check("", EVIDENCE, Rules())
        check.read(draft[:cut])
        check.read(draft[cut:])
        assert check.answer() == whole


def test_what_is_not_supported_is_dropped_where_the_policy_says_so():
    """The rest stays, and a note says what went and why; with nothing left it is the refusal."""
    draft = "The ciphertext has 1088 bytes. [c1] The ciphertext has 1089 bytes. [c1]"
    answer = verify(draft, EVIDENCE, policy="drop")

    assert answer.text == "The ciphertext has 1088 bytes. [c1]"
    assert answer.notes == (
        "dropped 'The ciphertext has 1089 bytes.': the number 1089 is not in c1",
    )
    assert (
        verify("The ciphertext has 1089 bytes. [c1]", EVIDENCE, policy="drop").reason
        == "unsupported"
    )
    assert verify(f"{draft} More.", EVIDENCE, policy="drop").reason == "contract"


def test_what_a_reader_takes_for_supported_may_have_other_words():
    """Its score gives the support; the words decide without it."""
    draft = "Over a public channel, two sides agree on something secret. [c2]"

    assert verify(draft, EVIDENCE).reason == "unsupported"
    answer = verify(draft, EVIDENCE, entail=lambda _, passages: np.full(len(passages), 4.0))
    assert 0.9 < answer.citations[0].support < 1
    refused = verify(draft, EVIDENCE, entail=lambda _, passages: np.full(len(passages), -9.0))
    assert refused.notes == ("what it says is not in c2",)


def test_a_row_is_read_with_its_headers():
    """The cells alone say nothing."""
    table = "System | Socket | File\nLinux | 2.6.27 | 2.6.23\nNetBSD | 6.0 | 6.1"
    draft = "On a system like Linux, such a socket can be made from version 2.6.27 on. [c1]"
    read = []

    def entail(_, passages):
        read.extend(passages)
        return np.full(len(passages), 4.0)

    assert not verify(draft, to_evidence([table]), entail=entail).refused
    assert read == ["System: Linux, Socket: 2.6.27, File: 2.6.23"]


def test_passages_that_are_cited_together_are_also_read_together():
    """A sentence may join what two of them say."""
    draft = "Two sides that agree on a secret send 1088 bytes. [c1][c2]"
    read = []

    def entail(sentence, passages):
        read.append((sentence, *passages))
        return np.zeros(len(passages))

    verify(draft, EVIDENCE, entail=entail)
    ((sentence, together),) = read
    assert sentence == "Two sides that agree on a secret send 1088 bytes."
    assert "1088" in together
    assert "public channel" in together


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        ("The ciphertext of Kyber has 1088 bytes. [c1]", "the name Kyber is not in c1"),
        (
            "The encapsulation key of K-PKE has 1184 bytes. [c1]",
            "the technical word K-PKE is not in c1",
        ),
        (
            "It says “the ciphertext has just 1088 bytes”. [c1]",
            "the quotation the ciphertext has just 1088 bytes is",
        ),
    ],
)
def test_names_technical_words_and_quotations_stand_in_what_is_cited(draft, note):
    """However many of the other words do."""
    answer = verify(draft, EVIDENCE, entail=lambda _, passages: np.full(len(passages), 9.0))

    assert answer.reason == "unsupported"
    assert note in answer.notes[0]


def test_a_quotation_may_run_over_the_ends_of_lines():
    """White space is all alike."""
    evidence = (passage("c1", USES.replace(" ", "\n")),)

    assert not verify("It “establishes a shared secret key”. [c1]", evidence).refused


def test_a_citation_points_into_the_document():
    """Its offsets count the document's characters, not the chunk's."""
    chunk = Chunk(
        chunk_id="d::p0001::c001",
        doc_id="d",
        ordinal=0,
        start=100,
        end=100 + len(SIZES),
        start_page=1,
        end_page=1,
        text=SIZES,
    )
    (citation,) = verify(
        "The ciphertext has 1088 bytes. [c1]", (Evidence("c1", chunk, 1.0),)
    ).citations

    assert (
        SIZES[citation.start - 100 : citation.end - 100]
        == citation.quote
        == "The ciphertext has 1088 bytes."
    )


def test_a_draft_that_does_not_end_is_refused():
    """A megabyte is no answer."""
    answer = verify("The ciphertext has 1088 bytes. [c1] " * 40_000, EVIDENCE)

    assert (answer.reason, answer.notes) == (
        "contract",
        ("the draft is longer than 100,000 characters",),
    )


def test_a_sentence_of_the_passage_itself_is_always_supported():
    """Names with dots, accents and primes too."""
    text = "This can only occur in ML-KEM.KeyGen and in X0̂ of Ā."
    evidence = (passage("c1", text),)

    assert not verify(f"{text} [c1]", evidence).refused


PARTS = (
    "The key of ML-KEM-512 has 800 bytes. The key of ML-KEM-768 has 1184 bytes. "
    "It was made by Davy. Romeo has it."
)


@pytest.mark.parametrize(
    ("draft", "note"),
    [
        ("No. [c1]", "no word of it is in c1"),
        ("It is not. [c1]", "no word of it is in c1"),
        ("The key of ML-KEM-768 does not have 1184 bytes. [c1]", 'except for a "not" it is in c1'),
        (
            "The key of ML-KEM-512 has 1184 bytes. [c1]",
            "the number 1184 stands with something else in c1",
        ),
        ("The key has 768 bytes. [c1]", "the number 768 is not in c1"),
        ("The key of ML-KEM-768 has ⁹⁹⁹ bytes. [c1]", "the number 999 is not in c1"),
        ("The key of ML-KEM-768 has twelve bytes. [c1]", "the number 12 is not in c1"),
        ("The key of ML-KEM-768 was made by  Napoleon. [c1]", "the name Napoleon is not in c1"),
        ("The key of ML-KEM-768 was made by (Napoleon). [c1]", "the name Napoleon is not in c1"),
        ("The key of ML-KEM-768 was made by Rome. [c1]", "the name Rome is not in c1"),
        ("It isn't made by Davy. [c1]", 'except for a "not" it is in c1'),
        ("The ciphertext has 1184 bytes. [c2]", "the number 1184 stands with something else in c2"),
        (
            "The key of ML-KEM-768 has 1088 bytes. [c2]",
            "the number 1088 stands with something else in c2",
        ),
        ("The key of ML-KEM-768 has 1184 bits. [c2]", "the number 1184 bit is not in c2"),
        ("The key of ML-KEM-768 has -1184 bytes. [c2]", "the number -1184 is not in c2"),
        ("The key of ML-KEM-768 has two bytes. [c2]", "the number 2 is not in c2"),
    ],
)
def test_what_is_put_together_otherwise_is_not_supported(draft, note):
    """From the words of a passage much can be made that it does not say."""
    answer = verify(draft, (passage("c1", PARTS), passage("c2", SIZES)))

    assert (answer.reason, answer.notes) == ("unsupported", (note,))


@pytest.mark.parametrize(
    "draft",
    [
        "The kettle holds 1.7 liters and weighs 900 grams. [c1]",
        "The kettle's cable is 80 cm long. [c1]",
        "The weight of the kettle is 900 grams. [c1]",
        "Its cable of 80 cm is red. [c1]",
        "The kettle boils at 100 degrees, so the 2 lids are hot. [c1]",
        "Its key needs 2^8 steps. [c1]",
        "One lid of the kettle is hot at 100 degrees. [c1]",
    ],
)
def test_what_is_said_of_several_sentences_is_supported(draft):
    """Numbers stay with what they are numbers of."""
    text = (
        "The kettle (model 5) holds 1.7 litres and has a red cable. It is 80 cm long. "
        "It weighs 900 grams. "
        "Water boils at 100 degrees. Both lids are hot then: 2 of them. A key needs 2⁸ steps."
    )
    assert verify(draft, (passage("c1", text),)).notes == ()


@pytest.mark.parametrize(
    "draft",
    [
        "The key of ML-KEM-512 has 800 bytes and that of ML-KEM-768 1184. [c1]",
        "The key of ML-KEM-768 has 1184 bytes [C1].",
        "The key of ML-KEM-768 has 1184 bytes. [c1, c1]",
        "The key of ML-KEM-768 was made by Davy. [c1]",
    ],
)
def test_what_a_passage_says_in_other_places_is_supported(draft):
    """Two of its sentences in one; markers as models write them, too."""
    assert not verify(draft, (passage("c1", PARTS),)).refused


ROLES = (
    "ML-KEM.Encaps calls K-PKE.Encrypt. Alice Smith sends Bob a key. SHAKE128 is called by Encaps. "
    "Spain borders Portugal. Ohm and Volta met Hall. Ada wrote to Bob. Bob wrote to Ada. "
    "From Rome one goes to Ostia."
)


@pytest.mark.parametrize(
    ("draft", "question", "note"),
    [
        (
            "Canada has ten provinces. [c1]",
            "How many provinces does Canada have?",
            "the name Canada is not in c1",
        ),
        ("Denmark has ten provinces. [c1]", "How many provinces?", "the name Denmark is not in c1"),
        ("France has ten provinces. [c1]", "How many provinces does Canada have?", None),
        ("Users see ten provinces of France. [c1]", "What do users see?", None),
        ("Today France has ten provinces. [c1]", "How many provinces?", None),
        ("Sizes: France has ten provinces. [c1]", "Has France its Sizes, or other sizes?", None),
        ("Using it, France has ten provinces. [c1]", "How many provinces?", None),
        ("After all France has ten provinces. [c1]", "What Happens After 1900?", None),
        ("Norway has ten provinces. [c1]", "How many provinces?", "the name Norway is not in c1"),
    ],
)
def test_a_name_that_begins_a_sentence_is_looked_at_like_others(draft, question, note):
    """It is one by the question, or by another passage.

    A word that merely begins the sentence is none.
    """
    passages = (
        passage("c1", "France has ten provinces."),
        passage(
            "c2",
            "Crossing It Using Boats\nA bridge leads to Denmark. Today it is shut. "
            "A ferry sails to\nNorway.",
        ),
    )
    assert Check(question, passages, Rules()).answer(draft).notes == ((note,) if note else ())


@pytest.mark.parametrize(
    ("draft", "names"),
    [
        ("K-PKE.Encrypt calls ML-KEM.Encaps. [c1]", "K-PKE.Encrypt and ML-KEM.Encaps"),
        ("K-PKE.Encrypt called the ML-KEM.Encaps. [c1]", "K-PKE.Encrypt and ML-KEM.Encaps"),
        ("Bob sends Alice Smith the key. [c1]", "Bob and Alice Smith"),
        ("Encaps is called by SHAKE128. [c1]", "Encaps and SHAKE128"),
        ("One goes from Ostia to Rome. [c1]", ""),
        ("K-PKE.Encrypt is called by ML-KEM.Encaps. [c1]", ""),
        ("Encaps calls SHAKE128. [c1]", ""),
        ("Portugal borders Spain. [c1]", ""),
        ("Volta and Ohm met Hall. [c1]", ""),
        ("Bob wrote to Ada. [c1]", ""),
        ("Ada wrote Bob. [c1]", ""),
    ],
)
def test_names_in_each_others_place_are_not_supported(draft, names):
    """In the words of the passage but for them.

    Not where it is true either way, said in other words, or said too.
    """
    answer = verify(draft, (passage("c1", ROLES),))

    assert answer.notes == ((f"{names} are exchanged in c1",) if names else ())


@pytest.mark.parametrize(
    "draft",
    [
        "I could not find who invented the encapsulation key. [c1]",
        "The documents do not specify who made the encapsulation key of ML-KEM-768. [c1]",
    ],
)
def test_a_cited_refusal_is_one(draft):
    """Models like to cite what does not answer."""
    assert verify(draft, EVIDENCE).reason == "model-refused"


def test_a_document_may_say_what_it_does_not_say():
    """A sentence that stands in the passage is its own, and no refusal."""
    text = "This document does not specify who made the encapsulation key."

    assert not verify(f"{text} [c1]", (passage("c1", text),)).refused


@pytest.mark.parametrize("pieces", [("café",), ("cafe", "\u0301"), ("caf", "e\u0301")])
def test_what_is_shown_is_what_is_answered(pieces):
    """Also where an accent comes in a piece of its own.

    And a draft is read whole where no piece of it came.
    """
    shown = []
    check = Check("", (passage("c1", "The café is open."),), Rules(), on_sentence=shown.append)
    for piece in ("The ", *pieces, " is open. [c1]"):
        check.read(piece)

    assert check.answer("It is something else. [c1]").text == "The café is open. [c1]" == shown[0]
    assert Check("", EVIDENCE, Rules()).answer("The ciphertext has 1088 bytes. [c1]") == verify(
        "The ciphertext has 1088 bytes. [c1]", EVIDENCE
    )


def test_a_part_of_a_sentence_is_never_dropped_alone():
    """Without it the rest may say the opposite."""
    evidence = (
        passage("c1", "It is false, says Brooks, that the pump is waterproof. The pump is closed."),
    )

    for draft in (
        "It is wrong, claims Smith, [c1] that the pump is closed. [c1]",
        "The pump is closed [c1] on Mars. [c1]",
    ):
        assert verify(draft, evidence, policy="drop").reason == "unsupported"


@pytest.mark.parametrize("draft", ["… [c1]", "? [c1]", ". [c1]"])
def test_no_words_are_no_answer(draft):
    """They are in no passage, though every passage has a sentence that ends so."""
    assert verify(draft, EVIDENCE).reason == "unsupported"


def test_a_key_without_end_is_no_key():
    """Nor is it a number that Python would not read."""
    assert verify(f"The ciphertext has 1088 bytes. [c{'1' * 5000}]", EVIDENCE).reason == "contract"


def test_what_follows_a_marker_is_the_next_sentences():
    """A full stop of its own stays with it."""
    evidence = (passage("c1", "The door is open. .NET is safe."),)
    answer = verify("The door is open. [c1] .NET is safe. [c1]", evidence)

    assert answer.text == "The door is open. [c1] .NET is safe. [c1]"


def test_much_white_space_costs_little():
    """A draft is read in a time that grows with its length."""
    began = time.monotonic()
    verify(f"The ciphertext has 1088 bytes.{' ' * 90_000}[c1]{' ' * 9_000}x", EVIDENCE)
    check = Check("", EVIDENCE, Rules())
    for _ in range(3000):
        check.read("\n")
    check.answer()

    assert time.monotonic() - began < 5  # it took minutes


def test_a_long_word_in_a_passage_costs_little():
    """Passages that `esrag verify` is given may be longer than chunks."""
    began = time.process_time()
    verify("Now a Pump works. [c1]", to_evidence(["a-" * 20_000]))

    assert time.process_time() - began < 3  # it took 9 seconds


def test_a_sentence_with_markers_within_is_not_cut_in_two():
    """The rest of it may say the opposite; but it does not go on for ever."""
    text = "The pump is safe. It is safe unless it runs. The pump runs."
    evidence = (passage("c1", text),)
    rules = Rules(max_sentences=1)

    answer = Check("", evidence, rules).answer(
        "The pump is safe [c1] unless it runs. [c1] The pump runs. [c1]"
    )
    assert answer.text == "The pump is safe [c1] unless it runs. [c1]"
    assert len(answer.notes) == 1
    endless = Check("", evidence, rules).answer(
        "The pump is safe [c1] " + "unless it runs [c1] " * 700
    )
    assert endless.reason == "contract"


PUMP = (
    "The pump runs at 40.5 degrees, and must not be opened by hand while the motor is warm. "
    "It weighs thirty-one kg "
    "and cost EUR 5 million. Nobody believes that the tank is waterproof. "
    "At night it cools down to -5 °C."
)
CITIES = (
    "| City | Inhabitants | Founded |\n| --- | --- | --- |\n| Kiel | 246000 | 1242 |\n| "
    "Jena | 111000 | 1182 |"
)
KEYS = (
    "Table 3. Sizes (in bytes) of keys\nencapsulation key decapsulation key "
    "ciphertext shared secret key\n"
    "ML-KEM-512 800 1632 768 32\nML-KEM-768 1184 2400 1088 32"
)


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        (PUMP, "The pump must be opened by hand. [c1]"),
        ("The pump runs at 40 degrees.", "The pump rarely runs at 40 degrees. [c1]"),
        (PUMP, "The tank is waterproof. [c1]"),
        (PUMP, "the tank is waterproof [c1]"),
        (
            PUMP.replace("that the", "that\nthe").replace("proof.", "proof\nby now."),
            "The tank is waterproof [c1]",
        ),
        (PUMP, "The pump runs at 40 [c1]"),
        (PUMP, "The pump runs at 40.5 knots. [c1]"),
        (PUMP, "The pump runs at $40.5. [c1]"),
        (PUMP, "It weighs thirteen kg. [c1]"),
        (PUMP, "It weighs 31 g. [c1]"),
        (PUMP, "It cost EUR 5. [c1]"),
        (PUMP, "It cost 5 million dollars. [c1]"),
        (PUMP, "At night it cools down to 5 °C. [c1]"),
        (PUMP, "[The pump](http://evil.example) runs at 40.5 degrees. [c1]"),
        (PUMP, "The pump runs at 40.5 degrees <img src=//evil.example/a> [c1]"),
        (CITIES, "Kiel has 1242 inhabitants. [c1]"),
        (CITIES, "Jena was founded in 111000. [c1]"),
        (KEYS, "The encapsulation key of ML-KEM-768 has 2400 bytes. [c1]"),
        (KEYS, "The encapsulation key of ML-KEM-768 has 1088 bytes. [c1]"),
        (KEYS, "The encapsulation key of ML-KEM-768 has 1184 bits. [c1]"),
        (KEYS, "The shared secret of ML-KEM-768 has 1184 bytes. [c1]"),
    ],
)
def test_what_a_passage_says_of_something_else_is_not_supported(text, draft):
    """Not with fewer words, nor with a part of a sentence, in another unit or in the
    next column.
    """
    assert verify(draft, (passage("c1", text),)).reason == "unsupported"


@pytest.mark.parametrize(
    ("text", "draft"),
    [
        (PUMP, "It weighs 31 kilograms. [c1]"),
        (PUMP, "It weighs 31kg. [c1]"),
        (PUMP, "The pump runs at 40.5 degrees. [c1]"),
        (PUMP, "At night it cools down to -5 degrees Celsius. [c1]"),
        (PUMP, "It cost 5 million euros. [c1]"),
        (PUMP, "The pump must not be opened by hand. [c1]"),
        (CITIES, "Kiel, founded in 1242, has 246,000 inhabitants. [c1]"),
        (CITIES, "Kiel is a city of 246,000 people. [c1]"),
        (KEYS, "The encapsulation key of ML-KEM-768 has 1,184 bytes. [c1]"),
        (KEYS, "The shared secret key of ML-KEM-512 has 32 bytes. [c1]"),
        (
            "The key is not kept in the document itself.",
            "The key is not kept in the document. [c1]",
        ),
        (
            "Only trained staff may open the valve.",
            "Nobody but trained staff may open the valve. [c1]",
        ),
        ("The test failed to detect the error.", "The test did not detect the error. [c1]"),
        ("The pump runs at 40 degrees.", "The pump runs at 40 degrees ([c1])."),
        ("The pump runs at 40 degrees.", "The pump runs at 40 degrees. **[c1]**"),
        ("The pump runs at 40 degrees.", "The pump runs at 40 degrees. 【c1】"),
    ],
)
def test_the_same_written_otherwise_is_supported(text, draft):
    """Numbers in words and in figures, units by sign and by name, and the forms of markers that
    models like.
    """
    answer = verify(draft, (passage("c1", text),))
    assert not answer.refused, answer.notes
    assert answer.text.endswith(" [c1]")


@pytest.mark.parametrize(
    "draft",
    [
        "The pump is stolen\nThe pump runs at 40 degrees. [c1]",
        "The pump runs at 40 degrees.The valve was stolen. [c1]",
    ],
)
def test_no_sentence_rides_along(draft):
    """Neither on a line of its own nor without a blank before it; a name of code is no
    end of one.
    """
    code = "The pump runs at 40 degrees.\nCall pump.Valve to stop."
    assert verify(draft, (passage("c1", code),)).reason == "contract"
    assert not verify("Call pump.Valve to stop. [c1]", (passage("c1", code),)).refused


@pytest.mark.parametrize(
    "draft",
    [
        "not found in provided docs [c1]",
        "Not found in provided docs. [c1]",
        "I don't know.",
        "I'm unable to answer this.",
        "The answer is not in the passages.",
        "None of the passages answer the question.",
        "There is no mention of tea.",
        "The provided passages contain no information about this. [c1]",
        "The documents do not cover this.",
    ],
)
def test_a_refusal_is_one_also_where_a_document_holds_it(draft):
    """However weak, cited or not."""
    text = "The program says: not found in provided docs. Not found in provided docs. It boils."
    assert verify(draft, (passage("c1", text),)).reason == "model-refused"


def test_a_refusal_beside_an_answer_is_left_out_with_a_note():
    """Nothing is left out in silence."""
    answer = verify(
        "I could not find its weight. [c1] It boils. [c1]", (passage("c1", "It boils."),)
    )
    assert answer.text == "It boils. [c1]"
    assert answer.notes == (
        "left out 'I could not find its weight.': it says that an answer is missing",
    )


def test_a_citation_has_its_document_its_pages_and_the_least_support_of_its_sentences():
    """Where two sentences rest on one passage, the weaker one says how well it is supported."""
    chunk = Chunk(
        chunk_id="d::p0048::c001",
        doc_id="the-document",
        ordinal=0,
        start=0,
        end=60,
        start_page=48,
        end_page=49,
        text="It boils in three minutes. It is red.",
    )
    (citation,) = verify(
        "It is red. [c1] It boils in three minutes at most. [c1]", (Evidence("c1", chunk, 1.0),)
    ).citations
    assert (citation.doc_id, citation.start_page, citation.end_page) == ("the-document", 48, 49)
    assert citation.support < 1


def test_a_citation_has_the_section_and_the_page_of_its_quote():
    """A chunk of several short sections begins in another one, and on the page before."""
    given = passage("c1", "Rent\nIt is 900 euros.\nPets\nOne cat may live here.", 4, 5)
    breaks = (Break(22, 4, "Lease > Pets"), Break(27, 5, "Lease > Pets"))
    chunk = replace(given.chunk, section="Lease > Rent", breaks=breaks)

    answer = verify("One cat may live here. [c1]", (replace(given, chunk=chunk),))
    (citation,) = answer.citations
    assert (citation.start_page, citation.end_page) == (5, 5)
    assert citation.section == "Lease > Pets"


@pytest.mark.parametrize("unit", ["word ", "] ", "[c ", "( ", "** ", "[c1, ", " "])
def test_a_draft_that_comes_in_small_pieces_takes_a_linear_time(unit):
    """What was searched for markers is not searched again with every piece."""

    def seconds(characters):
        check, started = Check("", (), Rules()), time.process_time()
        for piece in (unit * characters)[:characters]:
            check.read(piece)
        return time.process_time() - started

    assert seconds(64_000) < 40 * seconds(8_000) + 0.5
