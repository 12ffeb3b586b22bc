// The page of help: how a transcript is corrected, with the user's own keys.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { commandIds } from "../../src/console/transcript/edit/keys/command-table.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { openInterview } from "./edited-page.ts";
import { checkLooks, openTestPages, type TestPages } from "./open-test-pages.ts";
import { createTranscript, interview, interviewMetadata } from "./spoken-transcript.ts";

let pages: TestPages;
before(async () => {
  pages = await openTestPages();
});
after(() => pages[Symbol.asyncDispose]());

test("the page of help has a topic for each part of correcting, and every command with its keys", async () => {
  await using page = await pages.open("/help");
  await page.getByRole("heading", { level: 1, name: "Að leiðrétta uppskrift" }).waitFor();
  const rows = page.locator(".help-keys > div");
  assert.equal(await rows.count(), commandIds.length);
  const play = rows.filter({ hasText: "Spila eða gera hlé" });
  assert.deepEqual(await play.locator("kbd").allInnerTexts(), ["Esc", "F4", "Media Play"]);
  const link = page.getByRole("navigation", { name: "Efni síðunnar" }).getByRole("link");
  assert.equal(await link.count(), await page.locator(".help h2").count());
  await link.getByText("Fótstig").click();
  const heading = page.getByRole("heading", { name: "Fótstig" });
  const { y = -1 } = (await heading.boundingBox()) ?? {};
  assert.ok(y >= 0 && y < 800, `${y}`);
  await checkLooks(page, "help");
});

test("the page of help shows the keys that the user has chosen", async () => {
  await using editing = await openInterview(pages);
  await editing.keyboard.press("Shift+F1");
  await editing.getByRole("button", { name: "Bæta við lykli: Spila eða gera hlé" }).click();
  await editing.keyboard.press("F12");
  await editing.getByRole("button", { name: "Fjarlægja F4: Spila eða gera hlé" }).click();
  await editing.getByRole("checkbox", { name: "Tab spilar frá bendlinum" }).click();
  const opened = editing.context().waitForEvent("page");
  await editing.getByRole("link", { name: /^Hjálp: að leiðrétta uppskrift/ }).click();
  await using page = await opened;
  const keysOf = (text: string) =>
    page.locator(".help-keys > div").filter({ hasText: text }).locator("kbd").allInnerTexts();
  await page.locator(".help-keys kbd").getByText("F12").waitFor();
  assert.deepEqual(await keysOf("Spila eða gera hlé"), ["Esc", "Media Play", "F12"]);
  assert.deepEqual(await keysOf("Spila frá bendlinum"), ["Ctrl + Space"]);
});

test("the list of shortcuts and the foot of each page lead to the page of help", async () => {
  const { samples, segments } = interview();
  const transcript = { metadata: interviewMetadata, segments };
  const media = Uint8Array.from(wavOf(samples));
  const name = await createTranscript(pages.service, transcript, media);
  await using page = await pages.open(`/${name}`);
  await page.locator(".player").waitFor();
  await page.keyboard.press("?");
  const opened = page.context().waitForEvent("page");
  await page.getByRole("link", { name: /^Hjálp: að leiðrétta uppskrift/ }).click();
  await using help = await opened;
  await help.getByRole("heading", { level: 1, name: "Að leiðrétta uppskrift" }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("contentinfo").getByRole("link", { name: "Hjálp" }).click();
  await page.getByRole("heading", { level: 1, name: "Að leiðrétta uppskrift" }).waitFor();
});
