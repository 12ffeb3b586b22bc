// The page about other programs: what it says to paste works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { WebSocket } from "ws";
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
    ["n8n", `${address}/v1`],
    ["LiveKit", `baseUrl: "ws://${host}"`],
    ["Pipecat", `base_url="ws://${host}"`],
    ["Jitsi", `{"is": "ws://${host}/vosk/is?token=KEY", `],
    ["BigBlueButton", `is-IS: ws://hlust:KEY@${host}/vosk/is`],
    ["Asterisk", `url = ws://${host}/vosk/is?token=KEY`],
    ["FreeSWITCH", `value="ws://${host}/vosk/is?token=KEY"`],
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

/** What a program appends to the address that is pasted into it. */
const appended: Readonly<Record<string, string>> = {
  "/v1": "/models",
  "/openai/en/v1": "/models",
  "": "/v1/listen?encoding=linear16&sample_rate=16000&language=en",
};

/** Returns the status of a call to an address as a program makes it; 101 for a socket. */
async function statusAt(shown: string, key: string): Promise<number> {
  const url = new URL(shown.replace("KEY", key).replace("/is", "/en"));
  const authorization =
    url.password === ""
      ? `Bearer ${key}`
      : `Basic ${Buffer.from(`${url.username}:${url.password}`).toString("base64")}`;
  url.username = url.password = "";
  const headers = url.searchParams.has("token") ? {} : { authorization };
  // Bazarr has the only address with a key that is not of a socket.
  const isBazarr = shown.startsWith("http") && shown.includes("@");
  const path = url.pathname.replace(/^\/$/, "");
  const address = isBazarr
    ? new URL("/asr", url)
    : new URL(`${path}${appended[path] ?? url.search}`, url);
  if (!shown.startsWith("ws")) {
    const method = path.endsWith("/v1") ? "GET" : "POST";
    return (await fetch(address, { method, headers })).status;
  }
  const socket = new WebSocket(address, { headers });
  socket.on("error", () => {});
  const answered = [once(socket, "unexpected-response"), once(socket, "open")];
  const [, response] = await Promise.race(answered);
  socket.terminate();
  return response?.statusCode ?? 101;
}

test("each address on the page is served, with the key where the page has it", async () => {
  await using page = await pages.open("/programs");
  const { key } = pages.service;
  await page.getByLabel("curl", { exact: true }).waitFor();
  const samples = await page.locator(".code-sample pre").allTextContents();
  const addresses = samples.flatMap((text) => text.match(/(?:http|ws):\/\/[^\s"\\]+/g) ?? []);
  assert.ok(addresses.length > 15, `${addresses.length}`);
  for (const shown of addresses) {
    const status = await statusAt(shown, key);
    const expected = shown.startsWith("ws") ? 101 : shown.endsWith("/v1") ? 200 : 400;
    assert.equal(status, expected, shown);
    assert.equal(await statusAt(shown, "wrong"), 401, shown);
  }
});
