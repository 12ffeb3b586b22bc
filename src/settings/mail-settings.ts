import { domainToASCII } from "node:url";
import { foldEmail } from "../auth/email.ts";
import type { Mailbox, MailOptions, SmtpServer } from "../mail/mail-options.ts";
import { displayNamePattern } from "../std/display-name.ts";
import { isLoopbackHost } from "../std/loopback.ts";
import type { ServiceConfig } from "./service-settings.ts";
import { ConfigError, ifSet, whole, type ReadSetting, type Setting } from "../std/setting.ts";

/** What the service sends mail with. */
export interface MailConfig {
  /** Whether the service sends mail: other nodes may do so. */
  readonly isSent: boolean;
  /** How this node sends it; undefined if it sends none. */
  readonly sending: MailOptions | undefined;
  /** The number of mails that an account may cause in 24 hours. */
  readonly perDayMax: number;
}

export const mailSettings = {
  server: {
    name: "HLUST_SMTP_URL",
    meaning:
      "Server that sends mail to invited members: smtp://USER:PASSWORD@HOST:587 (STARTTLS is required) or smtps://USER:PASSWORD@HOST:465; ?tls=off for cleartext to a server on this machine. Needs HLUST_MAIL_FROM and HLUST_PUBLIC_URL",
    fallback: "none: no mail",
    secret: true,
    parse: ifSet(smtpServer),
  } satisfies Setting<SmtpServer | undefined>,
  from: {
    name: "HLUST_MAIL_FROM",
    meaning: "Sender of mail: hlust@example.org, or with a name: Hlust <hlust@example.org>",
    fallback: "none",
    parse: ifSet(mailbox),
  } satisfies Setting<Mailbox | undefined>,
  perDayMax: {
    name: "HLUST_MAILS_PER_DAY",
    meaning: "Mails that an account may cause in 24 hours, 1 to 10000",
    fallback: "100",
    parse: (text, name) => whole(text ?? "100", name, 1, 10_000),
  } satisfies Setting<number>,
};

/** Reads the settings as a whole. Invalid settings are added to `problems`. */
export function readMail(
  read: ReadSetting,
  { role, publicUrl }: Pick<ServiceConfig, "role" | "publicUrl">,
  problems: string[],
): MailConfig {
  const knownBefore = problems.length;
  const server = read<SmtpServer | undefined>(mailSettings.server);
  const from = read<Mailbox | undefined>(mailSettings.from);
  const perDayMax = read<number>(mailSettings.perDayMax);
  // A setting that is invalid is not reported as absent, too.
  const areValid = problems.length === knownBefore;
  if (areValid && (server === undefined) !== (from === undefined)) {
    const [set, unset] =
      server === undefined
        ? [mailSettings.from.name, mailSettings.server.name]
        : [mailSettings.server.name, mailSettings.from.name];
    problems.push(`${set} is set, but ${unset} is not: set both to send mail, or neither`);
  }
  const sends = role === "all" || role === "worker";
  if (server && sends && publicUrl === undefined) {
    problems.push(
      `${mailSettings.server.name} is set, but HLUST_PUBLIC_URL is not: set it to the address that people open, such as https://hlust.example, since the links in mail begin with it`,
    );
  }
  const isSent = server !== undefined && from !== undefined;
  const canSend = isSent && sends && publicUrl !== undefined;
  return { isSent, sending: canSend ? { server, from, publicUrl } : undefined, perDayMax };
}

const examples = "smtp://USER:PASSWORD@mail.example:587 or smtps://USER:PASSWORD@mail.example:465";

/** Reads the URL of a server. Throws ConfigError, which does not show the password. */
function smtpServer(text: string, name: string): SmtpServer {
  const url = /\s/.test(text) ? null : URL.parse(text);
  // A text that is not a URL may have the password anywhere.
  if (!url) {
    throw new ConfigError(
      `${name} is not a URL such as ${examples}: characters such as @, /, : and % in the password are written %40, %2F, %3A and %25`,
    );
  }
  const shown = JSON.stringify(`${url.protocol}//${url.host}${url.search}`);
  const fail = (problem: string): never => {
    throw new ConfigError(`${name} (${shown}) ${problem}`);
  };
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:") {
    fail(`must begin with smtp:// or smtps://: ${examples}`);
  }
  const hostname = url.hostname.startsWith("[") ? url.hostname : domainToASCII(url.hostname);
  if (hostname === "") fail(`has no host: ${examples}`);
  if (!["", "/"].includes(url.pathname) || url.hash !== "") {
    fail("has a path or a fragment: remove what follows the port");
  }
  const [user, password] = [url.username, url.password].map((part) => decoded(part, fail));
  if ((user === "") !== (password === "")) fail("must have a user and a password, or neither");
  const login = user && password ? { user, password } : undefined;
  const isSmtps = url.protocol === "smtps:";
  const isCleartext = readTlsOff(url.searchParams, fail);
  if (isCleartext && (isSmtps || !isLoopbackHost(hostname))) {
    fail(
      "has tls=off, which is only for smtp:// to a server on this machine (localhost, 127.0.0.1 or [::1]): remove it, so that others cannot read the mail and the password",
    );
  }
  return {
    host: hostname.replaceAll(/^\[|\]$/g, ""),
    port: url.port === "" ? (isSmtps ? 465 : 587) : Number(url.port),
    encryption: isSmtps ? "tls" : isCleartext ? "off" : "starttls",
    login,
  };
}

function readTlsOff(query: URLSearchParams, fail: (problem: string) => never): boolean {
  for (const [key, value] of query) {
    if (key !== "tls" || value !== "off") {
      fail("has an unknown parameter: the only one is ?tls=off, for a server on this machine");
    }
  }
  return query.has("tls");
}

function decoded(part: string, fail: (problem: string) => never): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return fail("has a user or password with a % that is not percent-encoded: write %25");
  }
}

/** Reads `address` or `name <address>`. A domain with other letters than ASCII is encoded. */
function mailbox(text: string, name: string): Mailbox {
  const [, quoted, bare = "", inBrackets] =
    /^(?:(?:"([^"<>]*)"|([^"<>]*?))\s*<([^<>]*)>)$/.exec(text.trim()) ?? [];
  const given = (inBrackets ?? text).trim();
  const at = given.lastIndexOf("@");
  const address = `${given.slice(0, at)}@${domainToASCII(given.slice(at + 1))}`;
  const shownName = (quoted ?? bare).trim();
  if (at < 1 || foldEmail(address) === undefined || !displayNamePattern.test(shownName)) {
    throw new ConfigError(
      `${name} must be an address such as hlust@example.org, or Hlust <hlust@example.org>, not ${JSON.stringify(text)}`,
    );
  }
  return { name: shownName, address };
}
