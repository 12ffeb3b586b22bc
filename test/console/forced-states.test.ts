// In forced colors, which leave one color for all text, the states of mail to members, of webhooks
// and their deliveries, and of entries of the audit log still differ: each has a sign and words.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Kysely } from "kysely";
import type { Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { addApiKey } from "../fixtures/auth-fixture.ts";
import { addMember } from "../fixtures/signed-in.ts";
import { unsentMail } from "../fixtures/unsent-mail.ts";
import { until } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
let accountId: string;
before(async () => {
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api", ...unsentMail }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  accountId = (await db.selectFrom("account").select("id").executeTakeFirstOrThrow()).id;
});
after(() => parts.disposeAsync());

interface Shown {
  readonly sign: string;
  readonly text: string;
  readonly color: string;
}

/** Opens a page in forced colors, and returns the states in it that have a sign. */
async function statesIn(page: Page, selector: string, count: number): Promise<readonly Shown[]> {
  await page.emulateMedia({ forcedColors: "active" });
  const states = () =>
    page.evaluate<Shown[]>(
      `Array.from(document.querySelectorAll(${JSON.stringify(selector)}), (one) => ({
        sign: /"(\\S*) "/.exec(getComputedStyle(one, "::before").content)?.[1] ?? "",
        text: one.textContent.trim(),
        color: getComputedStyle(one).color,
      }))`,
    );
  await until(async () => (await states()).length === count);
  const found = await states();
  assert.equal(new Set(found.map(({ color }) => color)).size, 1, "one color for all");
  return found;
}

/** Checks that each state has another sign, which screen readers skip, and other words. */
function checkDifferent(found: readonly Shown[], signs: readonly string[]): void {
  assert.deepEqual(new Set(found.map(({ sign }) => sign)), new Set(signs));
  assert.equal(new Set(found.map(({ text }) => text)).size, found.length);
  assert.ok(found.every(({ text }) => text !== ""));
}

test("mail to members that was sent, waits, failed or was replaced", async () => {
  for (const state of ["PENDING", "SENT", "FAILED", "CANCELED"] as const) {
    const email = `${state.toLowerCase()}@example.is`;
    const member_id = await addMember(db, accountId, "MEMBER", email);
    const mail = { id: newId(), account_id: accountId, member_id, email, language: "is" } as const;
    await db
      .insertInto("invitation_mail")
      .values({
        ...mail,
        inviter: "",
        state,
        last_attempt_at: new Date(),
        problem: state === "FAILED" ? "RECIPIENT_REFUSED" : null,
      })
      .execute();
  }
  await using page = await pages.open("/account");
  checkDifferent(await statesIn(page, ".account-row .meta [data-sign]", 4), ["○", "✓", "✕", "–"]);
});

test("webhooks that are on and off, and deliveries that wait, arrived and failed", async () => {
  const ids: string[] = [];
  for (const displayName of ["On", "Off"]) {
    const body = { url: "https://127.0.0.1:9/", displayName };
    const { json } = await pages.service.call("POST", "/v1/webhooks", body);
    ids.push(json.webhook.name);
  }
  await pages.service.call("PATCH", `/v1/${ids[1]}`, { disabled: true });
  const webhook_id = ids[0]?.replace("webhooks/", "") ?? "";
  for (const state of ["PENDING", "DELIVERED", "FAILED"] as const) {
    await db
      .insertInto("webhook_delivery")
      .values({ id: newId(), webhook_id, event_type: "test", body: "{}", state })
      .execute();
  }
  await using page = await pages.open("/webhooks");
  checkDifferent(await statesIn(page, ".webhook-row .side [data-sign]", 2), ["✓", "–"]);
  await page.goto(`${pages.service.address}/console/${ids[0]}`);
  checkDifferent(await statesIn(page, ".delivery-row [data-sign]", 3), ["○", "✓", "✕"]);
});

test("entries of the audit log that were refused", async () => {
  const weak = await addApiKey(db, accountId, ["speech"]);
  const call = { method: "GET", path: "/v1/members" };
  assert.equal((await callRest(pages.service.address, weak.token, call)).status, 403);
  await using page = await pages.open("/account");
  const [refused] = await statesIn(page, ".audit-log [data-sign]", 1);
  assert.deepEqual([refused?.sign, refused?.text], ["✕", "(hafnað)"]);
});
