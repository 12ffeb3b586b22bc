import { notPublic } from "../media/media-url.ts";
import { isUnreadable, isUntrusted } from "../media/transfer-failure.ts";
import { ServiceError } from "../std/service-error.ts";

/**
 * Explains to the owner of the webhook why there was no response. Rethrows an error that is not a
 * failure to send, since such an error is a bug.
 */
export function explainSending(error: unknown): string {
  if (error instanceof ServiceError && error.reason === "MEDIA_ADDRESS_REFUSED") return notPublic;
  if (error instanceof ServiceError && error.reason === "MEDIA_URL_REFUSED") {
    return "the URL has a port other than 80 and 443";
  }
  const explanation = explanationOf(error);
  if (explanation === undefined) throw error;
  return explanation;
}

const unreachable = "the host of the receiver could not be reached";
const broken = "the receiver broke the connection off";
const untrusted = "the certificate of the receiver cannot be trusted";
const notHttp = "the receiver does not answer in HTTP";

/** The explanations by error code of Node, OpenSSL or undici. */
const explanations: readonly (readonly [test: (code: string) => boolean, message: string])[] = [
  // The error for a name that is too long is EINVAL.
  [of(/^(ENOTFOUND|EINVAL)$/), "the host of the receiver does not exist: no such name"],
  [of(/^EAI_/), "the name of the host of the receiver could not be looked up"],
  [of(/^ECONNREFUSED$/), "the host of the receiver refused the connection"],
  [of(/^(ECONNABORTED|ECONNRESET|EPIPE|UND_ERR_SOCKET)$/), broken],
  [
    of(/^(EADDRNOTAVAIL|E(HOST|NET)(DOWN|UNREACH)|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/),
    unreachable,
  ],
  [isUntrusted, untrusted],
  [of(/^(ERR_TLS_|ERR_SSL_|EPROTO$)/), untrusted],
  [of(/^UND_ERR_HEADERS_OVERFLOW$/), notHttp],
  [isUnreadable, notHttp],
];

function of(pattern: RegExp): (code: string) => boolean {
  return (code) => pattern.test(code);
}

function explanationOf(error: unknown): string | undefined {
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    // undici omits the code of some parser errors.
    const fallback = at.name === "HTTPParserError" ? "HPE_" : "";
    const code = "code" in at && typeof at.code === "string" ? at.code : fallback;
    const found = explanations.find(([isIt]) => isIt(code));
    if (found) return found[1];
    if (at instanceof AggregateError) {
      const first = at.errors.map(explanationOf).find((message) => message !== undefined);
      if (first !== undefined) return first;
    }
  }
  return undefined;
}
