import {
  algorithmOf,
  type PrivateKey,
  readPrivateKey,
  subtle,
  webAlgorithms,
} from "./private-key.ts";

/**
 * A registered client key: the ids that accounts.createClientKey() returned, and the private half,
 * as a CryptoKey or as PEM (PKCS8).
 */
export interface SigningKey {
  readonly keyId: string;
  readonly clientId: string;
  readonly privateKey: PrivateKey | string;
}

/**
 * The maximum lifetime of a token: the service refuses a token with a longer one (docs/api.md,
 * Access).
 */
const lifeSecondsMax = 3600;
/** The lifetime of a client's tokens. It is short, so that a stolen token soon becomes useless. */
const lifeSeconds = 600;
/**
 * How long before the old token expires a client signs a new one, because calls take time and
 * clocks differ.
 */
const renewSeconds = 120;

/**
 * Signs an access token (a JWT) with a client key, using WebCrypto. `audience` is the public URL of
 * the service (HLUST_PUBLIC_URL). Throws TypeError for a key that cannot sign one, and RangeError
 * for a lifetime that the service refuses.
 */
export async function signAccessToken(
  { keyId, clientId, privateKey }: SigningKey,
  options: {
    readonly audience: string;
    /** The lifetime in seconds. Default: 600; maximum: 3600. */
    readonly lifeSeconds?: number;
    /** The current time in milliseconds since 1970. */
    readonly now?: number;
  },
): Promise<string> {
  const { audience, lifeSeconds: life = lifeSeconds, now = Date.now() } = options;
  if (!(life >= 1 && life <= lifeSecondsMax)) {
    throw new RangeError(`the lifetime of a token must be 1 to ${lifeSecondsMax} s, not ${life}`);
  }
  const key = typeof privateKey === "string" ? await readPrivateKey(privateKey) : privateKey;
  const algorithm = algorithmOf(key);
  const iat = Math.floor(now / 1000);
  const header = { alg: algorithm, kid: keyId, typ: "JWT" };
  const claims = { iss: clientId, sub: clientId, aud: audience, iat, exp: iat + Math.floor(life) };
  const utf8 = new TextEncoder();
  const signed = [header, claims]
    .map((part) => base64url(utf8.encode(JSON.stringify(part))))
    .join(".");
  const signature = await subtle().sign(webAlgorithms[algorithm], key, utf8.encode(signed));
  return `${signed}.${base64url(new Uint8Array(signature))}`;
}

/**
 * Returns a source of access tokens of a client key, for the option `token` of a client. Each token
 * is used until shortly before it expires.
 */
export function accessTokensOf(
  key: SigningKey,
  { audience, now = Date.now }: { readonly audience: string; readonly now?: () => number },
): () => Promise<string> {
  let privateKey: Promise<PrivateKey> | undefined;
  let current: { readonly token: Promise<string>; readonly renewAt: number } | undefined;
  const sign = async (at: number): Promise<string> => {
    privateKey ??=
      typeof key.privateKey === "string"
        ? readPrivateKey(key.privateKey)
        : Promise.resolve(key.privateKey);
    return await signAccessToken({ ...key, privateKey: await privateKey }, { audience, now: at });
  };
  return async () => {
    const at = now();
    // If the clock was set back, the current token would be from the future.
    const isFresh = current && at < current.renewAt && at >= current.renewAt - lifeSeconds * 1000;
    if (!current || !isFresh) {
      current = { token: sign(at), renewAt: at + (lifeSeconds - renewSeconds) * 1000 };
    }
    return await current.token;
  };
}

function base64url(bytes: Uint8Array): string {
  const text = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
