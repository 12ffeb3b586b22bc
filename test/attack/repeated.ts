import { getOption } from "@bufbuild/protobuf";
import { body_bytes_max } from "../../src/gen/hlust/api/annotations_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import type { Attack } from "./attack.ts";
import { together } from "./compressed.ts";
import {
  longestTranscript,
  deleteMegabyteTranscripts,
  insertMegabyteTranscripts,
} from "./things.ts";
import { field, filled, largestBytes, rpc } from "./payloads.ts";
import { ask, askGrpc, connectHeaders } from "./send.ts";

/** The number of transcripts whose JSON is longer than a string can be. */
const transcripts = 550;
const metadata = { fileType: "AUDIO", languageCode: "is-IS" };

/** Authorized calls, the most expensive ones of each method, with many concurrent calls. */
export const repeatedAttacks: readonly Attack[] = [
  {
    // This attack once got a response with status 500.
    name: "repeated: a list of transcripts with a megabyte of metadata each",
    isInGate: true,
    prepare: async (node) => {
      await deleteMegabyteTranscripts(node);
      await insertMegabyteTranscripts(node, transcripts);
      const path = "/v1alpha1/transcripts?pageSize=1000";
      return async () => await together(2, () => ask(node, path));
    },
  },
  ...(["json", "proto"] as const).map((encoding): Attack => ({
    name: `repeated: the same list, Connect ${encoding}`,
    isInGate: encoding === "proto",
    prepare: async (node) => {
      const headers = connectHeaders(encoding);
      const body = encoding === "json" ? '{"pageSize":1000}' : Buffer.from([0x10, 0xe8, 0x07]);
      return async () => await together(2, () => ask(node, rpc.list, { headers, body }));
    },
  })),
  searches("subject", 'metadata.subject CONTAINS "n"'),
  searches(
    "keywords",
    `metadata.keywords CONTAINS [${Array.from({ length: 600 }, (_, at) => `"${at}"`).join(",")}]`,
  ),
  reads("over REST", "", 50),
  reads("as SRT", ":export?format=SRT", 50),
  reads("as text", ":export?format=TEXT", 50),
  reads("as JSON", ":export?format=JSON", 50),
  {
    name: "repeated: the longest transcript over gRPC, 4 at the same time",
    isInGate: true,
    prepare: async (node) => {
      const name = await longestTranscript(node);
      return async () => await together(4, () => askGrpc(node, rpc.get, field(1, name)));
    },
  },
  {
    name: "repeated: the longest transcript over Connect JSON, 20 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const body = JSON.stringify({ name: await longestTranscript(node) });
      const headers = connectHeaders("json");
      return async () => await together(20, () => ask(node, rpc.get, { headers, body }));
    },
  },
  {
    name: "repeated: differences of the longest transcripts, 20 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const name = await longestTranscript(node);
      const change = { method: "PATCH", body: '{"segments":[]}' } as const;
      const read = async (): Promise<string> => {
        const answer = await ask(node, `/v1alpha1/${name}/versions`);
        return /"name":"([0-9a-f-]{36})"/.exec(answer)?.[1] ?? "";
      };
      const first = await read();
      await ask(node, `/v1alpha1/${name}`, change);
      const path = `/v1alpha1/${name}/versions/${await read()}:diff?against=${first}`;
      return async () => await together(20, () => ask(node, path));
    },
  },
  {
    name: "repeated: imports of the longest subtitles, 4 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const cue = "1\n00:00:00,000 --> 00:00:01,000\na\n\n";
      const bytes = getOption(Transcripts.method.importTranscript, body_bytes_max);
      const content = cue.repeat(Math.floor((bytes - 10_000) / JSON.stringify(cue).length));
      const body = JSON.stringify({ metadata, content });
      return async () =>
        await together(4, () => ask(node, "/v1alpha1/transcripts:import", { body }));
    },
  },
  {
    name: "repeated: 32 MB of segments over REST, 10 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const head = `{"metadata":${JSON.stringify(metadata)},"segments":[`;
      const unit = '{"startTime":"0s","endTime":"0s"},';
      const count = Math.floor((largestBytes - head.length - 100) / unit.length);
      const body = `${head}${unit.repeat(count)}{"startTime":"0s","endTime":"0s"}]}`;
      return async () => await together(10, () => ask(node, "/v1alpha1/transcripts", { body }));
    },
  },
  {
    name: "repeated: REST bodies of 1 MB that are keys, 20 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const keys = Array.from({ length: 100_000 }, (_, at) => `"${at.toString(36)}":""`);
      const body = `{"metadata":{"additionalMetadata":{${keys.join(",")}}}}`;
      const path = "/v1alpha1/transcriptjob:submit";
      return async () => await together(20, () => ask(node, path, { body }));
    },
  },
  {
    name: "repeated: 50,000 phrases to recognize, 20 at the same time",
    isInGate: false,
    prepare: async (node) => {
      const phrases = Array.from({ length: 500 }, (_, at) => `${at}`.padStart(60, "a"));
      const speechContexts = Array.from({ length: 100 }, () => ({ phrases, boost: 20 }));
      const config = { encoding: "LINEAR16", sampleRateHertz: 16_000, languageCode: "en-US" };
      const body = JSON.stringify({
        config: { ...config, speechContexts },
        audio: { content: "AAAAAAAA" },
      });
      const path = "/v2beta1/speech:recognize";
      return async () => await together(20, () => ask(node, path, { body }));
    },
  },
  {
    name: "repeated: 200 jobs at the same time, each with an idempotency key",
    isInGate: false,
    prepare: async (node) => {
      const uri = "http://127.0.0.1:9/talk.wav";
      const body = JSON.stringify({ metadata, useUri: true, uri });
      let number = 0;
      return async () =>
        await together(200, () => {
          number += 1;
          const headers = { "idempotency-key": `k${number}` };
          return ask(node, "/v1alpha1/transcriptjob:submit", { body, headers });
        });
    },
  },
  {
    name: "repeated: 60 uploads of 32 MB of media at the same time",
    isInGate: false,
    prepare: async (node) => {
      const body = filled([1], 32 << 20);
      const upload = async (): Promise<string> => {
        const begun = await ask(node, "/v1alpha1/initupload", { body: "{}" });
        const url = /"storageSignedUrl":"https?:\/\/[^/]+([^"]+)"/.exec(begun)?.[1] ?? "/";
        const headers = { "content-type": "audio/wav" };
        return await ask(node, url, { method: "PUT", headers, body });
      };
      return async () => await together(60, upload);
    },
  },
  {
    name: "repeated: 200 uploads begun at the same time",
    isInGate: false,
    prepare: async (node) => async () =>
      await together(200, () => ask(node, "/v1alpha1/initupload", { body: "{}" })),
  },
];

/** Makes 50 concurrent calls for a list with a filter. */
function searches(what: string, filter: string): Attack {
  return {
    name: `repeated: lists by ${what}, 50 at the same time`,
    isInGate: false,
    prepare: async (node) => {
      const path = `/v1alpha1/transcripts?pageSize=1000&filter=${encodeURIComponent(filter)}`;
      return async () => await together(50, () => ask(node, path));
    },
  };
}

function reads(how: string, suffix: string, count: number): Attack {
  return {
    name: `repeated: the longest transcript ${how}, ${count} at the same time`,
    isInGate: false,
    prepare: async (node) => {
      const name = await longestTranscript(node);
      return async () => await together(count, () => ask(node, `/v1alpha1/${name}${suffix}`));
    },
  };
}
