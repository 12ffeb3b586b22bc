// The README's requests work when pasted, in order.
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
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

test("each way in has at most five lines, and names only what exists", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const section = /\n## Choose your way in\n+(.*?)\n## /s.exec(readme)?.[1] ?? "";
  // A way is a paragraph that begins in bold, and the code that follows it.
  const ways = section.split(/\n\n(?=\*\*)/);
  const names = new Set(ways.map((way) => /^\*\*([^*]+)\*\*/.exec(way)?.[1]));
  for (const name of ["Try it", "One machine", "A cluster", "Develop"]) {
    assert.ok(names.has(name), name);
  }
  for (const way of ways) {
    const lines = way.split("\n").filter((line) => line.trim() !== "");
    assert.ok(lines.length <= 5, way);
    const links = [...way.matchAll(/\]\(([^)#]+)\)/g)].map(([, path = ""]) => path);
    const programs = way.match(/\b(?:script|deploy)\/[\w./-]*\w/g) ?? [];
    for (const path of [...links, ...programs]) assert.ok(existsSync(join(root, path)), path);
  }
});
