import assert from "node:assert/strict";
import { espeak, joined, silence } from "../fixtures/flite.ts";
import type { TestService } from "../spec/service.ts";

/** The turns of an interview at a river in flood. */
const turns = [
  [
    "1",
    "Góðan daginn. Við stöndum hér á bökkum Skeiðarár og vatnið hefur hækkað um tvo metra síðan í gærkvöldi.",
  ],
  [
    "2",
    "Já, þetta byrjaði rólega en eftir miðnætti fór rennslið yfir þúsund rúmmetra á sekúndu. Við sjáum það á mælunum við brúna að það er enn að vaxa.",
  ],
  ["1", "Hvað þýðir það fyrir fólk sem er á leiðinni austur í dag?"],
  [
    "2",
    "Vegurinn er lokaður við Núpsstað og verður það að minnsta kosti fram á kvöld. Við biðjum fólk að fylgjast með tilkynningum og fara ekki nær ánni en nauðsyn krefur.",
  ],
] as const;

const sampleRate = 16_000;

/**
 * Returns the interview as segments and as synthesized 16-bit samples. The words divide the time of
 * their turn in proportion to their length.
 */
export function interview() {
  const spoken: Int16Array[] = [];
  let at = 0;
  const segments = turns.map(([speakerId, text]) => {
    const samples = espeak(text);
    spoken.push(samples, silence(400));
    const start = at;
    const seconds = samples.length / sampleRate;
    at += seconds + 0.4;
    let said = 0;
    const words = text.split(/(?<=\s)/).map((word) => {
      const startTime = durationText(start + (seconds * said) / text.length);
      said += word.length;
      return { startTime, endTime: durationText(start + (seconds * said) / text.length), word };
    });
    return {
      speakerId,
      startTime: durationText(start),
      endTime: durationText(start + seconds),
      words,
    };
  });
  return { segments, samples: joined(...spoken), seconds: at };
}

/** Returns the interview with a pause after each word; the third word of each turn is unclear. */
export function pausedInterview() {
  const talk = interview();
  const segments = talk.segments.map(({ words, ...segment }) => ({
    ...segment,
    words: words.map(({ startTime, endTime, word }, at) => {
      const [start, end] = [Number.parseFloat(startTime), Number.parseFloat(endTime)];
      const confidence = at === 2 ? 0.25 : 0.875;
      return { startTime, endTime: durationText(start + (end - start) * 0.6), word, confidence };
    }),
  }));
  return { ...talk, segments };
}

function durationText(value: number): string {
  return `${value.toFixed(3)}s`;
}

export const interviewMetadata = {
  subject: "Viðtal um hlaupið í Skeiðará",
  languageCode: "is-IS",
  fileType: "AUDIO",
  keywords: ["jökulhlaup", "fréttir", "Suðurland"],
  speakers: { "1": { fullName: "Fréttamaður" }, "2": { fullName: "Jarðfræðingur" } },
};

/** Creates a transcript, with `media` if given. Returns the transcript's name. */
export async function createTranscript(
  service: TestService,
  transcript: {
    readonly metadata: Readonly<Record<string, unknown>>;
    readonly segments: readonly object[];
  },
  media?: Uint8Array<ArrayBuffer>,
): Promise<string> {
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts", transcript);
  assert.equal(status, 200, JSON.stringify(json));
  const { name } = json;
  if (!media) return name;
  const upload = await service.call("POST", "/v1alpha1/initupload", { resourceName: name });
  const put = await fetch(upload.json.storageSignedUrl, { method: "PUT", body: media });
  assert.equal(put.status, 200);
  return name;
}
