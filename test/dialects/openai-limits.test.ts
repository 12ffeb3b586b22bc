// Limits, fairness, errors and ends of calls with recordings, with the clients that people use.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createDeepgram } from "@ai-sdk/deepgram";
import { createOpenAI } from "@ai-sdk/openai";
import { DeepgramClient } from "@deepgram/sdk";
import { experimental_transcribe as transcribe } from "ai";
import Groq from "groq-sdk";
import OpenAI, { APIConnectionTimeoutError, APIUserAbortError, toFile } from "openai";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";
import { until } from "../fixtures/until.ts";
import {
  bearer,
  field,
  fileOf,
  longSpeech,
  openDialectService,
  shortSpeech,
  type DialectService,
} from "./dialect-service.ts";

let dialects: DialectService;
let short: Buffer;
let long: Buffer;

before(async () => {
  dialects = await openDialectService({ HLUST_ENGINE_PROCESSES: "2" });
  short = shortSpeech();
  long = longSpeech();
});
after(() => dialects[Symbol.asyncDispose]());

test("OpenAI's client ends the work when it is aborted, and when its own time limit is over", async () => {
  const { address, key } = dialects.service;
  let attempts = 0;
  const client = new OpenAI({
    apiKey: key,
    baseURL: `${address}/v1`,
    maxRetries: 1,
    fetch: async (url, init) => {
      // The client tries its fetch with a data: address before it sends a form.
      if (typeof url === "string" && url.startsWith(address)) attempts += 1;
      return await fetch(url, init);
    },
  });
  const file = await toFile(long, "speech.wav");
  const create = async (options: { signal?: AbortSignal; timeout?: number }) =>
    await client.audio.transcriptions.create({ file, model: "whisper-1", language: "en" }, options);
  const controller = new AbortController();
  const aborted = assert.rejects(create({ signal: controller.signal }), APIUserAbortError);
  await until(async () => (await dialects.sessions()) > 0);
  controller.abort();
  await aborted;
  // Two seconds, on a machine that is five times as slow.
  await until(async () => (await dialects.sessions()) === 0, 10_000);
  assert.equal(attempts, 1);

  // The client takes whole milliseconds only.
  const timeout = Math.round(1_000 * cpuSlowness);
  const late = assert.rejects(create({ timeout }), APIConnectionTimeoutError);
  await until(async () => (await dialects.sessions()) > 0);
  await late;
  assert.equal(attempts, 3, "the client tries again once");
  await until(async () => (await dialects.sessions()) === 0, 10_000);
  await dialects.assertNothingLeft();
});

test("a key that is revoked ends the recognition of its recording", async () => {
  const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", { scopes: ["speech"] });
  const headers = bearer(key.secret);
  const answer = dialects.send([fileOf(long), field("language", "en")], { headers });
  await until(async () => (await dialects.sessions()) > 0);
  const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
  assert.equal(revoked.status, 200);
  const { status, json } = await answer;
  assert.equal(status, 401);
  assert.equal(json.error.code, "invalid_api_key");
  await until(async () => (await dialects.sessions()) === 0);
  await dialects.assertNothingLeft();
});

test("many long recordings of one account leave another its turn", async () => {
  const accountId = await addAccount(dialects.database.db);
  const { token } = await addApiKey(dialects.database.db, accountId, ["speech"]);
  const headers = bearer(token);
  let done = 0;
  const flood = Array.from({ length: 12 }, async () => {
    const { status } = await dialects.send([fileOf(long)], { headers });
    assert.equal(status, 200);
    done += 1;
  });
  await until(async () => (await dialects.sessions()) > 0);
  const { status } = await dialects.send([fileOf(short)]);
  assert.equal(status, 200);
  assert.ok(done <= 6, `${done} of 12 recordings of the other account were before it`);
  await Promise.all(flood);
});

