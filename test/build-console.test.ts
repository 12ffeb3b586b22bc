import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

const root = resolve(import.meta.dirname, "..");
let folder: string;

/**
 * A console with one page and one script. While the file `cut` exists, a build is killed when its
 * files are written.
 */
const config = `import { existsSync } from "node:fs";
const cut = {
  name: "cut",
  writeBundle() {
    if (existsSync(new URL("../../cut", import.meta.url))) process.kill(process.pid, "SIGKILL");
  },
};
export default {
  root: import.meta.dirname,
  plugins: [cut],
  build: { outDir: "../../dist/console", emptyOutDir: true, modulePreload: false },
};
`;

before(() => {
  folder = mkdtempSync(join(tmpdir(), "hlust-build-console-"));
  for (const name of ["script/build-console.ts", "package.json", "package-lock.json"])
    cpSync(join(root, name), join(folder, name));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  mkdirSync(join(folder, "src/console"), { recursive: true });
  write("src/console/vite.config.ts", config);
  write("src/console/index.html", '<script type="module" src="./main.ts"></script>');
});
after(() => rmSync(folder, { recursive: true }));

function write(name: string, content: string): void {
  writeFileSync(join(folder, name), content);
}

/** Builds the console; returns the signal that ended the build, or its exit status. */
async function build(): Promise<unknown> {
  const script = join(folder, "script/build-console.ts");
  const [code, signal] = await once(spawn(process.execPath, [script]), "exit");
  return signal ?? code;
}

/**
 * Returns the content of the built script; asserts that every file is complete in each of its
 * forms.
 */
function built(): string {
  const at = join(folder, "dist/console");
  const plain = readdirSync(at, { recursive: true, encoding: "utf8" }).filter((name) =>
    /\.(html|js)$/.test(name),
  );
  for (const name of plain) {
    const content = readFileSync(join(at, name));
    assert.deepEqual(brotliDecompressSync(readFileSync(join(at, `${name}.br`))), content, name);
    assert.deepEqual(gunzipSync(readFileSync(join(at, `${name}.gz`))), content, name);
  }
  const script = plain.find((name) => name.endsWith(".js")) ?? assert.fail("no script");
  assert.ok(plain.includes("index.html"));
  return readFileSync(join(at, script), "utf8");
}

test("a console build that is killed leaves the previous build in place, and the next build is complete", async () => {
  write("src/console/main.ts", 'document.title = "first";');
  assert.equal(await build(), 0);
  assert.match(built(), /first/);
  write("cut", "");
  write("src/console/main.ts", 'document.title = "second";');
  assert.equal(await build(), "SIGKILL");
  assert.match(built(), /first/);
  rmSync(join(folder, "cut"));
  write("src/console/main.ts", 'document.title = "first";');
  assert.equal(await build(), 0);
  assert.match(built(), /first/);
  rmSync(join(folder, "dist/console"), { recursive: true });
  assert.equal(await build(), 0);
  assert.match(built(), /first/, "a deleted console is built again");
});

test("concurrent console builds result in a complete one", async () => {
  rmSync(join(folder, "cut"), { force: true });
  write("src/console/main.ts", 'document.title = "third";');
  assert.deepEqual(await Promise.all([build(), build(), build()]), [0, 0, 0]);
  assert.match(built(), /third/);
});
