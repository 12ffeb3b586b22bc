import { commandGroup } from "./command-group.ts";
import type { Command } from "./command.ts";

export const archive: Command = commandGroup({
  name: "archive",
  summary: "check that database and media belong together; manage copies of an archive",
  subcommands: {
    show: {
      call: "show [--json]",
      summary:
        "show the archive's id, places and state; exits with 1 if a service would not run normally",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).show(...call),
    },
    quarantine: {
      call: "quarantine",
      summary: "from the next start, answer calls only: no jobs, webhooks, sweeps or deletions",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).quarantine(...call),
    },
    release: {
      call: "release",
      summary: "end the quarantine: the archive continues here, and nowhere else",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).release(...call),
    },
    adopt: {
      call: "adopt [--from ID]",
      summary: "join a database and a media store that a service refuses into one archive",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).adopt(...call),
    },
  },
  notes: () =>
    Promise.resolve(
      "A service compares an id in the database with the file hlust-archive in the media store, and starts only\n" +
        "if they match. If the database was restored, or the media folder or bucket is a copy, the service starts\n" +
        "in quarantine, until the copy is released. HLUST_DATA, DATABASE_URL and S3_BUCKET name the archive.\n" +
        "Restart services after quarantine, release and adopt.\n",
    ),
});
