import type { DescService, Message, Registry } from "@bufbuild/protobuf";
import { ServiceError, shown } from "../std/service-error.ts";
import { type BindOptions, bindRequest } from "./bind-request.ts";
import {
  type Binding,
  type ConfiguredRule,
  HttpRuleError,
  resolveRules,
  type RuleNotice,
} from "./http-rules.ts";
import { isDecodable, utf8OfRawBytes } from "./percent-encoding.ts";
import { registryOf } from "./registry-of.ts";
import { RouteTable } from "./route-table.ts";
import { systemParameters } from "./system-parameters.ts";
import { writeAround, writeResponse, type AroundField } from "./write-response.ts";

/**
 * Converts HTTP requests to request messages, and answers to JSON, by the google.api.http rules
 * (§4.10).
 */
export interface Transcoder {
  readonly bindings: readonly Binding[];
  /** Rules that are probably mistakes, for a log. */
  readonly notices: readonly RuleNotice[];
  /**
   * Finds the binding of a request. `target` is the request target as received: path and query, or
   * an absolute URL. Throws ServiceError: not_found (ROUTE_NOT_FOUND), unimplemented with
   * httpStatus 405 (METHOD_NOT_ALLOWED, with metadata.allow such as "GET, POST"), or
   * invalid_argument for malformed escapes and bytes that are not UTF-8.
   */
  route(httpMethod: string, target: string): Routed;
  /**
   * Makes the request message. The path takes precedence over query and body, and an empty body
   * counts as none. `contentType` is used only if the body is a google.api.HttpBody. Throws
   * ServiceError invalid_argument with every violation.
   */
  bind(routed: Routed, body: Uint8Array | undefined, contentType?: string): Message;
  /** Writes the JSON text of an answer, by response_body and the options of hlust.api. */
  write(binding: Binding, message: Message): string;
  /**
   * Writes an answer in two parts, before and after the value of a list whose JSON already exists;
   * undefined if the list is not in the answer.
   */
  writeAround(binding: Binding, message: Message, name: string): AroundField | undefined;
}

export interface Routed {
  readonly binding: Binding;
  /** The values of the variables of `binding.path`, decoded. */
  readonly captures: readonly string[];
  /** The part after the "?", as sent. */
  readonly query: string;
}

export interface TranscoderOptions {
  /** The rules of a service configuration, which replace annotations (§4.10 item 9). */
  readonly rules?: readonly ConfiguredRule[];
  /** Whether to decode %2F in the part of a variable that "**" matches. Default: false. */
  readonly fullyDecodeReservedExpansion?: boolean;
  /**
   * The types that a google.protobuf.Any can contain. Default: those of the services' files and of
   * the files that these import.
   */
  readonly registry?: Registry;
  /** Query parameters that belong to no field. Default: systemParameters. */
  readonly systemParameters?: readonly string[];
  /** What to do about other query parameters that name no field. Default: "reject". */
  readonly unknownQuery?: "reject" | "ignore";
  /** What to do about a body if the rule has none. Default: "reject". */
  readonly strayBody?: "reject" | "ignore";
}

/**
 * Makes a transcoder of the services. Throws HttpRuleError with every rule that cannot be served.
 */
export function createTranscoder(
  services: readonly DescService[],
  options: TranscoderOptions = {},
): Transcoder {
  const { bindings, problems, notices } = resolveRules(services, options.rules ?? []);
  if (problems.length > 0) throw new HttpRuleError(problems);
  const routes = new RouteTable<Binding>(options);
  for (const binding of bindings) routes.add(binding.httpMethod, binding.path, binding);
  const registry = options.registry ?? registryOf(services);
  const bindOptions: BindOptions = {
    registry,
    systemParameters: new Set(options.systemParameters ?? systemParameters),
    unknownQuery: options.unknownQuery ?? "reject",
    strayBody: options.strayBody ?? "reject",
  };
  return {
    bindings,
    notices,
    route: (httpMethod, target) => routeIn(routes, httpMethod, target),
    bind: ({ binding, captures, query }, body, contentType = "") =>
      bindRequest(binding, { captures, query, body, contentType }, bindOptions),
    write: (binding, message) => writeResponse(binding, message, registry),
    writeAround: (binding, message, name) => writeAround(binding, message, name, registry),
  };
}

function routeIn(routes: RouteTable<Binding>, httpMethod: string, target: string): Routed {
  const mark = target.indexOf("?");
  const path = pathOf(mark === -1 ? target : target.slice(0, mark));
  const query = mark === -1 ? "" : target.slice(mark + 1);
  const match = routes.match(httpMethod, path);
  if (match !== undefined) return { binding: match.value, captures: match.captures, query };
  const allowed = routes.methodsAt(path);
  if (allowed.length === 0) {
    throw new ServiceError("not_found", `nothing is served at ${shown(path)}`, {
      reason: "ROUTE_NOT_FOUND",
    });
  }
  throw methodNotAllowed(path, httpMethod, allowed);
}

/** The error for an HTTP method at a path at which only other methods are served. */
export function methodNotAllowed(
  path: string,
  httpMethod: string,
  allowed: readonly string[],
): ServiceError {
  const allow = allowed.join(", ");
  return new ServiceError(
    "unimplemented",
    `${shown(path)} does not accept ${shown(httpMethod)}, only ${allow}`,
    { reason: "METHOD_NOT_ALLOWED", httpStatus: 405, metadata: { allow } },
  );
}

/** The path of a request target. Throws unless it is percent-encoded UTF-8. */
function pathOf(target: string): string {
  const path = target.startsWith("/") ? target : target.replace(/^https?:\/\/[^/]+(?=\/)/i, "");
  const text = path.startsWith("/") ? utf8OfRawBytes(path) : undefined;
  if (text !== undefined && isDecodable(text)) return text;
  throw new ServiceError(
    "invalid_argument",
    `${shown(target)} is not a path with percent-encoded UTF-8`,
    { reason: "MALFORMED_PATH" },
  );
}
