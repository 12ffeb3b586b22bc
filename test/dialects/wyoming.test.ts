// The TCP protocol of Home Assistant, as its client and the clients of its reference implementation
// use it. There is no client package for Node: the client here is written from what they send.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { addAccount, addApiKey } from "../fixtures/auth-fixture.ts";
import { setAccountLimits } from "../../src/accounts/set-account-limits.ts";
import { encode } from "../fixtures/encoded-audio.ts";
import { espeak, flite, joined, samplesOfWav, silence } from "../fixtures/flite.ts";
import { wavOf } from "../fixtures/jobs-fixture.ts";
import { until, within } from "../fixtures/until.ts";
import { callRest } from "../spec/service.ts";
import { openDialectService, type DialectService } from "./dialect-service.ts";
import { bytesOf } from "./dialect-stream.ts";
import {
  eventBytes,
  homeFormat,
  openWyomingClient,
  type ChunkFormat,
  type WyomingClient,
  type WyomingEvent,
} from "./wyoming-client.ts";

const samples = espeak("við hittumst á kaffihúsinu");
const text = "Við hittumst á kaffihúsinu.";

let dialects: DialectService;

before(async () => {
  dialects = await openDialectService({ HLUST_WYOMING_LISTEN: "127.0.0.1:0" });
});
after(() => dialects[Symbol.asyncDispose]());

async function open(): Promise<WyomingClient> {
  const { service } = dialects;
  assert.ok(service.app.wyomingAddress);
  return await openWyomingClient(service.app.wyomingAddress, service.address);
}

function typesOf({ events }: WyomingClient): string[] {
  return events.map(({ type }) => type);
}

/** Replaces the key of the service for Wyoming, until it is disposed of. */
async function withKey(key: string): Promise<AsyncDisposable> {
  const file = join(dialects.service.dataFolder, "api-key");
  const before = await readFile(file, "utf8");
  await writeFile(file, key);
  return {
    async [Symbol.asyncDispose]() {
      await writeFile(file, before);
    },
  };
}

describe("Home Assistant", () => {
  test("finds the program, its models and their languages", async () => {
    const client = await open();
    client.send("describe");
    const { data } = await within("info", client.waitFor("info"));
    client.socket.destroy();
    const [program, ...others] = data.asr;
    assert.deepEqual(others, []);
    for (const each of [program, ...program.models]) {
      const { name, attribution, installed, description, version } = each;
      // Its parser raises an error for an info without one of these.
      assert.ok([name, attribution.name, attribution.url].every((it) => typeof it === "string"));
      assert.equal(installed, true);
      for (const it of [description, version]) assert.ok(it === null || typeof it === "string");
    }
    assert.equal(program.supports_transcript_streaming, true);
    const languages = new Set(
      program.models.flatMap((model: { languages: string[] }) => model.languages),
    );
    for (const each of ["is", "is-IS", "en", "en-US"]) assert.ok(languages.has(each), each);
    for (const kind of ["tts", "handle", "intent", "wake", "mic", "snd"]) {
      assert.deepEqual(data[kind], []);
    }
  });

  const rows = [
    { language: "is", samples, text },
    { language: "en-US", samples: flite("thank you very much"), text: "Thank you very much." },
  ];
  for (const row of rows) {
    test(`gets the transcript of a command, as its only answer but the parts (${row.language})`, async () => {
      const client = await open();
      client.send("transcribe", { language: row.language });
      client.sendAudio(bytesOf(joined(silence(300), row.samples)));
      const { data } = await client.waitFor("transcript");
      assert.deepEqual(data, { text: row.text, language: row.language });
      await within("the end of the connection", client.closed);
      const { language } = row;
      assert.deepEqual(client.events, [
        { type: "transcript-start", data: { language } },
        { type: "transcript-chunk", data: { text: row.text } },
        { type: "transcript", data: { text: row.text, language } },
        { type: "transcript-stop", data: {} },
      ] satisfies WyomingEvent[]);
    });
  }

  test("gets utterances as they become final, while it sends, and all of them as one", async () => {
    const client = await open();
    client.send("transcribe", { language: "is" });
    client.sendAudio(bytesOf(joined(samples, silence(1_000))), { isOpen: true });
    const first = await within("the first part", client.waitFor("transcript-chunk"));
    assert.deepEqual(first.data, { text });
    client.send("audio-chunk", homeFormat, bytesOf(samples));
    client.send("audio-stop", { timestamp: 5_000 });
    const { data } = await client.waitFor("transcript");
    await client.closed;
    const parts = client.events.filter(({ type }) => type === "transcript-chunk");
    assert.deepEqual(
      parts.map((part) => part.data.text),
      [text, ` ${text}`],
    );
    assert.equal(data.text, `${text} ${text}`);
  });

  test("continues to send until it has read the transcript", async () => {
    const client = await open();
    client.send("transcribe", { language: "is" });
    client.sendAudio(bytesOf(samples));
    const more = bytesOf(silence(64));
    const sending = setInterval(() => client.send("audio-chunk", homeFormat, more), 5);
    try {
      assert.equal((await client.waitFor("transcript")).data.text, text);
    } finally {
      clearInterval(sending);
    }
    await client.closed;
  });
});

