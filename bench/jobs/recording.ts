import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { wavOf } from "../../test/fixtures/jobs-fixture.ts";
import { makeTalk } from "../pocketsphinx/talk.ts";

/** A realistic recording of joined sentences and recordings, as MP3 at 32 kbit/s. */
export interface LongRecording extends Disposable {
  readonly file: string;
  readonly seconds: number;
  /** The samples of the part that is repeated, at 16 kHz. */
  readonly talk: Int16Array;
}

const ffmpeg = (...parameters: string[]): void => {
  execFileSync("ffmpeg", ["-nostdin", "-loglevel", "error", ...parameters]);
};

/**
 * Makes a recording of this length. The recordings in `folder` are added to flite's voices; the
 * folder need not exist.
 */
export function makeRecording(folder: string, seconds: number): LongRecording {
  const scratch = mkdtempSync(join(tmpdir(), "hlust-bench-"));
  const remove = () => rmSync(scratch, { recursive: true, force: true });
  try {
    const wav = join(scratch, "talk.wav");
    const once = join(scratch, "talk.mp3");
    const file = join(scratch, "long.mp3");
    const { samples: talk } = makeTalk(folder);
    writeFileSync(wav, wavOf(talk));
    ffmpeg("-i", wav, "-codec:a", "libmp3lame", "-b:a", "32k", once);
    // The encoded part is repeated instead of encoded again, so eight hours of audio take only a
    // moment.
    ffmpeg("-stream_loop", "-1", "-i", once, "-codec", "copy", "-t", `${seconds}`, file);
    return { file, seconds, talk, [Symbol.dispose]: remove };
  } catch (error) {
    remove();
    throw error;
  }
}
