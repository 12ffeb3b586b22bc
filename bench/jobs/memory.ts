import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { startService } from "../../test/fault/process.ts";
import { openMediaHost } from "../../test/spec/media-host.ts";
import type { Figure } from "../report.ts";
import { progressOf, submitJob } from "./job-calls.ts";
import { makeRecording } from "./recording.ts";
import { treeMebibytes } from "./service-tree.ts";

/** A job may have at most 8 h of audio, and an MP3 is slightly longer than its header states. */
const secondsMax = 8 * 3600 - 10;
const growthMebibytesMax = 30;
const lookMs = 1000;

interface Look {
  readonly percent: number;
  readonly mebibytes: number;
  readonly fileBytes: number;
}

/**
 * Measures the growth of the memory (PSS) of the process tree during a recording of 8 h, from the
 * second quarter to the last. Also measures the size of the files (the media and the decoder's
 * copy). The minimum of each quarter is compared, because garbage that has not been collected yet
 * does not count as growth.
 */
export async function measureMemory(
  folder: string,
  { hours, engine }: { readonly hours: number; readonly engine: string },
): Promise<Figure[]> {
  using recording = makeRecording(folder, Math.min(secondsMax, 3600 * hours));
  const data = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  try {
    await using host = await openMediaHost({ "/long.mp3": readFileSync(recording.file) });
    await using service = await startService(data, {
      HLUST_ENGINE: engine,
      HLUST_ENGINE_PROCESSES: "",
      HLUST_LOG: "error",
    });
    const job = await submitJob(service, `${host.address}/long.mp3`);
    const looks: Look[] = [];
    for (let percent = 0; percent < 100; await delay(lookMs)) {
      percent = await progressOf(service, job);
      const mebibytes = await treeMebibytes([service.pid]);
      looks.push({ percent, mebibytes, fileBytes: await fileBytesIn(data) });
    }
    return figuresOf(looks, { hours, engine, mediaBytes: statSync(recording.file).size });
  } finally {
    rmSync(data, { recursive: true, force: true });
  }
}

function figuresOf(
  looks: readonly Look[],
  of: { readonly hours: number; readonly engine: string; readonly mediaBytes: number },
): Figure[] {
  const { hours, engine, mediaBytes } = of;
  const within = (from: number, to: number) =>
    looks
      .filter(({ percent }) => percent >= from && percent < to)
      .map(({ mebibytes }) => mebibytes);
  const [early, late] = [within(25, 50), within(75, 100)].map((each) => Math.min(...each));
  const most = Math.max(...looks.map(({ mebibytes }) => mebibytes));
  const growth = (late ?? NaN) - (early ?? NaN);
  const files = Math.max(...looks.map(({ fileBytes }) => fileBytes)) / mediaBytes;
  return [
    {
      name: `growth over ${hours} h of audio, MiB`,
      // The middles of the compared quarters are half of the recording apart.
      ratio: growth,
      ratioMax: growthMebibytesMax,
      note: `${early?.toFixed(0)} to ${late?.toFixed(0)} MiB with the ${engine} engine, ${(growth / (hours / 2)).toFixed(1)} MiB per hour, at most ${most.toFixed(0)}; ${looks.length} looks`,
    },
    {
      name: `files of ${hours} h, in addition to the media`,
      ratio: files,
      ratioMax: 2.05,
      note: `times ${(mediaBytes / (1 << 20)).toFixed(0)} MiB: as it was fetched, and the decoder's copy`,
    },
  ];
}

/**
 * Returns the total size in bytes of all files except PostgreSQL's. A file that disappears counts
 * as 0.
 */
async function fileBytesIn(data: string): Promise<number> {
  let bytes = 0;
  for (const file of await readdir(data, { recursive: true })) {
    if (file.startsWith("postgres")) continue;
    const found = await stat(join(data, file)).catch(() => undefined);
    if (found?.isFile()) bytes += found.size;
  }
  return bytes;
}
