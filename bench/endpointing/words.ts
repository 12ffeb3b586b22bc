import { EngineSession } from "../../src/engines/process/engine-session.ts";
import type { Engine } from "../../src/engines/protocol/engine.ts";
import type { Commit } from "../../src/engines/protocol/session-checkpoint.ts";
import { scoreRecording, type RecordingScore } from "../../src/evaluation/score-recording.ts";
import { sourceWords } from "../../src/evaluation/normalization/normalize-words.ts";
import type { VoiceActivity } from "../../src/audio/voice-activity.ts";
import type { Talk } from "./talk.ts";

/** The length of the chunks that a live client sends. */
const chunkSamples = 1600;

/** Recognizes a talk live, with this detector, and returns the errors in its words. */
export async function recognizeTalk(
  engine: Engine,
  createVoiceActivity: () => VoiceActivity,
  talk: Talk,
  samples: Int16Array,
): Promise<RecordingScore["words"]> {
  const texts: string[] = [];
  const options = {
    languageCode: talk.languageCode,
    mode: "live",
    sampleRateHertz: 16_000,
    alternativesMax: 1,
    interim: false,
    silenceMsMin: 500,
    punctuation: true,
  } as const;
  const output = {
    interim() {},
    progress() {},
    received() {},
    done() {},
    outputs() {},
    committed({ final }: Commit) {
      texts.push(...sourceWords(final?.alternatives[0]?.text ?? ""));
    },
  };
  const session = new EngineSession({ ...engine, createVoiceActivity }, options, output);
  try {
    for (let at = 0; at < samples.length; at += chunkSamples) {
      session.push(samples.subarray(at, at + chunkSamples));
    }
    session.endInput();
    for (let step = session.step(); step !== false; step = session.step()) {
      await (step === true ? new Promise(setImmediate) : step);
    }
  } finally {
    session.close();
  }
  const text = talk.spans.map((span) => span.text).join(" ");
  const recognized = texts.map((word) => ({ text: word, startMs: 0, endMs: 0 }));
  const durationMs = samples.length / 16;
  const { languageCode } = talk;
  return scoreRecording({ text, languageCode, recognized, durationMs }, "plain").words;
}
