import { globSync } from "node:fs";
import { resolve } from "node:path";
import { inRunOrder } from "./run-order.ts";

const root = resolve(import.meta.dirname, "../..");

/** The groups that `npm run test:unit` and `npm run test:system` run; the gate runs both. */
export const groups = ["unit", "system"] as const;
export type Group = (typeof groups)[number];

/**
 * Unit tests that share a process, by the name of the suite's file: each process takes up to 0.4 s
 * of CPU time to load its imports. The files run one after the other, so a suite must stay under a
 * minute. Patterns are relative to the project's root.
 */
const unitSuites: Readonly<Record<string, readonly string[]>> = {
  accounts: ["src/{accounts,auth,mail}/*.test.ts"],
  audio: ["src/audio/*.test.ts"],
  client: ["src/client/*.test.ts", "src/cli/**/*.test.ts", "src/settings/*.test.ts"],
  evaluation: ["src/evaluation/**/*.test.ts"],
  console: ["src/console/**/*.test.ts"],
  engines: ["src/engines/*/*.test.ts", "src/models/*.test.ts"],
  jobs: ["src/jobs/*.test.ts", "src/jobs/content/*.test.ts"],
  "jobs-worker": ["src/jobs/worker/*.test.ts"],
  media: ["src/media/*.test.ts"],
  protocols: ["src/{dialects/**,server/docs,std/word-matches,watches,writing}/*.test.ts"],
  server: [
    "src/server/*.test.ts",
    "src/metrics/*.test.ts",
    "src/std/*.test.ts",
    "src/*.test.ts",
    "src/speech/*.test.ts",
  ],
  stores: ["src/describe/*.test.ts", "src/database/{queue-worker,schema-state}.test.ts"],
  transcoding: ["src/transcoding/**/*.test.ts"],
  transcripts: ["src/{transcripts/**,cues,vocabulary,webhooks}/*.test.ts"],
};

/**
 * System tests that share a process: short files that open a service in their own process, whose
 * code is compiled once for all of them. Files of pages also share a browser (run-page-suite.ts).
 * Files that measure the process, kill something, or take long run alone.
 */
const systemSuites: Readonly<Record<string, readonly string[]>> = {
  access: [
    "test/access/{audit,console-calls,console-session,console-settings,dialects}.test.ts",
    "test/access/{key-changes,limits,refused-sockets,refused-tokens,secrets,uploads}.test.ts",
  ],
  "access-doors": ["test/access/{connections,nul-texts,open-id,page-origins}.test.ts"],
  backups: [
    "test/operation/backup-{bucket,external,media,refused,s3,settled,wal}.test.ts",
    "test/operation/restore-killed.test.ts",
  ],
  browser: ["test/browser/*.test.ts", "test/original/web-clients.test.ts"],
  commands: ["test/cli-{accounts,fsck,migrate,models,plan}.test.ts"],
  dialects: [
    "test/dialects/{client-rows,deepgram,jambonz,openai-forms,realtime}.test.ts",
    "test/dialects/{vosk,whisper,wyoming}.test.ts",
  ],
  "dialects-calls": [
    "test/dialects/{bad-recordings,deepgram-sockets,dropped-calls,every-dialect}.test.ts",
    "test/dialects/openai-clients.test.ts",
  ],
  "job-media": ["test/jobs/{addresses,fetch-faults,media-faults,media-fuzz}.test.ts"],
  nodes: [
    "test/operation/{bad-starts,clocks,config,draining,engine-node,node-traces}.test.ts",
    "test/operation/{privacy,proxies,proxy-timeouts}.test.ts",
  ],
  openapi: ["test/openapi/{answers,docs-door,document,examples,fields-set,limits}.test.ts"],
  operation: ["test/operation/{dashboards,guides,healthcheck,metrics-access,metrics-text}.test.ts"],
  original: ["test/original/{byte-stream,generated-client,speech,transcripts}.test.ts"],
  packages: ["test/packages/{client-package,remote-command,transcoding-package}.test.ts"],
  "pages-account": ["test/console/{account,account-settings,key-changes,keys,usage}.test.ts"],
  "pages-editor": ["test/console/{editor,editor-input,editor-keys,editor-playing}.test.ts"],
  "pages-editor-kinds": ["test/console/editor-{merge,speakers,subtitles,times}.test.ts"],
  "pages-editor-states": [
    "test/console/editor-{guards,looks,page,sessions}.test.ts",
    "test/console/review.test.ts",
  ],
  "pages-exchange": ["test/console/{every-page,import,shares}.test.ts"],
  "pages-frame": ["test/console/{chunks,commands,first-load,narrow,operator,tabs}.test.ts"],
  "pages-media": ["test/console/{hostile-media,hostile-text,subtitles,video}.test.ts"],
  "pages-programs": ["test/console/{examples,help,programs,vocabulary,webhooks}.test.ts"],
  "pages-texts": [
    "test/console/{form,import,job,phrase,problem,webhook}-words.test.ts",
    "test/console/{locked-dialogs,said-changes}.test.ts",
  ],
  "pages-transcript": [
    "test/console/{alignment,editor-model,editor-race,overview}.test.ts",
    "test/console/transcript-{focus,states}.test.ts",
    "test/console/transcripts-many.test.ts",
  ],
  project: [
    "test/{exports,floors,generated-code,operations,prose}.test.ts",
    "test/{transcoding,websocket}-vectors.test.ts",
  ],
  "spec-alignment": [
    "test/spec/alignment-{jobs,lists,speech}.test.ts",
    "test/spec/{client-live,real-clients,watch-transcript}.test.ts",
  ],
  "spec-bounds": [
    "test/spec/{4-10-http-rules,bad-requests,bounded-requests,long-lists}.test.ts",
    "test/spec/{model-tasks,operator}.test.ts",
  ],
  "spec-calls": [
    "test/spec/{5-authentication,accounts,bin,client,compressed-requests,contact}.test.ts",
  ],
  "spec-doors": ["test/spec/{doors,every-endpoint,google-operations,grpc-reflection,head}.test.ts"],
  "spec-jobs": ["test/spec/{4-1-submit-job,job-errors,transcribe-again,vocabulary}.test.ts"],
  "spec-media": ["test/spec/{4-7-upload-media,4-8-recognize,media-facts,written-jobs}.test.ts"],
  "spec-stored": ["test/spec/{s3,shares,tus-s3}.test.ts"],
  "spec-watches": ["test/spec/{watch-job,watch-lists,webhooks,written-results}.test.ts"],
  "spec-texts": [
    "test/spec/{alignment-outputs,drafts,estimated-times,export-import,export-options}.test.ts",
    "test/spec/{review,signed-exports,word-confidence}.test.ts",
  ],
  "spec-transcripts": [
    "test/spec/4-{3-list-transcripts,4-retrieve-transcript,5-create-transcript}.test.ts",
    "test/spec/4-6-{merge,seen,update-transcript}.test.ts",
  ],
};

