import { publicKeyProblems } from "../text/public-key-problems.ts";
import type { Phrase } from "../text/language.tsx";

/** The limit of CreateClientKey. A 4096-bit key in PEM has 800 characters. */
export const publicKeyCharsMax = 10_000;

/** JWK members that only private or symmetric keys have (RFC 7518 section 6). */
const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/**
 * Explains why a text cannot be a public key, judged by its form. Returns undefined if it may be a
 * public key; the service then checks it. A private key is detected here, so that it never leaves
 * the browser.
 */
export function publicKeyProblem(given: string): Phrase<string> | undefined {
  const text = given.trim();
  if (text === "") return publicKeyProblems.empty;
  if (/PRIVATE KEY/.test(text)) return publicKeyProblems.private;
  if (text.length > publicKeyCharsMax) return publicKeyProblems.tooLong;
  if (/^(ssh|ecdsa)-|BEGIN SSH2/.test(text)) return publicKeyProblems.ssh;
  if (/BEGIN CERTIFICATE/.test(text)) return publicKeyProblems.certificate;
  if (text.startsWith("{") || text.startsWith("[")) return jwkProblem(text);
  if (!/-----BEGIN (RSA )?PUBLIC KEY-----/.test(text)) return publicKeyProblems.unknown;
  return /-----END (RSA )?PUBLIC KEY-----/.test(text) ? undefined : publicKeyProblems.cut;
}

function jwkProblem(text: string): Phrase<string> | undefined {
  let jwk: unknown;
  try {
    jwk = JSON.parse(text);
  } catch {
    // A truncated JWK may still be a private key.
    return /"d"\s*:/.test(text) ? publicKeyProblems.private : publicKeyProblems.json;
  }
  if (typeof jwk !== "object" || jwk === null) return publicKeyProblems.unknown;
  if (/"(d|k)"\s*:/.test(text) || privateMembers.some((member) => Object.hasOwn(jwk, member))) {
    return publicKeyProblems.private;
  }
  return Array.isArray(jwk) || "keys" in jwk ? publicKeyProblems.set : undefined;
}
