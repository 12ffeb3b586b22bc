import { useMutation } from "@tanstack/react-query";
import { Link } from "wouter";
import { closeDrafts } from "../api/open-drafts.ts";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { useText } from "../text/language.tsx";
import { saveProblems } from "../text/transcript-saving.ts";
import { signOutText } from "../text/sign-out.ts";
import type { Unsaved } from "./find-unsaved.ts";
import { dropLeftDrafts, keepLeftDrafts } from "../transcript/edit/saving/left-drafts.ts";

/** Asks what becomes of the work that a user has not saved, before the user signs out. */
export function SignOutDialog({
  owner,
  unsaved: { drafts, recordings, uploads },
  isPending,
  onClose,
  onLeave,
}: {
  /** The user (identityOf). */
  readonly owner: string;
  readonly unsaved: Unsaved;
  readonly isPending: boolean;
  readonly onClose: () => void;
  /** Signs out. */
  readonly onLeave: () => void;
}) {
  const t = useText();
  const leave = useMutation({
    mutationFn: async (isKept: boolean) => {
      if (isKept) await keepLeftDrafts(owner);
      closeDrafts();
      if (!isKept) await dropLeftDrafts(owner, drafts);
    },
    onSuccess: onLeave,
  });
  const isBusy = isPending || leave.isPending;
  const hasDrafts = drafts.length > 0;
  return (
    <DialogBox
      title={t(hasDrafts ? signOutText.title : signOutText.worksTitle)}
      isOpen
      onClose={onClose}
      isLocked={isBusy}
    >
      {recordings + uploads > 0 && <p>{t(signOutText.works)(recordings, uploads)}</p>}
      {hasDrafts && <p>{t(signOutText.question)(drafts.length)}</p>}
      <ul>
        {recordings > 0 && (
          <li>
            <Link to="/live" onClick={onClose}>
              {t(signOutText.toRecording)}
            </Link>
          </li>
        )}
        {uploads > 0 && (
          <li>
            <Link to="/jobs" onClick={onClose}>
              {t(signOutText.toUploads)}
            </Link>
          </li>
        )}
        {drafts.map((name, at) => (
          <li key={name}>
            <Link to={`/${name}`} onClick={onClose}>
              {t(signOutText.open)(at + 1)}
            </Link>
          </li>
        ))}
      </ul>
      {hasDrafts && <p>{t(signOutText.choice)}</p>}
      {leave.error && <ProblemNote error={leave.error} own={saveProblems} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(signOutText.stay)}</Button>
        <Button look="danger" isDisabled={isBusy} onPress={() => leave.mutate(false)}>
          {t(hasDrafts ? signOutText.discard : signOutText.leave)}
        </Button>
        {hasDrafts && (
          <Button look="primary" isPending={isBusy} onPress={() => leave.mutate(true)}>
            {t(signOutText.keep)}
          </Button>
        )}
      </div>
    </DialogBox>
  );
}
