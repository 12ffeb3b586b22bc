// Requesting a sign-in link by mail on the sign-in page, with a real SMTP server, and what the page
// says where the service sends no mail.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { perAddress, perEmail } from "../../src/mail/link-requests.ts";
import { createLog } from "../../src/std/log.ts";
import { openMailReceiver, type MailReceiver } from "../fixtures/mail-receiver.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let receiver: MailReceiver;
let pages: TestPages;
let db: Kysely<Tables>;
let accountId: string;

before(async () => {
  receiver = parts.use(await openMailReceiver());
  pages = parts.use(
    await openTestPages({
      HLUST_SMTP_URL: `smtp://127.0.0.1:${receiver.port}?tls=off`,
      HLUST_MAIL_FROM: "hlust@example.org",
      HLUST_PUBLIC_URL: "https://hlust.example",
    }),
  );
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  accountId = (await db.selectFrom("account").select("id").executeTakeFirstOrThrow()).id;
});
after(() => parts.disposeAsync());

const signedOut = { key: undefined };
const english = { size: "desktop", language: "en", theme: "light" } as const;
const formOf = (page: Page) => page.getByRole("form");
const send = async (page: Page, email: string) => {
  await formOf(page).getByRole("textbox").fill(email);
  await formOf(page).getByRole("button").click();
};
const said = (page: Page) => formOf(page).getByRole("status");

test("a member asks for a link with the keyboard at 320 px, and signs in with it", async () => {
  await addMember(db, accountId, "MEMBER", "gudrun@example.is");
  await using page = await pages.open("/", signedOut);
  await page.setViewportSize({ width: 320, height: 256 });
  await page.getByRole("heading", { name: "Enginn tengill, eða hann er runninn út?" }).waitFor();
  await page.getByLabel("Netfang").focus();
  await page.keyboard.press("Enter");
  await page.getByText("Skrifaðu netfangið þitt hér.").waitFor();
  await page.keyboard.type(" gudrun@example.is ");
  await page.keyboard.press("Enter");
  await said(page).getByText("Ef gudrun@example.is er skráð hér er póstur á leiðinni").waitFor();
  assert.equal(await page.evaluate<number>("document.documentElement.scrollWidth"), 320);
  await until(async () => receiver.received.length === 1);
  const text = receiver.received[0]?.parts.get("text/plain") ?? "";
  assert.match(text, /^Hér er tengillinn sem beðið var um/);
  const [, link = ""] = /https:\/\/hlust\.example(\S+)/.exec(text) ?? [];
  await page.goto(`${pages.service.address}${link}`);
  await page.getByRole("heading", { level: 1, name: "Yfirlit" }).waitFor();
});

test("the page says the same of an address that is not known, in each look without a finding of axe", async () => {
  await using page = await pages.open("/", { ...signedOut, look: english });
  await page.getByRole("heading", { name: "No link, or has it expired?" }).waitFor();
  await checkLooks(page, "sign-in-mail");
  await page.setViewportSize({ width: 1280, height: 800 });
  await send(page, "stranger@example.is");
  await said(page)
    .getByText(/^If stranger@example.is belongs to a member, an email is on/)
    .waitFor();
  await checkLooks(page, "sign-in-mail-sent");
  await until(
    async () => (await db.selectFrom("link_request").select("id").execute()).length === 0,
  );
  assert.equal(receiver.received.filter(({ to }) => to.includes("stranger@example.is")).length, 0);
});

test("a wrong address, and each limit, are explained with what to do next", async () => {
  await using page = await pages.open("/", { ...signedOut, look: english });
  expectProblems(page, /^4(?:00|29) POST \/console\/session:requestLink$/);
  await send(page, "þóra@example.is");
  await page.getByText("This is not an email address, or it has letters").waitFor();
  assert.equal(await page.getByRole("alert").count(), 0);
  await db.deleteFrom("link_request_limit").execute();
  for (let count = 0; count < perEmail.max; count += 1) {
    await send(page, "often@example.is");
    await said(page).getByText("If often@example.is").waitFor();
    await formOf(page).getByRole("textbox").fill("");
    await formOf(page).getByRole("button").click();
    await page.getByText("Enter your email address.").waitFor();
  }
  await send(page, "often@example.is");
  await page
    .getByRole("alert")
    .getByText(/too often within the last 24 hours\. Use the last/)
    .waitFor();
  assert.equal(await said(page).textContent(), "");
  const ahead = new Date(Date.now() + perAddress.perMs - 30_000);
  await db
    .updateTable("link_request_limit")
    .set({ full_at: ahead })
    .where("full_at", "<", ahead)
    .execute();
  await send(page, "other@example.is");
  await page
    .getByRole("alert")
    .getByText(/from this network .* Try again in a few minutes/)
    .waitFor();
  await checkLooks(page, "sign-in-mail-limited");
});

test("without mail there is no form, and the page says whom to ask", async () => {
  const contact = { HLUST_ROLE: "api", HLUST_CONTACT: "adgangur@hlust.example" };
  await using silent = await openTestPages(contact);
  const rows = {
    is: /biðja eiganda reikningsins um nýjan/,
    en: /ask an owner of your account for/,
  };
  for (const language of ["is", "en"] as const) {
    await using page = await silent.open("/", { ...signedOut, look: { ...english, language } });
    await page.getByText(rows[language]).waitFor();
    await page.getByRole("link", { name: "adgangur@hlust.example" }).waitFor();
    assert.equal(await formOf(page).count(), 0);
  }
});
