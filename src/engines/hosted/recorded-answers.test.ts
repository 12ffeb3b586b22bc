// Answers of real servers, as they were recorded, from servers on this machine.
import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { speech } from "../../../test/fixtures/engine-pool-fixture.ts";
import { assertFails, recognize, settings } from "../../../test/fixtures/hosted-calls.ts";
import {
  fasterWhisperWords,
  groqNoWords,
  mistralJson,
  openaiJson,
  openaiNoVerbose,
  openaiVerbose,
  type RecordedAnswer,
  speachesNoModel,
  speachesVerbose,
  speachesWords,
  speachesWrongKey,
  vllmNoModel,
  vllmNoVerbose,
  vllmVerbose,
} from "../../../test/fixtures/recorded-openai.ts";
import {
  whisperCppInvalid,
  whisperCppLong,
  whisperCppNoModels,
  whisperCppNoPath,
  whisperCppShort,
  whisperCppVerbose,
} from "../../../test/fixtures/recorded-whisper-cpp.ts";
import { openHttpServer } from "../../../test/fixtures/speech-servers.ts";
import { parseNamedCard } from "../../models/models-folder.ts";
import { openHostedEngine } from "./hosted-engine.ts";
import { openOpenaiServer } from "./openai-server.ts";

const opened = new AsyncDisposableStack();
after(() => opened.disposeAsync());

/** Opens a server that gives these answers, one a request, and the last one from then on. */
async function answering(...answers: RecordedAnswer[]) {
  const formats: string[] = [];
  let count = 0;
  const server = opened.use(
    await openHttpServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        const body = Buffer.concat(chunks).toString("latin1");
        formats.push(/name="response_format"\r\n\r\n([^\r]*)/.exec(body)?.[1] ?? "");
        const { status, text } = answers[Math.min(count++, answers.length - 1)] ?? openaiJson;
        response.writeHead(status, { "content-type": "application/json" }).end(text);
      });
    }),
  );
  return { address: `http://${server.host}/v1`, formats };
}

describe("recorded answers of OpenAI's protocol", () => {
  const ruby = "Ruby is a programming language designed for developer happiness.";

  test("texts without times of words are read", async () => {
    const rows = [
      [openaiJson, ruby],
      [mistralJson, ruby],
      [openaiVerbose, "Hello, how are you doing my friend?"],
      [speachesVerbose, "Hello, world."],
      [vllmVerbose, "as well as a beginning, signifying renewal as well as change."],
    ] as const;
    for (const [answer, text] of rows) {
      const { address } = await answering(answer);
      const { readings } = await recognize(openOpenaiServer(settings(address)));
      assert.deepEqual(readings, [{ text, words: [] }]);
    }
  });

  test("words of faster-whisper have times and probabilities", async () => {
    const { address } = await answering(fasterWhisperWords);
    const server = openOpenaiServer(settings(address));
    const { readings } = await recognize(server, "short", 1, { lengthMs: 6540 });
    const [reading] = readings;
    assert.equal(reading?.text, "When you call someone who is thousands of");
    assert.equal(reading.words.length, 8);
    const [first] = reading.words;
    assert.deepEqual(first, {
      text: "When",
      startMs: 820,
      endMs: 1340,
      confidence: 0.7198526263237,
    });
    assert.equal(reading.confidence, undefined);
  });

  test("words of speaches have times, and no probabilities are invented", async () => {
    const { address } = await answering(speachesWords);
    const server = openOpenaiServer(settings(address));
    const { readings } = await recognize(server, "short", 1, { lengthMs: 1324 });
    const words = [
      { text: "Hello,", startMs: 0, endMs: 440 },
      { text: "world.", startMs: 440, endMs: 1040 },
    ];
    assert.deepEqual(readings, [{ text: "Hello, world.", words }]);
  });

  test("a model without verbose_json or times of words is asked for json from then on", async () => {
    for (const refusal of [openaiNoVerbose, vllmNoVerbose, groqNoWords]) {
      const { address, formats } = await answering(refusal, openaiJson);
      const server = openOpenaiServer(settings(address));
      for (let count = 0; count < 2; count++) {
        const { readings } = await recognize(server, "short", 1, { staysOpen: true });
        assert.deepEqual(readings, [{ text: ruby, words: [] }]);
      }
      server.close();
      assert.deepEqual(formats, ["verbose_json", "json", "json"]);
    }
    // A server that refuses json too is not asked again.
    const { address, formats } = await answering(openaiNoVerbose);
    const server = openOpenaiServer(settings(address));
    await assertFails(server, "refused", /answered 400: response_format 'verbose_json' is not/);
    assert.deepEqual(formats, ["verbose_json", "json"]);
  });

  test("utterances that are sent at the same time are all sent again as json", async () => {
    const { address, formats } = await answering(openaiNoVerbose, openaiNoVerbose, openaiJson);
    const server = openOpenaiServer(settings(address));
    const calls = [1, 2].map(() => recognize(server, "short", 1, { staysOpen: true }));
    for (const { readings } of await Promise.all(calls)) {
      assert.deepEqual(readings, [{ text: ruby, words: [] }]);
    }
    server.close();
    assert.deepEqual(formats, ["verbose_json", "verbose_json", "json", "json"]);
  });

  test("wrong models and keys are named in the server's words", async () => {
    const rows = [
      [speachesNoModel, /answered 404: Model 'deepdml\/.*' is not installed locally/],
      [speachesWrongKey, /answered 403: Invalid API key/],
      [vllmNoModel, /answered 404: The model `\/data\/Qwen1.5-72B-Chat` does not exist\.$/],
    ] as const;
    for (const [answer, words] of rows) {
      const { address } = await answering(answer);
      await assertFails(openOpenaiServer(settings(address)), "denied", words);
    }
  });
});

