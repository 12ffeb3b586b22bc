import { createHash, timingSafeEqual } from "node:crypto";

/** Compares a text with the expected secret, in a time that does not depend on either. */
export function isSameSecret(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
