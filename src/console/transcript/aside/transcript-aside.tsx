import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useSession } from "../../api/use-session.ts";
import { Details } from "./details.tsx";
import { Downloads } from "./downloads.tsx";
import { Speakers } from "./speakers.tsx";
import { useVersionAddress } from "./version-address.ts";
import { Versions } from "./versions.tsx";

/**
 * What stands beside the text of a transcript: who speaks, versions, downloads, what it is about.
 * `name`: `transcripts/<transcript_id>`. An earlier version is shown as it was, and offers no
 * changes; nor does the newest to those who may only read.
 */
export function TranscriptAside({
  transcript,
  name,
}: {
  readonly transcript: TranscriptJson;
  readonly name: string;
}) {
  const [{ version }] = useVersionAddress();
  const mayWrite = useSession().scopes.includes("transcripts.write");
  const canChange = mayWrite && version === undefined;
  return (
    <>
      <Speakers transcript={transcript} name={name} canChange={canChange} />
      <Versions transcript={transcript} name={name} canRestore={mayWrite} />
      <Downloads transcript={transcript} name={name} />
      <Details transcript={transcript} name={name} canChange={canChange} />
    </>
  );
}
