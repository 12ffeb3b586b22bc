import type { TranscriptJson } from "../../../gen/hlust/transcripts/v1alpha1/transcripts_pb.ts";
import { useSession } from "../../api/use-session.ts";
import { loadLater } from "../../parts/load-later.tsx";
import { Details } from "./details.tsx";
import { Downloads } from "./downloads.tsx";
import { Shares } from "./shares.tsx";
import { Speakers } from "./speakers.tsx";
import { useVersionAddress } from "./version-address.ts";
import { Versions } from "./versions.tsx";

const AddMedia = loadLater(() => import("./add-media.tsx").then(({ AddMedia }) => AddMedia));

/**
 * The aside of a transcript: speakers, versions, downloads, links and details. `name` is
 * `transcripts/<transcript_id>`. Only the newest version can be edited, and only by users with
 * write access.
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
  const hasWords = transcript.segments?.some(({ words = [] }) => words.length > 0) === true;
  const hasMedia = (transcript.uri ?? "") !== "";
  const canTranscribe = canChange && hasMedia;
  const canAlign = canTranscribe && hasWords;
  return (
    <>
      {canChange && !hasMedia && <AddMedia name={name} />}
      <Speakers transcript={transcript} name={name} canChange={canChange} />
      <Versions
        transcript={transcript}
        name={name}
        canRestore={mayWrite}
        canAlign={canAlign}
        canTranscribe={canTranscribe}
      />
      <Downloads transcript={transcript} name={name} />
      {mayWrite && <Shares transcript={transcript} name={name} version={version} />}
      <Details transcript={transcript} name={name} canChange={canChange} />
    </>
  );
}
