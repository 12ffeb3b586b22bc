import assert from "node:assert/strict";
import { test } from "node:test";
import { harmless, invitationLetter, type Invitation } from "./invitation-letter.ts";

const link = "https://hlust.example/console/#signInToken=hlust_signin_x";
const invitation: Invitation = {
  id: "0198c5a9",
  email: "anna@example.is",
  language: "is",
  inviter: "Þórður Ægisson",
  account: "Fréttir & saga",
  isKnown: false,
  isRequested: false,
  link,
  signsIn: true,
};

test("an invitation names who invites and the account, and has the link in both forms", () => {
  const letter = invitationLetter(invitation);
  assert.deepEqual(letter.to, { name: "", address: "anna@example.is" });
  assert.equal(letter.subject, "Boð á Hlust: Fréttir & saga");
  assert.match(letter.text, /^Þórður Ægisson býður þér á reikninginn „Fréttir & saga“ á Hlust, /);
  assert.ok(letter.text.includes(`\n\n${link}\n\nTengillinn skráir inn einu sinni`));
  assert.ok(letter.html.includes(`<a href="${link}">${link}</a>`));
  assert.ok(letter.html.includes("„Fréttir &amp; saga“"));
  // Nothing is loaded when the message is opened.
  assert.deepEqual(letter.html.match(/\b(?:src|style|background)=|url\(|<img|<link/gi), null);
  const english = invitationLetter({ ...invitation, language: "en" });
  assert.equal(english.subject, "Invitation to Hlust: Fréttir & saga");
  assert.match(english.text, /^Þórður Ægisson has invited you to the account “Fréttir & saga” on/);
  const nameless = invitationLetter({ ...invitation, language: "en", inviter: "", account: "" });
  assert.equal(nameless.subject, "Invitation to Hlust");
  assert.match(nameless.text, /^You have been invited to Hlust, a service/);
});

test("a member who has signed in before gets a link, and one with a provider the address of the console", () => {
  const known = invitationLetter({ ...invitation, isKnown: true });
  assert.equal(known.subject, "Innskráningartengill á Hlust");
  assert.match(known.text, /^Hér er nýr tengill til að skrá sig inn á reikninginn/);
  const { text } = invitationLetter({
    ...invitation,
    language: "en",
    link: "https://hlust.example/console/",
    signsIn: false,
  });
  assert.match(
    text,
    /sign in with the address anna@example\.is:\n\nhttps:\/\/hlust\.example\/console\/\n/,
  );
  assert.doesNotMatch(text, /signs in once/);
});

test("a link that was requested names its account and its hour, and says what to do if it was not", () => {
  const requested = { ...invitation, isRequested: true, inviter: "", account: "Fréttastofa" };
  const letter = invitationLetter({ ...requested, isKnown: true });
  assert.equal(letter.subject, "Innskráningartengill á Hlust: Fréttastofa");
  assert.match(letter.text, /^Hér er tengillinn sem beðið var um .* reikninginn „Fréttastofa“ á/);
  assert.match(
    letter.text,
    /einu sinni, innan klukkustundar\..*\n\nBaðstu ekki um þennan tengil\?/s,
  );
  // A member who has not signed in yet was not invited by this mail.
  const english = invitationLetter({ ...requested, language: "en", account: "" });
  assert.equal(english.subject, "Sign-in link for Hlust");
  assert.match(english.text, /^Here is the link that was requested for signing in to Hlust\./);
  assert.match(english.text, /once, within an hour\..*\n\nDid you not request this link\?/s);
  assert.doesNotMatch(english.text, /invited|three days/);
});

test("harmless() leaves out names that could be read as a link, and long ones", () => {
  const rows: [name: string, shown: string][] = [
    ["Anna Þöll", "Anna Þöll"],
    ["Dr. Jón St. Jónsson", "Dr. Jón St. Jónsson"],
    ["  Anna\r\nBcc: x  ", "Anna Bcc: x"],
    ["a\u202Egpj", "a gpj"],
    ["Win at https://evil.example", ""],
    ["evil.example", ""],
    ["evil。example", ""],
    ["mail me: a@b", ""],
    ["<b>", ""],
    ["á".repeat(60), "á".repeat(60)],
    ["á".repeat(61), ""],
  ];
  for (const [name, shown] of rows) assert.equal(harmless(name), shown, name);
});
