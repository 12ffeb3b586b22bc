import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { samplesOfWav } from "../test/fixtures/flite.ts";

export interface Recording {
  readonly name: string;
  readonly text: string;
  readonly samples: Int16Array;
}

/**
 * Returns the recordings of a folder (name.wav with name.txt) in the order of their names, or none
 * if the folder does not exist.
 */
export function readRecordings(from: string): Recording[] {
  if (!existsSync(from)) return [];
  return readdirSync(from)
    .filter((file) => file.endsWith(".wav") && existsSync(join(from, textFileOf(file))))
    .toSorted()
    .map((file) => ({
      name: file.slice(0, -4),
      text: readFileSync(join(from, textFileOf(file)), "utf8"),
      samples: samplesOfWav(readFileSync(join(from, file))),
    }));
}

function textFileOf(wav: string): string {
  return wav.replace(/\.wav$/, ".txt");
}
