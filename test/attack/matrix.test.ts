// Calls every method over every protocol with every request that is hard to read, plain and
// compressed. None of the calls may block the node. The test takes the better part of an hour and
// runs with ATTACK=all (`npm run test:attack`).
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type DescMethod, fromJson, getOption, hasOption } from "@bufbuild/protobuf";
import { createHttpContract } from "../../src/client/http-contract.ts";
import { body_bytes_max } from "../../src/gen/hlust/api/annotations_pb.ts";
import { matrix } from "../access/matrix.ts";
import { absentThings } from "../access/things.ts";
import { figuresOf } from "./figures.ts";
import { memoryMb, type NodeUnderAttack, openNodeUnderAttack } from "./node-under-attack.ts";
import { gzipped, largestBytes } from "./payloads.ts";
import { ask, askGrpc, connectHeaders } from "./send.ts";
import { shapesOf, type Shape } from "./shapes.ts";
import { cpuSlowness } from "../fixtures/cpu-slowness.ts";

/**
 * The maximum CPU time of the main thread while /healthz waits, for one call together with other
 * concurrent work.
 */
const heldMsMax = 100;
const isOn = process.env["ATTACK"] === "all";
const only = process.env["ATTACK_ONLY"] ?? "";
const contract = createHttpContract();

let node: NodeUnderAttack;
before(async () => {
  if (isOn) node = await openNodeUnderAttack();
});
after(async () => {
  if (isOn) await node[Symbol.asyncDispose]();
});

for (const [service, rows] of isOn ? matrix : []) {
  for (const method of service.methods) {
    const request = rows[method.name]?.requests[0](absentThings())[0] ?? {};
    for (const [protocol, send] of Object.entries(protocolsOf(method, request))) {
      const name = `${protocol}: ${service.typeName}.${method.name}`;
      if (!new RegExp(only).test(name)) continue;
      test(name, { timeout: 900_000 * cpuSlowness }, async (t) => {
        const troubles: string[] = [];
        for (const shape of shapesOf(method.input)) {
          const trouble = await troubleOf(shape, send);
          if (trouble === undefined) continue;
          troubles.push(`${shape.name}: ${trouble}`);
          t.diagnostic(troubles.at(-1) ?? "");
        }
        assert.deepEqual(troubles, []);
      });
    }
  }
}

type Send = (shape: Shape) => Promise<string | undefined>;

/** Returns what went wrong with a request, or undefined if the request did not affect others. */
async function troubleOf(shape: Shape, send: Send): Promise<string | undefined> {
  if (node.isLost) await node.restart();
  await node.seen();
  const answer = await send(shape);
  // The protocol has no request of this kind.
  if (answer === undefined) return undefined;
  await sleep(30);
  const { heldMsMax: heldMs, rssMb, failures } = figuresOf(await node.seen());
  const held = `held ${Math.round(heldMs)} ms, ${rssMb} MB: ${answer.slice(0, 150)}`;
  if (node.isLost) return `the process has ended (${held})`;
  if (failures.length > 0) return `${failures[0]} (${held})`;
  if (rssMb > memoryMb) {
    await node.restart();
    return held;
  }
  return heldMs > heldMsMax || /^500|grpc-status (?:13|2) /.test(answer) ? held : undefined;
}

/** Returns the protocols over which the method can be called, except WebSocket. */
function protocolsOf(method: DescMethod, request: Parameters<typeof fromJson>[1]) {
  const path = `/${method.parent.typeName}/${method.name}`;
  const sends: Record<string, Send> = {
    gRPC: async ({ proto }) => proto && (await askGrpc(node, path, proto(largestBytes - 8))),
    "gRPC, gzip": async ({ proto }) =>
      proto && (await askGrpc(node, path, gzipped(proto(largestBytes)), { isCompressed: true })),
  };
  if (method.methodKind !== "unary") return sends;
  for (const encoding of ["json", "proto"] as const) {
    sends[`Connect ${encoding}`] = async ({ [encoding]: make }) =>
      make &&
      (await ask(node, path, { headers: connectHeaders(encoding), body: make(largestBytes) }));
    sends[`Connect ${encoding}, gzip`] = async ({ [encoding]: make }) => {
      const headers = connectHeaders(encoding, "gzip");
      return make && (await ask(node, path, { headers, body: gzipped(make(largestBytes)) }));
    };
  }
  const { httpMethod, target, body } = contract.write(method, fromJson(method.input, request));
  const bytes = hasOption(method, body_bytes_max) ? getOption(method, body_bytes_max) : 1 << 20;
  if (body && isVerb(httpMethod)) {
    sends["REST"] = async ({ json }) =>
      json && (await ask(node, target, { method: httpMethod, body: json(bytes) }));
  }
  return sends;
}

function isVerb(text: string): text is "POST" | "PATCH" | "PUT" {
  return ["POST", "PATCH", "PUT"].includes(text);
}
