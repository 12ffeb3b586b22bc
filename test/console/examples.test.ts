// The page of examples for one transcript: every example runs against the service, as it is shown.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { checkPage, checkShift } from "./check-page.ts";
import { createInterview } from "./edited-transcript.ts";
import { expectProblems } from "./expected-problems.ts";
import { checkLooks, openTestPages, someLooks, type TestPages } from "./open-test-pages.ts";

const run = promisify(execFile);

let pages: TestPages;
before(async () => {
  pages = await openTestPages({ HLUST_ROLE: "api" });
});
after(() => pages[Symbol.asyncDispose]());

const tasks = {
  read: "Lesa textann með tímum",
  subtitles: "Sækja skjátexta",
  rename: "Breyta titlinum",
} as const;
type Task = keyof typeof tasks;

/** Returns the examples of a language, as the page shows them. */
async function examplesIn(page: Page, language: string): Promise<Record<Task, string>> {
  await page.getByRole("radio", { name: language }).check();
  const textOf = async (task: Task): Promise<string> =>
    (await page.getByLabel(`${tasks[task]}, ${language}`, { exact: true }).textContent()) ?? "";
  return {
    read: await textOf("read"),
    subtitles: await textOf("subtitles"),
    rename: await textOf("rename"),
  };
}

/**
 * Runs the examples of one language in a new folder, and checks what they print, what they write,
 * and what they change. `command` is the program with its arguments, for a file or a text.
 */
async function checkRuns(
  name: string,
  examples: Record<Task, string>,
  command: (task: Task, source: string, folder: string) => Promise<[string, ...string[]]>,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "hlust-examples-"));
  const subject = async (): Promise<unknown> =>
    (await pages.service.call("GET", `/v1alpha1/${name}`)).json.metadata.subject;
  const env = { PATH: process.env["PATH"], HOME: folder, HLUST_KEY: pages.service.key };
  const outputOf = async (task: Task): Promise<string> => {
    const [program, ...args] = await command(task, examples[task], folder);
    return (await run(program, args, { cwd: folder, env })).stdout;
  };
  try {
    const text = await outputOf("read");
    assert.match(text, /Fréttamaður/);
    assert.match(text, /daginn/);
    await outputOf("subtitles");
    const subtitles = await readFile(join(folder, "transcript.srt"), "utf8");
    assert.match(subtitles, /^1\n00:00:0\d,\d{3} --> /);
    assert.match(subtitles, /Fréttamaður:\u00a0Góðan daginn\./);
    assert.notEqual(await subject(), "A new title");
    assert.match(await outputOf("rename"), /A new title/);
    assert.equal(await subject(), "A new title");
    // A refused call ends the program with an error.
    env.HLUST_KEY = "hlust_wrong";
    await assert.rejects(outputOf("read"), /Command failed/);
  } finally {
    await rm(folder, { recursive: true });
  }
}

test("the examples in curl run in a shell, as they are shown", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}/examples`);
  const examples = await examplesIn(page, "curl");
  await checkRuns(name, examples, async (_task, source) => ["sh", "-c", source]);
});

test("the examples in TypeScript run in Node.js, as they are shown", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}/examples`);
  const examples = await examplesIn(page, "TypeScript");
  await checkRuns(name, examples, async (task, source, folder) => {
    const file = join(folder, `${task}.mts`);
    await writeFile(file, source);
    return [process.execPath, file];
  });
});

/** Returns whether a command succeeds. */
async function works(program: string, args: readonly string[]): Promise<boolean> {
  return await run(program, args).then(
    () => true,
    () => false,
  );
}

test("the examples in Python run, or compile where the package requests is missing", async (t: TestContext) => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}/examples`);
  const examples = await examplesIn(page, "Python");
  for (const example of Object.values(examples)) {
    assert.match(example, /^# HLUST_KEY=hlust_\.\.\. python3 \w+\.py\nimport os\n/);
    assert.ok(example.includes(`/v1alpha1/${name}`), example);
  }
  if (!(await works("python3", ["--version"]))) {
    t.diagnostic("there is no python3: only the address was checked");
    return;
  }
  for (const example of Object.values(examples)) {
    await run("python3", ["-c", "import ast, sys; ast.parse(sys.argv[1])", example]);
  }
  if (!(await works("python3", ["-c", "import requests"]))) {
    t.diagnostic("there is no package requests: the examples were only parsed");
    return;
  }
  await checkRuns(name, examples, async (_task, source) => ["python3", "-c", source]);
});

test("the page of examples opens from the transcript, keeps the language, and says what is missing", async () => {
  const name = await createInterview(pages.service);
  await using page = await pages.open(`/${name}`);
  expectProblems(page, /^404 GET .*\/transcripts\/none$/);
  await page.getByRole("link", { name: "Sækja úr forriti" }).press("Enter");
  await page.getByRole("heading", { level: 1, name: "Sækja uppskrift úr forriti" }).waitFor();
  await page.getByRole("radio", { name: "Python" }).check();
  await page.reload();
  await page.getByRole("radio", { name: "Python", checked: true }).waitFor();
  await page.getByText("Python 3 með pakkanum requests.").waitFor();
  await checkShift(page, () => page.getByText("Python 3 með pakkanum requests.").waitFor());
  await checkPage(page);
  await checkLooks(page, "examples", someLooks);
  await page.goto(page.url().replace(/[^/]*\/examples$/, "none/examples"));
  await page.getByRole("alert").waitFor();
});
