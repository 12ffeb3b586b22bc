"""Icelandic cardinal and ordinal numbers in words."""

DIGITS = "núll einn tveir þrír fjórir fimm sex sjö átta níu".split()
TEENS = "tíu ellefu tólf þrettán fjórtán fimmtán sextán sautján átján nítján".split()
TENS = "tuttugu þrjátíu fjörutíu fimmtíu sextíu sjötíu áttatíu níutíu".split()
# One to four agree with the noun in gender; the dictionary has the forms that differ from the
# masculine.
INFLECTED = {
    "m": {},
    "f": {1: "ein", 2: "tvær", 3: "þrjár", 4: "fjórar"},
    "n": {1: "eitt", 2: "tvö", 3: "þrjú", 4: "fjögur"},
}
# The day of the month in the nominative ("fyrsti maí") and the accusative ("fyrsta maí").
ORDINALS = (
    "fyrsti annar þriðji fjórði fimmti sjötti sjöundi áttundi níundi tíundi ellefti tólfti þrettándi "
    "fjórtándi fimmtándi sextándi sautjándi átjándi nítjándi tuttugasti"
).split()
ORDINALS_ACCUSATIVE = [word[:-1] + "a" if word != "annar" else "annan" for word in ORDINALS]


def unit(number, gender):
    """0 to 9 in words."""
    return INFLECTED[gender].get(number, DIGITS[number])


def cardinal(number, gender="m"):
    """0 to 9999 in words, its last part in the gender of the noun that is counted."""
    if number < 10:
        return unit(number, gender)
    if number < 20:
        return TEENS[number - 10]
    if number < 100:
        tens, rest = divmod(number, 10)
        return TENS[tens - 2] + (f" og {unit(rest, gender)}" if rest else "")
    if number < 1000:
        hundreds, rest = divmod(number, 100)
        head = unit(hundreds, "n") + (" hundrað" if hundreds == 1 else " hundruð")
        return joined(head, rest, gender, needs_og=rest <= 20 or rest % 10 == 0)
    thousands, rest = divmod(number, 1000)
    return joined(f"{cardinal(thousands, 'n')} þúsund", rest, gender, needs_og=rest < 100)


def joined(head, rest, gender, needs_og):
    """The larger part, then the rest: "og" stands once, before the last word."""
    if rest == 0:
        return head
    return head + (" og " if needs_og else " ") + cardinal(rest, gender)


def ordinal(day, accusative=False):
    """1 to 31 as the day of a month."""
    words = ORDINALS_ACCUSATIVE if accusative else ORDINALS
    if day <= 20:
        return words[day - 1]
    ending = "a" if accusative else "i"
    tens = {2: "tuttugast", 3: "þrítugast"}[day // 10] + ending
    return tens if day % 10 == 0 else f"{tens} og {words[day % 10 - 1]}"
