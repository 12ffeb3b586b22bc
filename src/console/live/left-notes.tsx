import { useMutation } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { Button } from "../parts/button.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { clockTime, longDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import { spanText } from "../text/numbers.ts";
import { type LeftRecording, useLeftRecordings } from "./left-recordings.ts";
import type { LiveSession } from "./live-session.ts";
import "../parts/note.css";

const DiscardDialog = lazy(() =>
  import("./discard-dialog.tsx").then(({ DiscardDialog }) => ({ default: DiscardDialog })),
);

/** Offers the recordings that were not saved before a page was reloaded or crashed. */
export function LeftNotes({
  owner,
  session,
}: {
  readonly owner: string;
  readonly session: LiveSession;
}) {
  const left = useLeftRecordings(owner);
  return left.map((one) => <LeftNote key={one.recording.id} left={one} session={session} />);
}

function LeftNote({
  left,
  session,
}: {
  readonly left: LeftRecording;
  readonly session: LiveSession;
}) {
  const t = useText();
  const { language } = useLanguage();
  const [isAsked, setIsAsked] = useState(false);
  const open = useMutation({ mutationFn: () => session.restore(left) });
  const { startedAtMs, length, rate } = left.recording;
  const started = new Date(startedAtMs);
  return (
    <div className="note">
      <p>
        {t(liveText.left)(
          longDate(language, started),
          clockTime(started),
          spanText(language, Math.max(1, Math.round(length / rate))),
        )}
      </p>
      <Button look="primary" isPending={open.isPending} onPress={() => open.mutate()}>
        {t(liveText.openLeft)}
      </Button>
      <Button look="quiet" onPress={() => setIsAsked(true)}>
        {t(liveText.discardLeft)}
      </Button>
      {open.error && <ProblemNote error={open.error} />}
      {isAsked && (
        <Suspense>
          <DiscardDialog
            isLeaving={false}
            onSave={() => open.mutate()}
            onClose={() => setIsAsked(false)}
            onDiscard={left.discard}
          />
        </Suspense>
      )}
    </div>
  );
}
