import type { SpeakerInfoJson } from "../../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";

/** Speakers by their key in the metadata. */
type Speakers = Readonly<Record<string, SpeakerInfoJson>>;

/** Returns the speakers by key: mine if I have changed one, and theirs otherwise. */
export function mergedSpeakers({
  base,
  mine,
  theirs,
}: Readonly<Record<"base" | "mine" | "theirs", Speakers>>): Speakers {
  if (mine === base) return theirs;
  const at = (speakers: Speakers, key: string) =>
    Object.hasOwn(speakers, key) ? speakers[key] : undefined;
  const keys = new Set([...Object.keys(theirs), ...Object.keys(mine)]);
  const merged = [...keys].flatMap((key) => {
    const isMine = JSON.stringify(at(mine, key)) !== JSON.stringify(at(base, key));
    const speaker = at(isMine ? mine : theirs, key);
    return speaker ? [[key, speaker] as const] : [];
  });
  return Object.fromEntries(merged);
}
