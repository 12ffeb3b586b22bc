import type { DescService, JsonObject } from "@bufbuild/protobuf";
import { shown } from "../std/service-error.ts";
import { type ConfiguredRule, resolveRules, type RuleSpot } from "./http-rules.ts";
import { describe, readYaml, type TextProblem, type YamlEntry, type YamlMap } from "./yaml-tree.ts";
import type { YamlNode } from "./yaml-tree.ts";

/**
 * The `http` part of a service configuration (google.api.Service), checked against the services for
 * which it was read.
 */
export interface ServiceConfig {
  readonly rules: readonly ConfiguredRule[];
  readonly fullyDecodeReservedExpansion: boolean;
  /** Returns the place of a part of a rule, such as `rules.yaml:7:22`. */
  placeOf(spot: RuleSpot): string;
}

/**
 * Thrown for a service configuration that cannot be used. The error contains every problem in the
 * form `file:line:column: problem`.
 */
export class ServiceConfigError extends Error {
  override readonly name = "ServiceConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/** The maximum length of a file in characters, which is enough for thousands of rules. */
export const serviceConfigLengthMax = 1 << 20;
/**
 * The maximum number of rules and additional bindings in one file. The rules and bindings of an
 * alias count each time that the alias is used.
 */
const bindingsMax = 1000;
const problemsShownMax = 100;

/**
 * Reads the HTTP rules of a service configuration in YAML or JSON (§4.10, the Http container and
 * item 9):
 *
 *     type: google.api.Service
 *     http:
 *       fully_decode_reserved_expansion: false
 *       rules:
 *         - selector: pkg.Service.Method
 *           get: /v1/{name=things/*}
 *
 * Names can be proto names or in lowerCamelCase, and null means unset. Other parts of a service
 * configuration are ignored, but an unknown name within `http` is an error. `file` is the name of
 * the text in the places of problems. Throws ServiceConfigError with every problem in the text and
 * in the rules for these services.
 */
export function readServiceConfig(
  text: string,
  { file, services }: { readonly file: string; readonly services: readonly DescService[] },
): ServiceConfig {
  if (text.length > serviceConfigLengthMax) {
    const found = `found ${text.length}`;
    throw new ServiceConfigError([
      `${file}: expected at most ${serviceConfigLengthMax} characters, ${found}`,
    ]);
  }
  const { root, problems, placeOf } = readYaml(text);
  const reader = new ConfigReader(problems);
  const config = reader.read(root);
  const offsetOf = (spot: RuleSpot): number => offsetAt(reader.nodes[spot.rule ?? -1], spot);
  for (const { spot, place, description } of resolveRules(services, config.rules).problems) {
    // The problem of an annotation is not in this file, so the annotation's own place is included.
    const what = spot.rule === undefined ? `${place}: ${description}` : description;
    reader.problems.push({ offset: offsetOf(spot), description: what });
  }
  const at = (offset: number): string => {
    const { line, column } = placeOf(offset);
    return `${file}:${line}:${column}`;
  };
  if (reader.problems.length > 0) {
    const sorted = reader.problems.toSorted((one, other) => one.offset - other.offset);
    // A rule for many methods has the same problem for each method, but the problem is reported
    // once.
    const lines = [...new Set(sorted.map((one) => `${at(one.offset)}: ${one.description}`))];
    const more = lines.length - problemsShownMax;
    if (more > 0) lines.splice(problemsShownMax, more, `${file}: and ${more} more`);
    throw new ServiceConfigError(lines);
  }
  return { ...config, placeOf: (spot) => at(offsetOf(spot)) };
}

/** The fields of a rule by their kind: a text, a custom pattern, or more rules. */
const ruleFields: Readonly<Record<string, "text" | "custom" | "rules">> = {
  selector: "text",
  get: "text",
  put: "text",
  post: "text",
  delete: "text",
  patch: "text",
  custom: "custom",
  body: "text",
  response_body: "text",
  additional_bindings: "rules",
};
/** Replaces a path that cannot be read, so that the path is not reported as missing. */
const unreadable = "/unreadable";
const patternFields: ReadonlySet<string> = new Set([
  "get",
  "put",
  "post",
  "delete",
  "patch",
  "custom",
]);

class ConfigReader {
  readonly problems: TextProblem[];
  /** The node of each rule that was read. */
  readonly nodes: YamlNode[] = [];
  #bindings = 0;

  constructor(problems: readonly TextProblem[]) {
    this.problems = [...problems];
  }

  read(root: YamlNode | undefined): Pick<ServiceConfig, "rules" | "fullyDecodeReservedExpansion"> {
    const rules: JsonObject[] = [];
    let fullyDecodeReservedExpansion = false;
    for (const { name, value } of this.#httpEntries(root)) {
      if (name === "rules") {
        for (const node of this.#items(name, value)) {
          const rule = this.#rule(node);
          if (rule === undefined) continue;
          rules.push(rule);
          this.nodes.push(node);
        }
      } else if (value.kind === "scalar" && typeof value.value === "boolean") {
        fullyDecodeReservedExpansion = value.value;
      } else if (!isNull(value)) {
        this.#add(value, `${name}: expected true or false, found ${describe(value)}`);
      }
    }
    return { rules, fullyDecodeReservedExpansion };
  }

