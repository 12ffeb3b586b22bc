"""Patterns for plain Icelandic sentences: every one takes a random.Random and gives lower-case words."""

from numbers_is import DIGITS, cardinal, ordinal
from word_lists import (
    ADJECTIVES, ADVERBS, NAMES, PHRASES, PLACES, PLURALS, TIMES, governing, of_kind,
)

PERSONS, THINGS, TOPICS = of_kind("person"), of_kind("thing"), of_kind("topic")
INSIDE, ON = of_kind("in"), of_kind("on")
TRANSITIVE, DATIVE, INTRANSITIVE = governing("acc"), governing("dat"), governing("none")
DAYS = "mánudagur þriðjudagur miðvikudagur fimmtudagur föstudagur laugardagur sunnudagur".split()
DAYS_ACCUSATIVE = "mánudaginn þriðjudaginn miðvikudaginn fimmtudaginn föstudaginn laugardaginn sunnudaginn".split()
DAYS_DATIVE = "mánudögum þriðjudögum miðvikudögum fimmtudögum föstudögum laugardögum sunnudögum".split()
MONTHS = "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember".split()
WEATHER = "sól rigning snjór rok þoka frost logn él skúrir stormur slydda".split()


def some(r, *options):
    """One of the options."""
    return r.choice(options)


def thing(r):
    """A thing or a topic, with its article, as an object."""
    return r.choice(r.choice([THINGS, THINGS, TOPICS, PLURALS]))


def where(r):
    """A place in the dative with its preposition."""
    kind = r.random()
    if kind < 0.35:
        place = r.choice(PLACES)
        return f"{place.preposition} {place.dative}"
    if kind < 0.7:
        return "í " + r.choice(INSIDE).definite["dative"]
    return "á " + r.choice(ON).definite["dative"]


def whither(r):
    """A place that one goes to."""
    kind = r.random()
    if kind < 0.3:
        return "til " + r.choice(PLACES).genitive
    if kind < 0.65:
        return "í " + r.choice(INSIDE).definite["accusative"]
    return "á " + r.choice(ON).definite["accusative"]


def circumstance(r):
    """Nothing, a time, a place or an adverb."""
    kind = r.random()
    if kind < 0.3:
        return ""
    if kind < 0.6:
        return " " + r.choice(TIMES)
    if kind < 0.85:
        return " " + where(r)
    return " " + r.choice(ADVERBS)


def person(r):
    """Someone, third person singular, nominative."""
    kind = r.random()
    if kind < 0.35:
        return r.choice(PERSONS).definite["nominative"]
    if kind < 0.6:
        return r.choice(NAMES)
    if kind < 0.8:
        return some(r, "hann", "hún")
    return some(r, "mamma", "pabbi", "amma", "afi", "bróðir minn", "systir mín", "sonur minn", "dóttir mín",
                "vinur minn", "vinkona mín", "frændi minn", "frænka mín", "konan mín", "maðurinn minn")


def verb_object(r):
    """A verb that takes an object, and the case of the object."""
    if r.random() < 0.75:
        return r.choice(TRANSITIVE), "accusative"
    return r.choice(DATIVE), "dative"


def statement(r):
    """A person does something with something."""
    verb, case = verb_object(r)
    form = r.choice(["definite", "definite", "indefinite"])
    what = getattr(thing(r), form)[case]
    who, does = r.choice([
        ("ég", verb.first), ("ég", verb.i_past), (person(r), verb.third), (person(r), verb.past),
        ("við", verb.we), ("þeir", verb.they), ("þau", verb.they_past), ("þær", verb.they_past),
        (r.choice(PLURALS).definite["nominative"], verb.they_past),
    ])
    return f"{who} {does} {what}{circumstance(r)}"


def bare_statement(r):
    """A person does something that takes no object."""
    verb = r.choice(INTRANSITIVE)
    who, does = r.choice([
        ("ég", verb.first), (person(r), verb.third), (person(r), verb.past), ("við", verb.we),
        ("þeir", verb.they), (r.choice(PLURALS).definite["nominative"], verb.they_past),
    ])
    return f"{who} {does}{circumstance(r)}{circumstance(r)}"


