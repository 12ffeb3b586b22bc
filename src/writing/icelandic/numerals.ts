import type { NumeralWords } from "../cardinals.ts";
import { readNumber, type NumberReading } from "../numbers.ts";

/** Forms by gender and case. The numbers from five on have one form. */
const units: readonly (readonly [number, string])[] = [
  [1, "einn ein eitt eina eins einnar einum einni einu"],
  [2, "tveir tvær tvö tvo tveim tveimur tveggja"],
  [3, "þrír þrjár þrjú þrjá þrem þremur þriggja"],
  [4, "fjórir fjórar fjögur fjóra fjórum fjögurra fjögra"],
  [5, "fimm"],
  [6, "sex"],
  [7, "sjö"],
  [8, "átta"],
  [9, "níu"],
];
const teens = "tíu ellefu tólf þrettán fjórtán fimmtán sextán sautján átján nítján";
const tens = "tuttugu þrjátíu fjörutíu fimmtíu sextíu sjötíu áttatíu níutíu";

/** The Icelandic words for numbers, in all forms (Ritreglur and inflection: BÍN). */
export const icelandicNumerals: NumeralWords = {
  zero: new Set(["núll"]),
  units: formsOf(units),
  teens: new Map(teens.split(" ").map((word, index) => [word, index + 10])),
  tens: new Map(tens.split(" ").map((word, index) => [word, (index + 2) * 10])),
  hundreds: new Set([
    ..."hundrað hundruð hundruðum hundraða hundraði hundraðs".split(" "),
    ...compoundsOf("hundruð hundruðum hundraða").map(([word]) => word),
  ]),
  scales: formsOf([
    [1e3, "þúsund þúsundi þúsundum þúsunda þúsunds"],
    ...compoundsOf("þúsund þúsundum þúsunda").map(([word]) => [1e3, word] as const),
    [1e6, "milljón milljónir milljónum milljóna milljónar"],
    [1e9, "milljarður milljarð milljarði milljarðs milljarðar milljarða milljörðum"],
  ]),
  compounds: new Map(compoundsOf("hundruð hundruðum hundraða þúsund þúsundum þúsunda")),
  impliesOne: new Set(["hundrað", "þúsund"]),
  and: "og",
  tensTakeAnd: true,
  decimal: "komma",
};

/** Returns "tvöhundruð" and its like, which the spelling rules do not have and people write. */
function compoundsOf(endings: string): (readonly [word: string, value: number])[] {
  const small = units.slice(1).map(([value, forms]) => [value, forms.split(" ")] as const);
  const large = teens.split(" ").map((word, index) => [index + 10, [word]] as const);
  return [...small, ...large].flatMap(([value, forms]) =>
    forms.flatMap((form) => endings.split(" ").map((ending) => [form + ending, value] as const)),
  );
}

/** A thousand is parted by a full stop, decimals by a comma: 1.234,5. */
const icelandicSigns = { thousands: ".", decimal: "," };

/** Returns the number, whole or with decimals, that begins at an index. */
export function readIcelandicNumber(
  words: readonly string[],
  at: number,
): NumberReading | undefined {
  return readNumber(words, at, icelandicNumerals, icelandicSigns);
}

/** The stems of weak adjectives: -i, -a, -u. "Annar" has forms of its own. */
const unitOrdinals = "_ þriðj fjórð fimmt sjött sjöund áttund níund".split(" ");
const teenOrdinals =
  "tíund elleft tólft þrettánd fjórtánd fimmtánd sextánd sautjánd átjánd nítjánd".split(" ");
const tenOrdinals =
  "tuttugast þrítugast fertugast fimmtugast sextugast sjötugast átttugast nítugast".split(" ");

const first = "fyrsti fyrsta fyrstu fyrstur fyrst";
const second = "annar önnur annað annan aðra annars annarrar öðrum annarri öðru aðrir annarra";

/** Ordinals of one word from 1 to 19: forms and values. */
const smallOrdinals = new Map<string, number>([
  ...first
    .split(" ")
    .slice(0, 3)
    .map((word) => [word, 1] as const),
  ...second.split(" ").map((word) => [word, 2] as const),
  ...unitOrdinals.slice(1).flatMap((stem, index) => weakForms(stem, index + 3)),
  ...teenOrdinals.flatMap((stem, index) => weakForms(stem, index + 10)),
]);

const ordinalTens = new Map<string, number>([
  ...tenOrdinals.flatMap((stem, index) => weakForms(stem, (index + 2) * 10)),
  ...weakForms("áttugast", 80),
  ...weakForms("áttatugast", 80),
  ...weakForms("hundraðast", 100),
  ...weakForms("þúsundast", 1000),
]);

interface Ordinal {
  readonly value: number;
  readonly count: number;
}

/** Reads an ordinal such as "tuttugasta og fyrsta" or "hundraðasta og fimmta". */
export function readIcelandicOrdinal(words: readonly string[], at: number): Ordinal | undefined {
  const first = readBelowHundredth(words, at) ?? readLargeOrdinal(words, at);
  if (first?.value !== 100) return first;
  const skip = words[at + 1] === "og" ? 2 : 1;
  const rest = readBelowHundredth(words, at + skip);
  return rest ? { value: first.value + rest.value, count: skip + rest.count } : first;
}

function readLargeOrdinal(words: readonly string[], at: number): Ordinal | undefined {
  const value = ordinalTens.get(words[at] ?? "");
  return value === undefined ? undefined : { value, count: 1 };
}

function readBelowHundredth(words: readonly string[], at: number): Ordinal | undefined {
  const word = words[at] ?? "";
  const small = smallOrdinals.get(word);
  if (small !== undefined) return { value: small, count: 1 };
  const tens = ordinalTens.get(word);
  if (tens === undefined || tens >= 100) return undefined;
  const unit = words[at + 1] === "og" ? smallOrdinals.get(words[at + 2] ?? "") : undefined;
  const isUnit = unit !== undefined && unit < 10;
  return isUnit ? { value: tens + unit, count: 3 } : { value: tens, count: 1 };
}

/** Returns the forms in -i, -a and -u, with the umlaut of "tuttugasti" and "tuttugustu". */
function weakForms(stem: string, value: number): (readonly [string, number])[] {
  const rounded = stem.replace(/ast$/, "ust").replace(/^hundraðust$/, "hundruðust");
  return [`${stem}i`, `${stem}a`, `${rounded}u`].map((form) => [form, value] as const);
}

function formsOf(rows: readonly (readonly [number, string])[]): Map<string, number> {
  return new Map(
    rows.flatMap(([value, forms]) => forms.split(" ").map((form) => [form, value] as const)),
  );
}
