import { readPhrase, type Piece } from "../rule.ts";

/** Signs of units without a full stop (metric system), and kr. for the currency. */
const rows: readonly (readonly [sign: string, words: string])[] = [
  ["kr.", "króna krónu krónur krónum krónunum"],
  ["m", "metri metra metrar metrum"],
  ["km", "kílómetri kílómetra kílómetrar kílómetrum"],
  ["cm", "sentimetri sentimetra sentimetrar sentimetrum sentímetri sentímetra sentímetrar"],
  ["mm", "millimetri millimetra millimetrar millimetrum"],
  ["m²", "fermetri fermetra fermetrar fermetrum"],
  ["km²", "ferkílómetri ferkílómetra ferkílómetrar ferkílómetrum"],
  ["m³", "rúmmetri rúmmetra rúmmetrar rúmmetrum"],
  ["kg", "kíló kílós kílóum kílóa kílógramm kílógramms kílógrömm kílógrömmum kílógramma"],
  ["g", "gramm gramms grömm grömmum gramma"],
  ["mg", "milligramm milligramms milligrömm milligrömmum milligramma"],
  ["l", "lítri lítra lítrar lítrum"],
  ["dl", "desilítri desilítra desilítrar desilítrum"],
  ["ml", "millilítri millilítra millilítrar millilítrum"],
  ["ha", "hektari hektara hektarar hekturum"],
  ["GB", "gígabæti gígabætum gígabæta"],
  ["MB", "megabæti megabætum megabæta"],
  ["W", "vatt vött vöttum vatta"],
  ["kW", "kílóvatt kílóvött kílóvöttum kílóvatta"],
  ["MW", "megavatt megavött megavöttum megavatta"],
  ["kWst.", "kílóvattstund kílóvattstundir kílóvattstundum kílóvattstunda"],
];

const perUnits: readonly (readonly [sign: string, words: string])[] = [
  ["/s", "á sekúndu"],
  ["/klst.", "á klukkustund"],
  ["/mín.", "á mínútu"],
];

const signs = new Map<string, string>(
  rows.flatMap(([sign, words]) =>
    words
      .split(" ")
      .flatMap((word): [string, string][] => [
        [word, sign],
        ...(sign === "kr."
          ? []
          : perUnits.map(([per, phrase]): [string, string] => [`${word} ${phrase}`, sign + per])),
      ]),
  ),
);

/** Units that stay words after digits: currencies, degrees, weights. */
const wordUnits = new Set(
  (
    "stig stigi stigs stiga stigum gráða gráðu gráður gráðum gráðna gráða tonn tonni tonns tonna " +
    "tonnum evra evru evrur evrum evrna dollari dollara dollarar dollurum dalur dali dalir dölum " +
    "dala pund punds pundi pundum punda kall sjómíla sjómílur sjómílum sjómílna"
  ).split(" "),
);

/** "Prósentustig" are not among them: they stay words after a number. */
export const percentWords: ReadonlySet<string> = new Set([
  "prósent",
  "prósenti",
  "prósenta",
  "prósentum",
  "prósents",
]);

/** Returns the sign of the unit that begins at an index. */
export function readUnitSign(words: readonly string[], at: number): Piece | undefined {
  return signs.has(words[at] ?? "") ? readPhrase(signs, 3, words, at) : undefined;
}

/** Whether a unit that stays a word is at an index. */
export function isWordUnit(words: readonly string[], at: number): boolean {
  return wordUnits.has(words[at] ?? "");
}

/** Whether the number before an index is an amount: a unit, percent or money follows. */
export function followsAmount(words: readonly string[], at: number): boolean {
  const word = words[at] ?? "";
  return signs.has(word) || wordUnits.has(word) || percentWords.has(word);
}
