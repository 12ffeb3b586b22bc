/** An entry of a tar, as odd as a test wants it. */
export interface TarEntry {
  readonly path: string;
  /** ustar: 0 file, 1 hard link, 2 symbolic link, 3 character device, 4 block device, 5 folder, 6 pipe. */
  readonly type?: string;
  readonly content?: Uint8Array | string;
  readonly link?: string;
  /** What the header says; default: the content's length. */
  readonly size?: number;
}

/** The bytes of a tar: its entries, and its end unless it is left out. */
export function tarBytes(entries: readonly TarEntry[], end: Buffer = Buffer.alloc(1024)): Buffer {
  return Buffer.concat([...entries.map(entryBytes), end]);
}

function entryBytes(entry: TarEntry): Buffer {
  const content = Buffer.from(entry.content ?? "");
  const path = Buffer.from(entry.path);
  const long = path.length > 100 ? longPath(path) : Buffer.alloc(0);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([long, header(entry, content.length), content, padding]);
}

/** GNU: the path of the next entry. */
function longPath(path: Buffer): Buffer {
  const content = Buffer.concat([path, Buffer.alloc(1)]);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return Buffer.concat([
    header({ path: "././@LongLink", type: "L" }, content.length),
    content,
    padding,
  ]);
}

function header({ path, type = "0", link = "", size }: TarEntry, length: number): Buffer {
  const block = Buffer.alloc(512);
  Buffer.from(path).copy(block, 0, 0, 100);
  block.write("0000644\0" + "0000000\0".repeat(2), 100);
  block.write(`${(size ?? length).toString(8).padStart(11, "0")}\0`, 124);
  block.write("00000000000\0", 136);
  block.write(" ".repeat(8), 148);
  block.write(type, 156);
  block.write(link, 157);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return block;
}
