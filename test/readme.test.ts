// The README's requests work when pasted, in order.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { test } from "node:test";
import { openTestService } from "./spec/service.ts";

const root = resolve(import.meta.dirname, "..");

/** Returns the shell blocks of the section "Requests". */
function requests(): string[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, section = ""] = readme.split("\n## Requests\n");
  const [own = ""] = section.split(/\n## /);
  return Array.from(own.matchAll(/^```sh\n(.*?)^```$/gms), ([, block = ""]) => block);
}

test("every request of the README gets the response that the README shows", async () => {
  // A machine with two cores has two engine processes, so two streams are recognized concurrently.
  await using service = await openTestService({ HLUST_ENGINE_PROCESSES: "2" });
  const folder = mkdtempSync(join(tmpdir(), "hlust-readme-"));
  try {
    symlinkSync(service.dataFolder, join(folder, "data"));
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    symlinkSync(join(root, "src"), join(folder, "src"));
    symlinkSync(join(root, "bin"), join(folder, "bin"));
    const marked = requests().map((block, at) => `echo; echo "== ${at}"\n${block}`);
    const script = marked
      .join("\n")
      .replaceAll("http://127.0.0.1:8080", service.address)
      .replaceAll("/tmp/", `${folder}/`);
    const { status, output } = await runBash(script, folder);
    assert.equal(status, 0, output);
    const outputs = output.split(/^== \d+$/m).slice(1);
    const text = "the weather is cold and dark today";
    const expected: RegExp[] = [
      /^\s*$/,
      new RegExp(`"transcript": "${text}"(.|\\n)*"startTime": "`),
      new RegExp(`interim (.|\\n)*final   ${text} \n`),
      /^\s*(\{\})?\s*$/,
      new RegExp(`"SUCCESS"(.|\\n)*${text}\n`),
      /"name": "transcripts\/(.|\n)*"Ávarp"\n"Meeting"\n"transcripts\/\S+"\n"transcripts\/\S+"\n(.|\n)*"Morning meeting"/,
      /RIFF\s*$/,
      /^\s*1\s+00:00:0\d,\d+ --> 00:00:0\d,\d+\s+\w.*\s+"transcripts\/\S+"\s*0\s*$/,
      /3 transcripts\n\w.* \n/,
      /ended +2 succeeded, 0 failed\n(.|\n)*finals +2, lost 0(.|\n)*interim lag(.|\n)*server +/,
    ];
    assert.equal(outputs.length, expected.length);
    for (const [at, output] of outputs.entries())
      assert.match(output, expected[at] ?? /^$/, `block ${at}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test("the README names the behavior that may surprise an operator or a reader of transcripts", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const lines = [
    /^.*cleartext.*\bTLS\b.*$/m,
    /^.*HLUST_ALLOWED_ORIGINS.*$/m,
    /^.*no punctuation.*$/m,
  ];
  for (const line of lines) assert.match(readme, line);
});

/** Runs a script while the service that it calls runs in this process. */
async function runBash(script: string, cwd: string): Promise<{ status: unknown; output: string }> {
  const run = spawn("bash", ["-euo", "pipefail", "-c", `exec 2>&1\n${script}`], {
    cwd,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 120_000,
  });
  const ended = once(run, "close");
  const parts = await Array.fromAsync(run.stdout.setEncoding("utf8"));
  const [status]: unknown[] = await ended;
  return { status, output: parts.join("") };
}
