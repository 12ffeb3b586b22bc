import { useQuery, useQueryClient } from "@tanstack/react-query";
import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { useHeardLanguages } from "../api/heard-languages.ts";
import { identityOf, isSignedIn, sessionQuery, whoIsIn } from "../api/session.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { commonText } from "../text/common.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import { LevelMeter } from "./level-meter.tsx";
import { LiveControls } from "./live-controls.tsx";
import { LiveNotes } from "./live-notes.tsx";
import { type LiveSession, liveSessionOf } from "./live-session.ts";
import { LiveSettings } from "./live-settings.tsx";
import { hasUnsaved } from "./live-state.ts";
import { LiveText } from "./live-text.tsx";
import { StreamSample } from "./stream-sample.tsx";
import { useLeaveGuard } from "./use-leave-guard.ts";
import "./live-page.css";

const SaveDialog = lazy(() =>
  import("./save-dialog.tsx").then(({ SaveDialog }) => ({ default: SaveDialog })),
);
const DiscardDialog = lazy(() =>
  import("./discard-dialog.tsx").then(({ DiscardDialog }) => ({ default: DiscardDialog })),
);

/** Speak, and the words appear. */
export function LivePage() {
  const t = useText();
  const queries = useQueryClient();
  const { data } = useQuery(sessionQuery);
  const caller = data && isSignedIn(data) ? data : undefined;
  if (!caller) return null;
  const owner = identityOf(caller);
  return (
    <>
      <PageHead title={t(commonText.live)} sub={t(liveText.sub)} />
      {caller.scopes.includes("speech") ? (
        <Speaking session={liveSessionOf(owner, () => whoIsIn(queries) === owner)} />
      ) : (
        <Empty title={t(liveText.notAllowed)}>
          <p>{t(liveText.notAllowedNext)}</p>
        </Empty>
      )}
    </>
  );
}

/** What stands over the page. */
type Question = "save" | "startOver" | { readonly leaveBy: () => void };

function Speaking({ session }: { readonly session: LiveSession }) {
  const t = useText();
  const { language } = useLanguage();
  const heard = useHeardLanguages("LIVE");
  const guess = heard.find((code) => code.startsWith(language)) ?? heard[0] ?? "is-IS";
  const announce = useAnnounce();
  const [, navigate] = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.state);
  const [question, setQuestion] = useState<Question>();
  useEffect(() => session.speak(guess, "guess"), [session, guess]);
  useEffect(() => {
    // Who was signed out and is back: what was still to be heard goes on.
    session.retry();
    // The microphone is never on without its page.
    return () => void session.stop();
  }, [session]);
  useLeaveGuard(
    () => hasUnsaved(session.state()),
    (leaveBy) => setQuestion({ leaveBy }),
  );
  useStopKey(session, question === undefined);
  const close = () => setQuestion(undefined);
  const save = () => {
    void session.stop();
    setQuestion("save");
  };
  return (
    <div className="live">
      <LiveText state={state} onShown={session.wasShown} />
      <div className="live-bar">
        <LiveNotes state={state} session={session} />
        <LevelMeter onLevel={session.onLevel} isOn={state.phase === "listening"} />
        <LiveControls state={state} session={session} onSave={save} />
      </div>
      <LiveSettings
        state={state}
        session={session}
        languages={heard}
        onStartOver={() => setQuestion("startOver")}
      />
      <StreamSample languageCode={state.languageCode} />
      <Suspense>
        {question === "save" && (
          <SaveDialog
            state={state}
            session={session}
            onClose={close}
            onSaved={(name) => {
              session.discard();
              announce(t(liveText.saved));
              navigate(`/${name}`);
            }}
          />
        )}
        {question !== undefined && question !== "save" && (
          <DiscardDialog
            isLeaving={question !== "startOver"}
            onSave={save}
            onClose={close}
            onDiscard={() => {
              session.discard();
              close();
              if (question !== "startOver") question.leaveBy();
            }}
          />
        )}
      </Suspense>
    </div>
  );
}

/** Escape stops from anywhere on the page. */
function useStopKey(session: LiveSession, isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === "Escape" && !event.defaultPrevented) void session.stop();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [session, isOn]);
}