test("many short recordings over one protocol leave another account its turn over another", async () => {
  const accountId = await addAccount(dialects.database.db);
  const { token } = await addApiKey(dialects.database.db, accountId, ["speech"]);
  let done = 0;
  const flood = Array.from({ length: 50 }, async () => {
    const answer = await fetch(`${dialects.service.address}/v1/listen`, {
      method: "POST",
      headers: bearer(token),
      body: new Uint8Array(short),
    });
    assert.equal(answer.status, 200, await answer.text());
    done += 1;
  });
  await until(() => Promise.resolve(done > 0));
  const before = done;
  const { status } = await dialects.send([fileOf(short)]);
  assert.equal(status, 200);
  assert.ok(done - before <= 25, `${done - before} of 50 recordings of the other were before it`);
  await Promise.all(flood);
});

test("an account without audio left gets the code by which clients stop", async () => {
  const accountId = await addAccount(dialects.database.db);
  const limits = JSON.stringify({ audioSecondsPerDay: 1 });
  const { db } = dialects.database;
  await db.updateTable("account").set({ limits }).where("id", "=", accountId).execute();
  const { token } = await addApiKey(dialects.database.db, accountId, ["speech"]);
  const headers = bearer(token);
  await dialects.send([fileOf(short)], { headers });
  const { status, json, headers: answered } = await dialects.send([fileOf(short)], { headers });
  assert.equal(status, 429);
  assert.equal(json.error.type, "insufficient_quota");
  assert.ok(Number(answered.get("retry-after")) > 0);
  let attempts = 0;
  const counting: typeof fetch = async (url, init) => {
    if (typeof url === "string" && url.startsWith("http")) attempts += 1;
    return await fetch(url, init);
  };
  const { address } = dialects.service;
  const { signal } = new AbortController();
  for (const name of ["openai", "groq-sdk"]) {
    const transcribing = clients[name]?.(short, {
      address,
      apiKey: token,
      fetch: counting,
      signal,
    });
    await assert.rejects(transcribing ?? assert.fail(), { status: 429 });
  }
  assert.equal(attempts, 2, "no client tries again");
});

/** What each client does with a recording; the attempts of its calls are counted. */
const clients: Readonly<Record<string, (file: Buffer, use: ClientUse) => Promise<unknown>>> = {
  async openai(file, { address, apiKey, fetch, signal }) {
    const client = new OpenAI({ apiKey, baseURL: `${address}/v1`, maxRetries: 1, fetch });
    const upload = await toFile(file, "speech.wav");
    const create = { file: upload, model: "whisper-1", language: "en" };
    return await client.audio.transcriptions.create(create, { signal });
  },
  async "groq-sdk"(file, { address, apiKey, fetch, signal }) {
    const client = new Groq({ apiKey, baseURL: address, maxRetries: 1, fetch });
    const upload = await toFile(file, "speech.wav");
    const create = { file: upload, model: "whisper-large-v3", language: "en" };
    return await client.audio.transcriptions.create(create, { signal });
  },
  async "ai with @ai-sdk/openai"(audio, { address, apiKey, fetch, signal }) {
    const provider = createOpenAI({ apiKey, baseURL: `${address}/openai/en/v1`, fetch });
    const model = provider.transcription("whisper-1");
    return await transcribe({ model, audio, maxRetries: 1, abortSignal: signal });
  },
  async "ai with @ai-sdk/deepgram"(audio, { address, apiKey, fetch, signal }) {
    const moved: typeof fetch = async (url, init) => {
      const { pathname, search } = new URL(url instanceof Request ? url.url : url);
      return await fetch(`${address}${pathname}${search}`, init);
    };
    const model = createDeepgram({ apiKey, fetch: moved }).transcription("nova-3");
    const providerOptions = { deepgram: { language: "en" } };
    return await transcribe({ model, audio, maxRetries: 1, abortSignal: signal, providerOptions });
  },
  async "@deepgram/sdk"(file, { address, apiKey, fetch, signal }) {
    const environment = { base: address, production: address, agent: address, agentRest: address };
    const client = new DeepgramClient({ apiKey, environment, maxRetries: 1, fetch });
    const options = { model: "nova-3", language: "en" } as const;
    return await client.listen.v1.media.transcribeFile(file, options, { abortSignal: signal });
  },
};

