"""Recognise greetings, thanks and questions about the tool itself."""

import re

MAX_CHARACTERS = 100  # small talk is short

_GREETING = (
    r"(?:hi|hello|hey|howdy|greetings|good (?:morning|afternoon|evening|day))"
    r"(?: (?:there|all|everyone|everybody|esrag))?"
    r"|how are you(?: doing)?(?: today)?|nice to meet you"
)
_THANKS = (
    r"(?:many |ok |okay )?(?:thanks|thank you|thx|thank u)"
    r"(?: a lot| so much| very much| again| for (?:your|the) help| for that)?"
    r"|cheers|much appreciated|well done|good job|(?:that(?:'s| is) |that was )?"
    r"(?:great|perfect|helpful|very helpful|cool|nice|fine|awesome)|ok|okay|got it"
)
_FAREWELL = r"(?:good ?)?bye(?: bye)?|see you(?: later| soon)?|good night|have a (?:nice|good) day"
_ABOUT_THE_TOOL = (
    r"what (?:can|do) you do(?: for me)?|(?:how|what) can (?:you|i) (?:help|ask)(?: me| you)?"
    r"(?: with)?|who are you|what are you|what(?:'s| is) your name|help(?: me)?"
    r"|are you (?:a |an )?(?:bot|robot|human|person|ai|machine)"
)
_PHRASE = re.compile(f"(?:{_GREETING}|{_THANKS}|{_FAREWELL}|{_ABOUT_THE_TOOL})", re.IGNORECASE)
_BREAK = re.compile(r"[,.;:!?]+")


def is_small_talk(line: str) -> bool:
    """Return whether every part of a line is a greeting, thanks or a question about the tool.

    >>> is_small_talk("Hello! What can you do?"), is_small_talk("Hello world program in Python")
    (True, False)
    """
    if len(line) > MAX_CHARACTERS:
        return False
    line = line.replace("’", "'")
    parts = [" ".join(part.split()) for part in _BREAK.split(line) if part.strip()]
    return bool(parts) and all(map(_PHRASE.fullmatch, parts))
