import assert from "node:assert/strict";
import type { TestService } from "../spec/service.ts";

/** The turns of an interview at a river in flood, each with a speaker id and a text. */
export const turns: readonly (readonly [string, string])[] = [
  [
    "S1",
    "Góðan daginn. Við stöndum hér á bökkum Skeiðarár og vatnið hefur hækkað um tvo metra síðan í gærkvöldi.",
  ],
  [
    "S2",
    "Já, þetta byrjaði rólega en eftir miðnætti fór rennslið yfir þúsund rúmmetra á sekúndu. Við sjáum það á mælunum við brúna að það er enn að vaxa.",
  ],
  ["S1", "Hvað þýðir það fyrir fólk sem er á leiðinni austur í dag?"],
  [
    "S2",
    "Vegurinn er lokaður við Núpsstað og verður það að minnsta kosti fram á kvöld. Við biðjum fólk að fylgjast með tilkynningum og fara ekki nær ánni en nauðsyn krefur.",
  ],
];

/** Converts turns to segments that begin at `startSeconds`. Each word takes 0.4 s. */
export function segmentsOf(said: readonly (readonly [string, string])[], startSeconds = 0) {
  let at = startSeconds * 10;
  const time = () => `${(at / 10).toFixed(1)}s`;
  return said.map(([speakerId, text]) => {
    const startTime = time();
    const words = text.split(/(?<=\s)/).map((word) => {
      const from = time();
      at += 4;
      return { startTime: from, endTime: time(), word };
    });
    return { speakerId, startTime, endTime: time(), words };
  });
}

export const interviewMetadata = {
  subject: "Viðtal um hlaupið í Skeiðará",
  description: "Tekið á bökkum árinnar morguninn eftir að hlaupið hófst.",
  languageCode: "is-IS",
  fileType: "AUDIO",
  keywords: ["jökulhlaup", "fréttir"],
  speakers: { S1: { fullName: "Fréttamaður" } },
};

/** Creates a transcript of the interview, or of other turns. Returns the transcript's name. */
export async function createInterview(
  service: TestService,
  {
    metadata = {},
    said = turns,
  }: { readonly metadata?: object; readonly said?: typeof turns } = {},
): Promise<string> {
  const { status, json } = await service.call("POST", "/v1alpha1/transcripts", {
    metadata: { ...interviewMetadata, ...metadata },
    segments: segmentsOf(said),
  });
  assert.equal(status, 200, JSON.stringify(json));
  return json.name;
}

/** Changes a transcript as another client of the service would. */
export async function changeElsewhere(
  service: TestService,
  name: string,
  change: { readonly metadata?: object; readonly segments?: object },
): Promise<void> {
  const { status, json } = await service.call("PATCH", `/v1alpha1/${name}`, change);
  assert.equal(status, 200, JSON.stringify(json));
}

/** Returns the versions of a transcript, at most 1000. */
export async function versionsOf(
  service: TestService,
  name: string,
): Promise<{ readonly name: string; readonly parent: string; readonly kind: string }[]> {
  const { json } = await service.call("GET", `/v1alpha1/${name}/versions?pageSize=1000`);
  return json.versions;
}
