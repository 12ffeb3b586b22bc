const small = [
  ["Z IH R OW", "W AH N", "T UW", "TH R IY", "F AO R", "F AY V", "S IH K S"],
  ["S EH V AH N", "EY T", "N AY N", "T EH N", "IH L EH V AH N", "T W EH L V"],
  ["TH ER T IY N", "F AO R T IY N", "F IH F T IY N", "S IH K S T IY N"],
  ["S EH V AH N T IY N", "EY T IY N", "N AY N T IY N"],
].flat();
const tens = [
  ["", "", "T W EH N T IY", "TH ER D IY", "F AO R T IY", "F IH F T IY", "S IH K S T IY"],
  ["S EH V AH N T IY", "EY T IY", "N AY N T IY"],
].flat();

/**
 * Returns the phones of a number: up to 99 as one number, four digits as two ("1984"), others digit
 * by digit.
 */
export function spokenNumber(digits: string): readonly string[] {
  const pairs = /^([1-9]\d)([1-9]\d)$/.exec(digits)?.slice(1);
  const parts = pairs ?? (/^(\d|[1-9]\d)$/.test(digits) ? [digits] : Array.from(digits));
  return parts.flatMap((part) => twoDigits(Number(part)).split(" "));
}

function twoDigits(value: number): string {
  const word = small[value];
  if (word !== undefined) return word;
  const ten = tens[Math.floor(value / 10)] ?? "";
  return value % 10 === 0 ? ten : `${ten} ${small[value % 10] ?? ""}`;
}
