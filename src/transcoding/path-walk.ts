import { decodeFully, decodeKeepingSlashes } from "./percent-encoding.ts";
import {
  anyMethod,
  noVerb,
  unknownMethod,
  type Heads,
  type Leaf,
  type Route,
  type RouteNode,
  type Variable,
} from "./route-tree.ts";

/**
 * The search for one path in the trie. The object is reused, which avoids allocating new offsets
 * and is safe because a match is synchronous.
 */
export class PathWalk<T> {
  /**
   * The maximum number of segments before "**" in any template. The path is not split any further.
   */
  readonly depthMax: number;
  /**
   * The start of each segment. The entry after the last segment is the end of the path plus 1, as
   * if a slash followed.
   */
  readonly #offsets: number[];
  #path = "";
  #end = 0;
  /** The position of the colon before the verb; -1 if there is none. */
  #colon = -1;
  #count = 0;
  /** Whether the path has more segments than `#count`. */
  #cut = false;
  #escaped = false;
  #method = unknownMethod;
  #methodsFound: Set<number> | undefined;

  constructor(depthMax: number) {
    this.depthMax = depthMax;
    this.#offsets = Array.from({ length: depthMax + 2 }, () => 1);
  }

  /**
   * Begins a search. If `methodsFound` is given, nothing matches, and the methods of all visited
   * routes are added to that set.
   */
  begin(path: string, method: number, methodsFound?: Set<number>): void {
    this.#path = path;
    this.#method = method;
    this.#methodsFound = methodsFound;
    this.#escaped = path.includes("%");
    const offsets = this.#offsets;
    const countMax = this.depthMax;
    let count = 1;
    let slash = path.indexOf("/", 1);
    while (slash !== -1 && count <= countMax) {
      offsets[count++] = slash + 1;
      slash = path.indexOf("/", slash + 1);
    }
    this.#count = count;
    this.#cut = slash !== -1;
    if (this.#cut) offsets[count] = slash + 1;
  }

  /**
   * Returns the id of the verb after the last colon of the last segment. Verbs are compared
   * percent-decoded, and an escaped colon is data.
   */
  verbIn(verbs: ReadonlyMap<string, number>): number {
    const last = this.#cut ? this.#path.lastIndexOf("/") : (this.#offsets[this.#count - 1] ?? 0);
    return this.#path.indexOf(":", last) === -1 ? noVerb : this.#lastVerbIn(verbs);
  }

  #lastVerbIn(verbs: ReadonlyMap<string, number>): number {
    const path = this.#path;
    const start = path.lastIndexOf(":") + 1;
    this.#colon = start - 1;
    const text = path.slice(start);
    return verbs.get(this.#escaped ? decodeFully(text) : text) ?? noVerb;
  }

  /** Finds the route of the path for a verb, which is given by its id, or by noVerb. */
  find({ segments, nodes, root }: Heads<T>, verb: number): Route<T> | undefined {
    this.#end = verb === noVerb ? this.#path.length : this.#colon;
    if (!this.#cut) this.#offsets[this.#count] = this.#end + 1;
    if (this.#escaped || segments === 0) return this.#findBelow(root, 0, verb);
    if (segments > this.#count) return undefined;
    const head = nodes.get(this.#path.slice(1, (this.#offsets[segments] ?? 0) - 1));
    return head === undefined ? undefined : this.#findBelow(head, segments, verb);
  }

  #findBelow(from: RouteNode<T>, depth: number, verb: number): Route<T> | undefined {
    const path = this.#path;
    const offsets = this.#offsets;
    const count = this.#count;
    let node = from;
    for (let k = depth; k < count; k++) {
      const start = offsets[k] ?? 0;
      const end = (offsets[k + 1] ?? 0) - 1;
      const { star, literals } = node;
      const rest = node.restLeaf;
      if (start === end) {
        // "**" can match an empty part, but its value must not begin with "/" (§4.10 item 7).
        return k === count - 1 && !this.#cut ? this.#pick(rest, verb) : undefined;
      }
      const literal =
        literals === undefined ? undefined : literalAt(literals, path, start, end, this.#escaped);
      const next = literal ?? star;
      if (
        next !== undefined &&
        rest === undefined &&
        (literal === undefined || star === undefined)
      ) {
        node = next;
        continue;
      }
      return (
        (literal && this.#findBelow(literal, k + 1, verb)) ??
        (star && this.#findBelow(star, k + 1, verb)) ??
        this.#pick(rest, verb)
      );
    }
    return this.#pick(node.leaf, verb) ?? this.#pick(node.restLeaf, verb);
  }

  #pick(leaf: Leaf<T> | undefined, verb: number): Route<T> | undefined {
    const routes = leaf?.[verb];
    if (routes === undefined) return undefined;
    return this.#methodsFound === undefined
      ? (routes[this.#method] ?? routes[anyMethod])
      : noteMethods(routes, this.#methodsFound);
  }

  /** Returns the decoded value of each variable. */
  captures(variables: readonly Variable[]): string[] {
    const first = variables[0];
    if (first === undefined) return [];
    // Nearly all routes have one variable, and building a list for any number of variables takes
    // twice as long.
    return variables.length === 1
      ? [this.#capture(first)]
      : variables.map((variable) => this.#capture(variable));
  }

  #capture(variable: Variable): string {
    const start = this.#offsets[variable.start] ?? 0;
    const end = variable.end === -1 ? this.#end : (this.#offsets[variable.end] ?? 0) - 1;
    return this.#escaped ? this.#decoded(variable, start, end) : this.#path.slice(start, end);
  }

  #decoded(variable: Variable, start: number, end: number): string {
    if (!variable.multi) return decodeFully(this.#path.slice(start, end));
    if (variable.decodedFrom === -1) return decodeKeepingSlashes(this.#path.slice(start, end));
    const open = Math.min(this.#offsets[variable.decodedFrom] ?? 0, end);
    return (
      decodeKeepingSlashes(this.#path.slice(start, open)) + decodeFully(this.#path.slice(open, end))
    );
  }
}

/** Adds the methods that have routes to `found`. Returns undefined, so that nothing matches. */
function noteMethods(routes: readonly unknown[], found: Set<number>): undefined {
  for (const [id, route] of routes.entries()) if (route !== undefined) found.add(id);
}

/**
 * Returns the child for the segment of `path` from `start` to `end`. Segments are compared
 * percent-decoded.
 */
function literalAt<T>(
  literals: ReadonlyMap<string, T>,
  path: string,
  start: number,
  end: number,
  escaped: boolean,
): T | undefined {
  const text = path.slice(start, end);
  return literals.get(escaped ? decodeFully(text) : text);
}
