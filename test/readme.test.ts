// The README's requests work when pasted, in order.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { makeReadmeRequests } from "./fixtures/readme-requests.ts";
import { openTestService } from "./spec/service.ts";

const root = resolve(import.meta.dirname, "..");

test("every request of the README gets the response that the README shows", async () => {
  // A machine with two cores has two engine processes, so two streams are recognized concurrently.
  await using service = await openTestService({ HLUST_ENGINE_PROCESSES: "2" });
  await makeReadmeRequests(service);
});

test("the README names the behavior that may surprise an operator or a reader of transcripts", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const lines = [
    /^.*cleartext.*\bTLS\b.*$/m,
    /^.*HLUST_ALLOWED_ORIGINS.*$/m,
    /^.*models write lower-case words.*$/m,
  ];
  for (const line of lines) assert.match(readme, line);
});