interface ClientUse {
  readonly address: string;
  readonly apiKey: string;
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

for (const [name, transcribeWith] of Object.entries(clients)) {
  test(`${name} does not repeat what is wrong, and ends the work when it is aborted`, async () => {
    const { address, key } = dialects.service;
    let attempts = 0;
    const counting: typeof fetch = async (url, init) => {
      const target = new URL(url instanceof Request ? url.url : url);
      // Some clients try their fetch with a data: address before they send a form.
      if (target.protocol !== "data:") attempts += 1;
      return await fetch(url, init);
    };
    const controller = new AbortController();
    const use = { address, fetch: counting, signal: controller.signal };
    await assert.rejects(transcribeWith(Buffer.from("no recording"), { ...use, apiKey: key }), {
      message: /not a recording|cannot be/,
    });
    await assert.rejects(transcribeWith(short, { ...use, apiKey: "wrong" }), /token|key/i);
    assert.equal(attempts, 2);
    const aborted = assert.rejects(transcribeWith(long, { ...use, apiKey: key }));
    await until(async () => (await dialects.sessions()) > 0);
    controller.abort();
    await aborted;
    await until(async () => (await dialects.sessions()) === 0, 10_000);
    assert.equal(attempts, 3);
    await dialects.assertNothingLeft();
  });
}

test("a client secret is made for a session that is right, in the form of each path", async () => {
  const { address, key } = dialects.service;
  const secrets = "/v1/realtime/client_secrets";
  const beta = "/v1/realtime/transcription_sessions";
  const send = async (path: string, body: string) => {
    const answer = await fetch(`${address}${path}`, { method: "POST", headers: bearer(key), body });
    return { status: answer.status, json: JSON.parse(await answer.text()) };
  };
  const languageIs = (language: string) => ({ audio: { input: { transcription: { language } } } });
  const ofBeta = { input_audio_transcription: { language: "is" } };
  const made: [path: string, body: string][] = [
    [secrets, ""],
    [secrets, "{}"],
    [secrets, JSON.stringify({ session: null })],
    [secrets, JSON.stringify({ session: languageIs("is") })],
    [`/openai/is${secrets}`, JSON.stringify({ session: languageIs("en") })],
    [beta, JSON.stringify(ofBeta)],
    [`/openai${beta}`, ""],
  ];
  for (const [path, body] of made) {
    const { status, json } = await send(path, body);
    assert.equal(status, 200, `${path} ${body}`);
    const isBeta = path.endsWith(beta);
    const secret = isBeta ? json.client_secret : json;
    const session = isBeta ? json : json.session;
    assert.ok(secret.value.length > 20);
    assert.ok(Math.abs(secret.expires_at - Date.now() / 1000 - 60) < 30);
    assert.match(session.id, /^sess_/);
    const language = session.audio.input.transcription.language;
    assert.equal(language, /"language":"(..)"/.exec(body)?.[1], path);
  }
  const refused: [path: string, body: string, param: string | RegExp][] = [
    [secrets, "{", "body"],
    [secrets, "[]", "body"],
    [secrets, '"a"', "body"],
    [secrets, JSON.stringify({ padding: "x".repeat(70_000) }), "body"],
    [secrets, JSON.stringify({ session: [] }), "session"],
    [secrets, JSON.stringify({ session: "is" }), "session"],
    [secrets, JSON.stringify({ session: languageIs("xx") }), /transcription\.language$/],
    [`/openai/xx${secrets}`, "{}", /language$/],
    [beta, JSON.stringify({ input_audio_transcription: { language: "xx" } }), /language$/],
  ];
  for (const [path, body, param] of refused) {
    const { status, json } = await send(path, body);
    assert.equal(status, 400, `${path} ${body.slice(0, 60)}`);
    assert.match(json.error.param, new RegExp(param), `${path} ${body.slice(0, 60)}`);
    assert.equal(json.client_secret ?? json.value, undefined);
  }
});