describe("a client of Wyoming", () => {
  test("sends audio in every form that its events name", async () => {
    const wide = Int16Array.from({ length: samples.length * 6 }, (_, at) => {
      const [before, next] = [samples[Math.floor(at / 6)] ?? 0, samples[Math.ceil(at / 6)] ?? 0];
      return before + ((next - before) * (at % 6)) / 6;
    });
    const narrow = samplesOfWav(encode(wavOf(samples), "narrow.wav"));
    const rows: [audio: Int16Array, format: ChunkFormat][] = [
      [samples, { rate: 16_000, width: 1, channels: 1 }],
      [samples, { rate: 16_000, width: 2, channels: 2 }],
      [samples, { rate: 16_000, width: 3, channels: 1 }],
      [samples, { rate: 16_000, width: 4, channels: 6 }],
      [narrow, { rate: 8_000, width: 2, channels: 1 }],
      [wide, { rate: 96_000, width: 2, channels: 1 }],
    ];
    for (const [audio, format] of rows) {
      const client = await open();
      client.send("transcribe", { language: "is" });
      client.sendAudio(inFormat(audio, format), { format });
      const { data } = await client.waitFor("transcript");
      assert.equal(data.text, text, JSON.stringify(format));
    }
  });

  test("may change the form between two chunks", async () => {
    const client = await open();
    const half = 2 * Math.floor(samples.length / 4);
    client.send("audio-chunk", homeFormat, bytesOf(samples.subarray(0, half)));
    const format = { rate: 16_000, width: 4, channels: 2 };
    client.send("audio-chunk", format, inFormat(samples.subarray(half), format));
    client.send("audio-stop");
    assert.equal((await client.waitFor("transcript")).data.text, text);
  });

  test("gets an answer without a language and audio-start, and with events in between", async () => {
    const client = await open();
    const audio = bytesOf(samples);
    const all = Buffer.concat([
      Buffer.from('{"type": "audio-chunk", "data": {"rate": 16000}, "payload_length": 3}\n'),
      audio.subarray(0, 3),
      eventBytes("unknown-event", { some: "thing" }, Buffer.from("with a payload")),
      eventBytes("ping", { text: "ertu þarna?" }),
      eventBytes("audio-chunk", homeFormat, audio.subarray(3)),
      eventBytes("audio-stop"),
    ]);
    client.socket.write(all);
    assert.equal((await client.waitFor("transcript")).data.text, text);
    assert.deepEqual((await client.waitFor("pong")).data, { text: "ertu þarna?" });
  });

  test("that closes its side after its events still gets the answers", async () => {
    const client = await open();
    client.send("describe");
    client.sendAudio(bytesOf(samples));
    client.socket.end();
    assert.equal((await client.waitFor("transcript")).data.text, text);
    assert.equal(typesOf(client)[0], "info");
    await client.closed;
  });

  test("gets an empty transcript for silence, and for no audio at all", async () => {
    const quiet = await open();
    quiet.sendAudio(bytesOf(silence(500)));
    assert.equal((await quiet.waitFor("transcript")).data.text, "");
    await quiet.closed;
    assert.deepEqual(typesOf(quiet), ["transcript"]);
    for (const type of ["audio-start", "nothing"]) {
      const client = await open();
      if (type === "audio-start") client.send(type, homeFormat);
      client.send("audio-stop");
      assert.equal((await client.waitFor("transcript")).data.text, "");
    }
  });
});

/** Returns samples in another form: every channel has the same ones. */
function inFormat(audio: Int16Array, { width, channels }: ChunkFormat): Buffer {
  const bytes = Buffer.alloc(audio.length * width * channels);
  for (const [at, sample] of audio.entries()) {
    const value = Math.floor(sample * 2 ** (8 * width - 16));
    for (let channel = 0; channel < channels; channel += 1) {
      bytes.writeIntLE(value, (at * channels + channel) * width, width);
    }
  }
  return bytes;
}

