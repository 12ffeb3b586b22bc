/** Sounds of hesitation, which are dropped. */
export const fillers: ReadonlySet<string> = new Set(
  "hm hmm hmmm mm mmm mhm mmhm uh uhh um umm uhm erm".split(" "),
);

/** Contractions and informal forms that are written out as a whole. */
export const contractions: ReadonlyMap<string, readonly string[]> = table({
  "won't": "will not",
  "can't": "can not",
  cannot: "can not",
  "shan't": "shall not",
  "ain't": "aint",
  "let's": "let us",
  "y'all": "you all",
  "ma'am": "madam",
  "o'clock": "oclock",
  "'til": "until",
  til: "until",
  "'cause": "because",
  "i'ma": "i am going to",
  imma: "i am going to",
  gonna: "going to",
  wanna: "want to",
  gotta: "got to",
  gimme: "give me",
  lemme: "let me",
  dunno: "do not know",
  kinda: "kind of",
  sorta: "sort of",
  woulda: "would have",
  coulda: "could have",
  shoulda: "should have",
  ok: "okay",
});

/** Titles, which are written with or without a period. */
export const titles: ReadonlyMap<string, readonly string[]> = table({
  mr: "mister",
  mrs: "missus",
  dr: "doctor",
  prof: "professor",
  capt: "captain",
  sgt: "sergeant",
  gov: "governor",
  jr: "junior",
  sr: "senior",
  vs: "versus",
  etc: "et cetera",
});

/** The ends of contractions, longest first. A possessive counts as a contraction with "is". */
export const contractionEnds: readonly (readonly [end: string, words: readonly string[]])[] = [
  ["n't", ["not"]],
  ["'re", ["are"]],
  ["'ll", ["will"]],
  ["'ve", ["have"]],
  ["'s", ["is"]],
  ["'d", ["would"]],
  ["'m", ["am"]],
];

function table(rows: Readonly<Record<string, string>>): ReadonlyMap<string, readonly string[]> {
  return new Map(Object.entries(rows).map(([word, written]) => [word, written.split(" ")]));
}
