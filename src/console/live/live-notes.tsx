import type { ReactNode } from "react";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Button } from "../parts/button.tsx";
import { useLanguage, useText, type Phrase } from "../text/language.tsx";
import { linkText, liveText, microphoneText } from "../text/live.ts";
import { spanText } from "../text/numbers.ts";
import type { Problem } from "../text/problems.ts";
import type { LiveSession } from "./live-session.ts";
import type { LiveState } from "./live-state.ts";
import "../parts/note.css";

/**
 * Everything that stands between somebody who speaks and the words, in their sight, and what to do
 * about it.
 */
export function LiveNotes({
  state,
  session,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
}) {
  const t = useText();
  const { problem, pause, isSilent, phase, savedName } = state;
  const isListening = phase === "listening";
  return (
    <>
      {problem && <Note {...microphoneText[problem]} />}
      {isListening && pause && (
        <Note
          {...microphoneText[pause]}
          {...(pause === "suspended" && {
            action: { text: t(liveText.resume), onPress: () => void session.resume() },
          })}
        />
      )}
      {isListening && !pause && isSilent && <p className="note">{t(liveText.silent)}</p>}
      {savedName !== undefined && (
        <Note sentence={liveText.wordsSaved} next={liveText.wordsSavedNext} />
      )}
      <LinkNote state={state} session={session} />
    </>
  );
}

function LinkNote({
  state: { link, unsentSeconds },
  session,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
}) {
  const t = useText();
  const { language } = useLanguage();
  if (link.kind !== "waiting" && link.kind !== "failed") return null;
  const { reason } = link.error;
  const retry = () => session.retry();
  const text = linkTexts.get(reason);
  if (!text) return <ProblemNote error={link.error} onRetry={retry} />;
  return (
    <Note {...text} action={{ text: t(liveText.tryNow), onPress: retry }}>
      {unsentSeconds > 0 && t(liveText.unsent)(spanText(language, unsentSeconds))}
    </Note>
  );
}

const linkTexts = new Map<string, Problem>([
  ["OFFLINE", linkText.offline],
  ["STREAMS_FULL", linkText.full],
  ["TOO_MANY_STREAMS", linkText.full],
  ["AUDIO_LIMIT", linkText.audioLimit],
]);

function Note({
  sentence,
  next,
  action,
  children,
}: {
  readonly sentence: Phrase<string>;
  readonly next: Phrase<string>;
  readonly action?: { readonly text: string; readonly onPress: () => void };
  readonly children?: ReactNode;
}) {
  const t = useText();
  return (
    <div className="note problem">
      <p>
        <span role="alert">
          <strong>{t(sentence)}</strong> {t(next)}
        </span>{" "}
        {children}
      </p>
      {action && <Button onPress={action.onPress}>{action.text}</Button>}
    </div>
  );
}
