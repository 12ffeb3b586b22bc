import { offlineError } from "../api/api-error.ts";
import type { Phrase } from "../text/language.tsx";
import { sampleText } from "../text/overview.ts";

/** A sample recording that comes with the service. */
export interface Sample {
  readonly languageCode: string;
  /** The URL of the sample, on this service. */
  readonly url: string;
  readonly subject: Phrase<string>;
}

/** The samples: 16 kHz, 16 bits, one channel, a few seconds each (samples/README.md). */
export const allSamples: readonly Sample[] = [
  {
    languageCode: "is-IS",
    url: new URL("../../../samples/is-IS.wav", import.meta.url).href,
    subject: sampleText.icelandic,
  },
  {
    languageCode: "en-US",
    url: new URL("../../../samples/en-US.wav", import.meta.url).href,
    subject: sampleText.english,
  },
];

/** Downloads a sample. Throws ApiError with OFFLINE if the download fails. */
export async function fetchSample({ url, languageCode }: Sample): Promise<File> {
  try {
    const response = await fetch(url);
    if (!response.ok) throw offlineError();
    return new File([await response.blob()], `${languageCode}.wav`, { type: "audio/wav" });
  } catch {
    throw offlineError();
  }
}

/**
 * Returns shell commands that recognize a sample with the key in HLUST_KEY, ready to be pasted.
 */
export function requestFor({ url, languageCode }: Sample, origin: string): string {
  const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode };
  const [before, after] = JSON.stringify({ config, audio: { content: "|" } }).split("|");
  return `curl -s ${url} -o hlust.wav
(printf '%s' '${before}'; base64 < hlust.wav | tr -d '\\n'; printf '%s' '${after}') |
  curl -s ${origin}/v2beta1/speech:recognize -d @- \\
    -H "Authorization: Bearer $HLUST_KEY" -H 'Content-Type: application/json'`;
}