  #httpEntries(root: YamlNode | undefined): YamlEntry[] {
    // Without valid YAML there is nothing else to report.
    if (root === undefined && this.problems.length > 0) return [];
    const entries = root?.kind === "map" ? root.entries : [];
    const http = entries.find(({ name }) => name === "http");
    if (http === undefined) {
      const bare = entries.find(({ name }) => name === "rules");
      const found = bare ? '"rules" outside of it' : root ? describe(root) : "nothing";
      const offset = bare?.nameOffset ?? root?.offset ?? 0;
      this.problems.push({ offset, description: `expected a map with "http", found ${found}` });
      return [];
    }
    if (isNull(http.value)) return [];
    if (http.value.kind === "map") {
      return this.#known(http.value, ["rules", "fully_decode_reserved_expansion"]);
    }
    this.#add(http.value, `http: expected a map, found ${describe(http.value)}`);
    return [];
  }

  /**
   * Returns a rule as JSON in proto names, without its invalid parts. Returns undefined if nothing
   * is left to check.
   */
  #rule(node: YamlNode): JsonObject | undefined {
    if (++this.#bindings > bindingsMax) {
      if (this.#bindings === bindingsMax + 1) {
        this.#add(
          node,
          `expected at most ${bindingsMax} rules and additional bindings, found more`,
        );
      }
      return undefined;
    }
    if (node.kind !== "map") {
      this.#add(node, `expected a rule, found ${describe(node)}`);
      return undefined;
    }
    const rule: JsonObject = {};
    const before = this.problems.length;
    let pattern: string | undefined;
    for (const { name, value, nameOffset } of this.#known(node, Object.keys(ruleFields))) {
      if (isNull(value)) continue;
      if (patternFields.has(name)) {
        if (pattern !== undefined) {
          const description = `expected one pattern, found ${shown(name)} in addition to ${shown(pattern)}`;
          this.problems.push({ offset: nameOffset, description });
          continue;
        }
        pattern = name;
      }
      const kind = ruleFields[name];
      if (kind === "text") this.#setText(rule, name, value);
      else if (kind === "rules") rule[name] = this.#nested(name, value);
      else rule[name] = this.#custom(value);
    }
    // If the pattern itself is invalid, that has already been reported.
    return pattern === undefined && this.problems.length > before ? undefined : rule;
  }

  #nested(name: string, value: YamlNode): JsonObject[] {
    // An unreadable rule is replaced by a valid one, so that the indexes of the other rules do not
    // change.
    return this.#items(name, value).map((node) => this.#rule(node) ?? { get: unreadable });
  }

  #custom(node: YamlNode): JsonObject {
    const custom: JsonObject = {};
    if (node.kind !== "map") {
      this.#add(node, `custom: expected a map with kind and path, found ${describe(node)}`);
      return { kind: "UNREADABLE", path: unreadable };
    }
    for (const { name, value } of this.#known(node, ["kind", "path"])) {
      if (!isNull(value)) this.#setText(custom, name, value);
    }
    return custom;
  }

  #setText(holder: JsonObject, name: string, node: YamlNode): void {
    if (node.kind === "scalar" && typeof node.value === "string") {
      holder[name] = node.value;
      return;
    }
    this.#add(node, `${name}: expected a string, found ${describe(node)}`);
    if (name === "selector" || name === "kind") holder[name] = "unreadable";
    else if (!name.endsWith("body")) holder[name] = unreadable;
  }

  #items(name: string, node: YamlNode): readonly YamlNode[] {
    if (node.kind === "list") return node.items;
    if (!isNull(node)) this.#add(node, `${name}: expected a list, found ${describe(node)}`);
    return [];
  }

  /**
   * Returns the entries of a map that have known names, under their proto names. Reports the other
   * entries.
   */
  #known({ entries }: YamlMap, names: readonly string[]): YamlEntry[] {
    const found = new Map<string, YamlEntry>();
    for (const { name: written, nameOffset, value } of entries) {
      const name = names.find((one) => one === written || camelCase(one) === written);
      if (name === undefined) {
        const description = `expected one of ${names.join(", ")}, found ${shown(written)}`;
        this.problems.push({ offset: nameOffset, description });
      } else if (found.has(name)) {
        const description = `expected each name once, found ${shown(written)} in addition to ${name}`;
        this.problems.push({ offset: nameOffset, description });
      } else {
        found.set(name, { name, nameOffset, value });
      }
    }
    return [...found.values()];
  }

  #add({ offset }: YamlNode, description: string): void {
    this.problems.push({ offset, description });
  }
}

function isNull(node: YamlNode): boolean {
  return node.kind === "scalar" && node.value === null;
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Returns the position of a spot in the text. If the rule does not have the whole path of the spot,
 * returns the position of the last part that exists.
 */
function offsetAt(rule: YamlNode | undefined, { path, offset = 0 }: RuleSpot): number {
  let node = rule;
  for (const step of path) {
    let below: YamlNode | undefined;
    if (node?.kind === "list") below = node.items[Number(step)];
    if (node?.kind === "map") {
      below = node.entries.find(
        ({ name }) => name === step || name === camelCase(`${step}`),
      )?.value;
    }
    if (below === undefined) return node?.offset ?? 0;
    node = below;
  }
  if (node?.kind === "scalar" && node.textOffset !== undefined) return node.textOffset + offset;
  return node?.offset ?? 0;
}
