import { givenNames } from "./given-names.ts";

/** Words that begin a question when they begin a sentence. */
const questionWords = new Set(
  (
    "hver hvern hverjum hvers hverjir hverja hverra hverjar hvað hverju hvar hvert hvaðan hvenær " +
    "hvernig hvort hvor hvorn hvorum hvaða hve hversu hví"
  ).split(" "),
);

/** The first two words of a question. */
const questionPairs = new Set([
  "af hverju",
  "til hvers",
  "í hvaða",
  "á hvaða",
  "frá hvaða",
  "um hvað",
  "við hvern",
  "með hverjum",
  "hjá hverjum",
  "hvers vegna",
  "má bjóða",
  "mætti bjóða",
]);

/** After these, "hver" and its like are not questions: "hver sem er", "hver og einn". */
const notAsking = new Set(
  "sem og um einasti einasta einn annar annan öðrum önnur maður".split(" "),
);

/** Verbs with "þú" in them, which ask when they come first. */
const askingVerbs = new Set(
  (
    "ertu varstu viltu vildirðu geturðu gastu gætirðu áttu áttirðu ætlarðu ætlaðirðu kemurðu " +
    "komstu ferðu fórstu veistu vissirðu hefurðu hafðirðu sérðu sástu máttu máttirðu heldurðu " +
    "hélstu finnurðu fannstu manstu þarftu þurftirðu skilurðu skildirðu værirðu myndirðu mundirðu " +
    "skaltu segirðu sagðirðu heyrirðu heyrðirðu lest lastu borðarðu borðaðirðu býrðu bjóstu " +
    "þekkirðu þekktirðu vinnurðu vannstu kanntu kunnirðu trúirðu talarðu notarðu fékkstu færðu " +
    "gerðirðu gerirðu tókstu tekurðu keyptirðu kaupirðu elskarðu langar"
  ).split(" "),
);

/** Verbs that ask when they come first and their subject follows. */
const verbs = new Set(
  (
    "er eru erum erum var voru vorum verður verða má mega mátti get getur geta getum gat gátu vill " +
    "vilja viljum vilt vildi ætlar ætla ætlum kemur koma komum kom veit vita hefur hafa höfum hafði " +
    "á eigum eiga átti fer fara förum fór þarf þurfa þurfum þarft sérð sér sjá skal eigið eruð " +
    "kostar kosta gengur heitir heitið býr býrð virkar passar vinnur talar getið viljið hafið ætlið komið þurfið finnst líkar langar kannt myndi mundi væri gæti"
  ).split(" "),
);
const subjects = new Set(
  (
    "ég þú hann hún það við þið þeir þær þau þetta þessi þér mér honum henni einhver eitthvað " +
    "einhverjir nokkuð nokkur ekki"
  ).split(" "),
);

/** Nouns with their article in the nominative: "vagninn", "búðin", "húsið", "bílarnir". */
const definite = /.{3}(?:inn|in|ið|rnir|rnar)$/;

/** Questions at the end of a statement. */
const tags = ["ekki satt", "er það ekki", "er það"];
const tagWordsMax = 3;

/** Words that begin a clause after "en" ("but"), as against "en" ("than"). */
const clauseStarts = new Set(
  "ég þú hann hún það við þið þeir þær þau þetta þá svo samt nú ekki þess þar".split(" "),
);

/** Comparatives, and other words with "en" ("than") after them. */
const comparatives = new Set(
  (
    "betri betra betur verri verra verr meiri meira minni minna fleiri færri eldri eldra yngri yngra " +
    "stærri stærra hærri hærra lægri lægra lengri lengra lengur styttri styttra skemur fyrri fyrra " +
    "fyrr síðar seinna seinni síðari nær nærri fjær oftar frekar fremur heldur annar önnur annað " +
    "annan aðrir aðra öðru öðrum öðruvísi hraðar hægar sterkari yngra þyngri þyngra léttari léttara " +
    "kaldara kaldari hlýrra hlýrri dýrari dýrara ódýrari ódýrara fljótari"
  ).split(" "),
);
const comparativeEnd = /(?:legri|legra|astari|lari|rari)$/;

/** Returns whether a sentence asks: by a question word, a verb in front, or "ekki satt". */
export function isIcelandicQuestion(words: readonly string[], from: number, to: number): boolean {
  const first = words[from] ?? "";
  const second = from + 1 < to ? (words[from + 1] ?? "") : "";
  if (questionPairs.has(`${first} ${second}`)) return true;
  if (questionWords.has(first)) return !notAsking.has(second);
  if (askingVerbs.has(first)) return true;
  if (verbs.has(first) && subjects.has(second)) return true;
  // "Á" in front of a noun is a preposition.
  if (verbs.has(first) && first !== "á" && isNoun(second)) return true;
  return tags.some((tag) => endsWith(words, tag, from, to));
}

/** Whether a word is surely a noun that can be a subject: a given name, or "búðin". */
function isNoun(word: string): boolean {
  return givenNames.has(word) || definite.test(word);
}

/** Puts a comma after "já", "nei" or "jæja" in front of a clause, and before "en" ("but"). */
export function icelandicCommaAfter(words: readonly string[], at: number, from: number): boolean {
  const word = words[at] ?? "";
  const next = words[at + 1] ?? "";
  if (at === from && ["já", "nei", "jæja", "jú"].includes(word)) return clauseStarts.has(next);
  if (next !== "en" || at - from < 1 || !clauseStarts.has(words[at + 2] ?? "")) return false;
  return !compares(word) && !compares(words[at - 1] ?? "");
}

/** Puts a comma before "ekki satt" at the end of a sentence. */
export function icelandicCommaBeforeEnd(words: readonly string[], at: number, to: number): boolean {
  return to - at <= tagWordsMax + 1 && tags.includes(words.slice(at + 1, to).join(" "));
}

/** Whether a word makes a comparison, as in "eldri maður en ég". */
function compares(word: string): boolean {
  return comparatives.has(word) || comparativeEnd.test(word);
}

function endsWith(words: readonly string[], tag: string, from: number, to: number): boolean {
  const count = tag.split(" ").length;
  return to - from > count + 1 && words.slice(to - count, to).join(" ") === tag;
}

export const icelandicHoldsInPause: ReadonlySet<string> = new Set(
  (
    "og eða en að sem ef þegar því enda heldur nema hvort í á um frá til með við eftir úr af " +
    "hjá undir yfir milli mjög svo þess þeirra mínum minn mín mitt þinn þín þitt"
  ).split(" "),
);

export const icelandicHoldsAtEnd: ReadonlySet<string> = new Set(
  "og eða en að sem ef þegar enda heldur nema hvort".split(" "),
);
