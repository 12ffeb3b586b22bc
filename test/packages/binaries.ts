import { closeSync, globSync, openSync, readSync } from "node:fs";
import { join } from "node:path";

/** The field e_machine of the processors that Hlust runs on, under Node's names. */
const machines: ReadonlyMap<number, string> = new Map([
  [0x3e, "x64"],
  [0xb7, "arm64"],
]);
const elf = Buffer.from("\x7fELF");
const isLibrary = /\.(?:node|so|dylib|dll|exe)$|\.so\.[\d.]+$/;

/**
 * Returns the programs and libraries in a folder by the processor that they are for. Libraries of
 * other systems than Linux are "not ELF".
 */
export function binariesIn(folder: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  const places = ["proc", "sys", "dev"].map((name) => `${name}/**`);
  for (const entry of globSync("**/*", { cwd: folder, withFileTypes: true, exclude: places })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const processor = processorOf(path);
    if (processor === undefined) continue;
    found.set(processor, [...(found.get(processor) ?? []), path.slice(folder.length + 1)]);
  }
  return found;
}

/** Returns the processor that a file is for; undefined if it has no code of any. */
function processorOf(path: string): string | undefined {
  const head = Buffer.alloc(20);
  const file = openSync(path, "r");
  try {
    readSync(file, head, 0, head.length, 0);
  } finally {
    closeSync(file);
  }
  if (!head.subarray(0, 4).equals(elf)) return isLibrary.test(path) ? "not ELF" : undefined;
  const isLittleEndian = head[5] === 1;
  const machine = isLittleEndian ? head.readUInt16LE(18) : head.readUInt16BE(18);
  return (isLittleEndian && machines.get(machine)) || `machine ${machine}`;
}
