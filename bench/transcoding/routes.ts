// Compares our routing with find-my-way, for the service's own routes and for 200 routes.
import FindMyWay from "find-my-way";
import { Accounts } from "../../src/gen/hlust/accounts/v1/accounts_pb.ts";
import { Speech } from "../../src/gen/hlust/speech/v2beta1/speech_pb.ts";
import { Transcripts } from "../../src/gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { bindingsOf } from "../../src/transcoding/http-rules.ts";
import { parsePathTemplate } from "../../src/transcoding/path-template.ts";
import { RouteTable } from "../../src/transcoding/route-table.ts";
import { nanosecondsOf } from "./measure.ts";
import type { Figure } from "../report.ts";

interface Route {
  readonly httpMethod: string;
  readonly template: string;
}

type Kind = "static" | "variable" | "verb";

/** Requests of one kind, each with the template that must match. */
type Requests = Readonly<Record<Kind, readonly (Route & { readonly path: string })[]>>;

/** Measures our CPU time as a ratio to find-my-way's, for each kind of route: at most 1.0. */
export function measureRoutes(): Figure[] {
  const own = bindingsOf([Transcripts, Speech, Accounts])
    .filter(({ httpMethod }) => httpMethod !== "WEBSOCKET")
    .map(({ httpMethod, template }) => ({ httpMethod, template }));
  return [
    ...compare(`own ${own.length} routes`, own),
    ...compare(
      "200 routes",
      Array.from({ length: 25 }, (_, n) => resourceRoutes(`res${n}`)).flat(),
    ),
  ];
}

/** Returns the eight routes that a resource of such an API usually has. */
function resourceRoutes(name: string): Route[] {
  return [
    { httpMethod: "GET", template: `/v1/${name}` },
    { httpMethod: "POST", template: `/v1/${name}` },
    { httpMethod: "POST", template: `/v1/${name}:search` },
    { httpMethod: "GET", template: `/v1/{name=${name}/*}` },
    { httpMethod: "PATCH", template: `/v1/{${name}.name=${name}/*}` },
    { httpMethod: "DELETE", template: `/v1/{name=${name}/*}` },
    { httpMethod: "POST", template: `/v1/{name=${name}/*}:cancel` },
    { httpMethod: "GET", template: `/v1/{name=${name}/*/versions/*}` },
  ];
}

function compare(title: string, routes: readonly Route[]): Figure[] {
  const table = new RouteTable<Route>();
  const router = FindMyWay({ caseSensitive: true });
  for (const route of routes) {
    table.add(route.httpMethod, parsePathTemplate(route.template), route);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its list of methods is a literal union
    const method = route.httpMethod as "GET";
    router.on(method, pathFor(route.template), () => undefined, route);
  }
  const requests = requestsOf(routes);
  const kinds: readonly Kind[] = ["static", "variable", "verb"];
  return kinds.map((kind) => {
    const list = requests[kind];
    const ours = (path: string, at: number) => table.match(list[at]?.httpMethod ?? "", path);
    const theirs = (path: string, at: number) =>
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
      router.find((list[at]?.httpMethod ?? "") as "GET", path);
    for (const [at, { path, template }] of list.entries()) {
      const found = [ours(path, at)?.value.template, storeOf(theirs(path, at))?.template];
      if (found.some((one) => one !== template)) throw new Error(`${path}: ${found.join(", ")}`);
    }
    const paths = list.map(({ path }) => path);
    const [own, other] = nanosecondsOf(paths, ours, theirs);
    return {
      name: `${title}, ${kind}`,
      ratio: own / other,
      ratioMax: 1,
      note: `${own.toFixed(0)} ns, find-my-way ${other.toFixed(0)} ns`,
    };
  });
}

function storeOf(found: { readonly store: unknown } | null): Route | undefined {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- compare() put it there
  return found?.store as Route | undefined;
}

/**
 * Converts a template to find-my-way's syntax, which needs a regular expression if a verb follows a
 * variable.
 */
function pathFor(template: string): string {
  const { segments, verb } = parsePathTemplate(template);
  const path = segments.map((segment, at) => {
    if (segment.kind === "literal") return segment.text;
    return verb !== "" && at === segments.length - 1 ? `:v${at}(^[^/:]+)` : `:v${at}`;
  });
  return `/${path.join("/")}${verb === "" ? "" : `::${verb}`}`;
}

function requestsOf(routes: readonly Route[]): Requests {
  const requests = routes.map((route) => {
    const { segments, verb } = parsePathTemplate(route.template);
    const id = "01998f2e-7c1a-7c35-9d54-2f8f6a4b1e0d";
    const parts = segments.map((segment) => (segment.kind === "literal" ? segment.text : id));
    return { ...route, path: `/${parts.join("/")}${verb === "" ? "" : `:${verb}`}` };
  });
  const isStatic = ({ template }: Route) => !template.includes("{");
  const hasVerb = ({ template }: Route) => /:[a-z]+$/i.test(template);
  return {
    static: requests.filter(isStatic),
    variable: requests.filter((one) => !isStatic(one) && !hasVerb(one)),
    verb: requests.filter((one) => !isStatic(one) && hasVerb(one)),
  };
}
