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
import { fieldNamed, resolveFieldPath } from "./field-path.ts";
import { type PathTemplate, parsePathTemplate } from "./path-template.ts";

/** One way to call a method over HTTP: a rule, or one of its additional bindings, checked against the method. */
export interface Binding {
  readonly method: DescMethod;
  /** GET, POST, ...; "*" for any; or the kind of a custom pattern, in upper case. */
  readonly httpMethod: string;
  /** The path template as written in the rule. */
  readonly template: string;
  readonly path: PathTemplate;
  /** The fields of each variable of `path`, from the request message down. */
  readonly variables: readonly (readonly DescField[])[];
  /** "*": the whole request message; "": no body; else the field that is the body. */
  readonly body: "*" | "" | DescField;
  /** The field that is the answer; undefined for the whole message. */
  readonly responseBody: DescField | undefined;
  /** `update_mask`, where a PATCH fills it in from the names present in the body. */
  readonly updateMask: DescField | undefined;
}

/** A google.api.HttpRule of a service configuration, as proto3 JSON: `{selector: "pkg.Service.Method", get: "/v1/x"}`. */
export type ConfiguredRule = JsonObject;

/** Rules that cannot be served: every problem, each with the method or the rule where it stands. */
export class HttpRuleError extends Error {
  override readonly name = "HttpRuleError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

/**
 * The bindings of services (§4.10): their annotations, in order, then the configured rules in their own order. A
 * configured rule takes the place of a method's annotation (item 9); the last one whose selector names the method
 * counts. Selectors are `pkg.Service.Method`, `pkg.*` or `*`; one that names no method here is for another
 * service and does nothing. Throws HttpRuleError.
 */
export function bindingsOf(
  services: readonly DescService[],
  configured: readonly ConfiguredRule[] = [],
): Binding[] {
  const problems: string[] = [];
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
    bindings.push(...bindRule(method, getOption(method, http), nameOf(method), problems));
  }
  for (const [index, rule] of rules.entries()) {
    if (rule === undefined) continue;
    for (const method of methods.filter((method) => ruleOf.get(method) === index)) {
      const place = `rule ${index + 1} (${rule.selector}) on ${nameOf(method)}`;
      bindings.push(...bindRule(method, rule, place, problems));
    }
  }
  if (problems.length > 0) throw new HttpRuleError(problems);
  return bindings;
}

function nameOf(method: DescMethod): string {
  return `${method.parent.typeName}.${method.name}`;
}

function selects(selector: string, method: string): boolean {
  if (selector === "*" || selector === method) return true;
  return selector.endsWith(".*") && method.startsWith(selector.slice(0, -1));
}

function parseRule(rule: ConfiguredRule, index: number, problems: string[]): HttpRule | undefined {
  try {
    const parsed = fromJson(HttpRuleSchema, rule);
    if (parsed.selector !== "") return parsed;
    problems.push(`rule ${index + 1}: it has no selector`);
  } catch (error) {
    problems.push(`rule ${index + 1}: ${messageOf(error)}`);
  }
  return undefined;
}

function bindRule(
  method: DescMethod,
  rule: HttpRule,
  place: string,
  problems: string[],
): readonly Binding[] {
  const bindings: Binding[] = [];
  const all: [HttpRule, string][] = [
    [rule, place],
    ...rule.additionalBindings.map((nested, index): [HttpRule, string] => {
      const nestedPlace = `${place}, additional_bindings[${index}]`;
      if (nested.additionalBindings.length > 0) {
        problems.push(`${nestedPlace}: additional_bindings are one level deep only`);
      }
      return [nested, nestedPlace];
    }),
  ];
  for (const [one, place] of all) {
    try {
      bindings.push(bindOne(method, one));
    } catch (error) {
      problems.push(`${place}: ${messageOf(error)}`);
    }
  }
  return bindings;
}

function bindOne(method: DescMethod, rule: HttpRule): Binding {
  const [httpMethod, template] = patternOf(rule);
  const path = parsePathTemplate(template);
  const variables = path.variables.map(({ fieldPath }) => {
    const fields = resolveFieldPath(method.input, fieldPath, { names: "proto", lists: false });
    if ("problem" in fields) {
      throw new Error(`variable ${fieldPath.join(".")} of ${template}: ${fields.problem}`);
    }
    return fields;
  });
  const body =
    rule.body === "" || rule.body === "*" ? rule.body : topField(method.input, rule.body);
  return {
    method,
    httpMethod,
    template,
    path,
    variables,
    body,
    responseBody: rule.responseBody === "" ? undefined : topField(method.output, rule.responseBody),
    updateMask: updateMaskOf(method, httpMethod, body),
  };
}

function patternOf({ pattern }: HttpRule): [method: string, template: string] {
  if (pattern.case === undefined) throw new Error("it has no pattern (get, post, ..., custom)");
  if (pattern.case !== "custom") return [pattern.case.toUpperCase(), pattern.value];
  if (pattern.value.kind === "") throw new Error("its custom pattern has no kind");
  return [pattern.value.kind.toUpperCase(), pattern.value.path];
}

/** §4.10 item 4: body and response_body name top-level fields. */
function topField(message: DescMessage, name: string): DescField {
  const field = fieldNamed(message, name);
  if (field === undefined) {
    throw new Error(`${JSON.stringify(name)} is not a top-level field of ${message.typeName}`);
  }
  return field;
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
