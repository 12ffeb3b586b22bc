import type {
  DescField,
  DescMessage,
  DescMethod,
  DescService,
  JsonObject,
} from "@bufbuild/protobuf";
import { fromJson, getOption, hasOption } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { http } from "../gen/google/api/annotations_pb.ts";
import { type HttpRule, HttpRuleSchema } from "../gen/google/api/http_pb.ts";
import { shown } from "../std/service-error.ts";
import { type BrokenPath, fieldNamed, resolveFieldPath } from "./field-path.ts";
import { type PathTemplate, parsePathTemplate, PathTemplateError } from "./path-template.ts";

/**
 * An HTTP method and path with which an RPC method can be called: a rule or one of its additional
 * bindings, checked against the RPC method.
 */
export interface Binding {
  readonly method: DescMethod;
  /**
   * The HTTP method in upper case: GET, POST, ..., "*" for any method, or the kind of a custom
   * pattern.
   */
  readonly httpMethod: string;
  /** The path template as written in the rule. */
  readonly template: string;
  readonly path: PathTemplate;
  /** The fields of each variable in `path`, from the request message down. */
  readonly variables: readonly (readonly DescField[])[];
  /**
   * The part of the request message that the body contains: "*" for the whole message, "" for no
   * body, or a field.
   */
  readonly body: "*" | "" | DescField;
  /** The field that is the body of the response; undefined for the whole message. */
  readonly responseBody: DescField | undefined;
  /** The field `update_mask`, if a PATCH fills this field from the names in the body. */
  readonly updateMask: DescField | undefined;
  /** The place of the binding's pattern in the rules. */
  readonly spot: RuleSpot;
}

/**
 * A google.api.HttpRule of a service configuration, as proto3 JSON: `{selector:
 * "pkg.Service.Method", get: "/v1/x"}`.
 */
export type ConfiguredRule = JsonObject;

/** A place in the rules. */
export interface RuleSpot {
  /** The index of the configured rule; undefined for the annotation of a method. */
  readonly rule: number | undefined;
  /** The path from the rule down, in proto names: `["additional_bindings", 0, "get"]`. */
  readonly path: readonly (string | number)[];
  /** The position of the character in the text at that place, counted from 0. */
  readonly offset?: number;
}

/** The reason why a rule cannot be served. */
export interface RuleProblem {
  readonly spot: RuleSpot;
  /** The spot as text for users: `rule 2 (pkg.*) on pkg.Service.Method, additional_bindings[0]`. */
  readonly place: string;
  readonly description: string;
}

/** A rule that can be served but is probably a mistake, for a warning in a log. */
export type RuleNotice =
  /** The selector matches no method of the services. */
  | { readonly kind: "unused_selector"; readonly selector: string; readonly spot: RuleSpot }
  /**
   * `binding` is never reached because `by`, which comes later, has the same method, path and verb.
   */
  | { readonly kind: "shadowed_binding"; readonly binding: Binding; readonly by: Binding };

/**
 * Thrown for rules that cannot be served. The error contains every problem with its method or rule.
 */
export class HttpRuleError extends Error {
  override readonly name = "HttpRuleError";
  readonly problems: readonly RuleProblem[];

  constructor(problems: readonly RuleProblem[]) {
    super(problems.map(({ place, description }) => `${place}: ${description}`).join("\n"));
    this.problems = problems;
  }
}

/**
 * Returns the bindings of services (§4.10): first the annotations in their order, then the
 * configured rules in theirs. A configured rule replaces the annotation of a method (item 9). If
 * several configured rules select a method, the last of them applies. Selectors are
 * `pkg.Service.Method`, `pkg.*` or `*`. A selector that matches no method of these services is
 * ignored, since it is meant for another service. Throws HttpRuleError.
 */
export function bindingsOf(
  services: readonly DescService[],
  configured: readonly ConfiguredRule[] = [],
): Binding[] {
  const { bindings, problems } = resolveRules(services, configured);
  if (problems.length > 0) throw new HttpRuleError(problems);
  return bindings;
}

