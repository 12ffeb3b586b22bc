import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import type { BinnedTranscriptJson } from "../../gen/hlust/transcripts/v1alpha1/bin_pb.ts";
import { useSession } from "../api/use-session.ts";
import { useNotify } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { Empty } from "../parts/empty.tsx";
import { PageHead } from "../parts/page-head.tsx";
import { ProblemNote } from "../parts/problem-note.tsx";
import { asideDialogText } from "../text/aside-dialogs.ts";
import { binText } from "../text/bin.ts";
import { commonText } from "../text/common.ts";
import { shortDate } from "../text/dates.ts";
import { languageName } from "../text/language-names.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { clockText, secondsOf } from "../text/numbers.ts";
import { useNow } from "../text/use-now.ts";
import { deleteFromBin, listBin, restoreFromBin } from "./bin-calls.ts";
import "../parts/rows.css";

/** The deleted transcripts of the account that can still be restored. */
export function BinPage() {
  const { account } = useSession();
  return <Bin key={account.name} />;
}

function Bin() {
  const t = useText();
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    {
      queryKey: ["bin", "list"],
      queryFn: async ({ pageParam, signal }) => listBin(pageParam, 100, signal),
      initialPageParam: "",
      getNextPageParam: ({ nextPageToken = "" }) =>
        nextPageToken === "" ? undefined : nextPageToken,
    },
  );
  const rows = data?.pages.flatMap(({ binnedTranscripts = [] }) => binnedTranscripts) ?? [];
  const days = data?.pages[0]?.binDays ?? 0;
  return (
    <>
      <PageHead
        title={t(binText.bin)}
        sub={data ? (days > 0 ? t(binText.sub)(days) : t(binText.noBin)) : "\u00a0"}
      >
        <Link to="/transcripts" className="button">
          {t(commonText.transcripts)}
        </Link>
      </PageHead>
      {error && <ProblemNote error={error} onRetry={() => void refetch()} />}
      {!data && !error && <p className="quiet">{t(commonText.loading)}</p>}
      {data && rows.length === 0 && (
        <Empty title={t(binText.none)}>
          <p>{t(binText.noneNext)}</p>
        </Empty>
      )}
      {rows.length > 0 && (
        <ul className="rows" aria-label={t(binText.bin)}>
          {rows.map((row) => (
            <BinnedRow key={row.name} row={row} />
          ))}
        </ul>
      )}
      {hasNextPage && (
        <Button isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
          {t(binText.more)}
        </Button>
      )}
    </>
  );
}

function BinnedRow({ row }: { readonly row: BinnedTranscriptJson }) {
  const t = useText();
  const { language } = useLanguage();
  const { scopes } = useSession();
  const now = useNow();
  const { name = "", languageCode = "", recordingDuration, authorName = "" } = row;
  const subject = row.subject?.trim() || t(binText.untitled);
  const dateOf = (time = "") => shortDate(language, new Date(time), now);
  return (
    <li className="row">
      <h2 className="title" dir="auto" lang={languageCode || undefined}>
        {subject}
      </h2>
      <div className="meta">
        <span>{t(languageName(languageCode))}</span>
        {recordingDuration && (
          <span className="figures">{clockText(secondsOf(recordingDuration))}</span>
        )}
        <span>{t(binText.deletedBy)(dateOf(row.binTime), authorName)}</span>
        <span>{t(binText.until)(dateOf(row.deleteTime))}</span>
      </div>
      {scopes.includes("transcripts.write") && (
        <div className="side">
          <BinnedActions name={name} subject={subject} />
        </div>
      )}
    </li>
  );
}

function BinnedActions({ name, subject }: { readonly name: string; readonly subject: string }) {
  const t = useText();
  const notify = useNotify();
  const queries = useQueryClient();
  const [isAsking, setIsAsking] = useState(false);
  const done = (message: string) => {
    notify(message);
    void queries.invalidateQueries({ queryKey: ["bin"] });
    void queries.invalidateQueries({ queryKey: ["transcripts"] });
  };
  const restore = useMutation({
    mutationFn: async () => restoreFromBin([name]),
    onSuccess: ({ names = [] }) =>
      done(t(names.length > 0 ? asideDialogText.takenFromBin : asideDialogText.notInBin)(subject)),
  });
  const remove = useMutation({
    mutationFn: async () => deleteFromBin([name]),
    onSuccess: () => done(t(binText.deleted)(subject)),
  });
  return (
    <>
      <Button
        look="quiet"
        aria-label={t(binText.restoreLabel)(subject)}
        isPending={restore.isPending}
        onPress={() => restore.mutate()}
      >
        {t(binText.restore)}
      </Button>{" "}
      <Button
        look="quiet"
        aria-label={t(binText.deleteNowLabel)(subject)}
        onPress={() => setIsAsking(true)}
      >
        {t(binText.deleteNow)}
      </Button>
      {restore.error && <ProblemNote error={restore.error} />}
      <DialogBox
        title={t(asideDialogText.removeTitle)(subject)}
        isOpen={isAsking}
        isDismissable
        isLocked={remove.isPending}
        onClose={() => setIsAsking(false)}
      >
        <p>{t(binText.question)}</p>
        {remove.error && <ProblemNote error={remove.error} />}
        <div className="dialog-actions">
          <Button onPress={() => setIsAsking(false)}>{t(commonText.cancel)}</Button>
          <Button look="danger" isPending={remove.isPending} onPress={() => remove.mutate()}>
            {t(binText.deleteNow)}
          </Button>
        </div>
      </DialogBox>
    </>
  );
}
