import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The wall clock of a process and of its children, which a test can move; time passes
 * at its pace.
 */
export interface FakeClock {
  /** What the process is started with. */
  readonly environment: Readonly<Record<string, string>>;
  /** This many seconds before or behind the real one. */
  move(seconds: number): void;
}

/** `file`: where the test writes the time. */
export function openFakeClock(file: string): FakeClock {
  const move = (seconds: number): void => {
    writeFileSync(`${file}.new`, `${seconds < 0 ? "" : "+"}${seconds}\n`);
    renameSync(`${file}.new`, file);
  };
  move(0);
  return {
    move,
    environment: {
      LD_PRELOAD: library(),
      FAKETIME_TIMESTAMP_FILE: file,
      // The file is looked into once a second.
      FAKETIME_CACHE_DURATION: "1",
      // As of a machine whose clock is set: timers go on.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    },
  };
}

/** Of the Debian package libfaketime. */
function library(): string {
  const parent = "/usr/lib";
  const found = readdirSync(parent)
    .map((name) => join(parent, name, "faketime/libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("libfaketime is not installed: see script/setup --test");
  return found;
}