const suites = { ...unitSuites, ...systemSuites };

/** Files in these folders need a process of their own, because they measure or replace timers. */
const alone: readonly string[] = [
  "src/auth/refused-attempts.test.ts",
  "src/cli/bench/server-watch.test.ts",
  "src/describe/scratch-file.test.ts",
  "src/engines/ctc/ctc-{engine,speech}.test.ts",
  "src/engines/pocketsphinx/{hinted-searches,search-pool}.test.ts",
  "src/engines/process/{engine-session*,pending-work,run-queue,turn-length}.test.ts",
  "src/jobs/{arrivals,jobs-service-races}.test.ts",
  "src/jobs/worker/{cancel,worker*}.test.ts",
  "src/media/fetch-guard.test.ts",
  "src/server/rest-streams.test.ts",
  "src/speech/decoded-input.test.ts",
  "src/transcoding/{long-input,readme}.test.ts",
  "src/writing/write-words.test.ts",
];

/**
 * Files of src that belong to the system tests: they run real engines on speech, kill processes or
 * PostgreSQL, or start other servers, and take seconds each. Each has a process of its own.
 */
const systemTestsOfSrc: readonly string[] = [
  "src/audio/{containers,decode,sandbox}.test.ts",
  "src/database/{connection-pool,database,migrate,migrated-rows,one-queue,own-postgres,own-postgres-users}.test.ts",
  "src/describe/describer-killed.test.ts",
  "src/engines/nodes/speakers-apart.test.ts",
  "src/engines/pocketsphinx/{live-decoder,live-recognition,pocketsphinx-engine}.test.ts",
  "src/engines/pool/{engine-pool*,model-processes,watchdog}.test.ts",
  "src/engines/sherpa-onnx/{diarizer,published-models,sherpa-engine}.test.ts",
  "src/jobs/worker/worker-{blocked,killed,speech}.test.ts",
  "src/mail/mail-worker-killed.test.ts",
  "src/media/s3-store.test.ts",
  "src/webhooks/delivery-worker-killed.test.ts",
];

export function isGroup(name: string): name is Group {
  return groups.some((group) => group === name);
}

/** The files that are in no suite. */
let apart: ReadonlySet<string> | undefined;

/** Returns the files of a suite, in order, relative to the project's root. */
export function filesOfSuite(name: string): readonly string[] {
  const others = (apart ??= new Set([...matches(alone), ...matches(systemTestsOfSrc)]));
  return matches(suites[name] ?? [])
    .filter((file) => !others.has(file))
    .toSorted();
}

/** Returns the files that are run for the groups, in the order in which they start. */
export function filesOfGroups(wanted: readonly Group[]): readonly string[] {
  return inRunOrder(wanted.flatMap(filesOfGroup));
}

/**
 * Returns the files that are run for a group: its suites, and each file of its folders that is in
 * no suite. Throws if a suite has no file, or if a pattern above matches no file.
 */
function filesOfGroup(group: Group): readonly string[] {
  const system = new Set(matches(systemTestsOfSrc));
  const names = Object.keys(group === "unit" ? unitSuites : systemSuites);
  const shared = new Set(names.flatMap(filesOfSuite));
  const all =
    group === "unit"
      ? matches(["{src,bench}/**/*.test.ts"]).filter((file) => !system.has(file))
      : [...matches(["test/**/*.test.ts"]), ...system];
  const others = all.filter((file) => !shared.has(file) && !file.startsWith("test/suites/"));
  return [...names.map((name) => `test/suites/${name}.test.ts`), ...others];
}

/**
 * Returns the files that match the patterns. Throws if a pattern matches no file, since a file that
 * was moved would not run.
 */
function matches(patterns: readonly string[]): string[] {
  return patterns.flatMap((pattern) => {
    const files = globSync(pattern, { cwd: root });
    if (files.length === 0) throw new Error(`no test file matches ${pattern}`);
    return files;
  });
}
