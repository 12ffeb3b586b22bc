import fc from "fast-check";

/** A text with up to `editsMax` edits: a piece put in, taken out or put in place of another. About a third stay as they are. */
export function mutated(
  text: fc.Arbitrary<string>,
  pieces: readonly string[],
  editsMax = 3,
): fc.Arbitrary<string> {
  const edit = fc.tuple(fc.nat(), fc.constantFrom(...pieces), fc.nat(2), fc.nat(3));
  const edits = fc.oneof(
    { weight: 1, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(edit, { minLength: 1, maxLength: editsMax }) },
  );
  return fc.tuple(text, edits).map(([text, edits]) => {
    let result = text;
    for (const [place, piece, kind, length] of edits) {
      const at = place % (result.length + 1);
      const put = kind === 1 ? "" : piece;
      result = result.slice(0, at) + put + result.slice(at + (kind === 0 ? 0 : length));
    }
    return result;
  });
}
