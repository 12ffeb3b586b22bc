// Jobs that fail for a reason for which the console has no words.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { sql, type Kysely } from "kysely";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { until } from "../fixtures/until.ts";
import { checkLooks, openTestPages, show, someLooks, type TestPages } from "./open-test-pages.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
before(async () => {
  pages = parts.use(await openTestPages({ HLUST_ROLE: "api" }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
});
after(() => parts.disposeAsync());

test("the page and its message have the service's own words about a job that fails, in both languages", async () => {
  const texts = [
    {
      language: "is",
      general: "Þjónustan gat ekki lokið verkinu.",
      message: "Uppskrift mistókst: Fundur. Þjónustan gat ekki lokið verkinu. the moon was full",
    },
    {
      language: "en",
      general: "The service could not complete the job.",
      message:
        "Transcription failed: Fundur. The service could not complete the job. the moon was full",
    },
  ] as const;
  const { id: account } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow();
  for (const { language, general, message } of texts) {
    const id = newId();
    const metadata = JSON.stringify({
      subject: "Fundur",
      languageCode: "is-IS",
      fileType: "AUDIO",
    });
    await sql`insert into transcript_job (id, account_id, state, metadata)
      values (${id}, ${account}, 'PROCESSING', ${metadata})`.execute(db);
    await using page = await pages.open("/jobs");
    await show(page, { size: "desktop", theme: "light", language });
    const row = page.locator(".job-row", { hasText: "Fundur" });
    await row.getByRole("progressbar").waitFor();
    await sql`update transcript_job set state = 'ERROR',
      error = '{"code": 13, "message": "the moon was full"}' where id = ${id}`.execute(db);
    await row.getByText(general).waitFor();
    // Screen readers pronounce the service's words in English.
    assert.equal(await row.locator("[lang=en]").textContent(), "the moon was full");
    await until(async () => (await page.locator("output.unseen").textContent()) === message);
    await page.locator(".toast").getByText(message).waitFor();
    await checkLooks(page, `job-failed-${language}`, someLooks);
    await sql`delete from transcript_job where id = ${id}`.execute(db);
  }
});
