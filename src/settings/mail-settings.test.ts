import assert from "node:assert/strict";
import { test } from "node:test";
import { examineConfig, readConfig } from "../config.ts";

const others = {
  HLUST_MAIL_FROM: "Hlust <hlust@example.org>",
  HLUST_PUBLIC_URL: "https://hlust.example.org",
};
const serverOf = (HLUST_SMTP_URL: string) =>
  readConfig({ ...others, HLUST_SMTP_URL }).mail.sending?.server;

test("HLUST_SMTP_URL requires STARTTLS or TLS, except on this machine with tls=off", () => {
  const login = { user: "anna", password: "a/b@c:d%" };
  assert.deepEqual(serverOf("smtp://anna:a%2Fb%40c%3Ad%25@mail.example"), {
    host: "mail.example",
    port: 587,
    encryption: "starttls",
    login,
  });
  assert.deepEqual(serverOf("smtps://anna:a%2Fb%40c%3Ad%25@póstur.is:4650/"), {
    host: "xn--pstur-0ta.is",
    port: 4650,
    encryption: "tls",
    login,
  });
  assert.deepEqual(serverOf("smtp://[::1]:25?tls=off"), {
    host: "::1",
    port: 25,
    encryption: "off",
    login: undefined,
  });
});

test("an HLUST_SMTP_URL that cannot be used is refused with the reason, without its password", () => {
  const rows: [url: string, problem: RegExp][] = [
    ["mail.example", /is not a URL such as smtp:\/\/USER:PASSWORD@mail\.example:587/],
    ["smtp://anna:geheim/x@mail.example", /is not a URL|has a path/],
    ["smtp://anna:ge heim@mail.example", /is not a URL such as/],
    ["https://anna:geheim@mail.example", /\("https:\/\/mail\.example"\) must begin with smtp:\/\//],
    ["smtp://anna:geheim@", /is not a URL|has no host/],
    ["smtp://anna@mail.example", /must have a user and a password, or neither/],
    ["smtp://anna:geheim%@mail.example", /has a user or password with a % .* write %25/],
    ["smtp://anna:geheim@mail.example/x", /has a path or a fragment/],
    ["smtp://anna:geheim@mail.example?tls=off", /only for smtp:\/\/ to a server on this machine/],
    ["smtps://anna:geheim@127.0.0.1?tls=off", /only for smtp:\/\/ to a server on this machine/],
    ["smtp://anna:geheim@127.0.0.1?tls=no", /the only one is \?tls=off/],
    ["smtp://anna:geheim@127.0.0.1?starttls=off", /the only one is \?tls=off/],
  ];
  for (const [HLUST_SMTP_URL, problem] of rows) {
    const { problems } = examineConfig({ ...others, HLUST_SMTP_URL });
    assert.equal(problems.length, 1, `${HLUST_SMTP_URL}: ${problems.join(" | ")}`);
    assert.match(problems[0] ?? "", problem);
    assert.match(problems[0] ?? "", /^HLUST_SMTP_URL /);
    assert.doesNotMatch(problems[0] ?? "", /geheim|ge heim/);
  }
});

test("HLUST_MAIL_FROM is an address, with a name or without", () => {
  const fromOf = (HLUST_MAIL_FROM: string) =>
    readConfig({ ...others, HLUST_SMTP_URL: "smtp://mail.example", HLUST_MAIL_FROM }).mail.sending
      ?.from;
  assert.deepEqual(fromOf("hlust@example.org"), { name: "", address: "hlust@example.org" });
  assert.deepEqual(fromOf("Hlust á Íslandi <hlust@dæmi.is>"), {
    name: "Hlust á Íslandi",
    address: "hlust@xn--dmi-yla.is",
  });
  assert.deepEqual(fromOf('"Hlust, uppskriftir" <hlust@example.org>'), {
    name: "Hlust, uppskriftir",
    address: "hlust@example.org",
  });
  const refused = [
    "hlust",
    "<hlust@example.org",
    "a@b.is, c@d.is",
    "þ@b.is",
    "A\nB <a@b.is>",
    "@b.is",
  ];
  for (const HLUST_MAIL_FROM of refused) {
    const settings = { ...others, HLUST_SMTP_URL: "smtp://mail.example", HLUST_MAIL_FROM };
    assert.throws(() => readConfig(settings), {
      message: `HLUST_MAIL_FROM must be an address such as hlust@example.org, or Hlust <hlust@example.org>, not ${JSON.stringify(HLUST_MAIL_FROM)}`,
    });
  }
});

test("the settings of mail are complete, or there is no mail", () => {
  const { mail } = readConfig({});
  assert.deepEqual(mail, { isSent: false, sending: undefined, perDayMax: 100 });
  const HLUST_SMTP_URL = "smtp://mail.example";
  const rows: [settings: NodeJS.ProcessEnv, problem: RegExp][] = [
    [
      { ...others, HLUST_MAIL_FROM: "", HLUST_SMTP_URL },
      /^HLUST_SMTP_URL is set, but HLUST_MAIL_FROM is not/,
    ],
    [others, /^HLUST_MAIL_FROM is set, but HLUST_SMTP_URL is not/],
    [
      { ...others, HLUST_PUBLIC_URL: "", HLUST_SMTP_URL },
      /^HLUST_SMTP_URL is set, but HLUST_PUBLIC_URL is not/,
    ],
    [{ HLUST_MAILS_PER_DAY: "0" }, /^HLUST_MAILS_PER_DAY must be a whole number from 1 to 10000/],
  ];
  for (const [settings, problem] of rows) {
    const { problems } = examineConfig(settings);
    assert.equal(problems.length, 1);
    assert.match(problems[0] ?? "", problem);
  }
  // A node that only answers calls writes no links.
  const api = readConfig({ ...others, HLUST_PUBLIC_URL: "", HLUST_SMTP_URL, HLUST_ROLE: "api" });
  assert.deepEqual(api.mail, { isSent: true, sending: undefined, perDayMax: 100 });
});