def perfect(r):
    """A person has done something."""
    verb, case = verb_object(r)
    have = some(r, "ég hef", "ég hafði", "hefur þú", "við höfum", "þeir hafa", "getur hann", "get ég", "þú getur",
                f"{person(r)} hefur", f"{person(r)} gat ekki")
    return f"{have} {some(r, '', '', 'ekki ', 'alltaf ', 'aldrei ')}{verb.supine} {thing(r).definite[case]}{circumstance(r)}"


def modal(r):
    """What one means to do, must do, may do."""
    start = some(r, "ég ætla að", "ég þarf að", "við þurfum að", "þú verður að", "viltu", "má ég", "mig langar að",
                 "hún ætlar ekki að", "þeir vilja", "við skulum", "ég vil", "hann reyndi að", "það er gaman að",
                 "það er erfitt að", "ég á að", "þarf ég að", f"{person(r)} ætlar að", f"{person(r)} vill")
    if r.random() < 0.3:
        return f"{start} {r.choice(INTRANSITIVE).infinitive}{circumstance(r)}"
    verb, case = verb_object(r)
    return f"{start} {verb.infinitive} {thing(r).definite[case]}{circumstance(r)}"


def description(r):
    """A noun and its adjective, in agreement."""
    adjective = r.choice(ADJECTIVES)
    if r.random() < 0.3:
        noun, are = r.choice(PLURALS), some(r, "eru", "voru")
        quality = getattr(adjective, noun.gender + "s")
    else:
        noun, are = r.choice(r.choice([PERSONS, THINGS, THINGS, INSIDE, ON, TOPICS])), some(r, "er", "er", "var", "verður")
        quality = getattr(adjective, noun.gender)
    degree = some(r, "", "", "", "mjög ", "ekki ", "of ", "frekar ", "svo ", "alveg ")
    return f"{noun.definite['nominative']} {are} {degree}{quality}{circumstance(r)}"


def this_is(r):
    """This is a good book."""
    noun, adjective = r.choice(PERSONS + THINGS + TOPICS), r.choice(ADJECTIVES)
    start = some(r, "þetta er", "þetta var", "það er", "hér er", "þarna er")
    return f"{start} {some(r, '', 'mjög ')}{getattr(adjective, noun.gender)} {noun.indefinite['nominative']}{circumstance(r)}"


def comparison(r):
    """One thing is bigger than another."""
    first, second = r.choice([each for each in THINGS + INSIDE if each.gender == "m"]), r.choice(THINGS)
    return f"{first.definite['nominative']} er {r.choice(ADJECTIVES).comparative} en {second.definite['nominative']}"


def question(r):
    """Where, when, why, what."""
    noun = r.choice(PERSONS + THINGS + INSIDE + ON + TOPICS)
    kind = r.random()
    if kind < 0.3:
        return f"{some(r, 'hvar er', 'hvað kostar', 'hvernig er', 'veistu hvar er', 'hvenær kemur', 'hver á')} {noun.definite['nominative']}"
    if kind < 0.5:
        return f"{some(r, 'hvenær', 'hvers vegna', 'af hverju', 'hvernig')} {r.choice(TRANSITIVE).third} {person(r)} {thing(r).definite['accusative']}"
    if kind < 0.7:
        return f"{some(r, 'hvenær', 'hvers vegna', 'af hverju', 'hvar')} {r.choice(INTRANSITIVE).past} {person(r)}{circumstance(r)}"
    return f"{some(r, 'átt þú', 'áttu', 'er til', 'sérðu', 'vantar þig', 'viltu fá')} {noun.indefinite['nominative' if r.random() < 0.1 else 'accusative']}"


def there_is(r):
    """There is something somewhere."""
    if r.random() < 0.4:
        return f"það eru {some(r, 'margir', 'engir', 'nokkrir')} {r.choice([p for p in PLURALS if p.gender == 'm']).indefinite['nominative']} {where(r)}"
    return f"{some(r, 'það er', 'það var', 'þar er', 'hér er')} {r.choice(PERSONS + THINGS).indefinite['nominative']} {where(r)}"


