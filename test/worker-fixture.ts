import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { join } from "node:path";
import type { TranscriptJob, Word } from "../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { unpackSegments } from "../src/transcripts/segments.ts";
import { findTranscript } from "../src/transcripts/transcript-store.ts";
import { jobRequest, openJobs, serveMedia, type JobsFixture } from "./jobs-fixture.ts";
import { openTestDatabase } from "./open-test-database.ts";
import { until } from "./until.ts";

/** One account's jobs on a database and a media server of the test's. */
export interface WorkerFixture extends AsyncDisposable {
  readonly jobs: JobsFixture;
  readonly account: string;
  readonly folder: string;
  /** Of the media server. */
  readonly url: string;
  /** Submits the media at a path of the server, which answers so. */
  submit(path: string, answer?: Buffer | RequestListener, languageCode?: string): Promise<string>;
  /** What the server answers at a path. */
  serve(path: string, answer: Buffer | RequestListener): void;
  transcriptOf(job: TranscriptJob): Promise<MadeTranscript>;
  /** Resolves when no media, scratch file or piece is left that nobody needs. */
  isTidy(): Promise<void>;
}

type Stored = NonNullable<Awaited<ReturnType<typeof findTranscript>>>;

export interface MadeTranscript extends Omit<Stored, "segments"> {
  readonly segments: Awaited<ReturnType<typeof unpackSegments>>;
  readonly words: readonly Word[];
  readonly text: string;
}

export async function openWorkerFixture(): Promise<WorkerFixture> {
  await using opened = new AsyncDisposableStack();
  const database = opened.use(await openTestDatabase());
  const jobs = opened.use(await openJobs(database, join(database.folder, "jobs")));
  const account = await jobs.addAccount();
  const answers = new Map<string, Buffer | RequestListener>();
  const server = opened.use(
    await serveMedia((request, response) => {
      const answer = answers.get(request.url ?? "");
      if (typeof answer === "function") answer(request, response);
      else if (answer) response.setHeader("content-length", answer.length).end(answer);
      else response.writeHead(404).end();
    }),
  );
  const parts = opened.move();
  return {
    jobs,
    account,
    folder: database.folder,
    url: server.url,
    serve: (path, answer) => void answers.set(path, answer),
    async submit(path, answer, languageCode) {
      if (answer !== undefined) answers.set(path, answer);
      return await jobs.submit(account, jobRequest(server.url + path, {}, languageCode));
    },
    async transcriptOf(job) {
      const id = job.transcript?.split("/")[1];
      assert.ok(id !== undefined, job.error?.message);
      const stored = await findTranscript(database.db, account, id);
      assert.ok(stored);
      const segments = await unpackSegments(stored.segments);
      const words = segments.flatMap((segment) => segment.words);
      return { ...stored, segments, words, text: words.map(({ word }) => word).join("") };
    },
    async isTidy() {
      await until(async () => (await leftovers(jobs)).length === 0).catch(async (error) => {
        throw new Error((await leftovers(jobs)).join(), { cause: error });
      });
    },
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

/** Media, scratch files and pieces that nobody needs. */
export async function leftovers({
  database,
  store,
  scratchFolder,
  mediaFolder,
}: JobsFixture): Promise<string[]> {
  const { db } = database;
  const recorded = await db
    .selectFrom("media")
    .leftJoin("transcript", "transcript.media_id", "media.id")
    .select(["media.id", "transcript.id as transcript"])
    .execute();
  const kept = await Array.fromAsync(store.list());
  const pieces = await db.selectFrom("transcript_job_piece").select("job_id").execute();
  return [
    ...recorded.filter(({ transcript }) => transcript === null).map(({ id }) => `media ${id}`),
    ...kept
      .filter(({ id }) => !recorded.some((media) => media.id === id))
      .map(({ id }) => `bytes ${id}`),
    ...pieces.map(({ job_id }) => `piece of ${job_id}`),
    ...(await readdir(scratchFolder)).map((name) => `scratch ${name}`),
    ...(await readdir(join(mediaFolder, "unfinished"))).map((name) => `unfinished ${name}`),
  ];
}

/** Words for toneWav(): neighbours differ. */
export function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, index) => 5 + ((index * 7) % 60));
}
