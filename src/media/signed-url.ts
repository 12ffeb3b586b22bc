import { createHmac, createSecretKey, timingSafeEqual } from "node:crypto";

/** How long a signed URL works (docs/api.md, Uploads). */
export const signedUrlMs = 3_600_000;

/** The permission granted by a signed URL. GET includes HEAD. */
export type Grant =
  | { readonly method: "GET"; readonly path: string }
  | { readonly method: "PUT"; readonly path: string; readonly bytesMax: number };

export interface SignedUrls {
  /** Returns a URL under the public address that works for `validMs`. Default: an hour. */
  sign(grant: Grant, validMs?: number): string;
  /**
   * Returns the grant in a request's path and query. Returns undefined if the grant was altered,
   * has expired or is for another method.
   */
  verify(method: string, target: string): Grant | undefined;
}

/** Returns when a signed URL expires. */
export function expiryOf(url: string): Date {
  return new Date(Number(new URL(url).searchParams.get("expires")) * 1000);
}

/** The only form of a signed target. Nothing may be added, omitted or spelled differently. */
const signedTarget =
  /^(?<path>\/[\w/.-]{1,200})\?expires=(?<expires>\d{1,12})(?:&bytesMax=(?<bytesMax>\d{1,16}))?&token=(?<token>[\w-]{43})$/;

/**
 * Creates URLs that contain their permission, signed with HMAC-SHA256 over the method, path, expiry
 * and size limit. `key`: 32 secret bytes, the same on every node. Only the path and query are
 * signed, so the service may have any address.
 */
export function createSignedUrls(parts: {
  readonly key: Buffer;
  /** Returns the public address, without a trailing slash. */
  readonly publicUrl: () => string;
  readonly now?: () => number;
}): SignedUrls {
  const { publicUrl, now = Date.now } = parts;
  // A page of a list signs a hundred URLs, and Node takes five times as long with a key that is
  // bytes.
  const key = createSecretKey(parts.key);
  const tokenOf = (method: string, path: string, expires: string, bytesMax: string): string =>
    createHmac("sha256", key)
      .update(["hlust media", method, path, expires, bytesMax].join("\n"))
      .digest("base64url");
  return {
    sign(grant, validMs = signedUrlMs) {
      const expires = `${Math.floor((now() + validMs) / 1000)}`;
      const bytesMax = grant.method === "PUT" ? `${grant.bytesMax}` : "";
      const token = tokenOf(grant.method, grant.path, expires, bytesMax);
      const limit = bytesMax === "" ? "" : `&bytesMax=${bytesMax}`;
      return `${publicUrl()}${grant.path}?expires=${expires}${limit}&token=${token}`;
    },
    verify(method, target) {
      const parts = signedTarget.exec(target)?.groups;
      if (!parts) return undefined;
      const { path = "", expires = "", bytesMax = "", token = "" } = parts;
      const allowed = method === "HEAD" ? "GET" : method;
      const expected = Buffer.from(tokenOf(allowed, path, expires, bytesMax));
      if (!timingSafeEqual(Buffer.from(token), expected)) return undefined;
      if (Number(expires) * 1000 <= now()) return undefined;
      if (allowed === "GET") return { method: "GET", path };
      return allowed === "PUT" ? { method: "PUT", path, bytesMax: Number(bytesMax) } : undefined;
    },
  };
}
