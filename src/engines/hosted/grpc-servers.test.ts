// Servers of gRPC on this machine, which answer as Riva has, or wrongly.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { assertFails, key, recognize, settings } from "../../../test/fixtures/hosted-calls.ts";
import {
  rivaBadAudio,
  rivaConstant,
  rivaFinal,
  rivaInferenceFailed,
  rivaInterim,
  rivaNoModel,
  rivaSpeakers,
  rivaWords,
} from "../../../test/fixtures/recorded-riva.ts";
import { openGrpcBytes } from "../../../test/fixtures/speech-servers.ts";
import { openGoogleServer } from "./google-server.ts";
import type { ServerSettings } from "./hosted-server.ts";
import { openRivaServer } from "./riva-server.ts";
import { type FailureKind, ServerFailure } from "./server-failure.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

describe("a server of gRPC", () => {
  const bytes = (hex: string) => Buffer.from(hex, "hex");
  const riva = "/nvidia.riva.asr.RivaSpeechRecognition/";

  async function answering(...args: Parameters<typeof openGrpcBytes>): Promise<ServerSettings> {
    const server = opened.use(await openGrpcBytes(...args));
    return settings(`http://${server.host}`, { model: "conformer" });
  }

  test("Riva's streams are read: words with times, and scores are not confidences", async () => {
    const calls: { path: string; messages: readonly Buffer[]; authorization: unknown }[] = [];
    const server = await answering((path, messages, { authorization }) => {
      calls.push({ path, messages, authorization });
      return { messages: [rivaInterim, rivaFinal].map(bytes), status: 0 };
    });
    const { readings, partials } = await recognize(openRivaServer(server), "live");
    const words = [
      { text: "Yeah,", startMs: 80, endMs: 320 },
      { text: "you're", startMs: 360, endMs: 560 },
      { text: "working.", startMs: 600, endMs: 1000 },
    ];
    assert.deepEqual(readings, [
      { text: "Yeah, you're working.", words },
      { text: "Hey, you're working.", words: [] },
    ]);
    assert.deepEqual(partials, ["you're work ing", "Yeah, you're working."]);
    assert.equal(calls[0]?.path, `${riva}StreamingRecognize`);
    assert.equal(calls[0].authorization, `Bearer ${key}`);
    const [first, ...audio] = calls[0].messages;
    assert.equal(first?.includes("conformer"), true);
    assert.equal(first.includes("good day"), true);
    // Each message has a tag and a length before its audio.
    const audioBytes = audio.map(({ length }) => length);
    assert.deepEqual(audioBytes, [3 + 16_000, 4 + 22_400]);
  });

  test("Riva's recordings are read: 1.0 for every text is not a confidence either", async () => {
    const paths: string[] = [];
    const recognized = async (hex: string) => {
      const server = await answering((path) => {
        paths.push(path);
        return { messages: [bytes(hex)], status: 0 };
      });
      const options = { lengthMs: 4152 };
      const { readings } = await recognize(openRivaServer(server), "job", 1, options);
      return readings;
    };
    const text = "What is natural language processing?";
    assert.deepEqual(await recognized(rivaConstant), [{ text, words: [] }]);
    assert.deepEqual(await recognized(rivaWords), [
      {
        text: "What is Natural Language Processing?",
        words: [
          { text: "What", startMs: 840, endMs: 880 },
          { text: "is", startMs: 1160, endMs: 1200 },
          { text: "Natural", startMs: 1800, endMs: 2080 },
          { text: "Language", startMs: 2200, endMs: 2520 },
          { text: "Processing?", startMs: 2720, endMs: 3200 },
        ],
      },
    ]);
    const [speakers] = await recognized(rivaSpeakers);
    assert.equal(speakers?.text, "Well, I'm Bill");
    assert.deepEqual(speakers.words.at(-1), { text: "Bill", startMs: 3240, endMs: 3480 });
    assert.deepEqual(new Set(paths), new Set([`${riva}Recognize`]));
  });

  test("Riva's words for a missing model are not taken for a refusal of the audio", async () => {
    const rows: [status: number, words: string, kind: FailureKind][] = [
      [3, rivaNoModel[0], "denied"],
      [3, rivaNoModel[1], "denied"],
      [3, rivaBadAudio, "refused"],
      [2, rivaInferenceFailed, "error"],
    ];
    for (const [status, words, kind] of rows) {
      const server = await answering(() => ({ status, words }));
      const named = words.trim();
      const error = await assertFails(openRivaServer(server), kind, /Error: /, "job");
      assert.ok(error.message.endsWith(named), error.message);
    }
  });

  test("the failures of both protocols are distinguished", async () => {
    const rows: [status: number, kind: FailureKind][] = [
      [16, "denied"],
      [7, "denied"],
      [12, "denied"],
      [3, "refused"],
      [8, "busy"],
      [14, "unreachable"],
      [13, "error"],
      [2, "error"],
    ];
    for (const [status, kind] of rows) {
      const server = await answering(() => ({ status, words: `because of ${key}` }));
      await assertFails(openGoogleServer(server), kind, /because of \*\*\*/);
      await assertFails(openRivaServer(server), kind, /because of \*\*\*/, "live");
    }
  });

  test("garbage, too much and too many results are refused", async () => {
    const garbage = await answering(() => ({ messages: [Buffer.from("no message")], status: 0 }));
    await assert.rejects(recognize(openRivaServer(garbage)), ServerFailure);
    const huge = await answering(() => ({ messages: [Buffer.alloc(2 << 20, 10)], status: 0 }));
    await assertFails(openGoogleServer(huge), "refused", /larger/);
    const messages = Array.from({ length: 300 }, () => bytes(rivaFinal));
    const many = await answering(() => ({ messages, status: 0 }));
    await assertFails(openRivaServer(many), "refused", /more than 200 results/, "live");
  });

  test("a check asks for the health of the service, which not every server has", async () => {
    const { signal } = new AbortController();
    const paths: string[] = [];
    const health = (status: number) => Buffer.from([8, status]);
    const rows: [answer: Parameters<typeof openGrpcBytes>[0], problem: RegExp | undefined][] = [
      [() => ({ messages: [health(1)], status: 0 }), undefined],
      [() => ({ status: 12 }), undefined],
      [() => ({ status: 5 }), undefined],
      [() => ({ messages: [health(2)], status: 0 }), /does not serve/],
      [() => ({ status: 16, words: "no" }), /Unauthenticated: no/],
    ];
    for (const [answer, problem] of rows) {
      const server = openGoogleServer(
        await answering((path, ...rest) => {
          paths.push(path);
          return answer(path, ...rest);
        }),
      );
      if (problem) await assert.rejects(server.probe(signal), problem);
      else await server.probe(signal);
      server.close();
    }
    assert.deepEqual(new Set(paths), new Set(["/grpc.health.v1.Health/Check"]));
    const gone = openGoogleServer(settings("http://127.0.0.1:1"));
    await assert.rejects(gone.probe(signal), /ECONNREFUSED/);
  });
});
