// The overview: usage, running and failed jobs, the health of the service, and the first steps in
// an empty account.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { sql, type Kysely } from "kysely";
import type { Locator, Page } from "playwright-core";
import { openDatabase } from "../../src/database/database.ts";
import type { Tables } from "../../src/database/tables.ts";
import { newId } from "../../src/std/ids.ts";
import { createLog } from "../../src/std/log.ts";
import { accountScopes } from "../../src/auth/caller.ts";
import { createSignInToken, signInLink } from "../../src/auth/sign-in-token.ts";
import { addApiKey } from "../fixtures/auth-fixture.ts";
import { speak } from "../fixtures/flite.ts";
import { until } from "../fixtures/until.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, show, type TestPages } from "./open-test-pages.ts";
import { seedTranscripts } from "./seed-transcripts.ts";

const parts = new AsyncDisposableStack();
let pages: TestPages;
let db: Kysely<Tables>;
let accountId: string;
before(async () => {
  // PocketSphinx is used because the test runs the example commands and checks the recognized
  // words.
  pages = parts.use(await openTestPages({ HLUST_ENGINE: "pocketsphinx" }));
  const folder = join(pages.service.dataFolder, "postgres");
  ({ db } = parts.use(await openDatabase({ url: undefined, folder, log: createLog("silent") })));
  ({ id: accountId } = await db.selectFrom("account").select("id").executeTakeFirstOrThrow());
});
after(() => parts.disposeAsync());