/** Works like bindingsOf(), but returns the problems instead of throwing them. */
export function resolveRules(
  services: readonly DescService[],
  configured: readonly ConfiguredRule[],
): { bindings: Binding[]; problems: RuleProblem[]; notices: RuleNotice[] } {
  const problems: RuleProblem[] = [];
  const rules = configured.map((rule, index) => parseRule(rule, index, problems));
  const methods = services.flatMap((service) => service.methods);
  const ruleOf = new Map<DescMethod, number>();
  for (const method of methods) {
    const index = rules.findLastIndex((rule) => rule && selects(rule.selector, nameOf(method)));
    if (index !== -1) ruleOf.set(method, index);
  }
  const bindings: Binding[] = [];
  for (const method of methods) {
    if (ruleOf.has(method) || !hasOption(method, http)) continue;
    const at = { rule: undefined, place: nameOf(method), problems };
    bindings.push(...bindRule(method, getOption(method, http), at));
  }
  const notices: RuleNotice[] = [];
  for (const [index, rule] of rules.entries()) {
    if (rule === undefined) continue;
    const place = `rule ${index + 1} (${rule.selector})`;
    const named = methods.filter((method) => selects(rule.selector, nameOf(method)));
    const own = named.filter((method) => ruleOf.get(method) === index);
    for (const method of own.length === 0 && named.length === 1 ? named : own) {
      const at = { rule: index, place: `${place} on ${nameOf(method)}`, problems };
      const found = bindRule(method, rule, at);
      // A rule that is replaced by a later rule is not served, but its problems are reported.
      if (own.length > 0) bindings.push(...found);
    }
    if (named.length === 0) {
      const spot = { rule: index, path: ["selector"] };
      notices.push({ kind: "unused_selector", selector: rule.selector, spot });
    } else if (own.length === 0 && named.length > 1) {
      checkPatterns(rule, { rule: index, place, problems });
    }
  }
  return { bindings, problems, notices: [...notices, ...shadowed(bindings)] };
}

function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}.${method.name}`;
}

function selects(selector: string, method: string): boolean {
  if (selector === "*" || selector === method) return true;
  return selector.endsWith(".*") && method.startsWith(selector.slice(0, -1));
}

function parseRule(
  rule: ConfiguredRule,
  index: number,
  problems: RuleProblem[],
): HttpRule | undefined {
  let description = "it has no selector";
  try {
    const parsed = fromJson(HttpRuleSchema, rule);
    if (parsed.selector !== "") return parsed;
  } catch (error) {
    description = messageOf(error);
  }
  problems.push({ spot: { rule: index, path: [] }, place: `rule ${index + 1}`, description });
  return undefined;
}

/** The rule that is being read, and the list to which problems are added. */
interface Reading {
  readonly rule: number | undefined;
  readonly place: string;
  readonly problems: RuleProblem[];
  /** The path from the rule down to the current binding. */
  readonly path?: readonly (string | number)[];
}

function fail(at: Reading, description: string, below: readonly string[], offset?: number): void {
  const path = [...(at.path ?? []), ...below];
  const spot = { rule: at.rule, path, ...(offset !== undefined && { offset }) };
  at.problems.push({ spot, place: at.place, description });
}

/**
 * Yields the rule and its additional bindings. Additional bindings cannot have additional bindings
 * of their own.
 */
function* bindingsIn(rule: HttpRule, at: Reading): Generator<[one: HttpRule, at: Reading]> {
  yield [rule, at];
  for (const [index, nested] of rule.additionalBindings.entries()) {
    const place = `${at.place}, additional_bindings[${index}]`;
    const below = { ...at, place, path: ["additional_bindings", index] };
    if (nested.additionalBindings.length > 0) {
      fail(below, "additional_bindings cannot have additional_bindings", ["additional_bindings"]);
    }
    yield [nested, below];
  }
}

function checkPatterns(rule: HttpRule, reading: Reading): void {
  for (const [one, at] of bindingsIn(rule, reading)) pathOf(one, at);
}

function bindRule(method: DescMethod, rule: HttpRule, reading: Reading): Binding[] {
  return Array.from(bindingsIn(rule, reading), ([one, at]) => bindOne(method, one, at)).filter(
    (binding) => binding !== undefined,
  );
}

function bindOne(method: DescMethod, rule: HttpRule, at: Reading): Binding | undefined {
  const before = at.problems.length;
  const pattern = pathOf(rule, at);
  const body =
    rule.body === "" || rule.body === "*" ? rule.body : topField(method.input, rule.body);
  if (typeof body === "object" && "problem" in body) fail(at, body.problem, ["body"]);
  const responseBody =
    rule.responseBody === "" ? undefined : topField(method.output, rule.responseBody);
  if (responseBody && "problem" in responseBody) fail(at, responseBody.problem, ["response_body"]);
  if (pattern === undefined) return undefined;
  const { httpMethod, template, path } = pattern;
  // A long template is formatted only once, since a file can contain a template of 100 kB with
  // thousands of variables.
  const shownTemplate = shown(template);
  const variables = path.variables.map(({ fieldPath, offset }) => {
    const fields = resolveFieldPath(method.input, fieldPath, { names: "proto", lists: false });
    if (!("problem" in fields)) return fields;
    const what = `variable ${shown(fieldPath.join("."))} of ${shownTemplate}`;
    fail(at, `${what}: ${fields.problem}`, pattern.below, offset);
    return [];
  });
  if (at.problems.length > before) return undefined;
  if (typeof body === "object" && "problem" in body) return undefined;
  if (responseBody && "problem" in responseBody) return undefined;
  const spot = { rule: at.rule, path: [...(at.path ?? []), ...pattern.below] };
  const updateMask = updateMaskOf(method, httpMethod, body);
  return { method, httpMethod, template, path, variables, body, responseBody, updateMask, spot };
}

interface Pattern {
  readonly httpMethod: string;
  readonly template: string;
  readonly path: PathTemplate;
  /** The path of the template in the rule. */
  readonly below: readonly string[];
}

/**
 * A token as defined by RFC 9110, section 5.6.2. Other text cannot be a method or appear in Allow.
 * "*" is also a token.
 */
const methodName = /^[!#$%&'*+.^_`|~0-9A-Z-]+$/;

