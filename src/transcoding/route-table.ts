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
 * The route of a request. `captures` has the decoded values of the template's variables, in their
 * order.
 */
export interface RouteMatch<T> {
  readonly value: T;
  readonly captures: readonly string[];
}

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
