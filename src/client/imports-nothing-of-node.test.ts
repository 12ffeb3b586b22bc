// Checks every module that a browser loads with the client, after types have been stripped.
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join, relative, resolve } from "node:path";
import { test } from "node:test";

const source = resolve(import.meta.dirname, "..");

/**
 * Returns the modules that a browser loads with the entries, and the packages that those modules
 * import.
 */
function closureOf(entries: readonly string[]): { files: Set<string>; packages: Set<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const open = [...entries];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (files.has(file)) continue;
    files.add(file);
    for (const specifier of importsOf(codeOf(file))) {
      if (specifier.startsWith(".")) open.push(resolve(file, "..", specifier));
      else packages.add(specifier);
    }
  }
  return { files, packages };
}

function codeOf(file: string): string {
  return stripTypeScriptTypes(readFileSync(file, "utf8"));
}

function importsOf(code: string): string[] {
  const found = code.matchAll(/^(?:import|export)\b[^;"=(]*"([^"]+)"|\bimport\("([^"]+)"\)/gm);
  return Array.from(found, ([, named = "", dynamic = ""]) => named || dynamic);
}

const entries = globSync("client/*.ts", { cwd: source })
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => join(source, file));

test("the client imports two packages that browsers can load, and no Node module", () => {
  const { files, packages } = closureOf(entries);
  const known = ["@bufbuild/protobuf", "@connectrpc/connect"];
  const strangers = [...packages].filter(
    (one) => !known.some((name) => `${one}/`.startsWith(`${name}/`)),
  );
  assert.deepEqual(strangers, []);
  const paths = new Set(Array.from(files, (file) => relative(source, file)));
  assert.ok(paths.has("transcoding/write-request.ts"));
  assert.ok(paths.has("gen/hlust/speech/v2beta1/speech_pb.ts"));
  const nodeNames = /\b(?:Buffer|process|global|require|__dirname|setImmediate)\b/;
  const users = [...files].filter((file) => {
    const code = codeOf(file).replaceAll(/\/\*[^]*?\*\/|\/\/.*$/gm, "");
    return !file.includes("/gen/") && nodeNames.test(code);
  });
  assert.deepEqual(users, []);
});

test("an import of a Node module is found at any depth", () => {
  const { packages } = closureOf([join(source, "transcoding/bind-request.ts")]);
  assert.ok(packages.has("node:buffer"));
  assert.deepEqual(
    importsOf('import {\n  a,\n  b,\n} from "x";\nimport "y";\nawait import("z");'),
    ["x", "y", "z"],
  );
});
