import {
  importKey,
  type PrivateKey,
  type SigningAlgorithm,
  subtle,
  webAlgorithms,
} from "./private-key.ts";

/**
 * A key pair whose private half never leaves this machine: only `publicKey` is sent to the service.
 */
export interface ClientKeyPair {
  readonly algorithm: SigningAlgorithm;
  /** The key that signs access tokens. It cannot be exported. */
  readonly privateKey: PrivateKey;
  /** The public key as the text of a JWK, for accounts.createClientKey(). */
  readonly publicKey: string;
  /**
   * Returns the private key as PEM (PKCS8), to be saved. The key is available only once: it is then
   * dropped, and a second call throws.
   */
  takePem(): string;
}

/**
 * Generates a key pair with WebCrypto: Ed25519, or P-256 (ES256) if the browser has no Ed25519,
 * unless an algorithm is given. Nothing is sent anywhere.
 */
export async function makeKeyPair(algorithm?: SigningAlgorithm): Promise<ClientKeyPair> {
  if (algorithm) return await generate(algorithm);
  try {
    return await generate("EdDSA");
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "NotSupportedError") throw error;
    return await generate("ES256");
  }
}

async function generate(algorithm: SigningAlgorithm): Promise<ClientKeyPair> {
  const made = await subtle().generateKey(webAlgorithms[algorithm], true, ["sign", "verify"]);
  if (!("privateKey" in made)) throw new TypeError(`${algorithm} generated no pair of keys`);
  const pkcs8 = new Uint8Array(await subtle().exportKey("pkcs8", made.privateKey));
  const privateKey = await importKey(pkcs8, algorithm);
  if (!privateKey) throw new TypeError(`a key of ${algorithm} cannot be read back`);
  const { kty, n, e, crv, x, y } = await subtle().exportKey("jwk", made.publicKey);
  let pem: string | undefined = pemOf(pkcs8);
  pkcs8.fill(0);
  return {
    algorithm,
    privateKey,
    publicKey: JSON.stringify({ kty, n, e, crv, x, y }),
    takePem() {
      const taken = pem;
      pem = undefined;
      if (taken !== undefined) return taken;
      throw new TypeError("the private key was already read, and is not kept");
    },
  };
}

/** Returns a private key as PEM (RFC 7468), in lines of 64 characters. */
function pemOf(pkcs8: Uint8Array): string {
  const base64 = btoa(Array.from(pkcs8, (byte) => String.fromCharCode(byte)).join(""));
  const lines = base64.match(/.{1,64}/g) ?? [];
  return `-----BEGIN PRIVATE KEY-----\n${lines.join("\n")}\n-----END PRIVATE KEY-----\n`;
}
