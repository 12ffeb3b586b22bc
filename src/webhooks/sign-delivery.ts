import { createHmac, randomBytes } from "node:crypto";

/** The length of a secret. Standard Webhooks requires 24 to 64 bytes. */
const secretBytes = 32;

export function newSecret(): Buffer {
  return randomBytes(secretBytes);
}

/** Formats a secret as its owner sees it. */
export function secretText(secret: Buffer): string {
  return `whsec_${secret.toString("base64")}`;
}

/**
 * Returns the headers of a message according to Standard Webhooks 1.0: the id, the time of this
 * attempt in Unix seconds, and a signature with each secret over `<id>.<timestamp>.<body>`. The id
 * must not contain a period.
 */
export function signedHeaders(
  { id, body }: { readonly id: string; readonly body: string },
  at: Date,
  secrets: readonly Buffer[],
): Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const timestamp = `${Math.floor(at.getTime() / 1000)}`;
  const signatures = secrets.map((secret) => {
    const hmac = createHmac("sha256", secret).update(`${id}.${timestamp}.`).update(body);
    return `v1,${hmac.digest("base64")}`;
  });
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": signatures.join(" "),
  };
}
