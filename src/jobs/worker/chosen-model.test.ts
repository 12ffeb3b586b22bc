import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { toneRecognizer, toneWav } from "../../../test/fixtures/jobs-fixture.ts";
import {
  numbers,
  openWorkerFixture,
  type WorkerFixture,
} from "../../../test/fixtures/worker-fixture.ts";
import type { Recognizer } from "../../engines/protocol/recognizer.ts";
import type { SpeakerDiarizationConfigSchema } from "../../gen/hlust/speech/v2beta1/speech_pb.ts";
import {
  TranscriptJob_State as State,
  TranscriptMetadata_FileType as FileType,
} from "../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { ServiceError } from "../../std/service-error.ts";

let fixture: WorkerFixture;
before(async () => {
  fixture = await openWorkerFixture();
});
after(() => fixture[Symbol.asyncDispose]());

/** Two people speak in turns of a second, with voices that differ. */
const diarize: Recognizer["diarize"] = async ({ length }) => {
  const seconds = Math.floor(length / 16_000);
  const turns = Array.from({ length: seconds }, (_, at) => ({
    speaker: at % 2,
    startMs: at * 1000,
    endMs: (at + 1) * 1000,
  }));
  const voices = [0, 1].map((speaker) => ({
    speaker,
    embedding: [1 - speaker, speaker],
    seconds: seconds / 2,
  }));
  return await Promise.resolve({ turns, speakers: voices });
};

/** Recognizes with the models "tones" and "tones-2", and notes the ones that are named. */
function recognizerNoting(named: (string | undefined)[]): Recognizer {
  const tones = toneRecognizer();
  return {
    ...tones,
    canDiarize: () => true,
    diarize,
    recognize(input, options) {
      named.push(options.model);
      return tones.recognize(input, options);
    },
  };
}

interface Choices {
  readonly model?: string;
  readonly diarizationConfig?: MessageInitShape<typeof SpeakerDiarizationConfigSchema>;
}

async function submitted(more: Choices = {}): Promise<string> {
  return await fixture.jobs.submit(fixture.account, {
    metadata: { languageCode: "en-US", fileType: FileType.AUDIO },
    useUri: true,
    uri: `${fixture.url}/tones.wav`,
    ...more,
  });
}

test("the model of a job recognizes each of its pieces, and the number of its speakers is kept", async () => {
  const { jobs, account } = fixture;
  fixture.serve("/tones.wav", toneWav(numbers(120)));
  const named: (string | undefined)[] = [];
  await using _worker = await jobs.openWorker(recognizerNoting(named));
  const config = (maxSpeakerCount: number) => ({
    enableSpeakerDiarization: true,
    maxSpeakerCount,
  });
  const rows: [more: Choices, model: string | undefined, speakers: number][] = [
    [{}, undefined, 2],
    [{ model: "tones-2" }, "tones-2", 2],
    [{ diarizationConfig: config(1) }, undefined, 1],
    [{ diarizationConfig: config(0) }, undefined, 2],
    [{ diarizationConfig: { enableSpeakerDiarization: false, maxSpeakerCount: 2 } }, undefined, 0],
  ];
  for (const [more, model, speakers] of rows) {
    const job = await jobs.ended(account, await submitted(more));
    const { segments } = await fixture.transcriptOf(job);
    const found = new Set(segments.map(({ speakerId }) => speakerId).filter((id) => id !== ""));
    assert.equal(found.size, speakers, JSON.stringify(more));
    assert.ok(named.length > 1, "there are several pieces");
    assert.deepEqual([...new Set(named.splice(0))], [model]);
    assert.equal(job.model, model ?? "tones");
  }
});

test("a job whose model was removed fails, and says so", async () => {
  const { jobs, account } = fixture;
  const name = await submitted({ model: "tones-2" });
  const tones = toneRecognizer();
  const modelName: Recognizer["modelName"] = (_languageCode, _mode, model = "tones") =>
    model === "tones" ? model : undefined;
  await using _worker = await jobs.openWorker({ ...tones, modelName });
  const { state, error } = await jobs.ended(account, name);
  assert.equal(state, State.ERROR);
  assert.match(error?.message ?? "", /^the model "tones-2" is not installed any more/);
});

test("a model that does not serve the language, and wrong numbers of speakers are refused", async () => {
  const rows: [more: Choices, fields: string[]][] = [
    [{ model: "other" }, ["model"]],
    [
      { diarizationConfig: { minSpeakerCount: -1, maxSpeakerCount: 21 } },
      ["diarizationConfig.maxSpeakerCount", "diarizationConfig.minSpeakerCount"],
    ],
    [
      { diarizationConfig: { minSpeakerCount: 3, maxSpeakerCount: 2 } },
      ["diarizationConfig.minSpeakerCount"],
    ],
  ];
  for (const [more, fields] of rows) {
    await assert.rejects(submitted(more), (error) => {
      assert.ok(error instanceof ServiceError);
      assert.deepEqual(error.violations.map(({ field }) => field).toSorted(), fields);
      return true;
    });
  }
});
