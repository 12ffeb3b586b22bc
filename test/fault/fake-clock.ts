import { existsSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The wall clock of a process and of its children, which a test can move. Time passes at its normal
 * pace.
 */
export interface FakeClock {
  /** The environment in which the process must be started. */
  readonly environment: Readonly<Record<string, string>>;
  /** Moves the clock to this many seconds before or after the real time. */
  move(seconds: number): void;
}

/**
 * Opens a fake clock, which reads its offset from `file`. With `movesTimers`, timers follow it, as
 * on a machine whose time passes; otherwise they continue, as on one whose clock is set.
 */
export function openFakeClock(
  file: string,
  { movesTimers = false }: { readonly movesTimers?: boolean } = {},
): FakeClock {
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
      // The clock reads the file once a second.
      FAKETIME_CACHE_DURATION: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: movesTimers ? "0" : "1",
      NO_FAKE_STAT: "1",
    },
  };
}

/** Returns the path of the library in the Debian package libfaketime. */
function library(): string {
  const parent = "/usr/lib";
  const found = readdirSync(parent)
    .map((name) => join(parent, name, "faketime/libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
  if (found === undefined) throw new Error("libfaketime is not installed: see script/setup --test");
  return found;
}
