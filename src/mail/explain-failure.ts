/** Why a mail was not sent. The console has a sentence for each. */
export const mailProblems = [
  "RECIPIENT_REFUSED",
  "MESSAGE_REFUSED",
  "SENDER_REFUSED",
  "SIGN_IN_REFUSED",
  "NOT_ENCRYPTED",
  "NOT_REACHED",
  "NO_ANSWER",
  "POSTPONED",
  "OUTCOME_UNKNOWN",
  "TIME_OVER",
  "INTERNAL",
] as const;
export type MailProblem = (typeof mailProblems)[number];

/** A failed attempt. */
export interface MailFailure {
  readonly problem: MailProblem;
  /** Whether another attempt would fail, too. */
  readonly isFinal: boolean;
  /** Whether the server may have accepted the message nevertheless. */
  readonly isUnknown: boolean;
  /** What the server said of the recipient or the message, for the account; null otherwise. */
  readonly response: string | null;
  /** The reply code of the server; undefined without one. */
  readonly status: number | undefined;
  /** The code of an error of nodemailer or Node that has no explanation, for the log. */
  readonly code: string | undefined;
}

/** What is read of the errors of nodemailer. */
interface SmtpError {
  readonly code?: unknown;
  readonly command?: unknown;
  readonly response?: unknown;
  readonly responseCode?: unknown;
}

/** The codes of nodemailer and of Node for a connection that was not made or did not last. */
const networkCodes: ReadonlySet<unknown> = new Set([
  "ECONNECTION",
  "ECONNREFUSED",
  "ECONNRESET",
  "EDNS",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EPIPE",
  "EPROTOCOL",
  "ESOCKET",
]);

const responseLengthMax = 300;

/**
 * Explains an error of nodemailer. `isBodySent`: the body of the message was on its way, so that
 * without a reply it is unknown whether the server has it.
 */
export function explainFailure(error: Error & SmtpError, isBodySent: boolean): MailFailure {
  const status = typeof error.responseCode === "number" ? error.responseCode : undefined;
  const { code, command } = error;
  const failed = (problem: MailProblem, isFinal = false): MailFailure => ({
    problem,
    isFinal,
    isUnknown: isBodySent && status === undefined,
    response: isFinal && typeof error.response === "string" ? cleaned(error.response) : null,
    status,
    code: problem === "INTERNAL" ? codeOf(code) : undefined,
  });
  if (code === "EAUTH" || code === "ENOAUTH" || status === 530) return failed("SIGN_IN_REFUSED");
  if (code === "ETLS" || code === "EREQUIRETLS") return failed("NOT_ENCRYPTED");
  if (status !== undefined) {
    if (status < 500) return failed("POSTPONED");
    if (command === "RCPT TO") return failed("RECIPIENT_REFUSED", true);
    if (command === "DATA") return failed("MESSAGE_REFUSED", true);
    return failed("SENDER_REFUSED");
  }
  if (code === "ETIMEDOUT") return failed("NO_ANSWER");
  if (/certificate|\bSSL\b|\bTLS\b/i.test(error.message)) return failed("NOT_ENCRYPTED");
  if (networkCodes.has(code)) return failed(isBodySent ? "NO_ANSWER" : "NOT_REACHED");
  return failed("INTERNAL");
}

/** Returns the code of an error, which never has an address or a text. */
function codeOf(code: unknown): string {
  return typeof code === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(code) ? code : "UNKNOWN";
}

/** Returns a reply of a server in one line, without control characters. */
function cleaned(response: string): string {
  const line = response.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  return Array.from(line).slice(0, responseLengthMax).join("");
}
