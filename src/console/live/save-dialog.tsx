import { useEffect, useRef, useState, type FormEvent } from "react";
import { metadataLimits } from "../api/metadata-limits.ts";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { ProgressLine } from "../parts/progress-line.tsx";
import { TextInput } from "../parts/text-input.tsx";
import { commonText } from "../text/common.ts";
import { clockTime, longDate } from "../text/dates.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { liveText } from "../text/live.ts";
import { bytesText, spanText } from "../text/numbers.ts";
import { Pause } from "../upload/pause.ts";
import type { Transfer } from "../upload/upload-file.ts";
import type { LiveSession } from "./live-session.ts";
import type { LiveState } from "./live-state.ts";
import "./save-dialog.css";

/**
 * A dialog that saves the text and the audio. After a failure, nothing is lost and the user can try
 * again.
 */
export function SaveDialog({
  state,
  session,
  onClose,
  onSaved,
}: {
  readonly state: LiveState;
  readonly session: LiveSession;
  readonly onClose: () => void;
  readonly onSaved: (name: string) => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const [subject, setSubject] = useState(() => {
    const now = new Date();
    return t(liveText.subjectDefault)(longDate(language, now), clockTime(now));
  });
  const saving = useSaving(session, onSaved);
  const { connection, phase, seconds, bytes, unsentSeconds, savedName } = state;
  const isFinishing = phase !== "stopped" || connection.kind === "open";
  const isDisconnected = connection.kind === "waiting" || connection.kind === "failed";
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    void saving.start(subject.trim());
  };
  return (
    <DialogBox title={t(liveText.saveAs)} isOpen onClose={onClose}>
      <form className="live-save" onSubmit={submit}>
        <TextInput
          label={t(liveText.subject)}
          value={subject}
          onChange={setSubject}
          maxLength={metadataLimits.subjectChars}
          isDisabled={saving.isOn || savedName !== undefined}
        />
        <p className="hint">
          {t(liveText.saveMeaning)(spanText(language, seconds), bytesText(language, bytes))}
        </p>
        {isFinishing && !saving.isOn && <p className="hint">{t(liveText.finishing)}</p>}
        {isDisconnected && (
          <p className="note">
            {t(liveText.saveUnfinished)(spanText(language, Math.max(1, unsentSeconds)))}
          </p>
        )}
        {saving.isOn && <SavingProgress transfer={saving.transfer} onRetry={saving.retry} />}
        {saving.error !== undefined && <ProblemNote error={saving.error} />}
        <div className="dialog-actions">
          {saving.error !== undefined && savedName !== undefined && (
            <Button look="quiet" onPress={() => onSaved(savedName)}>
              {t(liveText.openWithoutSound)}
            </Button>
          )}
          <Button onPress={onClose}>{t(commonText.cancel)}</Button>
          <Button type="submit" look="primary" isPending={saving.isOn} isDisabled={isFinishing}>
            {t(saving.error === undefined ? commonText.save : commonText.tryAgain)}
          </Button>
        </div>
      </form>
    </DialogBox>
  );
}

function SavingProgress({
  transfer,
  onRetry,
}: {
  readonly transfer: (Transfer & { readonly bytes: number }) | undefined;
  readonly onRetry: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  if (transfer?.waitsFor) return <ProblemNote error={transfer.waitsFor} onRetry={onRetry} />;
  const { sentBytes = 0, bytes = 0 } = transfer ?? {};
  const isSent = bytes > 0 && sentBytes >= bytes;
  const amounts = [bytesText(language, sentBytes), bytesText(language, bytes)] as const;
  const audioText = isSent ? t(liveText.savingLast) : t(liveText.savingSound)(...amounts);
  const text = transfer ? audioText : t(liveText.savingWords);
  return (
    <div className="live-saving">
      <ProgressLine
        label={text}
        percent={transfer && !isSent ? (100 * sentBytes) / bytes : undefined}
      />
      <p className="hint">{text}</p>
    </div>
  );
}

/** Saves once, or repeatedly after failures. Closing the dialog cancels. */
function useSaving(session: LiveSession, onSaved: (name: string) => void) {
  const [isOn, setIsOn] = useState(false);
  const [error, setError] = useState<unknown>();
  const [transfer, setTransfer] = useState<Transfer & { readonly bytes: number }>();
  const pause = useRef(new Pause());
  const closed = useRef(new AbortController());
  useEffect(() => {
    const controller = new AbortController();
    closed.current = controller;
    return () => controller.abort();
  }, []);
  const start = async (subject: string): Promise<void> => {
    const { signal } = closed.current;
    setIsOn(true);
    setError(undefined);
    setTransfer(undefined);
    try {
      const onUpload = (transfer: Transfer, bytes: number): void =>
        setTransfer({ ...transfer, bytes });
      onSaved(await session.save(subject, { signal, pause: pause.current, onUpload }));
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      setIsOn(false);
    }
  };
  return { isOn, error, transfer, start, retry: () => pause.current.end() };
}
