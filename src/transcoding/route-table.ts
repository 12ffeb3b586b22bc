import type { PathTemplate, TemplateVariable } from "./path-template.ts";
import { decodeFully, decodeKeepingSlashes } from "./percent-encoding.ts";

/**
 * The route of a request. `captures` has the decoded values of the template's variables, in their
 * order.
 */
export interface RouteMatch<T> {
  readonly value: T;
  readonly captures: readonly string[];
}

interface Route<T> {
  readonly value: T;
  readonly variables: readonly Variable[];
}

interface Variable extends TemplateVariable {
  /**
   * The index of the segment "**" in which %2F is also decoded (fully_decode_reserved_expansion),
   * or -1.
   */
  readonly decodedFrom: number;
}

/** The routes of one node by verb id, then by method id. */
type Leaf<T> = (Route<T> | undefined)[][];

const anyMethod = 0;
const unknownMethod = 1;
const noVerb = 0;

/**
 * Finds the route of a method and a path (§4.10 items 5 and 6). A route whose verb ends the path
 * precedes one without a verb. Then, segment by segment, a literal precedes "*", and "*" precedes
 * "**"; if the more specific branch has no route for this method, the search backtracks to the less
 * specific one. A named method precedes "*". The later one of two routes with the same method,
 * shape and verb wins.
 *
 * A match reads the path a fixed number of times and visits each node of the trie at most twice.
 */
export class RouteTable<T> {
  readonly #fullyDecode: boolean;
  /** The routes without variables, by their whole path. */
  readonly #static = new Map<string, (Route<T> | undefined)[]>();
  /**
   * The length of the longest path in #static. Longer paths are not looked up, because a Map hashes
   * every character of a new string.
   */
  #staticLengthMax = 0;
  readonly #root = new RouteNode<T>();
  /**
   * The common beginnings of all routes; undefined after a route is added, until the next match.
   */
  #heads: Heads<T> | undefined;
  readonly #methods = new Map<string, number>([["*", anyMethod]]);
  readonly #verbs = new Map<string, number>();
  #walk: PathWalk<T>;

  constructor(options: { readonly fullyDecodeReservedExpansion?: boolean } = {}) {
    this.#fullyDecode = options.fullyDecodeReservedExpansion ?? false;
    this.#walk = new PathWalk(0);
  }

