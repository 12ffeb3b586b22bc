/** The algorithm with which a client key signs (RFC 7518): Ed25519, ECDSA on P-256 or RSA. */
export type SigningAlgorithm = "EdDSA" | "ES256" | "RS256";

/** A WebCrypto key: CryptoKey in browsers, and Node's own type in Node. */
export type PrivateKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/** The WebCrypto parameters of each algorithm, for generating, importing and using its keys. */
export const webAlgorithms = {
  EdDSA: { name: "Ed25519" },
  ES256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  RS256: {
    name: "RSASSA-PKCS1-v1_5",
    hash: "SHA-256",
    modulusLength: 2048,
    publicExponent: new Uint8Array([1, 0, 1]),
  },
} as const;

export const signingAlgorithms = ["EdDSA", "ES256", "RS256"] as const;

/**
 * Returns the private key in a PEM text (PKCS8). The key is for signing only and cannot be
 * exported. Throws TypeError for other texts, without repeating any of the text.
 */
export async function readPrivateKey(pem: string): Promise<PrivateKey> {
  const found = /-----BEGIN PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END PRIVATE KEY-----/.exec(pem);
  if (!found) {
    throw new TypeError(
      "no private key in PEM (-----BEGIN PRIVATE KEY-----): convert other forms with openssl pkcs8 -topk8 -nocrypt",
    );
  }
  const bytes = bytesOf(found[1] ?? "");
  for (const algorithm of signingAlgorithms) {
    const key = await importKey(bytes, algorithm);
    if (key) return key;
  }
  throw new TypeError("the private key must be Ed25519, P-256 or RSA");
}

/**
 * Returns the private key in the bytes of a PEM, or undefined for a key with another algorithm.
 */
export async function importKey(
  pkcs8: Uint8Array<ArrayBuffer>,
  algorithm: SigningAlgorithm,
): Promise<PrivateKey | undefined> {
  const usages = ["sign"] as const;
  try {
    return await subtle().importKey("pkcs8", pkcs8, webAlgorithms[algorithm], false, [...usages]);
  } catch {
    return undefined;
  }
}

/**
 * Returns the algorithm of a key. Throws TypeError for a key whose signatures the service does not
 * accept.
 */
export function algorithmOf({ algorithm, type }: PrivateKey): SigningAlgorithm {
  const found = signingAlgorithms.find((each) => webAlgorithms[each].name === algorithm.name);
  if (!found || type !== "private") {
    throw new TypeError(`a ${type} key of ${algorithm.name} cannot sign access tokens`);
  }
  return found;
}

/** Returns WebCrypto, which browsers provide only on https: pages and on localhost. */
export function subtle(): typeof crypto.subtle {
  const { subtle: found }: { readonly subtle?: typeof crypto.subtle } = crypto;
  if (found) return found;
  throw new TypeError("this page has no WebCrypto: load it over https:, or from localhost");
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  let text = "";
  try {
    text = atob(base64.replaceAll(/\s/g, ""));
  } catch {
    throw new TypeError("the private key is not base64");
  }
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}
