// Tests that the example in README.md prints what README.md shows.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { Vectors } from "../../test/gen/transcoding_pb.ts";
import { parsePathTemplate } from "./path-template.ts";
import { readServiceConfig } from "./service-config.ts";

const root = resolve(import.meta.dirname, "../..");
const readme = readFileSync(join(import.meta.dirname, "README.md"), "utf8");
let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-transcoding-"));
});
after(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Returns the only code block of a language in README.md. */
function block(language: string): string {
  const found = Array.from(readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)).filter(
    ([, name]) => name === language,
  );
  assert.equal(found.length, 1, `blocks of ${language}`);
  return found[0]?.[2] ?? "";
}

test("the example in README.md prints the output that README.md shows", () => {
  mkdirSync(join(folder, "proto"));
  writeFileSync(join(folder, "proto/library.proto"), block("proto"));
  writeFileSync(join(folder, "library.ts"), block("ts"));
  symlinkSync(join(root, "src"), join(folder, "hlust"));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  symlinkSync(join(root, "third_party/googleapis"), join(folder, "googleapis"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  const modules = '{"version":"v2","modules":[{"path":"proto"},{"path":"googleapis"}]}';
  const plugin = {
    local: "protoc-gen-es",
    out: "gen",
    opt: ["target=ts", "import_extension=ts", "erasable_syntax=true"],
  };
  const template = JSON.stringify({ version: "v2", plugins: [plugin] });
  const bin = join(root, "node_modules/.bin");
  const env = { ...process.env, PATH: `${bin}:${process.env["PATH"]}`, NODE_OPTIONS: "" };
  const run = (command: string, args: string[]): string =>
    execFileSync(command, args, { cwd: folder, env, encoding: "utf8" });
  run("buf", ["generate", "--config", modules, "--template", template]);
  assert.equal(run(process.execPath, ["library.ts"]), block("text"));
});

test("the examples of templates and service configurations in README.md are correct", () => {
  const [, template = "", message = ""] =
    /`(path template "(.*?)", column .*?template)`/s.exec(readme) ?? [];
  assert.throws(() => parsePathTemplate(message), { message: template.replaceAll(/\s+/g, " ") });
  const services = [Vectors];
  const config = readServiceConfig(block("yaml"), { file: "rules.yaml", services });
  assert.equal(config.rules.length, 1);
});
