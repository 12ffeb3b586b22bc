import { readFile } from "node:fs/promises";
import { EnergyVoiceActivity } from "../../audio/energy-voice-activity.ts";
import { type ModelCard, ModelCardError } from "../../models/model-card.ts";
import type { Engine } from "../protocol/engine.ts";
import { CallLimit } from "./call-limit.ts";
import { HostedDecoder } from "./hosted-decoder.ts";
import type { HostedServer, ServerSettings } from "./hosted-server.ts";
import { type GivenKey, readServerKey } from "./server-key.ts";
import { ServerHealth } from "./server-health.ts";

const utteranceMsMax = 20_000;
const sessionsMaxDefault = 32;
const answerSecondsDefault = { live: 10, other: 60 } as const;

/**
 * Opens a model at a server elsewhere. It opens although the server is absent, which absence()
 * reports. Throws an Error that names what is wrong with the card or the key.
 */
export async function openHostedEngine(card: ModelCard, given: GivenKey): Promise<Engine> {
  const options = readOptions(card);
  const server = await openServer(card, await readSettings(card, given));
  const health = new ServerHealth({ probe: (signal) => server.probe(signal) });
  await health.check();
  const { languageCodes, uses } = card;
  const { sessionsMax, answerMsMax } = options;
  const limit = new CallLimit(() => Math.min(sessionsMax, server.callsMax?.() ?? sessionsMax));
  const name = `${card.name} at ${card.server?.address ?? "no address"}`;
  const parts = { name, server, limit, health, languageCodes, answerMsMax };
  return {
    name: `hosted-${card.kind}`,
    languageCodes,
    utteranceMsMax,
    takesHints: server.takesHints,
    // Encryption and sockets take CPU time outside the slices of the sessions.
    usesThreads: true,
    server: { sessionsMax, uses, absence: () => health.absence() },
    createDecoder: (decoderOptions) => new HostedDecoder(parts, decoderOptions),
    createVoiceActivity: () => new EnergyVoiceActivity(),
    close() {
      health[Symbol.dispose]();
      server.close();
    },
  };
}

async function openServer({ kind }: ModelCard, settings: ServerSettings): Promise<HostedServer> {
  if (kind === "openai-transcriptions") {
    const { openOpenaiServer } = await import("./openai-server.ts");
    return openOpenaiServer(settings);
  }
  if (kind === "vosk-server") {
    const { openVoskServer } = await import("./vosk-server.ts");
    return openVoskServer(settings);
  }
  if (kind === "riva-speech") {
    const { openRivaServer } = await import("./riva-server.ts");
    return openRivaServer(settings);
  }
  const { openGoogleServer } = await import("./google-server.ts");
  return openGoogleServer(settings);
}

async function readSettings(
  { server, options }: ModelCard,
  given: GivenKey,
): Promise<ServerSettings> {
  if (!server) throw new ModelCardError("server is required: the address of the model");
  const { address, keyFile, authorityFile } = server;
  const text = (name: string) => (typeof options[name] === "string" ? options[name] : undefined);
  return {
    address: new URL(address),
    key: await readServerKey(keyFile, given),
    authorities: authorityFile === undefined ? undefined : await readFile(authorityFile, "utf8"),
    model: text("model"),
    languageCode: text("languageCode"),
    responseFormat: options["responseFormat"] === "json" ? "json" : "verbose_json",
  };
}

function readOptions({ options }: ModelCard) {
  const problems: string[] = [];
  const number = (name: string, max: number, fallback: number): number => {
    const { [name]: value = fallback } = options;
    if (typeof value === "number" && value >= 1 && value <= max) return value;
    problems.push(
      `options.${name} must be a number from 1 to ${max}, not ${JSON.stringify(value)}`,
    );
    return fallback;
  };
  const sessionsMax = Math.floor(number("sessionsMax", 10_000, sessionsMaxDefault));
  const live = 1000 * number("liveAnswerSeconds", 60, answerSecondsDefault.live);
  const other = 1000 * number("answerSeconds", 250, answerSecondsDefault.other);
  const known = ["sessionsMax", "liveAnswerSeconds", "answerSeconds", "model", "languageCode"];
  for (const name of Object.keys(options)) {
    if (![...known, "responseFormat"].includes(name)) {
      problems.push(`options.${name} is not an option of hosted models`);
    }
  }
  if (!["verbose_json", "json"].includes(String(options["responseFormat"] ?? "json"))) {
    problems.push("options.responseFormat must be verbose_json or json");
  }
  if (problems.length > 0) throw new ModelCardError(problems.join("; "));
  return { sessionsMax, answerMsMax: { live, other } };
}
