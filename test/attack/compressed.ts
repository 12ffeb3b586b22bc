import type { Attack } from "./attack.ts";
import { around, brotlied, field, filled, gzipped, largestBytes, rpc } from "./payloads.ts";
import { ask, askGrpc, connectHeaders } from "./send.ts";

/** Kilobytes that decompress to 32 MiB, in one call and in several concurrent calls. */
const compressed: Attack[] = [
  // This attack once blocked the service for 22 s.
  connectJson("segments: 11 million empty ones", rpc.create, {
    isInGate: true,
    make: () =>
      around('{"transcript":{"metadata":{"fileType":"AUDIO"},"segments":[', "{},", "{}]}}"),
  }),
  // The binary form is denser, with two bytes per segment.
  grpc("segments: 16 million of two bytes", rpc.create, {
    isInGate: true,
    make: () => field(1, filled([0x1a, 0], largestBytes - 64)),
  }),
  connectJson("words: 11 million empty ones in one segment", rpc.create, {
    make: () => around('{"transcript":{"segments":[{"words":[', "{},", "{}]}]}}"),
  }),
  connectJson("a name, in which arrays are nested 16 million deep", rpc.get, {
    isInGate: true,
    make: () => Buffer.concat([Buffer.from('{"x":'), filled("[", 16 << 20), filled("]", 15 << 20)]),
  }),
  connectProto("a name, and 16 million unknown fields", rpc.get, {
    isInGate: true,
    make: () => filled([0x78, 0], largestBytes - 64),
  }),
  connectProto("a name, and unknown groups nested 32 million deep", rpc.get, {
    make: () => filled([0x7b], largestBytes - 64),
  }),
  connectProto("a name 16 million times", rpc.get, {
    make: () => filled([0x0a, 0], largestBytes - 64),
  }),
  connectJson("a name, and 16 million unknown numbers", rpc.get, {
    make: () => around('{"x":[', "0,", "0]}"),
  }),
  connectJson("a name 3 million times", rpc.get, {
    make: () => around("{", '"name":"",', '"name":""}'),
  }),
  connectJson("three million keys", rpc.get, {
    make: () => {
      const keys = Array.from({ length: 2_800_000 }, (_, at) => `"${at.toString(36)}":0`);
      return Buffer.from(`{${keys.join(",")}}`);
    },
  }),
  connectJson("white space", rpc.get, { make: () => around("{", " ", "}") }),
  connectJson("a number of 33 million digits", rpc.list, {
    make: () => around('{"pageSize":', "9", "}"),
  }),
  connectJson("a filter of 33 million letters", rpc.list, {
    make: () => around('{"filter":"', "a", '"}'),
  }),
  connectProto("16 million phrases", rpc.recognize, {
    make: () => field(1, field(6, filled([0x0a, 0], largestBytes - 64))),
  }),
  {
    name: "Connect, brotli: white space, 54 bytes",
    isInGate: true,
    prepare: async (node) => {
      const body = brotlied(around("{", " ", "}"));
      const headers = connectHeaders("json", "br");
      return async () => await together(4, () => ask(node, rpc.get, { headers, body }));
    },
  },
];

export const compressedAttacks: readonly Attack[] = compressed;

interface Body {
  readonly isInGate?: boolean;
  readonly make: () => Buffer;
}

function connectJson(name: string, path: string, { make, isInGate = false }: Body): Attack {
  return connect(`Connect JSON, gzip: ${name}`, path, { make, isInGate, encoding: "json" });
}

function connectProto(name: string, path: string, { make, isInGate = false }: Body): Attack {
  return connect(`Connect binary, gzip: ${name}`, path, { make, isInGate, encoding: "proto" });
}

function connect(
  name: string,
  path: string,
  { make, isInGate, encoding }: Required<Body> & { readonly encoding: "json" | "proto" },
): Attack {
  return {
    name,
    isInGate,
    prepare: async (node) => {
      const body = gzipped(make());
      const headers = connectHeaders(encoding, "gzip");
      return async () => await together(2, () => ask(node, path, { headers, body }));
    },
  };
}

function grpc(name: string, path: string, { make, isInGate = false }: Body): Attack {
  return {
    name: `gRPC, gzip: ${name}`,
    isInGate,
    prepare: async (node) => {
      const message = gzipped(make());
      return async () =>
        await together(2, () => askGrpc(node, path, message, { isCompressed: true }));
    },
  };
}

/** Makes `count` concurrent calls; resolves to their distinct results. */
export async function together(count: number, call: () => Promise<string>): Promise<string> {
  const answers = await Promise.all(Array.from({ length: count }, call));
  return [...new Set(answers)].join("\n");
}