def journey(r):
    """A person goes somewhere."""
    going = some(r, "ég fer", "við förum", "ég ætla að fara", f"{person(r)} fór", "þau fóru", "ég keyri", "hún flutti",
                 f"{person(r)} kom", "viltu koma", "hvenær ferðu", "rútan fer", "við gengum", "þeir flugu", "ég þarf að fara")
    return f"{going} {whither(r)}{some(r, '', ' ' + r.choice(TIMES), ' með ' + r.choice(PERSONS).definite['dative'])}"


def relation(r):
    """Nouns in the dative and the genitive after prepositions."""
    start = some(r, "ég talaði við", "við ræddum um", "ég las um", "hún hugsar um", "hann spurði um", "bókin er um")
    if r.random() < 0.4:
        return f"{start} {r.choice(PERSONS + TOPICS + PLURALS).definite['accusative']}{circumstance(r)}"
    if r.random() < 0.5:
        noun = r.choice(PERSONS + THINGS + TOPICS + PLURALS)
        return f"{some(r, 'ég kom með', 'ég var hjá', 'þetta er frá', 'við segjum frá', 'hún vinnur að', 'ég fékk bréf frá')} {noun.definite['dative']}"
    owner = r.choice(PERSONS + PLURALS + INSIDE + TOPICS).definite["genitive"]
    return f"{r.choice(THINGS + TOPICS + ON).definite['nominative']} {owner} {some(r, 'er', 'var', 'verður')} {r.choice(ADVERBS)}"


def parliament(r):
    """Meetings and the house."""
    topic = r.choice(TOPICS).definite
    speaker = r.choice(PERSONS).definite["nominative"]
    return some(
        r,
        f"{speaker} tók til máls um {topic['accusative']}",
        f"næst á dagskrá er {topic['nominative']}",
        f"við greiðum atkvæði um {topic['accusative']}",
        f"ég styð {topic['accusative']}",
        f"ég er á móti {topic['dative']}",
        f"{speaker} mælti fyrir {topic['dative']}",
        f"umræðu um {topic['accusative']} er lokið",
        f"{topic['dative']} var vísað til nefndar",
        f"nefndin ræddi {topic['accusative']} {r.choice(TIMES)}",
        f"{r.choice(NAMES)} fer yfir {topic['accusative']}",
        f"virðulegi forseti ég vil ræða {topic['accusative']}",
        f"{topic['nominative']} var samþykkt með {cardinal(r.randint(5, 60))} atkvæðum",
        f"fundi er frestað til klukkan {cardinal(r.randint(1, 18), 'n')}",
        f"fundinum lýkur klukkan {cardinal(r.randint(1, 12), 'n')}",
    )


def weather(r):
    """What the sky does."""
    what = r.choice(WEATHER)
    return some(
        r,
        f"{some(r, 'á morgun verður', 'í dag er', 'í kvöld kemur', 'það er', 'spáð er')} {what}{some(r, '', ' og ' + r.choice(WEATHER))}",
        f"{what} {where(r)} {r.choice(TIMES)}",
        f"{cardinal(r.randint(0, 25), 'n')} stiga {some(r, 'frost', 'hiti')} {where(r)}",
        f"hiti {cardinal(r.randint(1, 12), 'n')} til {cardinal(r.randint(8, 25), 'n')} stig",
        f"hiti {some(r, 'um', 'yfir', 'nálægt')} {some(r, 'frostmarki', cardinal(r.randint(1, 20), 'n') + ' stig')}",
        f"{some(r, 'norðan', 'sunnan', 'austan', 'vestan', 'norðaustan', 'suðvestan', 'norðvestan', 'suðaustan')} "
        f"{some(r, 'átt', 'gola', 'rok', cardinal(r.randint(3, 20)) + ' metrar á sekúndu')}",
        f"vindur {cardinal(r.randint(3, 15))} til {cardinal(r.randint(8, 28))} metrar á sekúndu",
        f"veðrið {where(r)} er {r.choice(ADJECTIVES).n}",
    )


def number(r):
    """A number, of any size, that counts something or nothing."""
    high = r.choice([20, 20, 99, 99, 999, 9999])
    if r.random() < 0.5:
        return cardinal(r.randint(0, high), r.choice("mfn"))
    noun = r.choice(PLURALS)
    return f"{cardinal(r.randint(2, high), noun.gender)} {noun.indefinite['nominative']}{circumstance(r)}"


