/**
 * Groups of Icelandic letters, and the American phones that resemble their sounds: the longest
 * group that fits is read first.
 */
const letterSounds: Readonly<Record<string, string>> = {
  dóttir: "D OW T IH R",
  sson: "S AH N",
  fl: "P L",
  fn: "P N",
  gi: "Y IH",
  gj: "G Y",
  hj: "HH Y",
  hv: "K V",
  kj: "K Y",
  ll: "T L",
  ng: "NG G",
  nk: "NG K",
  pp: "P",
  tt: "T",
  kk: "K",
  bb: "B",
  dd: "D",
  ff: "F",
  gg: "G",
  mm: "M",
  nn: "N",
  rr: "R",
  ss: "S",
  au: "OY",
  ei: "EY",
  ey: "EY",
  a: "AA",
  á: "AW",
  b: "B",
  d: "D",
  ð: "DH",
  e: "EH",
  é: "Y EH",
  f: "F",
  g: "G",
  h: "HH",
  i: "IH",
  í: "IY",
  j: "Y",
  k: "K",
  l: "L",
  m: "M",
  n: "N",
  o: "AO",
  ó: "OW",
  ö: "ER",
  p: "P",
  r: "R",
  s: "S",
  t: "T",
  u: "UH",
  ú: "UW",
  v: "V",
  x: "K S",
  y: "IH",
  ý: "IY",
  þ: "TH",
  æ: "AY",
  c: "K",
  q: "K",
  w: "V",
  z: "S",
};
const letterGroups = new RegExp(
  Object.keys(letterSounds)
    .toSorted((a, b) => b.length - a.length)
    .join("|"),
  "gu",
);

/** Returns how an Icelandic word in lower case sounds, in the phones of American English. */
export function icelandicSounds(word: string): string {
  return (word.match(letterGroups) ?? []).map((group) => letterSounds[group] ?? "").join(" ");
}