function pathOf({ pattern }: HttpRule, at: Reading): Pattern | undefined {
  if (pattern.case === undefined) {
    fail(at, "it has no pattern (get, post, ..., custom)", []);
    return undefined;
  }
  const isCustom = pattern.case === "custom";
  const httpMethod = (isCustom ? pattern.value.kind : pattern.case).toUpperCase();
  const template = isCustom ? pattern.value.path : pattern.value;
  const below = isCustom ? ["custom", "path"] : [pattern.case];
  if (httpMethod === "") fail(at, "its custom pattern has no kind", ["custom"]);
  else if (!methodName.test(httpMethod)) {
    fail(at, `${shown(httpMethod)} cannot be the name of an HTTP method`, ["custom", "kind"]);
  }
  try {
    return { httpMethod, template, path: parsePathTemplate(template), below };
  } catch (error) {
    const column = error instanceof PathTemplateError ? error.column : 1;
    fail(at, messageOf(error), below, column - 1);
    return undefined;
  }
}

/**
 * Reports bindings that are never reached because a later one has the same method, shape and verb.
 */
function shadowed(bindings: readonly Binding[]): RuleNotice[] {
  const notices: RuleNotice[] = [];
  const winners = new Map<string, Binding>();
  for (const binding of bindings.toReversed()) {
    const { segments, verb } = binding.path;
    const shape = segments.map((one) => (one.kind === "literal" ? `=${one.text}` : one.kind));
    const key = JSON.stringify([binding.httpMethod, shape, verb]);
    const by = winners.get(key);
    if (by === undefined) winners.set(key, binding);
    else notices.push({ kind: "shadowed_binding", binding, by });
  }
  return notices.toReversed();
}

/**
 * Returns the top-level field that body or response_body names, or the reason why there is no such
 * field (§4.10 item 4).
 */
function topField(message: DescMessage, name: string): DescField | BrokenPath {
  const problem = `${shown(name)} is not a top-level field of ${message.typeName}`;
  return fieldNamed(message, name) ?? { problem };
}

function updateMaskOf(
  method: DescMethod,
  httpMethod: string,
  body: Binding["body"],
): DescField | undefined {
  if (httpMethod !== "PATCH" || typeof body === "string" || body.fieldKind !== "message") {
    return undefined;
  }
  const field = fieldNamed(method.input, "update_mask");
  return field?.fieldKind === "message" && field.message.typeName === FieldMaskSchema.typeName
    ? field
    : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
