import { findingCodes, type Finding } from "../fsck/finding.ts";
import type { ArchiveSettings } from "../media/open-archive.ts";
import { columns } from "./models/columns.ts";
import { UsageError, type Command } from "./command.ts";
import { Arguments, describeOptions } from "./options.ts";

const options = {
  repair: { meaning: "repair what can be repaired without loss" },
  purge: {
    meaning: "with --repair: delete removed media now, not after HLUST_REMOVED_MEDIA_DAYS",
  },
  "no-hash": { meaning: "do not read the bytes of all media" },
  json: { meaning: "print a line of JSON for each finding, and one for the summary" },
} as const;

const usage = `Usage: hlust fsck [--repair [--purge]] [--no-hash] [--json]

Checks the archive for lost, altered and left-over data, even while the service runs.

${describeOptions(options)}
--repair sets aside all media bytes that have no record (a service sets aside at most 100, or 1 %), and
restores them when they have a record again: nothing is lost for HLUST_REMOVED_MEDIA_DAYS, unless --purge
is given.

Exits with 0 if nothing is wrong, 1 if something is, 2 if the check failed.
`;

/** The command `hlust fsck`, which checks the archive. */
export const fsck: Command = {
  summary: "check that transcripts and media are complete and unaltered",
  async run(args, environment) {
    if (args.some((each) => /^(-h|--help)$/.test(each))) {
      const codes = Object.entries(findingCodes).map(([code, what]) => [code, what]);
      process.stdout.write(`${usage}\nFindings:\n${columns(codes)}`);
      return 0;
    }
    const read = readArguments(args);
    const { readConfig } = await import("../config.ts");
    const config = readConfig(environment);
    try {
      return await check(config, read);
    } catch (error) {
      process.stderr.write(`hlust: ${error instanceof Error ? error.message : String(error)}\n`);
      return 2;
    }
  },
};

function readArguments(args: readonly string[]): Arguments<typeof options> {
  try {
    const read = new Arguments(options, args);
    if (read.has("purge") && !read.has("repair")) throw new UsageError("--purge needs --repair");
    if (read.positionals.length === 0) return read;
    throw new UsageError(`unexpected argument ${JSON.stringify(read.positionals[0])}`);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, usage) : error;
  }
}

async function check(settings: ArchiveSettings, read: Arguments<typeof options>): Promise<number> {
  const { openArchive } = await import("../media/open-archive.ts");
  const { checkArchive } = await import("../fsck/check-archive.ts");
  await using opened = await openArchive(settings);
  if (read.has("repair") && opened.quarantine.length > 0) {
    const why = opened.quarantine.join("; ");
    throw new Error(
      `the archive is in quarantine: ${why}. \`hlust archive release\` ends the quarantine`,
    );
  }
  const report = new Report(read.has("json"));
  const findings = checkArchive({
    db: opened.db,
    store: opened.store,
    readsMedia: !read.has("no-hash"),
    purges: read.has("purge"),
    onProgress: (what, count) => {
      report.progress(what, count);
    },
  });
  for await (const finding of findings) {
    report.add(finding, read.has("repair") && (await finding.remedy?.run()) === true);
  }
  return report.end();
}

/** Checks an archive without repairs, prints the findings, and returns the exit code. */
export async function checkAndReport(
  settings: ArchiveSettings,
  { readsMedia }: { readonly readsMedia: boolean },
): Promise<number> {
  return await check(settings, new Arguments(options, readsMedia ? [] : ["--no-hash"]));
}

/** Prints findings as they are reported, and counts them. */
class Report {
  readonly #isJson: boolean;
  readonly #checked = new Map<string, number>();
  #found = 0;
  #repaired = 0;

  constructor(isJson: boolean) {
    this.#isJson = isJson;
  }

  progress(what: string, count: number): void {
    this.#checked.set(what, count);
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${what}: ${count}`);
  }

  add({ code, name, what, remedy }: Finding, isRepaired: boolean): void {
    this.#clear();
    this.#found += 1;
    if (isRepaired) this.#repaired += 1;
    const end = isRepaired ? ` (repaired: ${remedy?.done ?? ""})` : "";
    process.stdout.write(
      this.#isJson
        ? `${JSON.stringify({ code, name, what, isRepaired })}\n`
        : `${code} ${name}: ${what}${end}\n`,
    );
  }

  /** Prints the totals and returns the exit code. */
  end(): number {
    this.#clear();
    const [found, repaired] = [this.#found, this.#repaired];
    const checked = Object.fromEntries(this.#checked);
    const counts = Object.entries(checked).map(([what, count]) => `${count} ${what}`);
    const left = repaired > 0 ? `, ${repaired} of them repaired` : "";
    process.stdout.write(
      this.#isJson
        ? `${JSON.stringify({ checked, found, repaired })}\n`
        : `${found === 0 ? "Nothing is wrong" : `${found} found${left}`}: ${counts.join(", ")}.\n`,
    );
    return found > repaired ? 1 : 0;
  }

  #clear(): void {
    if (process.stderr.isTTY) process.stderr.write("\r\u001b[K");
  }
}
