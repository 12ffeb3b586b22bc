/** The finals of one stream, in order. */
export interface StreamFinals {
  /** Streams of one recording must get the same finals. */
  readonly recording: string;
  readonly texts: readonly string[];
}

export interface FinalsComparison {
  readonly finals: number;
  /** The number of finals that streams lack, compared with the other streams of their recording. */
  readonly lost: number;
  /** The number of streams whose finals differ from those of most streams of their recording. */
  readonly differingStreams: number;
}

/**
 * Compares the streams of each recording with the most frequent list of finals. Empty lists are
 * ignored, unless all lists are empty.
 */
export function compareFinals(streams: readonly StreamFinals[]): FinalsComparison {
  let [lost, differingStreams] = [0, 0];
  for (const group of Map.groupBy(streams, ({ recording }) => recording).values()) {
    const byText = Map.groupBy(group, ({ texts }) => JSON.stringify(texts));
    const [first] = [...byText.values()].toSorted(
      (one, other) =>
        Math.sign(lengthOf(other)) - Math.sign(lengthOf(one)) ||
        other.length - one.length ||
        lengthOf(other) - lengthOf(one),
    );
    const expected = first?.[0]?.texts.length ?? 0;
    for (const { texts } of group) lost += Math.max(0, expected - texts.length);
    differingStreams += group.length - (first?.length ?? 0);
  }
  const finals = streams.reduce((sum, { texts }) => sum + texts.length, 0);
  return { finals, lost, differingStreams };
}

function lengthOf(streams: readonly StreamFinals[]): number {
  return streams[0]?.texts.length ?? 0;
}
