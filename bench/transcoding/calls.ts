// Compares the server's CPU time for a whole call over REST with that of the same method over
// Connect JSON. The caller runs in another process, so its CPU time is not counted.
import { create } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";
import type { Authenticator } from "../../src/auth/authenticate.ts";
import {
  TranscriptJobSchema,
  TranscriptSchema,
  Transcripts,
} from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { implemented } from "../../src/server/methods.ts";
import { openServer, type Server } from "../../src/server/server.ts";
import { createLog } from "../../src/std/log.ts";
import { cpuMs } from "../../test/fixtures/cpu-time.ts";
import type { Figure } from "../report.ts";
import { testCaller, unwatched } from "../../test/fixtures/test-caller.ts";

const rounds = 12;
const callsARound = 2_000;

const job = create(TranscriptJobSchema, {
  name: "transcriptjob/01998f2e-7c1a-7c35-9d54-2f8f6a4b1e0d",
  progressPercent: 40,
});
const transcript = create(TranscriptSchema, {
  name: "transcripts/01998f2e-7c1a-7c35-9d54-2f8f6a4b1e0d",
  segments: Array.from({ length: 3 }, (_, segment) => ({
    startTime: { seconds: BigInt(segment * 5) },
    endTime: { seconds: BigInt(segment * 5 + 4) },
    words: Array.from({ length: 10 }, (_, word) => ({
      word: "fundur ",
      startTime: { seconds: BigInt(segment * 5), nanos: word * 100_000_000 },
      endTime: { seconds: BigInt(segment * 5), nanos: word * 100_000_000 + 90_000_000 },
    })),
  })),
});

/**
 * The methods that are called. They return immediately, so that only the time of the doors is
 * measured.
 */
const methods = {
  getTranscriptJob: () => job,
  getTranscript: () => transcript,
  submitTranscriptJob: () => job,
};
const anyCaller: Authenticator = {
  authenticate: () => Promise.resolve(testCaller("a", [])),
  ...unwatched,
};

const metadata = { languageCode: "is-IS", fileType: "AUDIO", subject: "Ávarp" };
const submit = { useUri: true, uri: "https://example.com/fundur.mp3", metadata };

const calls = [
  {
    name: "REST call: get a job",
    rest: { method: "GET", path: `/v1alpha1/${job.name}` },
    rpc: { method: "GetTranscriptJob", body: { name: job.name } },
  },
  {
    name: "REST call: get a transcript",
    rest: { method: "GET", path: `/v1alpha1/${transcript.name}` },
    rpc: { method: "GetTranscript", body: { name: transcript.name } },
  },
  {
    name: "REST call: submit a job",
    rest: { method: "POST", path: "/v1alpha1/transcriptjob:submit", body: submit },
    rpc: { method: "SubmitTranscriptJob", body: submit },
  },
];

/** Measures the server's CPU time over REST as a ratio to that over Connect JSON: at most 0.6. */
export async function measureCalls(): Promise<Figure[]> {
  await using server = await openMeasuredServer(anyCaller);
  const { port } = new URL(server.address);
  using caller = openCaller(port);
  const figures: Figure[] = [];
  for (const { name, rest, rpc } of calls) {
    const requests = [
      requestText(rest.method, rest.path, rest),
      requestText("POST", `/${Transcripts.typeName}/${rpc.method}`, rpc),
    ];
    const best = [Infinity, Infinity];
    for (let round = 0; round < rounds; round += 1) {
      for (const [index, request] of requests.entries()) {
        const start = cpuMs();
        await caller.call(request, callsARound);
        best[index] = Math.min(best[index] ?? Infinity, (cpuMs() - start) / callsARound);
      }
    }
    const [own = NaN, connect = NaN] = best.map((ms) => ms * 1000);
    const note = `${own.toFixed(0)} us, Connect JSON ${connect.toFixed(0)} us`;
    figures.push({ name, ratio: own / connect, ratioMax: 0.6, note });
  }
  return figures;
}

/** Starts a server whose methods do nothing. */
export function openMeasuredServer(authenticator: Authenticator): Promise<Server> {
  const services = [implemented(Transcripts, unimplementedBut(methods))];
  return openServer(
    { host: "127.0.0.1", port: 0 },
    { api: { services, authenticator }, log: createLog("error") },
  );
}

function unimplementedBut(own: object): ServiceImpl<typeof Transcripts> {
  const refuse = () => {
    throw new Error("not measured");
  };
  const all = Transcripts.methods.map(({ localName }) => [localName, refuse]);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- every method is implemented
  return { ...Object.fromEntries(all), ...own } as ServiceImpl<typeof Transcripts>;
}

export function requestText(
  method: string,
  path: string,
  {
    body,
    token = "hlust_0123456789abcdef0123456789abcdef",
  }: { body?: object; token?: string } = {},
): string {
  const text = body === undefined ? "" : JSON.stringify(body);
  const headers = [
    `${method} ${path} HTTP/1.1`,
    "host: 127.0.0.1",
    "accept: */*",
    "user-agent: curl/8.5.0",
    `authorization: Bearer ${token}`,
    ...(text === ""
      ? []
      : ["content-type: application/json", `content-length: ${Buffer.byteLength(text)}`]),
  ];
  return `${headers.join("\r\n")}\r\n\r\n${Buffer.from(text).toString("latin1")}`;
}

/** Starts a process that sends calls to a port. */
export function openCaller(
  port: string,
): Disposable & { call(request: string, calls: number): Promise<void> } {
  const load = spawn(process.execPath, [join(import.meta.dirname, "load.ts"), port], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const lines = createInterface({ input: load.stdout })[Symbol.asyncIterator]();
  return {
    async call(request, calls) {
      load.stdin.write(`${JSON.stringify({ request, calls })}\n`);
      const { done } = await lines.next();
      if (done) throw new Error("the calling process failed");
    },
    [Symbol.dispose]() {
      load.kill();
    },
  };
}
