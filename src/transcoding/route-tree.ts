import type { TemplateVariable } from "./path-template.ts";

/** A route of the table, with the variables of its template. */
export interface Route<T> {
  readonly value: T;
  readonly variables: readonly Variable[];
}

/** A variable of a template. */
export interface Variable extends TemplateVariable {
  /**
   * The index of the "**" segment in which %2F is also decoded (fully_decode_reserved_expansion);
   * -1 if there is no such segment.
   */
  readonly decodedFrom: number;
}

/** The routes of one node, by verb id and then by method id. */
export type Leaf<T> = (Route<T> | undefined)[][];

/** The id of the method "*". */
export const anyMethod = 0;
/** The id of every method that no route names. */
export const unknownMethod = 1;
/** The verb id of routes without a verb. */
export const noVerb = 0;

/** A node in the trie of routes. The edges of the trie are path segments. */
export class RouteNode<T> {
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
 * The common beginnings of all routes: the number of their literal segments, and the nodes to which
 * they lead.
 */
export interface Heads<T> {
  readonly root: RouteNode<T>;
  readonly segments: number;
  /** The nodes by their segments, joined with "/". */
  readonly nodes: ReadonlyMap<string, RouteNode<T>>;
}

/**
 * Returns the beginnings that the routes of an API share, so that a match finds them in one step
 * instead of one step per segment.
 */
export function headsOf<T>(root: RouteNode<T>): Heads<T> {
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
