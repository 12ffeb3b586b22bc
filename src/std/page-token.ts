import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
} from "node:crypto";

/** The scope in which a page token is valid: one list of one account, with its filter and order. */
export interface PageScope {
  readonly collection: string;
  readonly accountId: string;
  /** The filter; "" if the list has none. */
  readonly filter: string;
  /** The order, if the list has several. */
  readonly ordering?: string;
}

/** Opaque tokens for positions in a list. */
export interface PageTokens {
  write(scope: PageScope, position: readonly string[]): string;
  /** Returns the position in a token of this scope; undefined for any other text. */
  read(scope: PageScope, token: string): readonly string[] | undefined;
}

const cipher = "aes-256-gcm";
const nonceBytes = 12;
const tagBytes = 16;
export const tokenCharsMax = 1024;

/**
 * Creates tokens that are encrypted with AES-256-GCM and bound to their scope. The nonce is a MAC
 * of the scope and the position. It therefore repeats only if the whole token does, and a page has
 * exactly one token. `key` contains 32 secret bytes, which are the same on every node.
 */
export function createPageTokens(key: Buffer): PageTokens {
  const encryptionKey = derivedKey(key, "page-token encryption");
  const nonceKey = derivedKey(key, "page-token nonce");
  return {
    write(scope, position) {
      const bound = textOf(scope);
      const payload = Buffer.from(JSON.stringify(position));
      const mac = createHmac("sha256", nonceKey).update(bound).update("\0").update(payload);
      const nonce = mac.digest().subarray(0, nonceBytes);
      const sealing = createCipheriv(cipher, encryptionKey, nonce).setAAD(bound);
      const sealed = [nonce, sealing.update(payload), sealing.final(), sealing.getAuthTag()];
      return Buffer.concat(sealed).toString("base64url");
    },
    read(scope, token) {
      if (token.length > tokenCharsMax) return undefined;
      const bytes = Buffer.from(token, "base64url");
      // Node skips characters that are not base64url, so only the canonical form of these bytes is
      // accepted.
      if (bytes.length <= nonceBytes + tagBytes || bytes.toString("base64url") !== token) {
        return undefined;
      }
      const nonce = bytes.subarray(0, nonceBytes);
      const opening = createDecipheriv(cipher, encryptionKey, nonce, { authTagLength: tagBytes })
        .setAAD(textOf(scope))
        .setAuthTag(bytes.subarray(-tagBytes));
      const payload = opening.update(bytes.subarray(nonceBytes, -tagBytes));
      try {
        opening.final();
      } catch {
        // The token was not created here, or is for another scope.
        return undefined;
      }
      return textsOf(payload);
    },
  };
}

/** Returns a key object: Node takes four times as long to use a key that is bytes. */
function derivedKey(key: Buffer, use: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", key, "", `hlust ${use}`, 32)));
}

function textOf({ collection, accountId, filter, ordering }: PageScope): Buffer {
  const order = ordering === undefined ? [] : [ordering];
  return Buffer.from(JSON.stringify([collection, accountId, filter, ...order]));
}

function textsOf(payload: Buffer): readonly string[] {
  const parsed: unknown = JSON.parse(payload.toString());
  return Array.isArray(parsed) ? parsed.filter((part) => typeof part === "string") : [];
}