describe("recorded answers of whisper.cpp", () => {
  const cardOf = (address: string) => {
    const more = { engine: "hosted", kind: "openai-transcriptions", server: { address } };
    const card = { name: "whisper", version: "1", languageCodes: ["is-IS"], ...more };
    return parseNamedCard(JSON.stringify(card));
  };

  /** Opens a server that answers each request with these bytes, head and all. */
  async function answeringBytes(bytes: string) {
    const requests: string[] = [];
    const server = opened.use(
      await openHttpServer((request) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          requests.push(Buffer.concat(chunks).toString("latin1"));
          request.socket.end(bytes);
        });
      }),
    );
    return { address: `http://${server.host}/v1`, requests };
  }

  test("its tokens are joined to words, with the mean of their probabilities", async () => {
    const { address, requests } = await answeringBytes(whisperCppVerbose);
    const server = openOpenaiServer(settings(address));
    for (let count = 0; count < 2; count++) {
      const { readings } = await recognize(server, "short", 1, { staysOpen: true });
      const [reading] = readings;
      assert.equal(reading?.text, "Góðan daginn. Þetta er próf.");
      const rounded = reading.words.map(({ text, startMs, endMs, confidence = 0 }) =>
        [text, startMs, endMs, confidence.toFixed(3)].join(" "),
      );
      assert.deepEqual(rounded, [
        "Góðan 0 120 0.904",
        "daginn. 120 510 0.732",
        "Þetta 510 760 0.586",
        "er 760 850 0.954",
        "próf. 850 1190 0.690",
      ]);
    }
    server.close();
    // Once it is known, it is not asked for the probabilities of all languages.
    const asked = requests.map((body) => body.includes('name="no_language_probabilities"'));
    assert.deepEqual(asked, [false, true]);
  });

  test("a line that ends within a word does not divide it", async () => {
    const { address } = await answeringBytes(whisperCppLong);
    const server = openOpenaiServer(settings(address));
    const { readings } = await recognize(server, "short", 1, { lengthMs: 8000 });
    const [reading] = readings;
    const parts = [
      "Þórður og Íris fóru í Þórsmörk á þriðjudaginn þegar Ægir var í Ölfusi og Úlfar í",
      "Ýmisdal, en Þóra ætlar þangað á fimmtudag.",
    ];
    assert.equal(reading?.text, parts.join(" "));
    assert.equal(reading.words.length, 23);
    assert.equal(reading.words.at(-1)?.text, "fimmtudag.");
  });

  test("it gets one recording at a time, and other servers get several", async () => {
    for (const [bytes, most] of [
      [whisperCppVerbose, 1],
      ['HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n{"text":"a"}', 3],
    ] as const) {
      let [open, mostOpen] = [0, 0];
      const server = opened.use(
        await openHttpServer((request) => {
          const isCall = request.method === "POST";
          if (isCall) open += 1;
          mostOpen = Math.max(mostOpen, open);
          request.resume().on("end", () => {
            const answer = () => {
              if (isCall) open -= 1;
              request.socket.end(bytes);
            };
            if (isCall) setTimeout(answer, 50);
            else answer();
          });
        }),
      );
      const engine = await openHostedEngine(cardOf(`http://${server.host}/v1`), {});
      const utterances = Array.from({ length: 3 }, async () => {
        const decoder = engine.createDecoder({ mode: "job", alternativesMax: 1 });
        decoder.begin();
        decoder.accept(speech(1200));
        const ending = decoder.end();
        for (let step = ending.next(); ; step = ending.next()) {
          if (step.done === true) return step.value.length;
          await step.value;
        }
      });
      assert.deepEqual(await Promise.all(utterances), [1, 1, 1]);
      engine.close();
      assert.equal(mostOpen, most);
    }
  });

  test("audio that is too short for it has no words", async () => {
    const { address } = await answeringBytes(whisperCppShort);
    const { readings } = await recognize(openOpenaiServer(settings(address)));
    assert.deepEqual(readings, []);
  });

  test("its refusals are named, and a check needs no list of models", async () => {
    const invalid = await answeringBytes(whisperCppInvalid);
    const words = /answered 400: Invalid request$/;
    await assertFails(openOpenaiServer(settings(invalid.address)), "refused", words);
    const lost = await answeringBytes(whisperCppNoPath);
    const path = /answered 404: File Not Found \(\/inference\)$/;
    await assertFails(openOpenaiServer(settings(lost.address)), "denied", path);
    const { address } = await answeringBytes(whisperCppNoModels);
    const server = openOpenaiServer(settings(address));
    await server.probe(new AbortController().signal);
    server.close();
  });
});
