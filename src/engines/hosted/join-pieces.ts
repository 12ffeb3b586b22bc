import type { ServerWord } from "./hosted-server.ts";

/**
 * Returns the words of pieces of text. whisper.cpp sends tokens, of which several make up a word:
 * each begins with a space if it begins a word, as the words of faster-whisper do. Without spaces
 * every piece is a word. The confidence of a word is the mean of its pieces, as in Whisper itself.
 */
export function joinPieces(pieces: readonly ServerWord[]): readonly ServerWord[] {
  if (!pieces.some(({ text }) => /^\s/u.test(text))) return pieces;
  const words: ServerWord[][] = [];
  for (const piece of pieces) {
    const last = words.at(-1);
    if (last && !/^\s/u.test(piece.text)) last.push(piece);
    else words.push([piece]);
  }
  return words.map(joinWord);
}

function joinWord(pieces: readonly ServerWord[]): ServerWord {
  const [first] = pieces;
  const last = pieces.at(-1);
  const known = pieces.flatMap(({ confidence }) => confidence ?? []);
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length;
  return {
    text: pieces.map(({ text }) => text).join(""),
    startMs: first?.startMs ?? NaN,
    endMs: last?.endMs ?? NaN,
    confidence: known.length === pieces.length ? mean : undefined,
  };
}
