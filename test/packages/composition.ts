import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse } from "yaml";

export const deployFolder = resolve(import.meta.dirname, "../../deploy");

/** A service of a compose file. */
export interface Service {
  readonly image: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly entrypoint?: readonly string[];
  readonly command?: string | readonly string[];
  /** What is null is passed on from deploy/.env, and not set if it is not there. */
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?:
    | readonly string[]
    | Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly secrets?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly cap_drop?: readonly string[];
  readonly read_only?: boolean;
  readonly ports?: readonly string[];
  readonly stop_grace_period?: string;
}

/** A compose file of deploy/. */
export interface Composition {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes?: Readonly<Record<string, unknown>>;
  readonly networks?: Readonly<Record<string, { ipam: { config: { subnet: string }[] } }>>;
  readonly secrets?: Readonly<Record<string, { readonly environment: string }>>;
}

export function readComposition(name: string): Composition {
  return parseComposition(readFileSync(join(deployFolder, name), "utf8"));
}

/**
 * Returns a compose file with the values of deploy/.env in it, as compose reads it. Fails if one is
 * missing that the file needs.
 */
export function filledComposition(
  name: string,
  values: Readonly<Record<string, string>>,
): Composition {
  const text = readFileSync(join(deployFolder, name), "utf8");
  const filled = text.replaceAll(
    /\$\{([A-Z0-9_]+)(?:(:-|:\?)([^}]*))?\}/g,
    (_, variable: string, kind: string | undefined, other = "") => {
      const value = values[variable] ?? "";
      if (value !== "" || kind === undefined) return value;
      if (kind === ":?") throw new Error(`${name}: ${variable}: ${other}`);
      return other;
    },
  );
  return parseComposition(filled);
}

function parseComposition(text: string): Composition {
  const composition: Composition = parse(text, { merge: true });
  return composition;
}

/** Returns the names of the services that a service waits for. */
export function neededBy({ depends_on: needed = [] }: Omit<Service, "image">): readonly string[] {
  return Array.isArray(needed) ? needed : Object.keys(needed);
}

/** Whether a service waits until the health check of `name` passes. */
export function isHealthNeeded(name: string, services: Composition["services"]): boolean {
  return Object.values(services).some(
    ({ depends_on: needed = [] }) =>
      !Array.isArray(needed) &&
      Object.entries(needed).some(
        ([other, { condition }]) => other === name && condition === "service_healthy",
      ),
  );
}

/** Returns an environment without what is null and not passed on. */
export function environmentOf(
  { environment = {} }: Service,
  passedOn: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const set = Object.entries(environment).map(([name, value]) => [name, value ?? passedOn[name]]);
  return Object.fromEntries(set.filter(([, value]) => value !== undefined));
}
