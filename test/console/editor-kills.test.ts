// The editor while processes are killed: the browser with everything that it runs, and the
// database of the service. Nothing that was typed two seconds before is lost.
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { BrowserContext, Page } from "playwright-core";
import { openFaultPostgres } from "../fault/open-fault-postgres.ts";
import { openBrowserWithProfile } from "../fixtures/open-browser.ts";
import { until } from "../fixtures/until.ts";
import { first, openEditing, placeCaret, textsOf, untilTexts, withTexts } from "./edited-page.ts";
import { createInterview, versionsOf } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { cookieOfKey } from "./kept-contexts.ts";
import { openTestPages, type TestPages } from "./open-test-pages.ts";

/** A browser whose profile is kept when it is killed. */
async function openProfile(pages: TestPages, profile: string): Promise<BrowserContext> {
  const context = await openBrowserWithProfile(profile, { locale: "is-IS" });
  pages.watch(context);
  const version = context.browser()?.version() ?? "140.0.0.0";
  const { service } = pages;
  await context.addCookies([await cookieOfKey(service.address, service.key, version)]);
  return context;
}

async function edit(context: BrowserContext, url: string): Promise<Page> {
  const page = await context.newPage();
  await page.goto(url);
  await page.locator(".segment").nth(3).waitFor({ state: "attached" });
  await page.keyboard.press("e");
  await page.getByRole("textbox", { name: "Textinn, í vinnslu" }).waitFor();
  return page;
}

/** Kills (kill -9) every process of the browser that uses a profile. Returns their number. */
async function killBrowser(profile: string): Promise<number> {
  const uses = (pid: string) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`--user-data-dir=${profile}`);
    } catch {
      return false;
    }
  };
  const found = () => readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && uses(pid));
  const pids = found();
  for (const pid of pids) process.kill(Number(pid), "SIGKILL");
  await until(() => Promise.resolve(found().length === 0));
  return pids.length;
}

test("text that was typed two seconds before all processes of the browser were killed is there again", async () => {
  await using pages = await openTestPages();
  const name = await createInterview(pages.service);
  const url = new URL(`/console/${name}`, pages.service.address).href;
  const profile = mkdtempSync(join(tmpdir(), "hlust-profile-"));
  try {
    const page = await edit(await openProfile(pages, profile), url);
    await placeCaret(page, 0, 0);
    await page.keyboard.type("Jæja. ");
    await page.getByText("drög geymd hér").waitFor();
    await page.keyboard.type("Nú þá. ");
    await delay(2_000);
    assert.ok((await killBrowser(profile)) > 0, "no browser was killed");
    // Only the browser has the draft: the service gets one every 30 seconds.
    const { status } = await pages.service.call("GET", `/v1alpha1/${name}/draft`);
    assert.equal(status, 404);
    const context = await openProfile(pages, profile);
    const again = await edit(context, url);
    await untilTexts(again, withTexts({ 0: `Jæja. Nú þá. ${first}` }));
    await again.getByText("eru opin aftur").waitFor();
    await context.close();
  } finally {
    await killBrowser(profile);
    rmSync(profile, { recursive: true, force: true });
  }
});

test("while keys are typed, all processes of the browser are killed: at most the last two seconds are lost", async () => {
  await using pages = await openTestPages();
  const name = await createInterview(pages.service);
  const url = new URL(`/console/${name}`, pages.service.address).href;
  const profile = mkdtempSync(join(tmpdir(), "hlust-profile-"));
  try {
    const page = await edit(await openProfile(pages, profile), url);
    await placeCaret(page, 0, 0);
    let typed = "";
    // When each key was received by the page, and the longest time that one took.
    const times: number[] = [];
    let slowest = 0;
    const begun = performance.now();
    while (performance.now() - begun < 6_000) {
      const key = `${times.length} `.at(-1 - (times.length % 2)) ?? "";
      const sent = performance.now();
      await page.keyboard.press(key === " " ? "Space" : key);
      const received = performance.now();
      slowest = Math.max(slowest, received - sent);
      typed += key;
      times.push(received);
    }
    const killed = performance.now();
    assert.ok((await killBrowser(profile)) > 0, "no browser was killed");
    // A page that receives keys late stores them late, too.
    const due = times.filter((time) => time < killed - 2_000 - slowest).length;
    assert.ok(due > 0, `no key is old enough; the slowest one took ${slowest} ms`);
    const context = await openProfile(pages, profile);
    const again = await edit(context, url);
    await again.getByText("eru opin aftur").waitFor();
    const [text = ""] = await textsOf(again);
    const kept = text.length - first.length;
    assert.equal(text, typed.slice(0, kept) + first);
    assert.ok(kept >= due, `${kept} of ${due} keys are kept`);
    await context.close();
  } finally {
    await killBrowser(profile);
    rmSync(profile, { recursive: true, force: true });
  }
});

test("while the database of the service is unavailable, the text is kept, and it is saved when the database is back", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hlust-fault-"));
  try {
    await using postgres = await openFaultPostgres(join(folder, "postgres"), {});
    await using pages = await openTestPages({ DATABASE_URL: postgres.url });
    const name = await createInterview(pages.service);
    await using page = await openEditing(pages, name);
    // The database is unavailable, and so are all calls that need it.
    expectProblems(page, /^50[03] (GET|POST|PUT) /);
    await postgres.kill();
    await placeCaret(page, 0, 0);
    await page.keyboard.type("Jæja. ");
    await page.keyboard.press("Control+s");
    const note = page.locator(".note").filter({ hasText: /aftur eftir \d+ sekúndu/ });
    await note.waitFor();
    await page.keyboard.type("Sko. ");
    await page.getByText("drög geymd hér").waitFor();
    await postgres.start();
    // No key is pressed: the page tries again by itself.
    await page.getByText("Engar óvistaðar breytingar").waitFor({ timeout: 60_000 });
    await note.waitFor({ state: "detached" });
    const { json } = await pages.service.call("GET", `/v1alpha1/${name}`);
    const words: { word: string }[] = json.segments[0].words;
    assert.equal(words.map(({ word }) => word).join(""), `Jæja. Sko. ${first}`);
    assert.equal((await versionsOf(pages.service, name)).length, 2);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
