import type { PathTemplate, TemplateVariable } from "./path-template.ts";
import { decodeFully, decodeKeepingSlashes } from "./percent-encoding.ts";

/** The route of a request; `captures` are the decoded values of its template's variables, in their order. */
export interface RouteMatch<T> {
  readonly value: T;
  readonly captures: readonly string[];
}

interface Route<T> {
  readonly value: T;
  readonly variables: readonly Variable[];
}

interface Variable extends TemplateVariable {
  /** Index of the segment "**" where %2F is decoded too (fully_decode_reserved_expansion), else -1. */
  readonly decodedFrom: number;
}

/** Routes of one node by verb id, then by method id. */
type Leaf<T> = (Route<T> | undefined)[][];

const anyMethod = 0;
const unknownMethod = 1;
const noVerb = 0;

/**
 * Finds the route of a method and a path (§4.10 items 5 and 6). A route whose verb ends the path goes before one
 * without; then, segment by segment, literal before "*" before "**", coming back to the less specific one where
 * the more specific leads nowhere for this method. A named method goes before "*"; of two routes of the same
 * method, shape and verb the later one wins.
 *
 * A match reads the path a fixed number of times and visits each node of the trie at most twice.
 */
export class RouteTable<T> {
  readonly #fullyDecode: boolean;
  readonly #static = new Map<string, (Route<T> | undefined)[]>();
  readonly #root = new RouteNode<T>();
  readonly #methods = new Map<string, number>([["*", anyMethod]]);
  readonly #verbs = new Map<string, number>();
  #walk: PathWalk<T>;

  constructor(options: { readonly fullyDecodeReservedExpansion?: boolean } = {}) {
    this.#fullyDecode = options.fullyDecodeReservedExpansion ?? false;
    this.#walk = new PathWalk(0);
  }

