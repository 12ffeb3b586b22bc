/** The companding laws of ITU-T G.711. */
export type G711Law = "mulaw" | "alaw";

/** Decodes bytes of G.711 to 16-bit samples, one for each byte. */
export function decodeG711(bytes: Uint8Array, law: G711Law): Int16Array<ArrayBuffer> {
  const table = tables[law];
  const samples = new Int16Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) samples[at] = table[bytes[at] ?? 0] ?? 0;
  return samples;
}

/**
 * Expands a byte of the µ-law: its bits are inverted, then sign, three bits of segment, four bits
 * of step. The 14-bit value is scaled to 16 bits.
 */
function mulawSample(byte: number): number {
  const bits = ~byte & 0xff;
  const magnitude = ((((bits & 0x0f) << 3) + 0x84) << ((bits & 0x70) >> 4)) - 0x84;
  return (bits & 0x80) === 0 ? magnitude : -magnitude;
}

/**
 * Expands a byte of the A-law: its even bits are inverted, then sign, three bits of segment, four
 * bits of step. The 13-bit value is scaled to 16 bits.
 */
function alawSample(byte: number): number {
  const bits = byte ^ 0x55;
  const segment = (bits & 0x70) >> 4;
  const step = ((bits & 0x0f) << 4) + 8;
  const magnitude = segment === 0 ? step : (step + 0x100) << (segment - 1);
  return (bits & 0x80) === 0 ? -magnitude : magnitude;
}

const tables: Readonly<Record<G711Law, Int16Array>> = {
  mulaw: Int16Array.from({ length: 256 }, (_, byte) => mulawSample(byte)),
  alaw: Int16Array.from({ length: 256 }, (_, byte) => alawSample(byte)),
};
