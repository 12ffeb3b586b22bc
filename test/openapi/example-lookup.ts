import assert from "node:assert/strict";
import type { DescMethod } from "@bufbuild/protobuf";
import { examples as source } from "../../src/gen/examples.ts";
import {
  createExamples,
  type UnaryExample,
} from "../../src/transcoding/openapi/contract-examples.ts";
import { operationsIn } from "../../src/transcoding/openapi/document.ts";
import { contract } from "../../src/served-services.ts";
import { document } from "./described-service.ts";

/** Returns the examples of a method. */
export const examplesOf = createExamples(source);
/** Every method of the contract. */
export const methods: DescMethod[] = contract.flatMap((service) => service.methods);

/** Returns the examples of a method that have one request and one answer. */
export function unaryExamples(name: string): readonly UnaryExample[] {
  const method = methodNamed(name);
  return examplesOf(method).flatMap((example) => ("stream" in example ? [] : [example]));
}

/**
 * Finds a method by its name, such as "ListTranscripts", or by its full name if two services have
 * it, such as "google.cloud.speech.v1.Speech.Recognize".
 */
export function methodNamed(name: string): DescMethod {
  const method = methods.find(
    ({ name: own, parent }) => name === own || name === `${parent.typeName}.${own}`,
  );
  assert.ok(method, name);
  return method;
}

/** Returns the operation of a method in the document. */
export function operationOf(method: DescMethod) {
  const path = `/${method.parent.typeName}/${method.name}`;
  const found = operationsIn(document).find(({ operation }) => operation["x-grpc-path"] === path);
  assert.ok(found, path);
  return found;
}

/** Returns the first example of a method. */
export function first(name: string): UnaryExample {
  const [example] = unaryExamples(name);
  assert.ok(example, name);
  return example;
}

/** Returns a text from the response of a method's first example. */
export function exampleIn(name: string, ...path: string[]): string {
  let value: unknown = first(name).answer;
  for (const step of path) {
    value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
  }
  assert.ok(typeof value === "string", `${name} ${path.join(".")}`);
  return value;
}

/** The time in an example that must be in the future when it is sent. */
const futureExample = "2026-11-29T10:20:00Z";

/** Replaces the values of an example that are different in a service, such as ids. */
export function realized<T>(real: ReadonlyMap<string, string>, value: T): T {
  let text = JSON.stringify(value);
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  for (const [from, to] of [...real, [futureExample, inAnHour] as const])
    text = text.replaceAll(from, to);
  const copy: T = JSON.parse(text);
  return copy;
}
