import { setTimeout as delay } from "node:timers/promises";
import { wavHeader } from "../../src/std/wav.ts";
import { pssBytes } from "../../src/cli/bench/process-tree.ts";
import type { Figure } from "../report.ts";
import { transcribe, withService } from "./transcribe.ts";

const uploads = 50;
const uploadBytes = 25 * (1 << 20);
const growthMebibytesMax = 100;
const lookMs = 100;
/**
 * The recordings that are transcribed first, two at a time. The collector's space for young objects
 * grows once by some 90 MiB with the first recordings, even if they come one after another, and
 * does not depend on how many arrive at once.
 */
const firstRecordings = 32;

/**
 * Measures by how much the memory of the main process grows while 50 recordings of 25 MiB arrive at
 * once. The scripted engine recognizes them, since only the way to it is measured.
 */
export async function measureUploads(): Promise<Figure[]> {
  return await withService({ HLUST_ENGINE: "scripted" }, async (service) => {
    const header = wavHeader({ sampleRateHertz: 48_000, dataBytes: uploadBytes - 44 });
    const file = new Blob([header, new Uint8Array(uploadBytes - 44)]);
    const memory = async () => ((await pssBytes(service.pid)) ?? NaN) / (1 << 20);
    await transcribe(service, file, "en");
    const fresh = await memory();
    for (let count = 0; count < firstRecordings; count += 2) {
      await Promise.all([1, 2].map(async () => await transcribe(service, file, "en")));
    }
    const before = await memory();
    let most = before;
    const done = new AbortController();
    const watching = (async () => {
      for (; !done.signal.aborted; await delay(lookMs)) most = Math.max(most, await memory());
    })();
    const all = Array.from({ length: uploads }, async () => await transcribe(service, file, "en"));
    await Promise.all(all);
    done.abort();
    await watching;
    return [
      {
        name: `${uploads} recordings of 25 MiB at once, more memory`,
        ratio: most - before,
        ratioMax: growthMebibytesMax,
        unit: "MiB",
        note: `from ${before.toFixed(0)} to ${most.toFixed(0)} MiB of the main process; ${fresh.toFixed(0)} after the first recording`,
      },
    ];
  });
}
