import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  LineCounter,
  parseDocument,
  type ParsedNode,
  type Scalar,
  type YAMLMap,
} from "yaml";
import { shown } from "../std/service-error.ts";

/**
 * A value in a YAML or JSON text, with its position. Offsets are counted in UTF-16 units from 0.
 */
export type YamlNode = YamlScalar | YamlList | YamlMap;

export interface YamlScalar {
  readonly kind: "scalar";
  readonly value: unknown;
  readonly offset: number;
  /**
   * The offset of the first character of a string; undefined if the text writes the string
   * differently, for example with escapes.
   */
  readonly textOffset: number | undefined;
}

export interface YamlList {
  readonly kind: "list";
  readonly items: readonly YamlNode[];
  readonly offset: number;
}

export interface YamlMap {
  readonly kind: "map";
  readonly entries: readonly YamlEntry[];
  readonly offset: number;
}

export interface YamlEntry {
  readonly name: string;
  readonly nameOffset: number;
  readonly value: YamlNode;
}

/** A problem in a text, with its position. */
export interface TextProblem {
  readonly offset: number;
  readonly description: string;
}

export interface YamlText {
  /** The root of the tree; undefined if the text has no root. */
  readonly root: YamlNode | undefined;
  readonly problems: readonly TextProblem[];
  /** Returns the line and the column of an offset, both counted from 1. */
  readonly placeOf: (offset: number) => { line: number; column: number };
}

/**
 * The maximum depth of the text, which is more than any rule needs and less than overflows a stack.
 */
const depthMax = 64;
/** The maximum number of problems to report. A garbage text has an error per character. */
const problemsMax = 100;

/**
 * Reads one YAML 1.2 document, which can be JSON, in linear time. The rules are stricter than those
 * of YAML. Names are strings and occur once in their map. Tags, directives, a second document and
 * more than 64 levels are refused. `yes` and `on` are strings. An alias is the same node as its
 * anchor, so aliases of aliases cost nothing here, but code that traverses the tree must count its
 * steps.
 */
export function readYaml(text: string): YamlText {
  const lineCounter = new LineCounter();
  const placeOf: YamlText["placeOf"] = (offset) => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const document = parsed(text, lineCounter);
  if (document === undefined) {
    return { root: undefined, problems: [{ offset: 0, description: tooDeep }], placeOf };
  }
  const reader = new TreeReader(text);
  reader.addErrors(document);
  // The tree of a text that is not YAML is not read, since the tree is incomplete.
  const contents = document.errors.length > 0 ? null : document.contents;
  const root = contents === null ? undefined : reader.read(contents, 0);
  return { root, problems: reader.problems, placeOf };
}

/** Parses the text. Returns undefined if the stack overflows in the library. */
function parsed(text: string, lineCounter: LineCounter): Document.Parsed | undefined {
  try {
    return parseDocument(text, {
      lineCounter,
      // TreeReader checks this in linear time, whereas the library compares every name with every
      // other name.
      uniqueKeys: false,
      prettyErrors: false,
      schema: "core",
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class TreeReader {
  readonly #text: string;
  readonly #anchors = new Map<string, YamlNode>();
  readonly problems: TextProblem[] = [];

  constructor(text: string) {
    this.#text = text;
  }

  addErrors({ errors, directives }: Document.Parsed): void {
    for (const { code, message, pos } of errors) {
      // The library's message would name its own functions.
      if (code === "MULTIPLE_DOCS") this.#add(pos[0], "expected one document, found another");
      // The most common mistake in rules is `kind: *`.
      else if (message.startsWith("Alias cannot be an empty"))
        this.#add(pos[0], 'expected a value, found "*" without quotes');
      else if (message.includes("call stack")) this.#add(pos[0], tooDeep);
      else this.#add(pos[0], `not valid YAML: ${clipped(message)}`);
    }
    if (directives.yaml.explicit === true) {
      this.#add(0, `expected no directive, found %YAML ${directives.yaml.version}`);
    }
  }

  read(node: ParsedNode, depth: number): YamlNode {
    const [offset] = node.range;
    if (depth > depthMax) {
      this.#add(offset, tooDeep);
      return { kind: "scalar", value: null, offset, textOffset: undefined };
    }
    if (isAlias(node)) return this.#aliased(node.source, offset);
    if (node.tag !== undefined) this.#add(offset, `expected no tag, found ${shown(node.tag)}`);
    const read = isScalar(node)
      ? this.#scalar(node, offset)
      : isMap(node)
        ? this.#map(node, offset, depth)
        : this.#list(node.items, offset, depth);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, read);
    return read;
  }

  /**
   * Returns the node of an anchor. An anchor is known once its node is complete, so a node that
   * contains itself is refused.
   */
  #aliased(anchor: string, offset: number): YamlNode {
    const known = this.#anchors.get(anchor);
    if (known !== undefined) return known;
    this.#add(offset, `expected an anchor before its alias ${shown(anchor)}; a "*" needs quotes`);
    return { kind: "scalar", value: null, offset, textOffset: undefined };
  }

  #scalar({ value, type }: Scalar, offset: number): YamlScalar {
    const first = type === "PLAIN" ? offset : offset + 1;
    const isVerbatim = typeof value === "string" && this.#text.startsWith(value, first);
    return { kind: "scalar", value, offset, textOffset: isVerbatim ? first : undefined };
  }

  #list(nodes: readonly ParsedNode[], offset: number, depth: number): YamlList {
    return { kind: "list", items: nodes.map((node) => this.read(node, depth + 1)), offset };
  }

  #map({ items }: YAMLMap.Parsed, offset: number, depth: number): YamlMap {
    const entries: YamlEntry[] = [];
    const names = new Set<string>();
    for (const { key, value } of items) {
      const name = this.read(key, depth + 1);
      const node: YamlNode =
        value === null
          ? { kind: "scalar", value: null, offset: name.offset, textOffset: undefined }
          : this.read(value, depth + 1);
      if (name.kind !== "scalar" || typeof name.value !== "string") {
        this.#add(name.offset, `expected a name, found ${describe(name)}`);
      } else if (names.has(name.value)) {
        this.#add(name.offset, `expected each name once, found ${shown(name.value)} again`);
      } else {
        names.add(name.value);
        entries.push({ name: name.value, nameOffset: name.offset, value: node });
      }
    }
    return { kind: "map", entries, offset };
  }

  #add(offset: number, description: string): void {
    if (this.problems.length < problemsMax) this.problems.push({ offset, description });
  }
}

const tooDeep = `it nests deeper than ${depthMax} levels`;

/** Describes a node, for a message. */
export function describe(node: YamlNode): string {
  if (node.kind === "list") return "a list";
  if (node.kind === "map") return "a map";
  return node.value === null ? "nothing" : shown(node.value);
}

function clipped(message: string): string {
  return message.length > 100 ? `${message.slice(0, 97)}...` : message;
}
