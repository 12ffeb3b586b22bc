// Families of words that British and American English spell differently. The stems are written
// without the ending that differs.

const orStems =
  "arm ard behavi cand clam col demean endeav fav ferv flav harb hon hum lab neighb od parl ranc " +
  "rum sav savi splend tum val vap vig";
const izeStems =
  "agon apolog author canal capital categor central character civil colon critic critic crystal " +
  "digit econom emphas energ equal familiar fantas fertil final general global harmon hospital " +
  "hypothes ideal immun industrial initial item jeopard legal liberal local material maxim memor " +
  "minim mobil modern monopol national neutral normal optim organ patron penal personal polar " +
  "popular priorit privat public rational real recogn revolution scrutin serial social special " +
  "stabil standard steril subsid summar symbol sympath synchron synthes terror theor trivial util " +
  "vandal victim visual vocal";
const erStems = "calib cent fib lit lust meag met sab somb spect theat";
const doubledStems =
  "cance counse dia fue jewe labe leve marve mode pane quarre rive signa trave tunne";
const families: readonly (readonly [RegExp, string])[] = [
  [family(orStems, "our", "\\w*"), "or"],
  [family(izeStems, "is", "(?:e|ed|es|er|ers|ing|ation|ations|able)"), "iz"],
  [family("anal catal paral", "ys", "(?:e|ed|es|er|ers|ing)"), "yz"],
  [family(erStems, "re", "s?", "(?:kilo|centi|milli|deci)?"), "er"],
  [family("cent", "red", ""), "ered"],
  [family(doubledStems, "ll", "(?:ed|ing|er|ers|ous)"), "l"],
];

const words: Readonly<Record<string, string>> = {
  aeroplane: "airplane",
  ageing: "aging",
  aluminium: "aluminum",
  amongst: "among",
  catalogue: "catalog",
  cheque: "check",
  cosy: "cozy",
  defence: "defense",
  dialogue: "dialog",
  enrol: "enroll",
  fulfil: "fulfill",
  grey: "gray",
  instalment: "installment",
  jewellery: "jewelry",
  judgement: "judgment",
  kerb: "curb",
  licence: "license",
  mould: "mold",
  moustache: "mustache",
  mum: "mom",
  offence: "offense",
  plough: "plow",
  practise: "practice",
  pretence: "pretense",
  programme: "program",
  pyjamas: "pajamas",
  sceptic: "skeptic",
  sceptical: "skeptical",
  skilful: "skillful",
  sulphur: "sulfur",
  towards: "toward",
  tyre: "tire",
  tyres: "tires",
  whilst: "while",
};

/** Returns the American spelling of a word in lower case, if it is one of those known here. */
export function americanSpelling(word: string): string {
  if (Object.hasOwn(words, word)) return words[word] ?? word;
  const [pattern, american] = families.find(([pattern]) => pattern.test(word)) ?? [];
  return pattern ? word.replace(pattern, `$1${american}$2`) : word;
}

/** Matches a stem, the spelling that differs, and an ending. */
function family(stems: string, differs: string, ending: string, prefix = ""): RegExp {
  return new RegExp(`^(${prefix}(?:${stems.replaceAll(" ", "|")}))${differs}(${ending})$`);
}
