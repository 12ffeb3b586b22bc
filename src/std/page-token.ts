import { createHmac, timingSafeEqual } from "node:crypto";

/** What a page token is good for: one list, of one account, with one filter. */
export interface PageScope {
  readonly collection: string;
  readonly accountId: string;
  /** "" without one. */
  readonly filter: string;
}

/** Opaque, signed tokens of where a list goes on. */
export interface PageTokens {
  write(scope: PageScope, position: readonly string[]): string;
  /** The position of a token of this scope; undefined for any other text. */
  read(scope: PageScope, token: string): readonly string[] | undefined;
}

const macBytes = 16;
export const tokenCharsMax = 1024;

/** `key`: 32 secret bytes, the same on every node. */
export function createPageTokens(key: Buffer): PageTokens {
  const mac = (scope: PageScope, payload: Buffer): Buffer =>
    createHmac("sha256", key)
      .update(JSON.stringify([scope.collection, scope.accountId, scope.filter]))
      .update("\0")
      .update(payload)
      .digest()
      .subarray(0, macBytes);
  return {
    write(scope, position) {
      const payload = Buffer.from(JSON.stringify(position));
      return Buffer.concat([mac(scope, payload), payload]).toString("base64url");
    },
    read(scope, token) {
      if (token.length > tokenCharsMax) return undefined;
      const bytes = Buffer.from(token, "base64url");
      // Node skips what is not base64url: only the one spelling of these bytes is taken.
      if (bytes.length <= macBytes || bytes.toString("base64url") !== token) return undefined;
      const payload = bytes.subarray(macBytes);
      if (!timingSafeEqual(bytes.subarray(0, macBytes), mac(scope, payload))) return undefined;
      return textsOf(payload);
    },
  };
}

function textsOf(payload: Buffer): readonly string[] {
  const parsed: unknown = JSON.parse(payload.toString());
  return Array.isArray(parsed) ? parsed.filter((part) => typeof part === "string") : [];
}
