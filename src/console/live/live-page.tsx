import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState, useSyncExternalStore } from "react";
import { useLocation } from "wouter";
import { useInstalledLanguages } from "../api/installed-languages.ts";
import { currentIdentity, identityOf, isSignedIn, sessionQuery } from "../api/session.ts";
import { useRecordingDefaults } from "../api/recording-defaults.ts";
import { spokenLanguage } from "../api/spoken-language.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { loadLater } from "../parts/load-later.tsx";
import { usePageUsed } from "../parts/use-page-used.ts";
import { commonText } from "../text/common.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import { LeftNotes } from "./left-notes.tsx";
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

const SaveDialog = loadLater(() =>
  import("./save-dialog.tsx").then(({ SaveDialog }) => SaveDialog),
);
const DiscardDialog = loadLater(() =>
  import("./discard-dialog.tsx").then(({ DiscardDialog }) => DiscardDialog),
);

/** The live page: words appear while the user speaks. */
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
        <Speaking
          owner={owner}
          session={liveSessionOf(owner, () => currentIdentity(queries) === owner)}
        />
      ) : (
        <Empty title={t(liveText.notAllowed)}>
          <p>{t(liveText.notAllowedNext)}</p>
        </Empty>
      )}
    </>
  );
}

/** The dialog that is open. */
type OpenDialog = "save" | "startOver" | { readonly leaveBy: () => void };

function Speaking({ owner, session }: { readonly owner: string; readonly session: LiveSession }) {
  const t = useText();
  const { language } = useLanguage();
  const languages = useInstalledLanguages("LIVE");
  const { languageCode: ofAccount } = useRecordingDefaults();
  const guess = spokenLanguage(languages, language, ofAccount);
  const notify = useNotify();
  const [, navigate] = useLocation();
  const state = useSyncExternalStore(session.subscribe, session.state);
  const [dialog, setDialog] = useState<OpenDialog>();
  useEffect(() => session.setLanguage(guess, "guess"), [session, guess]);
  const isUsed = usePageUsed();
  useEffect(() => {
    // Without a network, the recording loads it later.
    if (isUsed) void session.loadStreams().catch(() => {});
  }, [session, isUsed]);
  useEffect(() => {
    // Recognition resumes if the user has signed in again.
    session.retry();
    // The microphone is never on without its page.
    return () => void session.stop();
  }, [session]);
  useLeaveGuard(
    () => hasUnsaved(session.state()),
    (leaveBy) => setDialog({ leaveBy }),
  );
  useStopKey(session, dialog === undefined);
  const close = () => setDialog(undefined);
  const save = () => {
    void session.stop();
    setDialog("save");
  };
  return (
    <div className="live">
      {state.phase === "idle" && <LeftNotes owner={owner} session={session} />}
      <LiveText state={state} onShown={session.wasShown} />
      <div className="live-bar">
        <LiveNotes state={state} session={session} />
        <LevelMeter onLevel={session.onLevel} isOn={state.phase === "listening"} />
        <LiveControls state={state} session={session} onSave={save} />
      </div>
      <LiveSettings
        state={state}
        session={session}
        languages={languages}
        onStartOver={() => setDialog("startOver")}
      />
      <StreamSample languageCode={state.languageCode} />
      {dialog === "save" && (
        <SaveDialog
          state={state}
          session={session}
          onClose={close}
          onSaved={(name) => {
            session.discard();
            notify(t(liveText.saved));
            navigate(`/${name}`);
          }}
        />
      )}
      {dialog !== undefined && dialog !== "save" && (
        <DiscardDialog
          isLeaving={dialog !== "startOver"}
          onSave={save}
          onClose={close}
          onDiscard={() => {
            session.discard();
            close();
            if (dialog !== "startOver") dialog.leaveBy();
          }}
        />
      )}
    </div>
  );
}

/** Lets Escape stop the recording from anywhere on the page. */
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
