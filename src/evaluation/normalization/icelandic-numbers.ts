import { merged, readNumber, type NumberGrammar, type NumberWord } from "./number-words.ts";
import type { Token } from "./token.ts";

/** The inflected forms of the cardinal numbers 0 to 9. */
const units: readonly string[] = [
  "núll",
  "einn ein eitt eina eins einum einni einnar einu",
  "tveir tvær tvö tvo tveim tveimur tveggja",
  "þrír þrjár þrjú þrjá þrem þremur þriggja",
  "fjórir fjórar fjögur fjóra fjórum fjögurra",
  "fimm",
  "sex",
  "sjö",
  "átta",
  "níu",
];
const teens = "tíu ellefu tólf þrettán fjórtán fimmtán sextán sautján átján nítján".split(" ");
const tens = "tuttugu þrjátíu fjörutíu fimmtíu sextíu sjötíu áttatíu níutíu".split(" ");
const hundreds = "hundrað hundruð hundraði hundruðum hundraðs hundraða";
const scales: Readonly<Record<string, number>> = {
  "þúsund þúsundum þúsunda": 1e3,
  "milljón milljónir milljónum milljóna milljónar": 1e6,
  "milljarður milljarð milljarði milljarðs milljarða milljarðar milljörðum": 1e9,
};
/** The stems of the ordinals, which end in i, a or u. */
const ordinalUnits = "fyrst - þriðj fjórð fimmt sjött sjöund áttund níund".split(" ");
const ordinalTeens =
  "tíund elleft tólft þrettánd fjórtánd fimmtánd sextánd sautjánd átjánd nítjánd".split(" ");
const ordinalTens =
  "tuttugast þrítugast fertugast fimmtugast sextugast sjötugast áttugast nítugast".split(" ");
const second = "annar önnur annað annan aðra öðrum annarri annars annarrar aðrir öðru".split(" ");
const first = ["fyrsti", "fyrsta", "fyrstu"];
const months = new Set(
  "janúar febrúar mars apríl maí júní júlí ágúst september október nóvember desember".split(" "),
);

const words = new Map<string, NumberWord>();
const cardinal = (kind: NumberWord["kind"], value: number, forms: string): void => {
  for (const form of forms.split(" ")) words.set(form, { kind, value, isOrdinal: false });
};
const ordinal = (kind: NumberWord["kind"], value: number, stem: string): void => {
  for (const end of ["i", "a", "u"]) words.set(stem + end, { kind, value, isOrdinal: true });
};
for (const [value, forms] of units.entries()) cardinal("unit", value, forms);
for (const [at, form] of teens.entries()) cardinal("teen", 10 + at, form);
for (const [at, form] of tens.entries()) cardinal("ten", 20 + 10 * at, form);
cardinal("hundred", 100, hundreds);
for (const [forms, value] of Object.entries(scales)) cardinal("scale", value, forms);
for (const [at, stem] of ordinalUnits.entries()) if (stem !== "-") ordinal("unit", at + 1, stem);
for (const [at, stem] of ordinalTeens.entries()) ordinal("teen", 10 + at, stem);
for (const [at, stem] of ordinalTens.entries()) ordinal("ten", 20 + 10 * at, stem);
ordinal("hundred", 100, "hundraðast");
ordinal("scale", 1e3, "þúsundast");
for (const form of second) words.set(form, { kind: "unit", value: 2, isOrdinal: true });

const grammar: NumberGrammar = {
  wordOf: (text) => words.get(text),
  joiner: "og",
  joinsTens: true,
  hasBareScales: true,
  continuesOrdinals: true,
};

/**
 * Forms that are mostly other words ("annar" is also "another", "eins" also "as") and count as
 * numbers only as a part of a larger one, or, if they are ordinals, before the name of a month.
 */
const ambiguous = new Set([...second, ...first, ..."eina eins einum einni einnar einu".split(" ")]);

/**
 * Writes the number words of a text as digits: 250 for "tvö hundruð og fimmtíu", 1994 for "nítján
 * hundruð níutíu og fjögur", 3,5 for "þrír komma fimm". An ordinal has the same digits as its
 * cardinal, because "21." looks like the end of a sentence.
 */
export function icelandicNumbers(tokens: readonly Token[]): Token[] {
  const written: Token[] = [];
  for (let at = 0; at < tokens.length;) {
    const { text, length } = icelandicNumber(tokens, at);
    written.push(merged(tokens, { at, length, text }));
    at += length;
  }
  return written;
}

function icelandicNumber(
  tokens: readonly Token[],
  at: number,
): { readonly text: string; readonly length: number } {
  const text = tokens[at]?.text ?? "";
  const next = tokens[at + 1]?.text ?? "";
  const scale = words.get(next);
  // 2 milljónir, 2,5 milljónir
  if (/^\d+(,\d+)?$/.test(text) && scale?.kind === "scale") {
    return {
      text: digitsOf(Number((Number(text.replace(",", ".")) * scale.value).toPrecision(15))),
      length: 2,
    };
  }
  const number = readNumber(tokens, at, grammar);
  if (!number) return { text, length: 1 };
  const { value, length, isOrdinal } = number;
  const isDate = isOrdinal && months.has(next);
  if (length === 1 && ambiguous.has(text) && !isDate) return { text, length: 1 };
  const after = readNumber(tokens, at + length + 1, grammar);
  if (tokens[at + length]?.text === "komma" && after && !isOrdinal && !after.isLarge) {
    const decimals = `${digitsOf(value)},${after.value}`;
    return { text: decimals, length: length + 1 + after.length };
  }
  return { text: digitsOf(value), length };
}

function digitsOf(value: number): string {
  const text = value.toLocaleString("en-US", { useGrouping: false, maximumFractionDigits: 9 });
  return text.replace(".", ",");
}
