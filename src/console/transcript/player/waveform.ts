import { ownPath } from "../own-path.ts";

/** The loudness of a recording, 0 to 127, at even steps from start to end. */
export interface Waveform {
  readonly peaks: Uint8Array;
}

/**
 * Fetches a waveform by its signed URL: audiowaveform JSON, version 2, half a megabyte per hour.
 * `renewUrl` returns a new URL, because signed URLs expire. Throws an Error if fetching fails.
 */
export async function fetchWaveform(
  signedUrl: string,
  renewUrl: () => Promise<string>,
  signal: AbortSignal,
): Promise<Waveform> {
  let response = await fetch(ownPath(signedUrl), { signal });
  if (response.status >= 400 && response.status < 500) {
    response = await fetch(ownPath(await renewUrl()), { signal });
  }
  if (!response.ok) throw new Error(`the waveform could not be read: HTTP ${response.status}`);
  const { data }: { readonly data: readonly number[] } = await response.json();
  return { peaks: peaksOf(data) };
}

/**
 * For each step, the magnitude of the minimum or maximum sample (signed 8-bit), whichever is
 * farther from 0.
 */
export function peaksOf(data: readonly number[]): Uint8Array {
  const peaks = new Uint8Array(data.length / 2);
  for (let at = 0; at < peaks.length; at++) {
    const [least = 0, greatest = 0] = [data[2 * at], data[2 * at + 1]];
    peaks[at] = Math.min(127, Math.max(greatest, -least));
  }
  return peaks;
}

/**
 * Converts the waveform to `count` bars, each as high as its loudest peak; 1 is the loudest peak of
 * the recording.
 */
export function barsOf({ peaks }: Waveform, count: number): number[] {
  const bars = Array.from({ length: count }, (_, bar) => {
    const from = Math.floor((bar * peaks.length) / count);
    const to = Math.max(from + 1, Math.floor(((bar + 1) * peaks.length) / count));
    let loudest = 0;
    for (let at = from; at < to; at++) loudest = Math.max(loudest, peaks[at] ?? 0);
    return loudest;
  });
  const loudest = Math.max(1, ...bars);
  return bars.map((bar) => bar / loudest);
}