describe("what Wyoming cannot use", () => {
  const rows: [what: string, bytes: string | Buffer, code: string, says: RegExp][] = [
    ["a line that is not JSON", "hello\n", "INVALID_ARGUMENT", /^event: must be a line of JSON/],
    ["a line without a type", "{}\n", "INVALID_ARGUMENT", /^event: must be .* with a type/],
    ["a request of HTTP", "GET / HTTP/1.1\r\n\r\n", "INVALID_ARGUMENT", /^event: must be a line/],
    [
      "a line without an end",
      `{"type":"${"a".repeat(70_000)}`,
      "INVALID_ARGUMENT",
      /^event: the line has more than 65536 bytes/,
    ],
    [
      "data that is too large",
      '{"type":"transcribe","data_length":65537}\n',
      "INVALID_ARGUMENT",
      /^data_length: must be 0 to 65536, not 65537/,
    ],
    [
      "a payload with a negative length",
      '{"type":"audio-chunk","payload_length":-1}\n',
      "INVALID_ARGUMENT",
      /^payload_length: must be 0 to 16777216, not -1/,
    ],
    [
      "data that is not an object",
      '{"type":"transcribe","data_length":2}\n[]',
      "INVALID_ARGUMENT",
      /^data: must be a JSON object/,
    ],
    [
      "a form without meaning",
      eventBytes("audio-start", { rate: 4_000, width: 9, channels: 0 }),
      "INVALID_ARGUMENT",
      /^rate: must be 8000 to 384000, not 4000; width: must be 1 to 4, not 9; channels: must be 1/,
    ],
    [
      "a language without a model",
      Buffer.concat([eventBytes("transcribe", { language: "xx" }), eventBytes("audio-start")]),
      "INVALID_ARGUMENT",
      /^language: is "xx", which has no installed model; installed: en-US, is-IS/,
    ],
  ];
  for (const [what, bytes, code, says] of rows) {
    test(`${what} gets an error event, and the connection closes`, async () => {
      const client = await open();
      client.socket.write(bytes);
      const { data } = await client.waitFor("error");
      assert.equal(data.code, code);
      assert.match(data.text, says);
      await within("the end of the connection", client.closed);
      assert.deepEqual(typesOf(client), ["error"]);
    });
  }

  test("events before a broken one are answered", async () => {
    const client = await open();
    client.socket.write(Buffer.concat([eventBytes("ping", { text: "a" }), Buffer.from("?\n")]));
    await client.closed;
    assert.deepEqual(typesOf(client), ["pong", "error"]);
  });
});

describe("a call over Wyoming", () => {
  test("runs under the key of the file, and counts for its account", async () => {
    const { db } = dialects.database;
    const accountId = await addAccount(db);
    const operator = { actor: "operator", origin: { address: "", requestId: "" } };
    await setAccountLimits(db, operator, accountId, { audioSecondsPerDay: 3 });
    const { token } = await addApiKey(db, accountId, ["speech", "account"]);
    await using _key = await withKey(token);
    const client = await open();
    client.sendAudio(bytesOf(joined(samples, silence(4_000))));
    const { data } = await client.waitFor("error");
    assert.equal(data.code, "AUDIO_LIMIT");
    assert.deepEqual(typesOf(client), ["transcript-start", "transcript-chunk", "error"]);
    const account = { method: "GET", path: "/v1/account" };
    const { usage } = (await callRest(dialects.service.address, token, account)).json;
    assert.equal(usage.audioSecondsPerDay, 3);
  });

  test("is refused without the scope speech, which is in the audit log", async () => {
    const { db } = dialects.database;
    const accountId = await addAccount(db);
    const { token } = await addApiKey(db, accountId, ["transcripts.read"]);
    await using _key = await withKey(token);
    const client = await open();
    client.sendAudio(bytesOf(samples));
    assert.equal((await client.waitFor("error")).data.code, "SCOPE_MISSING");
    await until(async () => {
      const events = db.selectFrom("audit_event").select("id");
      return (await events.where("account_id", "=", accountId).execute()).length > 0;
    });
  });

  test("ends at once when its key is revoked, and is refused from then on", async () => {
    const { json: key } = await dialects.service.call("POST", "/v1/apiKeys", {
      scopes: ["speech"],
    });
    await using _key = await withKey(key.secret);
    const client = await open();
    client.sendAudio(bytesOf(samples), { isOpen: true });
    await until(async () => (await dialects.sessions()) > 0);
    const revoked = await dialects.service.call("DELETE", `/v1/${key.apiKey.name}`);
    assert.equal(revoked.status, 200);
    assert.equal((await client.waitFor("error")).data.code, "TOKEN_INVALID");
    await until(async () => (await dialects.sessions()) === 0);
    for (const type of ["describe", "audio-start"]) {
      const next = await open();
      next.send(type);
      assert.equal((await next.waitFor("error")).data.code, "TOKEN_INVALID");
    }
  });
});

// The last test of the file, since the service refuses new commands afterwards.
test("a node that drains lets a command finish, and refuses the next one", async () => {
  const client = await open();
  client.send("transcribe", { language: "is" });
  client.sendAudio(bytesOf(samples), { isOpen: true });
  await until(async () => (await dialects.sessions()) > 0);
  const draining = dialects.service.app.drain(60_000, new AbortController().signal);
  const next = await open();
  assert.equal((await next.waitFor("error")).data.code, "SHUTTING_DOWN");
  client.send("audio-stop");
  assert.equal((await client.waitFor("transcript")).data.text, text);
  await client.closed;
  await within("the end of the drain", draining);
});