  /** `httpMethod` "*" stands for any. */
  add(httpMethod: string, template: PathTemplate, value: T): void {
    const method = idIn(this.#methods, httpMethod, unknownMethod + 1);
    const route = {
      value,
      variables: template.variables.map((one) => this.#variable(one, template)),
    };
    if (!/[{*%]/.test(template.text)) {
      const entries = this.#static.get(template.text) ?? [];
      entries[method] = route;
      this.#static.set(template.text, entries);
    }
    let node = this.#root;
    let leaf = undefined;
    let depth = 0;
    for (const segment of template.segments) {
      if (segment.kind === "**") {
        leaf = node.restLeaf ??= [];
      } else {
        node = segment.kind === "*" ? (node.star ??= new RouteNode()) : node.literal(segment.text);
        depth++;
      }
    }
    leaf ??= node.leaf ??= [];
    const verb = template.verb === "" ? noVerb : idIn(this.#verbs, template.verb, noVerb + 1);
    (leaf[verb] ??= [])[method] = route;
    if (depth > this.#walk.depthMax) this.#walk = new PathWalk(depth);
  }

  /** `path` is raw, without the query. Throws URIError when a part that matters has malformed escapes. */
  match(httpMethod: string, path: string): RouteMatch<T> | undefined {
    const method = this.#methods.get(httpMethod) ?? unknownMethod;
    const fixed = this.#static.get(path);
    if (fixed !== undefined) {
      const route = fixed[method] ?? fixed[anyMethod];
      if (route !== undefined) return { value: route.value, captures: [] };
    }
    const walk = this.#walk;
    walk.begin(path, method);
    const route = this.#find(walk);
    if (route === undefined) return undefined;
    return { value: route.value, captures: route.variables.map((one) => walk.capture(one)) };
  }

  /** The methods that have a route at `path`, sorted; empty when nothing stands there. Throws as match() does. */
  methodsAt(path: string): string[] {
    const found = new Set<number>();
    this.#walk.begin(path, unknownMethod, found);
    this.#find(this.#walk);
    return [...this.#methods].flatMap(([name, id]) => (found.has(id) ? [name] : [])).toSorted();
  }

  #find(walk: PathWalk<T>): Route<T> | undefined {
    const suffix = this.#verbs.size > 0 ? walk.verbText() : undefined;
    const verb = suffix === undefined ? undefined : this.#verbs.get(suffix);
    return (
      (verb === undefined ? undefined : walk.find(this.#root, verb)) ??
      walk.find(this.#root, noVerb)
    );
  }

  #variable(variable: TemplateVariable, template: PathTemplate): Variable {
    const open = this.#fullyDecode && variable.end === -1;
    return { ...variable, decodedFrom: open ? template.segments.length - 1 : -1 };
  }
}

function idIn(ids: Map<string, number>, name: string, first: number): number {
  let id = ids.get(name);
  if (id === undefined)
    ids.set(name, (id = Math.max(first, ...[...ids.values()].map((n) => n + 1))));
  return id;
}

class RouteNode<T> {
  star: RouteNode<T> | undefined;
  /** Routes that end here. */
  leaf: Leaf<T> | undefined;
  /** Routes with "**" from here on. */
  restLeaf: Leaf<T> | undefined;
  readonly #literals = new Map<string, RouteNode<T>>();
  /** The literals again in open addressing, found without making a string of the segment. */
  #slots: ({ text: string; node: RouteNode<T> } | undefined)[] = [];

  literal(text: string): RouteNode<T> {
    const known = this.#literals.get(text);
    if (known !== undefined) return known;
    const node = new RouteNode<T>();
    this.#literals.set(text, node);
    let size = 4;
    while (size < this.#literals.size * 4) size *= 2;
    this.#slots = Array.from({ length: size }, () => undefined);
    for (const [text, node] of this.#literals) {
      let slot = hashOf(text, 0, text.length) & (size - 1);
      while (this.#slots[slot] !== undefined) slot = (slot + 1) & (size - 1);
      this.#slots[slot] = { text, node };
    }
    return node;
  }

  /** The child for the segment of `path` from `start` to `end`, compared percent-decoded. */
  childAt(path: string, start: number, end: number, escaped: boolean): RouteNode<T> | undefined {
    if (this.#slots.length === 0) return undefined;
    if (escaped) return this.#literals.get(decodeFully(path.slice(start, end)));
    const mask = this.#slots.length - 1;
    let slot = hashOf(path, start, end) & mask;
    for (;;) {
      const entry = this.#slots[slot];
      if (entry === undefined) return undefined;
      if (entry.text.length === end - start && path.startsWith(entry.text, start))
        return entry.node;
      slot = (slot + 1) & mask;
    }
  }
}

/** Cheap and good enough for the few literals of one node: first and last character and the length. */
function hashOf(text: string, start: number, end: number): number {
  return text.charCodeAt(start) * 31 + text.charCodeAt(end - 1) * 7 + (end - start) * 131;
}

/** One path on its way through the trie; reused, because a match is synchronous and offsets cost an allocation. */
class PathWalk<T> {
  /** The most segments before "**" in any template: no more of the path is cut up. */
  readonly depthMax: number;
  /** Where segment k starts; the entry after the last one is one past the end of the path and its slash. */
  readonly #offsets: Int32Array;
  #path = "";
  #end = 0;
  #count = 0;
  /** There are more segments than `#count`. */
  #cut = false;
  #escaped = false;
  #method = unknownMethod;
  #methodsFound: Set<number> | undefined;

  constructor(depthMax: number) {
    this.depthMax = depthMax;
    this.#offsets = new Int32Array(depthMax + 2);
  }

  /** With `methodsFound` nothing matches and the methods of all routes on the way are put there. */
  begin(path: string, method: number, methodsFound?: Set<number>): void {
    this.#path = path;
    this.#method = method;
    this.#methodsFound = methodsFound;
    this.#escaped = path.includes("%");
    this.#end = path.length;
    this.#offsets[0] = 1;
    let count = 1;
    let slash = path.indexOf("/", 1);
    while (slash !== -1 && count <= this.depthMax) {
      this.#offsets[count++] = slash + 1;
      slash = path.indexOf("/", slash + 1);
    }
    this.#cut = slash !== -1;
    this.#count = count;
    this.#offsets[count] = (this.#cut ? slash : this.#end) + 1;
  }

  /** What stands behind the last colon of the last segment, decoded; an escaped colon is data. */
  verbText(): string | undefined {
    const colon = this.#path.lastIndexOf(":");
    if (colon === -1 || colon < this.#path.lastIndexOf("/")) return undefined;
    return decodeFully(this.#path.slice(colon + 1));
  }

  find(root: RouteNode<T>, verb: number): Route<T> | undefined {
    this.#end = verb === noVerb ? this.#path.length : this.#path.lastIndexOf(":");
    if (!this.#cut) this.#offsets[this.#count] = this.#end + 1;
    return this.#findBelow(root, 0, verb);
  }

  #findBelow(from: RouteNode<T>, depth: number, verb: number): Route<T> | undefined {
    let node = from;
    for (let k = depth; ; k++) {
      if (k === this.#count) return this.#pick(node.leaf, verb) ?? this.#pick(node.restLeaf, verb);
      const start = this.#offsets[k] ?? 0;
      const end = (this.#offsets[k + 1] ?? 0) - 1;
      const last = k === this.#count - 1 && !this.#cut;
      // "**" may take nothing, but its value must not begin with "/" (§4.10 item 7).
      const rest = start < end || last ? node.restLeaf : undefined;
      const literal = start < end ? node.childAt(this.#path, start, end, this.#escaped) : undefined;
      const star = start < end ? node.star : undefined;
      const next = literal ?? star;
      if (next === undefined) return this.#pick(rest, verb);
      if (rest === undefined && (literal === undefined || star === undefined)) {
        node = next;
        continue;
      }
      return (
        (literal && this.#findBelow(literal, k + 1, verb)) ??
        (star && this.#findBelow(star, k + 1, verb)) ??
        this.#pick(rest, verb)
      );
    }
  }

  #pick(leaf: Leaf<T> | undefined, verb: number): Route<T> | undefined {
    const routes = leaf?.[verb];
    if (routes === undefined) return undefined;
    if (this.#methodsFound === undefined) return routes[this.#method] ?? routes[anyMethod];
    for (const [id, route] of routes.entries()) if (route) this.#methodsFound.add(id);
    return undefined;
  }

  capture(variable: Variable): string {
    const start = this.#offsets[variable.start] ?? 0;
    const end = variable.end === -1 ? this.#end : (this.#offsets[variable.end] ?? 0) - 1;
    if (!this.#escaped) return this.#path.slice(start, end);
    if (!variable.multi) return decodeFully(this.#path.slice(start, end));
    if (variable.decodedFrom === -1) return decodeKeepingSlashes(this.#path.slice(start, end));
    const open = Math.min(this.#offsets[variable.decodedFrom] ?? 0, end);
    return (
      decodeKeepingSlashes(this.#path.slice(start, open)) + decodeFully(this.#path.slice(open, end))
    );
  }
}
