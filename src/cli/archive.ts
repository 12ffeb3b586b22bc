import { commandGroup } from "./command-group.ts";
import type { Command } from "./command.ts";

export const archive: Command = commandGroup({
  name: "archive",
  summary: "which archive database and media are of; copies of one, and what becomes of them",
  subcommands: {
    show: {
      call: "show [--json]",
      summary:
        "its id, where it is, and what a service would make of it; ends with 1 if not all is well",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).show(...call),
    },
    quarantine: {
      call: "quarantine",
      summary: "from the next start on, answer calls only: no jobs, webhooks, sweeps, deletions",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).quarantine(...call),
    },
    release: {
      call: "release",
      summary: "end the quarantine: the archive goes on here, and nowhere else",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).release(...call),
    },
    adopt: {
      call: "adopt [--from ID]",
      summary: "make the database and the media store one archive, where a service refuses them",
      run: async (...call) => await (await import("./archive/archive-acts.ts")).adopt(...call),
    },
  },
  notes: () =>
    Promise.resolve(
      "A service compares an id in the database with hlust-archive beside the media, and starts only where they agree. A database that was\n" +
        "restored, and a folder or bucket that is a copy, are noticed: the service then starts in quarantine, until the copy is released.\n" +
        "HLUST_DATA, DATABASE_URL and S3_BUCKET say where the archive is; services are started again after quarantine, release and adopt.\n",
    ),
});
