import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavOf } from "../fixtures/jobs-fixture.ts";

/** Returns samples at 16 kHz with a moving test picture of 320 x 180, as WebM. */
export function filmOf(samples: Int16Array): Uint8Array<ArrayBuffer> {
  const folder = mkdtempSync(join(tmpdir(), "hlust-film-"));
  try {
    const [sound, film] = [join(folder, "talk.wav"), join(folder, "film.webm")];
    writeFileSync(sound, wavOf(samples));
    const seconds = samples.length / 16_000;
    const picture = `-f lavfi -i testsrc=size=320x180:rate=5:duration=${seconds}`;
    const codecs = "-c:v libvpx -deadline realtime -c:a libvorbis";
    const options = `-nostdin -loglevel error ${picture} -i ${sound} ${codecs}`;
    execFileSync("ffmpeg", [...options.split(" "), film]);
    return Uint8Array.from(readFileSync(film));
  } finally {
    rmSync(folder, { recursive: true });
  }
}
