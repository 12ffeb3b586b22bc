// The page about other programs: what it says to paste works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { espeak } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";

let pages: TestPages;
let folder: string;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), "hlust-programs-"));
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(async () => {
  await pages[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test("the page shows the address of this service for each program, and leads to the keys", async () => {
  await using page = await pages.open("/keys");
  await page.getByRole("link", { name: "Með öðrum forritum" }).click();
  await page.getByRole("heading", { level: 1, name: "Með öðrum forritum" }).waitFor();
  const { address } = pages.service;
  const { host } = new URL(address);
  for (const [program, paste] of [
    ["Slóð", `${address}/v1`],
    ["Open WebUI", `AUDIO_STT_OPENAI_API_BASE_URL=${address}/v1`],
    ["LibreChat", `url: "${address}/v1/audio/transcriptions"`],
    ["Bazarr", `http://hlust:KEY@${host}`],
    ["Home Assistant", "Host: 127.0.0.1\nPort: 10300"],
    ["jambonz", `ws://${host}/jambonz`],
  ] as const) {
    const shown = await page.getByLabel(program, { exact: true }).textContent();
    assert.ok(shown?.includes(paste), `${program}: ${shown}`);
  }
  const toKeys = page.getByRole("link", { name: "Búa til lykil" });
  assert.equal(await toKeys.getAttribute("href"), "/console/keys");
  await checkLooks(page, "programs", someLooks);
});

test("the line for a terminal works when pasted", async () => {
  await using page = await pages.open("/programs");
  const line = await page.getByLabel("curl", { exact: true }).textContent();
  assert.ok(line);
  writeFileSync(join(folder, "talk.mp3"), wavOf(espeak("góðan daginn")));
  // The scripted engine of these tests recognizes one language.
  const pasted = line.replace("KEY", pages.service.key).replace("language=is", "language=en");
  const { stdout } = await promisify(execFile)("bash", ["-c", pasted], { cwd: folder });
  assert.match(stdout, /^1\n00:00:0\d,\d{3} --> /);
});
