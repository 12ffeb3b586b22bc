import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import {
  ConfigError,
  ifSet,
  list,
  listenAddress,
  oneOf,
  type ReadSetting,
  type Setting,
} from "../std/setting.ts";

/** How this node uses engine nodes, or is one. */
export interface EngineConfig {
  /** Where an engine node listens for other nodes; undefined for other roles. */
  readonly listen: EngineListen | undefined;
  /** The engine nodes that this node uses; undefined if it uses none. */
  readonly nodes: EngineNodesConfig | undefined;
  /** Whether this node runs models itself. */
  readonly hasOwnModels: boolean;
}

export interface EngineListen {
  readonly host: string;
  readonly port: number;
  readonly credential: string;
}

export interface EngineNodesConfig {
  readonly names: readonly EngineName[];
  readonly credential: string;
  /** The certificates of further authorities, in PEM form. */
  readonly authorities: string | undefined;
  /** The silence after which a node is given up. Default: that of the protocol. */
  readonly silentMsMax?: number;
}

/** An entry of HLUST_ENGINES. A name may have several addresses, each of which is a node. */
export interface EngineName {
  readonly host: string;
  readonly port: number;
  readonly isEncrypted: boolean;
}

/** The minimum length of a credential, which is too long to guess if it is random. */
const credentialLengthMin = 16;
const namesMax = 100;
const authoritiesBytesMax = 1 << 20;

export const engineSettings = {
  listen: {
    name: "HLUST_ENGINE_LISTEN",
    meaning:
      "Address at which an engine node (HLUST_ROLE=engine) serves other nodes, such as 0.0.0.0:8090; with TLS if HLUST_TLS_CERTIFICATE is set",
    fallback: "none; an engine node needs one",
    parse: ifSet((text, name) => listenAddress(text, name, "0.0.0.0:8090 or [::]:8090")),
  },
  credential: {
    name: "HLUST_ENGINE_CREDENTIAL",
    meaning: "Credential that engine nodes require, the same on all nodes; nothing else accepts it",
    fallback: "none",
    secret: true,
    parse: ifSet(credential),
  },
  nodes: {
    name: "HLUST_ENGINES",
    meaning:
      "Engine nodes that this node uses, comma-separated, such as 10.0.0.5:8090,https://engines.example:8090; a name with several addresses is several nodes",
    fallback: "none: this node runs its models itself",
    isList: true,
    parse: (text, name) => {
      const names = list(text).map((entry) => engineName(entry, name));
      if (names.length <= namesMax) return names;
      throw new ConfigError(`${name} has ${names.length} entries; at most ${namesMax} are allowed`);
    },
  },
  authorities: {
    name: "HLUST_ENGINES_CA",
    meaning:
      "File with the certificates (PEM) of the authorities that may vouch for engine nodes with https://",
    fallback: "the authorities that Node knows",
    parse: ifSet((text) => resolve(text)),
  },
  ownEngines: {
    name: "HLUST_OWN_ENGINES",
    meaning: "Whether this node runs its models itself, also next to engine nodes: true or false",
    fallback: "true; false with HLUST_ENGINES",
    parse: ifSet((text, name) => oneOf(text, name, ["true", "false"] as const) === "true"),
  },
} satisfies {
  readonly listen: Setting<Omit<EngineListen, "credential"> | undefined>;
  readonly credential: Setting<string | undefined>;
  readonly nodes: Setting<readonly EngineName[]>;
  readonly authorities: Setting<string | undefined>;
  readonly ownEngines: Setting<boolean | undefined>;
};

/** Checks a credential. Throws ConfigError, which does not show it. */
function credential(text: string, name: string): string {
  if (/^[\x21-\x7e]+$/.test(text) && text.length >= credentialLengthMin) return text;
  throw new ConfigError(
    `${name} must be at least ${credentialLengthMin} printable ASCII characters without spaces, not ${text.length}: use openssl rand -hex 32`,
  );
}

function engineName(entry: string, name: string): EngineName {
  const [, scheme, address = ""] = /^(https?:\/\/)?(.*?)\/?$/.exec(entry) ?? [];
  const examples = "10.0.0.5:8090 or https://engines.example:8090";
  return { ...listenAddress(address, name, examples), isEncrypted: scheme === "https://" };
}

/**
 * Reads the settings as a whole. Invalid settings are added to `problems`.
 */
export function readEngines(read: ReadSetting, role: string, problems: string[]): EngineConfig {
  const { listen, credential: secret, nodes, authorities: file, ownEngines } = engineSettings;
  const address = read<Omit<EngineListen, "credential"> | undefined>(listen);
  const given = read<string | undefined>(secret);
  const names = read<readonly EngineName[]>(nodes);
  const authoritiesFile = read<string | undefined>(file);
  const isOwn = read<boolean | undefined>(ownEngines);
  const isNode = role === "engine";
  const needed = isNode || names.length > 0;
  if (isNode && !address) problems.push(`HLUST_ROLE is engine: set ${listen.name} as well`);
  if (!isNode && address) problems.push(`${listen.name} is set, but HLUST_ROLE is not engine`);
  if (isNode && names.length > 0) {
    problems.push(`${nodes.name} is set, but an engine node uses no others: remove it`);
  }
  if (needed && given === undefined) {
    problems.push(
      `${isNode ? "HLUST_ROLE is engine" : `${nodes.name} is set`}: set ${secret.name} as well`,
    );
  }
  if (!needed && given !== undefined) {
    problems.push(`${secret.name} is set, but neither ${nodes.name} nor HLUST_ROLE=engine is`);
  }
  if (names.length === 0 && authoritiesFile !== undefined) {
    problems.push(`${file.name} is set, but ${nodes.name} is not`);
  }
  if (names.length === 0 && isOwn === false) {
    problems.push(`${ownEngines.name} is false, but ${nodes.name} is not set: no model would run`);
  }
  return {
    listen:
      isNode && address && given !== undefined ? { ...address, credential: given } : undefined,
    nodes:
      names.length > 0 && given !== undefined
        ? {
            names,
            credential: given,
            authorities: authoritiesOf(authoritiesFile, file.name, problems),
          }
        : undefined,
    hasOwnModels: isOwn ?? names.length === 0,
  };
}

function authoritiesOf(path: string | undefined, name: string, problems: string[]) {
  if (path === undefined) return undefined;
  try {
    const text = readFileSync(path, "latin1");
    if (text.length > authoritiesBytesMax) throw new Error("it has more than 1 MiB");
    if (/-----BEGIN CERTIFICATE-----/.test(text)) return text;
    throw new Error("it has no certificate in PEM form (-----BEGIN CERTIFICATE-----)");
  } catch (error) {
    problems.push(`${name}: ${path}: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}
