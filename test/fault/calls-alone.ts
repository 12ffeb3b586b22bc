import assert from "node:assert/strict";
import { Agent, get, type IncomingMessage } from "node:http";
import { openStream, streamingConfig } from "../spec/stream.ts";
import type { ServiceProcess } from "./process.ts";

/** How a call differs from that of the service's key on a connection that ends with it. */
interface CallChanges {
  readonly token?: string;
  readonly origin?: string;
  readonly agent?: Agent;
}

/** Makes a call of a service on a connection of its own. Returns the response without its body. */
export async function callOf(
  service: Pick<ServiceProcess, "address" | "key">,
  path: string,
  { token = service.key, origin, agent = new Agent({ keepAlive: false }) }: CallChanges = {},
): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${token}`, ...(origin !== undefined && { origin }) };
  return await new Promise((resolve, reject) => {
    get(`${service.address}${path}`, { headers, agent }, (response) => {
      response.resume().once("end", () => resolve(response));
    }).once("error", reject);
  });
}

/** Makes calls of a path, each on a connection of its own, and streams, until it is stopped. */
export function openLoad(service: Pick<ServiceProcess, "address" | "key">, path: string) {
  const failures: string[] = [];
  const stopped = new AbortController();
  let calls = 0;
  const repeat = async (call: () => Promise<unknown>) => {
    while (!stopped.signal.aborted) {
      await call().catch((error: unknown) => failures.push(String(error)));
      calls += 1;
    }
  };
  const listed = async () => assert.equal((await callOf(service, path)).statusCode, 200);
  const streamed = async () => {
    const stream = await openStream(service.address, { token: service.key });
    stream.send(streamingConfig({ languageCode: "is-IS" }));
    stream.send({ audioContent: "" });
    assert.equal(await stream.closed, 1000);
  };
  const running = [repeat(listed), repeat(listed), repeat(streamed)];
  const stop = async () => {
    stopped.abort();
    await Promise.all(running);
    return failures;
  };
  return {
    get calls() {
      return calls;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
