import { type ReactNode, useLayoutEffect } from "react";
import { ProblemNote } from "../parts/problem-note.tsx";
import { Button } from "../parts/button.tsx";
import { useLanguage, useText, type Phrase } from "../text/language.tsx";
import { connectionText, liveText, microphoneText } from "../text/live.ts";
import { spanText } from "../text/numbers.ts";
import type { Problem } from "../text/problems.ts";
import type { LiveSession } from "./live-session.ts";
import type { LiveState } from "./live-state.ts";
import "../parts/note.css";

/** All problems that prevent words from appearing, and what to do about each problem. */
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
      {state.isUnstored && <p className="note problem">{t(liveText.unstored)}</p>}
      {savedName !== undefined && (
        <Note sentence={liveText.wordsSaved} next={liveText.wordsSavedNext} />
      )}
      <ConnectionNote state={state} session={session} />
    </>
  );
}

function ConnectionNote({
  state: { connection, unsentSeconds },
  session,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
}) {
  const t = useText();
  const { language } = useLanguage();
  const hasFailed = connection.kind === "waiting" || connection.kind === "failed";
  useOfflineMark(hasFailed && connection.error.reason === "OFFLINE");
  if (connection.kind !== "waiting" && connection.kind !== "failed") return null;
  const { error } = connection;
  const retry = () => session.retry();
  const text = problemsByReason.get(error.reason);
  if (!text) return <ProblemNote error={error} onRetry={retry} />;
  return (
    <Note {...text} action={{ text: t(liveText.tryNow), onPress: retry }}>
      {unsentSeconds > 0 && t(liveText.unsent)(spanText(language, unsentSeconds))}
    </Note>
  );
}

/** Hides the banner of every page about a lost connection, which says less. */
function useOfflineMark(isSet: boolean): void {
  useLayoutEffect(() => {
    if (!isSet) return undefined;
    const { dataset } = document.documentElement;
    dataset["liveOffline"] = "";
    return () => {
      delete dataset["liveOffline"];
    };
  }, [isSet]);
}

const problemsByReason = new Map<string, Problem>([
  ["OFFLINE", connectionText.offline],
  ["STREAMS_FULL", connectionText.full],
  ["TOO_MANY_STREAMS", connectionText.full],
  ["AUDIO_LIMIT", connectionText.audioLimit],
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
