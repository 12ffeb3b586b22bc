import { Readable } from "node:stream";
import { explainFailure, type MailFailure } from "./explain-failure.ts";
import type { Mailbox, MailOptions } from "./mail-options.ts";

/** A message to one person. */
export interface Letter {
  readonly to: Mailbox;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  readonly language: string;
  /** The part of the Message-ID before the @: the same in each attempt. */
  readonly id: string;
}

/** How long the server may take to accept the connection, and to greet. */
const connectMsMax = 10_000;

/**
 * Sends a message over a connection of its own. Returns undefined when the server has accepted it,
 * else why not. Throws the reason of the signal if it aborts before the body was on its way.
 * `timeoutMs`: the time for the whole attempt.
 */
export async function sendMail(
  { server, from, publicUrl }: MailOptions,
  letter: Letter,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<MailFailure | undefined> {
  // Only a service that sends mail loads the package.
  const [{ default: SmtpConnection }, { default: MailComposer }] = await Promise.all([
    import("nodemailer/lib/smtp-connection"),
    import("nodemailer/lib/mail-composer"),
  ]);
  const name = new URL(publicUrl).hostname;
  const message = await new MailComposer(fieldsOf(from, letter)).compile().build();
  const connection = new SmtpConnection({
    name,
    host: server.host,
    port: server.port,
    secure: server.encryption === "tls",
    requireTLS: server.encryption === "starttls",
    ignoreTLS: server.encryption === "off",
    connectionTimeout: Math.min(connectMsMax, timeoutMs),
    greetingTimeout: Math.min(connectMsMax, timeoutMs),
    socketTimeout: timeoutMs,
    tls: { minVersion: "TLSv1.2" },
  });
  const ended = Promise.withResolvers<never>();
  ended.promise.catch(() => {});
  // A later error of the same connection, such as a reset after QUIT, changes nothing.
  connection.on("error", ended.reject);
  connection.on("end", () => ended.reject(coded("the server ended the connection", "ECONNECTION")));
  const stop = (): void => ended.reject(coded("the attempt was ended", "ETIMEDOUT"));
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop);
  const step = async (start: (done: Done) => void): Promise<void> =>
    await Promise.race([ended.promise, called(start)]);
  let isBodySent = false;
  // It is read only when the server has accepted sender and recipient.
  const body = Readable.from(
    (function* () {
      isBodySent = true;
      yield message;
    })(),
  );
  const envelope = { from: from.address, to: [letter.to.address], size: message.length };
  try {
    signal.throwIfAborted();
    await step((done) => connection.connect(done));
    const { login } = server;
    if (login) {
      const credentials = { user: login.user, pass: login.password };
      await step((done) => connection.login({ credentials }, done));
    }
    await step((done) => connection.send(envelope, body, done));
    connection.quit();
    return undefined;
  } catch (error) {
    if (!isBodySent) signal.throwIfAborted();
    if (!(error instanceof Error)) throw error;
    return explainFailure(error, isBodySent);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    connection.close();
  }
}

/** The fields of a message, none of which names a file or a URL to be loaded. */
function fieldsOf(from: Mailbox, { to, subject, text, html, language, id }: Letter) {
  const domain = from.address.slice(from.address.lastIndexOf("@") + 1);
  return {
    from,
    to,
    subject,
    text,
    html,
    messageId: `<${id}@${domain}>`,
    headers: {
      // Programs that reply to everything do not reply to this (RFC 3834).
      "Auto-Submitted": "auto-generated",
      "Content-Language": language,
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

type Done = (error?: Error | null) => void;

/** Resolves when the callback is called, rejects if that is with an error. */
async function called(start: (done: Done) => void): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  start((error) => {
    if (error) reject(error);
    else resolve();
  });
  await promise;
}

function coded(message: string, code: string): Error {
  return Object.assign(new Error(message), { code });
}
