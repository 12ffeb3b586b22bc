import { Code, ConnectError } from "@connectrpc/connect";
import { ClosedBeforeOpen } from "./grpc-call.ts";

/** The codes of Node for certificates that no trusted authority has issued. */
const untrustedCodes: ReadonlySet<unknown> = new Set([
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
]);

/** Returns why a connection to an engine node ended or could not be opened, and what helps. */
export function problemOf(error: unknown, isEncrypted: boolean): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof ConnectError) {
    if (error.code !== Code.Unauthenticated) return error.rawMessage;
    return "it refused the credential: HLUST_ENGINE_CREDENTIAL must be the same on both nodes";
  }
  const { message } = error;
  const code = "code" in error ? error.code : undefined;
  if (untrustedCodes.has(code)) {
    return `no trusted authority has issued its certificate (${message}): set HLUST_ENGINES_CA`;
  }
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER") {
    return "it has no certificate: write http:// in HLUST_ENGINES, or set HLUST_TLS_CERTIFICATE on it";
  }
  // A port with TLS closes a connection in clear without a word, as others may do.
  if (!isEncrypted && error instanceof ClosedBeforeOpen) {
    return `it closed the connection (${message}): write https:// in HLUST_ENGINES if it has a certificate`;
  }
  return message;
}
