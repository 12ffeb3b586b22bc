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
 * Converts HTTP requests to request messages, and response messages to JSON, by the google.api.http
 * rules (§4.10).
 */
export interface Transcoder {
  readonly bindings: readonly Binding[];
  /** The rules that are probably mistakes, for a log. */
  readonly notices: readonly RuleNotice[];
  /**
   * Finds the binding for a request. `target` is the request target as received: a path and query,
   * or an absolute URL. Throws ServiceError with one of these codes: not_found (ROUTE_NOT_FOUND),
   * unimplemented with httpStatus 405 (METHOD_NOT_ALLOWED, with metadata.allow such as "GET,
   * POST"), or invalid_argument for malformed escapes and bytes that are not UTF-8.
   */
  route(httpMethod: string, target: string): Routed;
  /**
   * Creates the request message. The path takes precedence over the query and the body, and an
   * empty body counts as no body. `contentType` is used only if the body is a google.api.HttpBody.
   * Throws ServiceError invalid_argument with every violation.
   */
  bind(routed: Routed, body: Uint8Array | undefined, contentType?: string): Message;
  /**
   * Writes the JSON text of a response, according to response_body and the options of hlust.api.
   */
  write(binding: Binding, message: Message): string;
  /**
   * Writes a response in two parts, before and after the value of a list whose JSON already exists.
   * Returns undefined if the list is not in the response.
   */
  writeAround(binding: Binding, message: Message, name: string): AroundField | undefined;
}

export interface Routed {
  readonly binding: Binding;
  /** The decoded values of the variables in `binding.path`. */
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
   * The types that a google.protobuf.Any can contain. Default: the types in the services' files and
   * in the files that these import.
   */
  readonly registry?: Registry;
  /** The query parameters that belong to no field. Default: systemParameters. */
  readonly systemParameters?: readonly string[];
  /** The handling of other query parameters that name no field. Default: "reject". */
  readonly unknownQuery?: "reject" | "ignore";
  /** The handling of a body if the rule has none. Default: "reject". */
  readonly strayBody?: "reject" | "ignore";
}

/**
 * Creates a transcoder for the services. Throws HttpRuleError with every rule that cannot be
 * served.
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

/** Returns the error for an HTTP method at a path that serves only other methods. */
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

/** Returns the path of a request target. Throws unless the path is percent-encoded UTF-8. */
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
