import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ModelFileError, readModelLines } from "../../models/check-model-files.ts";
import type { ModelFile } from "../../models/model-card.ts";

/**
 * Characters for private use that stand for the bytes from 0x80 to 0xFF of a token that is not
 * UTF-8 by itself.
 */
const byteBase = 0xe000;
const anyByte = /[\ue080-\ue0ff]/u;

/** A tokens file that exists until it is disposed of. */
export interface TokensFile extends AsyncDisposable {
  readonly path: string;
}

/**
 * Writes a copy of a tokens file of base64, as Whisper has it, in which bytes that are a part of a
 * letter are characters for private use. The library removes everything from a token that is not
 * UTF-8 by itself, so a letter that is divided between two tokens would be lost: in Icelandic Þ, Í,
 * Ú, Ý and Æ at the beginning of a word. Throws ModelFileError, which names the first invalid line.
 */
export async function keepDividedLetters(folder: string, { path }: ModelFile): Promise<TokensFile> {
  const lines = await readModelLines(folder, path);
  const kept = lines.map((line, at) => {
    // The last line of the tokenizer for several languages is an empty token.
    const [, base64 = "", number] = /^([A-Za-z0-9+/]*=*) (\d{1,9})$/.exec(line) ?? [];
    if (number !== undefined) return `${keptToken(base64)} ${number}\n`;
    throw new ModelFileError(path, `line ${at + 1} is not a token in base64 and a number`);
  });
  const own = await mkdtemp(join(tmpdir(), "hlust-tokens-"));
  const copy = join(own, "tokens.txt");
  const remove = () => rm(own, { recursive: true, force: true });
  try {
    await writeFile(copy, kept.join(""));
  } catch (error) {
    await remove();
    throw error;
  }
  return { path: copy, [Symbol.asyncDispose]: remove };
}

function keptToken(base64: string): string {
  const bytes = Buffer.from(base64, "base64");
  if (bytes.toString("utf8") === bytes.toString("latin1") || isText(bytes)) return base64;
  const characters = Array.from(bytes, (byte) => (byte < 0x80 ? byte : byteBase + byte));
  return Buffer.from(String.fromCodePoint(...characters)).toString("base64");
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns texts that follow each other with the letters that are divided between them. A letter is
 * in the text that has its last byte. Bytes that are not a letter are removed.
 */
export function joinDividedLetters(texts: readonly string[]): readonly string[] {
  if (!texts.some((text) => anyByte.test(text))) return texts;
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return texts.map((text, at) => {
    const isLast = at === texts.length - 1;
    return decoder.decode(bytesOf(text), { stream: !isLast }).replaceAll("\ufffd", "");
  });
}

function bytesOf(text: string): Buffer {
  const parts = Array.from(text, (character) =>
    anyByte.test(character)
      ? Buffer.of((character.codePointAt(0) ?? 0) - byteBase)
      : Buffer.from(character),
  );
  return Buffer.concat(parts);
}
