/** Returns the offset at which the sentence around an offset begins. */
export function sentenceStart(text: string, offset: number): number {
  const before = text.slice(0, offset);
  const end = /[.?!…]["“”»')]*\s+(?=\S)/g;
  let start = 0;
  for (const { index, 0: found } of before.matchAll(end)) start = index + found.length;
  return start;
}

/**
 * Reads a time that a user has typed: "75", "1:15", "1:02:03" or "1:15,5", in seconds. Returns
 * undefined if it is not a time.
 */
export function readTime(typed: string): number | undefined {
  const parts = typed.trim().replace(",", ".").split(":");
  const isTime = parts.every((part, at) =>
    at === parts.length - 1 ? /^\d{1,6}(?:\.\d{1,3})?$/.test(part) : /^\d{1,4}$/.test(part),
  );
  if (!isTime || parts.length > 3) return undefined;
  const isWithin = parts.slice(1).every((part) => Number(part) < 60);
  return isWithin ? parts.reduce((sum, part) => sum * 60 + Number(part), 0) : undefined;
}
