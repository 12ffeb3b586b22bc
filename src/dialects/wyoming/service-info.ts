import type { ServedModel } from "../../engines/pool/pool-state.ts";
import { nameOf, primaryOf } from "../language-of.ts";

/** What this service says of itself. */
export interface InfoOptions {
  readonly models: readonly ServedModel[];
  readonly version: string;
  /** The address at which people find the service. */
  readonly url: string;
}

/**
 * Returns the data of the event info. Clients refuse an info that lacks a member, and choose among
 * the languages of models: each is listed as a code and as a tag, since programs have either.
 */
export function serviceInfo({ models, version, url }: InfoOptions): object {
  const attribution = { name: "Hlust", url };
  const live = models.filter(({ uses }) => uses.includes("live"));
  return {
    asr: [
      {
        name: "hlust",
        attribution,
        installed: true,
        description: "Hlust speech to text",
        version,
        models: live.map((model) => ({
          name: model.name,
          attribution,
          installed: true,
          description: describe(model),
          version: model.version === "" ? null : model.version,
          languages: languagesOf(model),
        })),
        supports_transcript_streaming: true,
        requires_external_vad: true,
      },
    ],
    tts: [],
    handle: [],
    intent: [],
    wake: [],
    mic: [],
    snd: [],
  };
}

function languagesOf({ languageCodes }: ServedModel): readonly string[] {
  return [...new Set(languageCodes.flatMap((code) => [primaryOf(code), code]))];
}

function describe({ name, languageCodes }: ServedModel): string {
  return `${name} (${[...new Set(languageCodes.map(nameOf))].join(", ")})`;
}