test("an empty account shows first steps: a sample recording and an example request", async () => {
  await using page = await pages.open("/");
  await page.getByRole("heading", { name: "Byrjaðu hér" }).waitFor();
  await page.getByText("pocketsphinx-en-US").waitFor();
  await checkLooks(page, "overview-empty");
  await show(page, { size: "desktop", language: "is", theme: "light" });

  const command = await page.locator("pre").innerText();
  const { out } = await runInShell(command);
  assert.match(out, /weather is/);

  // The sample is submitted with only the keyboard.
  await page.getByRole("button", { name: "Prófa upptöku: enska" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Verk" }).waitFor();
  const sample = "Veðrið í dag, prufuupptaka á ensku";
  // Its transcript opens as soon as it is ready.
  await page.getByRole("heading", { level: 1, name: sample }).waitFor({ timeout: 60_000 });
  await page.locator(".segment").first().waitFor();

  await page.getByRole("navigation").getByRole("link", { name: "Yfirlit" }).click();
  await page.getByRole("heading", { name: "Nýjustu uppskriftir" }).waitFor();
  // The other steps stay until the user hides them, also after a reload.
  await page.getByRole("link", { name: "Ný uppskrift" }).first().waitFor();
  await page.reload();
  await page.getByRole("button", { name: "Fela skrefin" }).click();
  await page.locator(".first-steps").waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("link", { name: sample }).waitFor();
  assert.equal(await page.locator(".first-steps").count(), 0);
  await page.getByRole("link", { name: sample }).click();
  await page.getByRole("heading", { level: 1, name: sample }).waitFor();
});

async function runInShell(command: string): Promise<{ readonly out: string }> {
  const { stdout } = await promisify(execFile)("sh", ["-c", command], {
    cwd: pages.service.dataFolder,
    env: { PATH: process.env["PATH"], HLUST_KEY: pages.service.key },
  });
  return { out: stdout };
}

/** The actions of a user on a page: clicks, presses of keys, and words that are typed. */
class Actions {
  readonly #page: Page;
  count = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  async open(address: string): Promise<void> {
    this.count += 1;
    await this.#page.goto(address);
  }

  async click(what: Locator, options: { readonly clickCount?: number } = {}): Promise<void> {
    this.count += options.clickCount ?? 1;
    await what.click({ timeout: 60_000, ...options });
  }

  async press(key: string): Promise<void> {
    this.count += 1;
    await this.#page.keyboard.press(key);
  }

  /** Types a text, in which each word counts. */
  async type(text: string): Promise<void> {
    this.count += text.split(" ").length;
    await this.#page.keyboard.type(text);
  }
}

test("a newcomer comes from the sign-in link to an edited, shared, downloaded transcript in fewer than 40 actions", async (t) => {
  const empty = await otherAccount();
  const { id: apiKeyId } = await addApiKey(db, empty, [...accountScopes]);
  const token = await createSignInToken(db, { accountId: empty, apiKeyId });
  const look = { size: "desktop", language: "en", theme: "light" } as const;
  const context = { permissions: ["clipboard-read", "clipboard-write"] };
  await using page = await pages.open("/../healthz", { key: undefined, look, context });
  const user = new Actions(page);
  const button = (name: string) => page.getByRole("button", { name, exact: true });

  await user.open(signInLink(pages.service.address, token));
  await user.click(page.getByRole("link", { name: "Choose a file" }));
  const chooser = page.waitForEvent("filechooser");
  await user.click(button("choose files"));
  // A file is chosen in the browser's window with a click on it and one on "Open".
  user.count += 2;
  const recording = { name: "first_recording.wav", mimeType: "audio/wav" };
  await (await chooser).setFiles({ ...recording, buffer: speak("good morning to all of you") });
  await user.click(page.getByLabel("Title", { exact: true }));
  await user.press("ControlOrMeta+a");
  await user.type("My first recording");
  await user.click(button("Transcribe"));

  const row = page.getByRole("link", { name: "My first recording" });
  await user.click(row.first());
  await page.locator(".segment").first().waitFor();
  await user.click(button("Edit text"));
  const text = page.getByRole("textbox", { name: "Transcript text, editable" });
  await text.waitFor();
  await user.click(text.locator("p").first());
  await user.press("Control+Home");
  await user.type("Hello and ");
  await user.press("Control+s");
  await page.getByText("Saved as a new version.").first().waitFor();
  await user.click(button("Read"));

  await user.click(button("Create a link"));
  const dialog = page.getByRole("dialog");
  await user.click(dialog.getByRole("button", { name: "Create the link" }));
  const shared = await dialog.getByLabel("Link", { exact: true }).innerText();
  await user.click(dialog.getByRole("button", { name: "Copy" }));
  await user.click(dialog.getByRole("button", { name: "Done" }));
  const download = page.waitForEvent("download");
  await user.click(button("Download: Word"));
  assert.match((await download).suggestedFilename(), /^My first recording\.docx$/);

  assert.equal(await page.evaluate("navigator.clipboard.readText()"), shared);
  await using reader = await pages.open(shared.replace(/^.*\/console/, ""), {
    key: undefined,
    look,
  });
  await reader.locator(".segment").first().getByText("Hello and").waitFor();
  t.diagnostic(`${user.count} actions`);
  assert.ok(user.count < 40, `${user.count} actions`);
});

test("a user with read-only access is not invited to submit anything", async () => {
  const { token } = await addApiKey(db, await otherAccount(), ["transcripts.read"]);
  await using page = await pages.open("/", { key: token });
  await page.getByText("Þú mátt lesa þær.").waitFor();
  assert.equal(await page.getByRole("button", { name: /Prófa/ }).count(), 0);
  // The menu has no page that has nothing for this user: neither Live nor Keys.
  const menu = await page.getByRole("navigation").getByRole("link").allInnerTexts();
  assert.deepEqual(menu, ["Yfirlit", "Uppskriftir", "Verk", "Orðaforði"]);
});

async function otherAccount(): Promise<string> {
  const id = newId();
  await db.insertInto("account").values({ id, display_name: "Héraðsskjalasafnið" }).execute();
  return id;
}

test("the overview shows usage, health, models, jobs and transcripts in both languages", async () => {
  await seedTranscripts(pages.service.dataFolder, 7);
  await sql`update account set display_name = 'Fréttastofan',
    limits = '{"requestsPerMinute": 6000, "audioSecondsPerDay": 86400, "storedBytes": 50000000000}' where id = ${accountId}`.execute(
    db,
  );
  // Each day from the first of this month until today has 3600 s in jobs and 60 s live.
  await sql`
    insert into usage_day (subject_id, account_id, day, requests, console_requests, live_ms, short_ms, job_ms)
    select ${accountId}, ${accountId}, day, 1400, 400, 60000, 0, 3600000 * (1 + extract(day from day)::int % 4)
    from generate_series(date_trunc('month', now() at time zone 'utc'), (now() at time zone 'utc')::date, '1 day') as day
    on conflict (subject_id, day) do update set requests = 1400, console_requests = 400, live_ms = 60000, short_ms = 0, job_ms = excluded.job_ms`.execute(
    db,
  );
  await seedJob("Störf þingsins", { state: "PROCESSING", percent: 62 });
  await seedJob("Fundur fjárlaganefndar", {
    state: "ERROR",
    error: { code: 3, message: "the server of the media answered 404" },
  });
  await using page = await pages.open("/");
  await page.locator("main").getByText("Fréttastofan").first().waitFor();
  await page.getByText("Þjóðfræði").first().waitFor();
  await page.getByText("Mest 6.000 á mínútu").waitFor();
  await page.getByText("Af 50,0 GB").waitFor();
  await page.getByText("Allt er í lagi.").waitFor();
  await page.getByText("1 af 1 ferli tilbúið").waitFor();
  await page.getByText("pocketsphinx-en-US").waitFor();
  await page.getByText("enska · ").waitFor();
  await page.getByText("62 %").waitFor();
  assert.equal(
    await page
      .getByRole("progressbar", { name: "Framvinda: Störf þingsins" })
      .getAttribute("value"),
    "62",
  );
  await page.getByText("404").waitFor();
  const days = new Date().getUTCDate();
  const texts = await page.locator(".usage-day-text").allInnerTexts();
  assert.equal(texts.length, days);
  // Requests of pages of the console are not counted.
  assert.match(texts[0] ?? "", /^1\. [a-zæðóúí.]+: 2,0 klst\., 1\.0\d\d köll$/);
  const perDay = Array.from({ length: days }, (_, at) => 60 + 3600 * (1 + ((at + 1) % 4)));
  const hours = perDay.reduce((sum, seconds) => sum + seconds, 0) / 3600;
  const shown = `${hours.toFixed(1).replace(".", ",")} klst.`;
  await page.locator(".usage-figure").getByText(shown, { exact: true }).waitFor();
  await checkLooks(page, "overview");
});

/** Inserts a job that no worker leases during the test, because the job is due in 55 s. */
async function seedJob(
  subject: string,
  {
    state,
    percent = 0,
    error,
  }: {
    readonly state: "PROCESSING" | "ERROR";
    readonly percent?: number;
    readonly error?: object;
  },
): Promise<void> {
  const metadata = { subject, languageCode: "en-US", fileType: "AUDIO", keywords: ["þingfundur"] };
  await sql`
    insert into transcript_job (id, account_id, state, progress_percent, metadata, media_uri, error, started_at, updated_at, due_at)
    values (${newId()}, ${accountId}, ${state}, ${percent}, ${JSON.stringify(metadata)}, 'https://example.is/a.mp3',
      ${error === undefined ? null : JSON.stringify(error)}::jsonb, now() - interval '7 minutes', now(),
      now() + interval '55 seconds')`.execute(db);
}

test("errors are shown where they occur, and a failing part of the service is described in words", async () => {
  await using page = await pages.open("/nowhere");
  expectProblems(page, /^503 GET \/readyz$/, /^400 GET .*\/account$/);
  await page.route("**/readyz", (route) =>
    route.fulfill({
      status: 503,
      json: {
        status: "not ready",
        parts: { engines: { ready: false }, database: { ready: true } },
      },
    }),
  );
  await page.route("**/v1/account", (route) => route.fulfill({ status: 400, body: "no" }));
  await page.getByRole("navigation").getByRole("link", { name: "Yfirlit" }).click();
  await page.getByText("Ekki er allt í lagi.").waitFor();
  assert.equal(await page.getByText("svarar ekki").count(), 3);
  await page.getByRole("alert").waitFor();
  await page.unroute("**/v1/account");
  await page.getByRole("alert").getByRole("button", { name: "Reyna aftur" }).click();
  await page.locator(".usage-figure").first().waitFor();
  await until(async () => (await page.getByRole("alert").count()) === 0);
});
