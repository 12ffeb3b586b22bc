import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { loopback, openServiceBrowser } from "../../../test/dialects/service-browser.ts";
import { openWyomingClient, type WyomingClient } from "../../../test/dialects/wyoming-client.ts";
import { until, within } from "../../../test/fixtures/until.ts";
import { testCaller, unwatched } from "../../../test/fixtures/test-caller.ts";
import { chooseSandbox } from "../../audio/sandbox.ts";
import { openEnginePool, type EnginePool } from "../../engines/pool/engine-pool.ts";
import { createAnswerError } from "../../server/answer-errors.ts";
import { createSpeechDecoding, type SpeechDecoding } from "../../speech/speech-service.ts";
import { createLog } from "../../std/log.ts";
import { openWyoming, type Wyoming, type WyomingOptions } from "./open-wyoming.ts";

const log = createLog("silent");
const folder = mkdtempSync(join(tmpdir(), "hlust-wyoming-"));
const keyFile = join(folder, "key");
let recognizer: EnginePool;
let decoding: SpeechDecoding;

before(async () => {
  writeFileSync(keyFile, "hlust_a_b\n");
  decoding = createSpeechDecoding(await chooseSandbox("auto", log));
  recognizer = await openEnginePool({ engine: "scripted", processes: 1, log });
});
after(async () => {
  await recognizer[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function listen(options: Partial<WyomingOptions> = {}): Promise<Wyoming> {
  const given = { host: "127.0.0.1", port: 0, keyFile, allowFrom: [], ...options };
  return await openWyoming(given, {
    recognizer,
    meter: {
      openStream: async () => await Promise.resolve({ meterAudio() {}, [Symbol.dispose]() {} }),
    },
    decoding,
    accountHints: { extend: async (hints) => await Promise.resolve(hints) },
    limits: { streamMsMax: 60_000 },
    authenticator: {
      ...unwatched,
      authenticate: async () => await Promise.resolve(testCaller("a", ["speech"])),
    },
    answerError: createAnswerError(() => undefined, assert.fail),
    models: () => recognizer.models(),
    defaultLanguage: "en-US",
    publicUrl: () => "http://hlust.test",
    version: "1",
    log,
  });
}

async function open({ address }: Wyoming): Promise<WyomingClient> {
  return await openWyomingClient(address, "http://hlust.test");
}

test("a listener that closes ends incomplete audio with an error, and idle connections", async () => {
  const wyoming = await listen();
  const [idle, cut] = [await open(wyoming), await open(wyoming)];
  cut.sendAudio(new Uint8Array(3_200), { isOpen: true });
  cut.send("ping", {});
  await cut.waitFor("pong");
  idle.send("ping", {});
  await idle.waitFor("pong");
  await within("the end of the listener", Promise.resolve(wyoming[Symbol.asyncDispose]()));
  await Promise.all([cut.closed, idle.closed]);
  assert.equal((await cut.waitFor("error")).data.code, "SHUTTING_DOWN");
  assert.deepEqual(
    idle.events.map(({ type }) => type),
    ["pong"],
  );
  await assert.rejects(open(wyoming), { code: "ECONNREFUSED" });
});

test("a listener that drains finishes commands, closes idle connections, and refuses others", async () => {
  await using wyoming = await listen();
  const [idle, command, endless] = [await open(wyoming), await open(wyoming), await open(wyoming)];
  for (const each of [command, endless]) {
    each.sendAudio(new Uint8Array(3_200), { isOpen: true });
    each.send("ping", {});
    await each.waitFor("pong");
  }
  idle.send("ping", {});
  await idle.waitFor("pong");
  const hurry = new AbortController();
  const draining = wyoming.drain(60_000, hurry.signal);
  await within("the end of the idle connection", idle.closed);
  const refused = await open(wyoming);
  assert.equal((await refused.waitFor("error")).data.code, "SHUTTING_DOWN");
  await refused.closed;
  command.send("audio-stop", {});
  await command.waitFor("transcript");
  await command.closed;
  hurry.abort();
  await within("the end of the drain", draining);
  assert.deepEqual(
    endless.events.map(({ type }) => type),
    ["pong"],
  );
  await wyoming[Symbol.asyncDispose]();
  assert.equal((await endless.waitFor("error")).data.code, "SHUTTING_DOWN");
});

test("a listener is announced until it drains", async () => {
  await using browser = await openServiceBrowser();
  const announcement = { dnsPort: browser.dnsPort, interfaces: () => loopback };
  await using wyoming = await listen({ isAnnounced: true, announcement });
  const found = await browser.next();
  const [, port] = wyoming.address.split(":");
  assert.equal(found.find(({ type }) => type === "SRV")?.data.port, Number(port));
  await wyoming.drain(1_000, new AbortController().signal);
  await browser.goodbye();
});

test("a drain ends the commands that are left in its last part", async () => {
  await using wyoming = await listen();
  const command = await open(wyoming);
  command.sendAudio(new Uint8Array(3_200), { isOpen: true });
  command.send("ping", {});
  await command.waitFor("pong");
  await wyoming.drain(300, new AbortController().signal);
  assert.equal((await command.waitFor("error")).data.code, "SHUTTING_DOWN");
  await command.closed;
});

test("a listener accepts a number of connections, and others when one ends", async () => {
  await using wyoming = await listen({ connectionsMax: 1 });
  const first = await open(wyoming);
  first.send("ping", {});
  await first.waitFor("pong");
  const second = await open(wyoming);
  assert.deepEqual((await second.waitFor("error")).data, {
    text: "1 connections are open",
    code: "TOO_MANY_CONNECTIONS",
  });
  await second.closed;
  first.socket.destroy();
  await until(async () => {
    const next = await open(wyoming);
    next.send("ping", {});
    const found = await next.waitFor("pong");
    next.socket.destroy();
    return found.type === "pong";
  });
});

const own = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === "IPv4" && !each.internal)?.address;

test(
  "a listener accepts this machine and the networks that are allowed only",
  { skip: own === undefined && "this machine has no address besides 127.0.0.1" },
  async () => {
    for (const [allowFrom, isAllowed] of [
      [["203.0.113.0/24"], false],
      [[`${own}/32`], true],
    ] as const) {
      await using wyoming = await listen({ host: "0.0.0.0", allowFrom });
      const [, port = ""] = wyoming.address.split(":");
      for (const [host, isOpen] of [
        ["127.0.0.1", true],
        [own, isAllowed],
      ] as const) {
        const client = await openWyomingClient(`${host}:${port}`, "http://hlust.test");
        client.send("ping", {});
        const answer = client.waitFor("pong");
        if (isOpen) await answer;
        else await assert.rejects(answer, /closed without pong: $/);
        client.socket.destroy();
      }
    }
  },
);

test("openWyoming() names the setting of a file without a key", async () => {
  const empty = join(folder, "empty");
  writeFileSync(empty, "no key\n");
  await assert.rejects(listen({ keyFile: empty }), {
    name: "ConfigError",
    message: `HLUST_WYOMING_KEY_FILE: ${empty} has no API key`,
  });
  await assert.rejects(listen({ keyFile: join(folder, "missing") }), {
    name: "ConfigError",
    message: /^HLUST_WYOMING_KEY_FILE: ENOENT/,
  });
});