def digits(r):
    """A telephone number or a few digits."""
    start = some(r, "", "", "síminn er ", "símanúmerið er ", "númerið er ", "kennitalan er ")
    return start + " ".join(r.choice(DIGITS) for _ in range(r.choice([3, 4, 5, 7])))


def clock(r):
    """Times of day."""
    hour, what = cardinal(r.randint(1, 12), "n"), r.choice(PERSONS + ON + TOPICS).definite["nominative"]
    minutes = f"{cardinal(r.choice([5, 10, 15, 20, 25, 30, 40, 45]), 'f')} mínútur"
    return some(
        r,
        f"klukkan er {some(r, '', 'orðin ', 'að verða ')}{hour}",
        f"klukkan er {hour} og {minutes}",
        f"{what} {some(r, 'byrjar', 'hefst', 'opnar', 'lokar', 'kemur', 'fer')} klukkan {hour}{some(r, '', ' ' + r.choice(TIMES))}",
        f"vektu mig klukkan {hour}",
        f"ég kem {some(r, 'eftir', 'fyrir')} klukkan {hour}",
        f"eftir {minutes}",
        f"klukkan {hour} {r.choice(TIMES)}",
    )


def date(r):
    """Days, months, years."""
    month, day = r.choice(MONTHS), r.randint(1, 31)
    return some(
        r,
        f"{some(r, 'í dag er', 'á morgun er', 'í gær var', '')} {r.choice(DAYS)}{some(r, '', f' {ordinal(day)} {month}')}".strip(),
        f"{some(r, 'fundurinn er', 'ég kem', 'við hittumst', 'búðin er lokuð', 'leikurinn er')} {r.choice(DAYS_ACCUSATIVE)}"
        f"{some(r, '', f' {ordinal(day, accusative=True)} {month}')}",
        f"á {r.choice(DAYS_DATIVE)} {some(r, 'er lokað', 'fer ég í sund', 'vinn ég heima', 'er opið til ' + cardinal(r.randint(5, 12), 'n'))}",
        f"{some(r, 'í', 'í byrjun', 'í lok')} {month} {some(r, 'kemur', 'fer')} {person(r)}",
        f"{some(r, 'hún fæddist', 'hann fæddist', 'það var')} {ordinal(day, accusative=True)} {month}",
        f"árið tvö þúsund og {cardinal(r.randint(1, 40), 'n')}",
        f"árið nítján hundruð {cardinal(r.randint(21, 99), 'n')}",
    )


def price(r):
    """What it costs."""
    amount = cardinal(r.choice([r.randint(1, 99) * 100, r.randint(2, 999), r.randint(1, 9) * 1000]), "f")
    start = some(r, "verðið er", "þetta kostar", "ég borgaði", "reikningurinn er", f"{r.choice(THINGS).definite['nominative']} kostar")
    return f"{start} {amount} krónur"


def introduction(r):
    """Names and where their bearers come from."""
    place = r.choice(PLACES)
    start = some(r, "ég heiti", "hún heitir", "hann heitir", "þetta er", "má ég tala við", "hvar er", "ertu búinn að hitta")
    return f"{start} {r.choice(NAMES)}{some(r, '', ' og ' + r.choice(NAMES), f' og ég er frá {place.dative}', f' og bý {place.preposition} {place.dative}')}"


def phrase(r):
    """A whole phrase as people say it."""
    return r.choice(PHRASES)


# How often each pattern is drawn.
PATTERNS = [
    (phrase, 20), (statement, 16), (bare_statement, 7), (perfect, 6), (modal, 9), (description, 9), (this_is, 4), (comparison, 2),
    (question, 6), (there_is, 4), (journey, 5), (relation, 7), (parliament, 6), (weather, 5), (number, 4), (digits, 3),
    (clock, 5), (date, 5), (price, 2), (introduction, 4),
]


def sentence(r):
    """One sentence of one pattern."""
    pattern = r.choices([each for each, _ in PATTERNS], [weight for _, weight in PATTERNS])[0]
    return " ".join(pattern(r).split())
