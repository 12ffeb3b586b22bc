// The two servers of Vosk, which answer as they did when they were recorded.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { key, recognize, settings } from "../../../test/fixtures/hosted-calls.ts";
import {
  type RecordedConnection,
  voskAlternatives,
  voskBadConfig,
  voskNothing,
  voskServers,
  voskSilence,
  voskWords,
} from "../../../test/fixtures/recorded-vosk-server.ts";
import { openSocketServer } from "../../../test/fixtures/speech-servers.ts";
import { openVoskServer } from "./vosk-server.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());
const lengthMs = 1580;

/**
 * Opens a server that answers each message of audio with the next partial result, and eof with the
 * last answer. The one in C++ compares text up to a byte of 0, takes any other text for audio, and
 * closes when it gets a message after eof.
 */
async function answering(recorded: RecordedConnection, name: keyof typeof voskServers = "python") {
  const received: (string | number)[] = [];
  let authorization: string | undefined;
  const server = opened.use(
    await openSocketServer((socket, { headers }) => {
      ({ authorization } = headers);
      const last = recorded.answers.at(-1) ?? "";
      const waiting = recorded.answers.slice(0, -1);
      let isOver = false;
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        const text = data.toString();
        received.push(isBinary ? data.length : text);
        if (isOver) return socket.close(recorded.code);
        const isEof = text === (name === "cpp" ? '{"eof" : 1}\0' : '{"eof" : 1}');
        const isAudio = isBinary || (name === "cpp" && !isEof);
        if (isAudio) socket.send(waiting.shift() ?? '{\n  "partial" : ""\n}');
        if (!isEof) return;
        socket.send(last);
        isOver = name === "cpp";
        if (!isOver) socket.close(recorded.code);
      });
    }, voskServers[name]),
  );
  return { address: `ws://${server.host}`, received, authorization: () => authorization };
}

describe("a server of Vosk", () => {
  const goodDay = [
    { text: "good", startMs: 301, endMs: 589, confidence: 1 },
    { text: "day", startMs: 736, endMs: 1078, confidence: 0.758555 },
  ];

  test("in Python: its words, times, confidences and texts so far are read", async () => {
    const { address, received, authorization } = await answering(voskWords);
    const server = openVoskServer(settings(address));
    const { readings, partials } = await recognize(server, "live", 1, { lengthMs });
    assert.deepEqual(readings, [{ text: "good day", words: goodDay }]);
    assert.deepEqual(partials, ["", "good", "good", "good day", "good day", "good day"]);
    assert.equal(authorization(), `Bearer ${key}`);
    const [config, ...audio] = received;
    assert.equal(config, '{"config":{"sample_rate":16000,"words":true}}');
    assert.equal(audio.pop(), '{"eof" : 1}');
    const bytes = audio.reduce<number>((sum, each) => sum + Number(each), 0);
    assert.equal(bytes, 2 * 19_200);
  });

  test("in C++: it gets no configuration, and is not waited for in vain", async () => {
    const { address, received } = await answering(voskWords, "cpp");
    const server = openVoskServer(settings(address));
    const signal = AbortSignal.timeout(5000);
    const { readings } = await recognize(server, "live", 1, { lengthMs, signal });
    assert.deepEqual(readings, [{ text: "good day", words: goodDay }]);
    assert.deepEqual(
      received.filter((each) => typeof each === "string"),
      ['{"eof" : 1}\0', '{"eof" : 1}\0'],
    );
  });

  test("its alternatives have no confidences, since it gives scores", async () => {
    const { address, received } = await answering(voskAlternatives);
    const server = openVoskServer(settings(address));
    const { readings } = await recognize(server, "job", 3, { lengthMs });
    const word = (text: string, startMs: number, endMs: number) => ({ text, startMs, endMs });
    const [good, last] = [word("good", 300, 600), [720, 1080] as const];
    assert.deepEqual(readings, [
      { text: "good day", words: [good, word("day", ...last)] },
      { text: "good they", words: [good, word("they", ...last)] },
      {
        text: "good good day",
        words: [word("good", 300, 390), word("good", 390, 600), word("day", ...last)],
      },
    ]);
    assert.match(String(received[0]), /"max_alternatives":3/);
  });

  test("a score that looks like a probability is none", async () => {
    const scores = [0.25, -3.5].map((confidence, at) => ({ confidence, text: `a${at}` }));
    const answers = [JSON.stringify({ alternatives: scores })];
    const { address } = await answering({ answers, code: 1000 });
    const { readings } = await recognize(openVoskServer(settings(address)), "job");
    assert.deepEqual(readings, [
      { text: "a0", words: [] },
      { text: "a1", words: [] },
    ]);
  });

  test("silence has no words, though Vosk names what noise could have been", async () => {
    for (const recorded of [voskSilence, voskNothing]) {
      const { address } = await answering(recorded);
      const server = openVoskServer(settings(address));
      const { readings } = await recognize(server, "job", 3);
      assert.deepEqual(readings, []);
    }
  });

  test("a connection that it breaks off is a failure of the server", async () => {
    const { address } = await answering(voskBadConfig);
    const failing = recognize(openVoskServer(settings(address)));
    await assert.rejects(failing, { kind: "broken" });
  });

  test("a check ends the audio before any, of both servers", async () => {
    for (const name of ["python", "cpp"] as const) {
      const { address, received } = await answering(voskNothing, name);
      await openVoskServer(settings(address)).probe(AbortSignal.timeout(5000));
      assert.match(String(received[0]), /^\{"eof" : 1\}/);
    }
  });
});
