/**
 * The seconds that long test files take on a quiet machine of two cores, for the order in which
 * they run. A file that is missing here runs with the short ones; only the gate becomes slower if
 * the numbers are wrong.
 */
interface Seconds {
  readonly [file: string]: number;
}

/** Files that mostly wait: for leases, timeouts and processes that were killed. */
const waiting: Seconds = {
  "src/database/own-postgres-users.test.ts": 40,
  "src/describe/describer-killed.test.ts": 22,
  "src/engines/pool/engine-pool-broken-models.test.ts": 28,
  "src/engines/pool/engine-pool-effort.test.ts": 29,
  "src/engines/pool/engine-pool-faults.test.ts": 40,
  "src/engines/pool/engine-pool-models.test.ts": 36,
  "src/engines/pool/engine-pool-single.test.ts": 30,
  "src/jobs/worker/worker-blocked.test.ts": 35,
  "src/jobs/worker/worker-killed.test.ts": 15,
  "test/access/nodes.test.ts": 36,
  "test/access/slow-requests.test.ts": 17,
  "test/archive/archive.test.ts": 48,
  "test/cli-bench.test.ts": 81,
  "test/console/editor-drafts.test.ts": 74,
  "test/console/editor-kills.test.ts": 33,
  "test/console/editor-outages.test.ts": 97,
  "test/console/editor-presence.test.ts": 45,
  "test/console/frame.test.ts": 49,
  "test/console/jobs.test.ts": 64,
  "test/console/jobs-failed.test.ts": 8,
  "test/console/live-left.test.ts": 44,
  "test/console/live-words.test.ts": 28,
  "test/console/live.test.ts": 49,
  "test/console/tabs-lead.test.ts": 40,
  "test/console/uploads.test.ts": 73,
  "test/dialects/openai-limits.test.ts": 28,
  "test/fault/alignment.test.ts": 118,
  "test/fault/content.test.ts": 36,
  "test/fault/disk-full.test.ts": 20,
  "test/fault/engines-apart-away.test.ts": 65,
  "test/fault/engines-apart-callers.test.ts": 45,
  "test/fault/engines-apart-lines.test.ts": 70,
  "test/fault/engines-apart-work.test.ts": 45,
  "test/fault/engines-apart.test.ts": 60,
  "test/fault/engines.test.ts": 66,
  "test/fault/failed-starts.test.ts": 30,
  "test/fault/front-processes.test.ts": 120,
  "test/fault/hosted-hour.test.ts": 120,
  "test/fault/jobs-alone.test.ts": 49,
  "test/fault/jobs-nodes.test.ts": 77,
  "test/fault/kept-sockets.test.ts": 42,
  "test/fault/models.test.ts": 25,
  "test/fault/open-files.test.ts": 31,
  "test/fault/pooler.test.ts": 25,
  "test/fault/quarantine.test.ts": 12,
  "test/fault/serve.test.ts": 91,
  "test/fault/shutdown.test.ts": 20,
  "test/fault/transcripts.test.ts": 70,
  "test/fault/uploads.test.ts": 26,
  "test/fault/wrong-archive.test.ts": 62,
  "test/operation/logs.test.ts": 20,
  "test/operation/traces.test.ts": 30,
  "test/operation/versions.test.ts": 45,
  "test/spec/4-9-streaming-recognize.test.ts": 44,
};

/** Files that mostly compute. */
const busy: Seconds = {
  "src/audio/decode.test.ts": 19,
  "src/engines/nodes/speakers-apart.test.ts": 30,
  "src/engines/pocketsphinx/live-decoder.test.ts": 42,
  "src/engines/pocketsphinx/live-recognition.test.ts": 42,
  "src/engines/pool/engine-pool-load.test.ts": 22,
  "src/jobs/worker/worker-speech.test.ts": 22,
  "test/access/matrix.test.ts": 29,
  "test/attack/attack.test.ts": 122,
  "test/cli-evaluate.test.ts": 35,
  "test/console/editor-find.test.ts": 48,
  "test/console/editor-keystrokes.test.ts": 94,
  "test/console/editor-speed.test.ts": 39,
  "test/console/first-start.test.ts": 33,
  "test/console/sign-in.test.ts": 38,
  "test/console/sign-out.test.ts": 26,
  "test/fault/jobs.test.ts": 75,
  "test/fault/several-nodes.test.ts": 80,
  "test/operation/backup.test.ts": 78,
  "test/operation/tls.test.ts": 69,
  "test/original/byte-stream-store.test.ts": 29,
  "test/packages/cluster.test.ts": 45,
  "test/packages/installed-tree.test.ts": 50,
  "test/spec/4-2-get-job.test.ts": 34,
  "test/spec/edited-texts.test.ts": 33,
  "test/spec/encodings.test.ts": 47,
  "test/spec/google-clients.test.ts": 49,
  "test/spec/icelandic.test.ts": 30,
  "test/spec/models.test.ts": 81,
  "test/suites/access.test.ts": 25,
  "test/suites/backups.test.ts": 75,
  "test/suites/dialects.test.ts": 40,
  "test/suites/dialects-calls.test.ts": 60,
  "test/suites/nodes.test.ts": 80,
  "test/suites/openapi.test.ts": 20,
  "test/suites/operation.test.ts": 22,
  "test/suites/original.test.ts": 48,
  "test/suites/packages.test.ts": 70,
  "test/suites/pages-account.test.ts": 52,
  "test/suites/pages-editor.test.ts": 130,
  "test/suites/pages-editor-kinds.test.ts": 150,
  "test/suites/pages-editor-states.test.ts": 170,
  "test/suites/pages-exchange.test.ts": 90,
  "test/suites/pages-frame.test.ts": 60,
  "test/suites/pages-media.test.ts": 145,
  "test/suites/pages-programs.test.ts": 55,
  "test/suites/pages-texts.test.ts": 1,
  "test/suites/pages-transcript.test.ts": 75,
  "test/suites/project.test.ts": 9,
  "test/suites/server.test.ts": 80,
  "test/suites/spec-alignment.test.ts": 60,
  "test/suites/spec-bounds.test.ts": 50,
  "test/suites/spec-stored.test.ts": 45,
  "test/suites/spec-transcripts.test.ts": 20,
};

const others = { suite: 40, console: 20, other: 6 } as const;

/**
 * Returns the files in the order in which they start: the longest first, so that no long file runs
 * alone at the end, and those that wait spread among those that compute, so that cores are always
 * busy and never crowded.
 */
export function inRunOrder(files: readonly string[]): string[] {
  const isWaiting = (file: string) => waiting[file] !== undefined;
  const lists = [files.filter(isWaiting), files.filter((file) => !isWaiting(file))].map((list) =>
    list.toSorted((a, b) => secondsOf(b) - secondsOf(a)),
  );
  // Each file is placed at the share of its list's time that starts before it.
  const placed = lists.flatMap((list) => {
    const total = list.reduce((sum, file) => sum + secondsOf(file), 0);
    let before = 0;
    return list.map((file) => {
      const share = before / total;
      before += secondsOf(file);
      return { file, share };
    });
  });
  return placed.toSorted((a, b) => a.share - b.share).map(({ file }) => file);
}

function secondsOf(file: string): number {
  const known = waiting[file] ?? busy[file];
  if (known !== undefined) return known;
  if (file.startsWith("test/suites/")) return others.suite;
  return file.startsWith("test/console/") ? others.console : others.other;
}
