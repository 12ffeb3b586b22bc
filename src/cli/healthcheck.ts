import { Agent, fetch } from "undici";
import { readConfig } from "../config.ts";
import { reachable } from "../std/reachable.ts";
import { refuseArguments, type Command } from "./command.ts";

const answerMsMax = 5_000;

/** The check of a container's health, which has the same settings as the service. */
export const healthcheck: Command = {
  summary: "check that the service of these settings has started and answers",
  async run(args, environment) {
    refuseArguments(args);
    const { host, port, tls } = readConfig(environment);
    if (port === 0) throw new Error("HLUST_PORT=0 is any port: set it to the service's own");
    const address = reachable(
      `${tls ? "https" : "http"}://${host.includes(":") ? `[${host}]` : host}:${port}`,
    );
    const { status, body } = await startState(address);
    process.stdout.write(`hlust: ${body}\n`);
    return status === 200 ? 0 : 1;
  },
};

/** Requests /startupz: 200 once all models are loaded, and from then on while the node answers. */
async function startState(address: string): Promise<{ status: number; body: string }> {
  try {
    // The certificate names the service's public host, and not the address that is asked here.
    const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
    const signal = AbortSignal.timeout(answerMsMax);
    const response = await fetch(`${address}/startupz`, { signal, dispatcher });
    return { status: response.status, body: (await response.text()).trim() };
  } catch (error) {
    const isLate = error instanceof Error && error.name === "TimeoutError";
    const why = isLate ? `no answer within ${answerMsMax / 1000} s` : "nothing answers there";
    throw new Error(`${address}/startupz: ${why}`, { cause: error });
  }
}