  /** Adds a route. The `httpMethod` "*" is any method. */
  add(httpMethod: string, template: PathTemplate, value: T): void {
    const method = idIn(this.#methods, httpMethod, unknownMethod);
    const route = {
      value,
      variables: template.variables.map((one) => this.#variable(one, template)),
    };
    if (!/[{*%]/.test(template.text)) {
      const entries = this.#static.get(template.text) ?? [];
      entries[method] = route;
      this.#static.set(template.text, entries);
      this.#staticLengthMax = Math.max(this.#staticLengthMax, template.text.length);
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
    const verb = template.verb === "" ? noVerb : idIn(this.#verbs, template.verb, noVerb);
    (leaf[verb] ??= [])[method] = route;
    if (depth > this.#walk.depthMax) this.#walk = new PathWalk(depth);
    this.#heads = undefined;
  }

  /**
   * Finds the route of a path. `path` is raw, without the query. Throws URIError if a part of it
   * that is needed has malformed escapes.
   */
  match(httpMethod: string, path: string): RouteMatch<T> | undefined {
    const method = this.#methods.get(httpMethod) ?? unknownMethod;
    const fixed = path.length > this.#staticLengthMax ? undefined : this.#static.get(path);
    if (fixed !== undefined) {
      const route = fixed[method] ?? fixed[anyMethod];
      if (route !== undefined) return { value: route.value, captures: [] };
    }
    const walk = this.#walk;
    walk.begin(path, method);
    const route = this.#find(walk);
    if (route === undefined) return undefined;
    return { value: route.value, captures: walk.captures(route.variables) };
  }

  /**
   * The methods that have a route at `path`, sorted; empty if there is no route. Throws as match()
   * does.
   */
  methodsAt(path: string): string[] {
    const found = new Set<number>();
    this.#walk.begin(path, unknownMethod, found);
    this.#find(this.#walk);
    return [...this.#methods].flatMap(([name, id]) => (found.has(id) ? [name] : [])).toSorted();
  }

  #find(walk: PathWalk<T>): Route<T> | undefined {
    const heads = (this.#heads ??= headsOf(this.#root));
    for (let verb = walk.verbIn(this.#verbs); ; verb = noVerb) {
      const route = walk.find(heads, verb);
      if (route !== undefined || verb === noVerb) return route;
    }
  }

  #variable(variable: TemplateVariable, template: PathTemplate): Variable {
    const open = this.#fullyDecode && variable.end === -1;
    return { ...variable, decodedFrom: open ? template.segments.length - 1 : -1 };
  }
}

/** The id of a name. New ids follow `last`, the last reserved id. */
function idIn(ids: Map<string, number>, name: string, last: number): number {
  const known = ids.get(name);
  if (known !== undefined) return known;
  const id = Math.max(last, ids.size) + 1;
  ids.set(name, id);
  return id;
}

class RouteNode<T> {
  star: RouteNode<T> | undefined;
  /** The routes that end at this node. */
  leaf: Leaf<T> | undefined;
  /** The routes that have "**" after this node. */
  restLeaf: Leaf<T> | undefined;
  literals: Map<string, RouteNode<T>> | undefined;

  /** Whether only a literal can follow this node. */
  get isPassedThrough(): boolean {
    return !this.star && !this.leaf && !this.restLeaf && this.literals !== undefined;
  }

  literal(text: string): RouteNode<T> {
    const literals = (this.literals ??= new Map());
    let node = literals.get(text);
    if (node === undefined) literals.set(text, (node = new RouteNode<T>()));
    return node;
  }
}

/**
 * The child for the segment of `path` from `start` to `end`. Segments are compared percent-decoded.
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

/**
 * The common beginnings of all routes: the number of their literal segments, and the nodes that
 * they lead to.
 */
interface Heads<T> {
  readonly root: RouteNode<T>;
  readonly segments: number;
  /** The nodes by their segments, joined with "/". */
  readonly nodes: ReadonlyMap<string, RouteNode<T>>;
}

/**
 * Returns the beginnings that the routes of an API share, so that a match finds them in one step
 * instead of one per segment.
 */
function headsOf<T>(root: RouteNode<T>): Heads<T> {
  let heads: [text: string, node: RouteNode<T>][] = [["", root]];
  let segments = 0;
  while (heads.every(([, node]) => node.isPassedThrough)) {
    heads = heads.flatMap(([text, node]) =>
      Array.from(node.literals ?? [], ([literal, below]): [string, RouteNode<T>] => [
        segments === 0 ? literal : `${text}/${literal}`,
        below,
      ]),
    );
    segments++;
  }
  return { root, segments, nodes: new Map(heads) };
}

/**
 * The search for one path in the trie. It is reused, which is safe because a match is synchronous,
 * and saves allocating new offsets.
 */
class PathWalk<T> {
  /** The maximum number of segments before "**" in any template. The path is not split further. */
  readonly depthMax: number;
  /**
   * The start of each segment. The entry after the last segment is the end of the path plus 1, as
   * if a slash followed.
   */
  readonly #offsets: number[];
  #path = "";
  #end = 0;
  /** The position of the colon before the verb, or -1. */
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
   * Begins a search. With `methodsFound`, nothing matches, and the methods of all visited routes
   * are added to it.
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
   * The id of the verb after the last colon of the last segment. Verbs are compared
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
        // "**" can match nothing, but its value must not begin with "/" (§4.10 item 7).
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
    // Nearly all routes have one variable, and building a list for any number takes twice as long.
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
