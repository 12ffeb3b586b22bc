import type { PathTemplate, TemplateVariable } from "./path-template.ts";
import { PathWalk } from "./path-walk.ts";
import {
  anyMethod,
  headsOf,
  noVerb,
  RouteNode,
  unknownMethod,
  type Heads,
  type Route,
  type Variable,
} from "./route-tree.ts";

/**
 * The route of a request. `captures` contains the decoded values of the template's variables, in
 * their order.
 */
export interface RouteMatch<T> {
  readonly value: T;
  readonly captures: readonly string[];
}

/**
 * Finds the route for a method and a path (§4.10 items 5 and 6). A route with a verb that ends the
 * path precedes a route without a verb. Then, segment by segment, a literal precedes "*", and "*"
 * precedes "**". If the more specific branch has no route for this method, the search backtracks to
 * the less specific branch. A named method precedes "*". If two routes have the same method, shape
 * and verb, the later route wins.
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
   * The common beginnings of all routes; undefined from the addition of a route until the next
   * match.
   */
  #heads: Heads<T> | undefined;
  readonly #methods = new Map<string, number>([["*", anyMethod]]);
  readonly #verbs = new Map<string, number>();
  #walk: PathWalk<T>;

  constructor(options: { readonly fullyDecodeReservedExpansion?: boolean } = {}) {
    this.#fullyDecode = options.fullyDecodeReservedExpansion ?? false;
    this.#walk = new PathWalk(0);
  }

  /** Adds a route. An `httpMethod` of "*" matches any method. */
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
   * Finds the route for a path. `path` is the raw path without the query. Throws URIError if a part
   * of the path that must be decoded has malformed escapes.
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
   * Returns the methods that have a route at `path`, in sorted order; empty if there is no route.
   * Throws in the same cases as match().
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

/** Returns the id of a name. New ids follow `last`, which is the last reserved id. */
function idIn(ids: Map<string, number>, name: string, last: number): number {
  const known = ids.get(name);
  if (known !== undefined) return known;
  const id = Math.max(last, ids.size) + 1;
  ids.set(name, id);
  return id;
}
