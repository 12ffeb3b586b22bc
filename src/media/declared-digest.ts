/** The checksum of the whole media that the server declares. */
export interface DeclaredDigest {
  /** The name of the algorithm in node:crypto. */
  readonly algorithm: "sha256" | "sha512" | "md5";
  readonly base64: string;
  /** The header that contains the checksum. */
  readonly field: string;
}

/**
 * Repr-Digest (RFC 9530) contains `sha-256=:...:`; the older Digest (RFC 3230) contains
 * `SHA-256=...`.
 */
const sha256 = /(?:^|,)\s*sha-256=:?([a-z0-9+/]{43}=):?\s*(?:[,;]|$)/i;
const sha512 = /(?:^|,)\s*sha-512=:?([a-z0-9+/]{86}==):?\s*(?:[,;]|$)/i;
const md5 = /^([a-z0-9+/]{22}==)$/i;
const googleMd5 = /(?:^|,)\s*md5=([a-z0-9+/]{22}==)\s*(?:,|$)/i;

/**
 * The checksum headers, strongest first. Azure sends Content-MD5, and Google Cloud Storage sends
 * x-goog-hash.
 */
const rules: readonly (readonly [string, RegExp, DeclaredDigest["algorithm"]])[] = [
  ["Repr-Digest", sha256, "sha256"],
  ["Repr-Digest", sha512, "sha512"],
  ["Content-Digest", sha256, "sha256"],
  ["Content-Digest", sha512, "sha512"],
  ["Digest", sha256, "sha256"],
  ["Digest", sha512, "sha512"],
  ["Content-MD5", md5, "md5"],
  ["X-Goog-Hash", googleMd5, "md5"],
];

/**
 * Returns the best checksum in the headers of a response that contains the whole media,
 * uncompressed. Invalid checksums are ignored. S3 checksums are not read: they have to be requested
 * in a signed header, and an ETag is not always an MD5.
 */
export function declaredDigest(
  header: (name: string) => string | undefined,
): DeclaredDigest | undefined {
  for (const [field, pattern, algorithm] of rules) {
    // Google hashes the stored bytes, which may be compressed.
    if (field === "X-Goog-Hash" && isStoredCompressed(header)) continue;
    const base64 = pattern.exec(header(field.toLowerCase()) ?? "")?.[1];
    if (base64 !== undefined) return { algorithm, base64, field };
  }
  return undefined;
}

function isStoredCompressed(header: (name: string) => string | undefined): boolean {
  return (header("x-goog-stored-content-encoding") ?? "identity") !== "identity";
}
