import type { MailLanguage } from "./mail-options.ts";
import type { Letter } from "./send-mail.ts";

/** What a mail to a member says. */
export interface Invitation {
  readonly id: string;
  readonly email: string;
  readonly language: MailLanguage;
  /** The name of the person who invites; "" for none. */
  readonly inviter: string;
  /** The name of the account; "" for none. */
  readonly account: string;
  /** Whether the member has signed in before, and only needs a new link. */
  readonly isKnown: boolean;
  /** Whether the person has requested the link on the sign-in page. */
  readonly isRequested: boolean;
  readonly link: string;
  /** Whether the link itself signs in; otherwise the person signs in at a provider. */
  readonly signsIn: boolean;
}

interface Phrases {
  readonly subject: (account: string) => string;
  readonly subjectKnown: string;
  readonly subjectRequested: (account: string) => string;
  readonly invites: (inviter: string, account: string) => string;
  readonly known: (account: string) => string;
  readonly requested: (account: string) => string;
  readonly open: string;
  readonly openPage: (email: string) => string;
  readonly once: string;
  readonly onceRequested: string;
  readonly ignore: string;
  readonly ignoreRequested: string;
}

const phrases: Readonly<Record<MailLanguage, Phrases>> = {
  is: {
    subject: (account) => (account === "" ? "Boð á Hlust" : `Boð á Hlust: ${account}`),
    subjectKnown: "Innskráningartengill á Hlust",
    subjectRequested: (account) =>
      account === "" ? "Innskráningartengill á Hlust" : `Innskráningartengill á Hlust: ${account}`,
    invites(inviter, account) {
      const to = account === "" ? "á Hlust" : `á reikninginn „${account}“ á Hlust`;
      const who = inviter === "" ? "Þér hefur verið boðið" : `${inviter} býður þér`;
      return `${who} ${to}, þjónustu sem skrifar upp tal.`;
    },
    known: (account) =>
      account === ""
        ? "Hér er nýr tengill til að skrá sig inn á Hlust."
        : `Hér er nýr tengill til að skrá sig inn á reikninginn „${account}“ á Hlust.`,
    requested: (account) =>
      account === ""
        ? "Hér er tengillinn sem beðið var um til að skrá sig inn á Hlust."
        : `Hér er tengillinn sem beðið var um til að skrá sig inn á reikninginn „${account}“ á Hlust.`,
    open: "Opnaðu þennan tengil til að skrá þig inn:",
    openPage: (email) => `Opnaðu þessa síðu og skráðu þig inn með netfanginu ${email}:`,
    once: "Tengillinn skráir inn einu sinni, innan þriggja daga. Hver sem opnar hann fyrst kemst inn, svo að ekki má senda hann áfram.",
    onceRequested:
      "Tengillinn skráir inn einu sinni, innan klukkustundar. Hver sem opnar hann fyrst kemst inn, svo að ekki má senda hann áfram.",
    ignore: "Áttirðu ekki von á þessum pósti? Þá máttu eyða honum.",
    ignoreRequested:
      "Baðstu ekki um þennan tengil? Þá máttu eyða póstinum: enginn kemst inn án hans.",
  },
  en: {
    subject: (account) =>
      account === "" ? "Invitation to Hlust" : `Invitation to Hlust: ${account}`,
    subjectKnown: "Sign-in link for Hlust",
    subjectRequested: (account) =>
      account === "" ? "Sign-in link for Hlust" : `Sign-in link for Hlust: ${account}`,
    invites(inviter, account) {
      const to = account === "" ? "Hlust" : `the account “${account}” on Hlust`;
      const who = inviter === "" ? "You have been invited" : `${inviter} has invited you`;
      return `${who} to ${to}, a service that transcribes speech.`;
    },
    known: (account) =>
      account === ""
        ? "Here is a new link for signing in to Hlust."
        : `Here is a new link for signing in to the account “${account}” on Hlust.`,
    requested: (account) =>
      account === ""
        ? "Here is the link that was requested for signing in to Hlust."
        : `Here is the link that was requested for signing in to the account “${account}” on Hlust.`,
    open: "Open this link to sign in:",
    openPage: (email) => `Open this page and sign in with the address ${email}:`,
    once: "The link signs in once, within three days. The first person who opens it is signed in, so do not forward it.",
    onceRequested:
      "The link signs in once, within an hour. The first person who opens it is signed in, so do not forward it.",
    ignore: "Did you not expect this message? Then you can delete it.",
    ignoreRequested:
      "Did you not request this link? Then you can delete this message: no one can sign in without it.",
  },
};

/** Writes a mail to a member, as text and as HTML without pictures or other remote content. */
export function invitationLetter(invitation: Invitation): Letter {
  const { id, email, language, isKnown, isRequested, link, signsIn } = invitation;
  const [inviter, account] = [harmless(invitation.inviter), harmless(invitation.account)];
  const say = phrases[language];
  const why = isKnown ? say.known(account) : say.invites(inviter, account);
  const before = [
    isRequested ? say.requested(account) : why,
    signsIn ? say.open : say.openPage(email),
  ];
  const after = isRequested
    ? [...(signsIn ? [say.onceRequested] : []), say.ignoreRequested]
    : [...(signsIn ? [say.once] : []), say.ignore];
  const anchor = `<a href="${escaped(link)}">${escaped(link)}</a>`;
  const paragraphs = [...before.map(escaped), anchor, ...after.map(escaped)];
  return {
    id,
    language,
    // The name of a member is in no header: the person knows it, and others may have chosen it.
    to: { name: "", address: email },
    subject: isRequested
      ? say.subjectRequested(account)
      : isKnown
        ? say.subjectKnown
        : say.subject(account),
    text: `${[...before, link, ...after].join("\n\n")}\n`,
    html: `<!doctype html>\n<html lang="${language}"><body>\n${paragraphs
      .map((paragraph) => `<p>${paragraph}</p>\n`)
      .join("")}</body></html>\n`,
  };
}

const nameLengthMax = 60;

/**
 * Returns a name as it may be in a mail to a stranger. The name is what a user chose for
 * themselves or their account: one that could be read as a link or an address, or that is long
 * enough for a message of its own, is left out.
 */
export function harmless(name: string): string {
  const line = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}\s]+/gu, " ").trim();
  const isSuspect =
    /[/\\@<>[\]]|\S[.:。．｡]\S/u.test(line) || Array.from(line).length > nameLengthMax;
  return isSuspect ? "" : line;
}

function escaped(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
