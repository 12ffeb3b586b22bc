import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { metadataLimits } from "../api/metadata-limits.ts";
import { useSession } from "../api/use-session.ts";
import { useAnnounce } from "../parts/announcer.tsx";
import { Button } from "../parts/button.tsx";
import { Choice } from "../parts/choice.tsx";
import { DialogBox } from "../parts/dialog-box.tsx";
import { focusTitleAfter } from "../parts/focus-title-after.ts";
import { ProblemNote } from "../parts/problem-note.tsx";
import { saveFile } from "../parts/save-file.ts";
import { TextInput } from "../parts/text-input.tsx";
import { commonText } from "../text/common.ts";
import { useLanguage, useText } from "../text/language.tsx";
import { numberText } from "../text/numbers.ts";
import { selectionText } from "../text/selection.ts";
import { transcriptsText } from "../text/transcripts.ts";
import { binDaysQuery } from "./bin-calls.ts";
import {
  addKeyword,
  binAll,
  type BulkResult,
  type BulkRun,
  restoreAll,
  transcribeAll,
} from "./bulk.ts";
import { newLists } from "./kept-lists.ts";
import { SelectAll } from "./select-all.tsx";
import type { Selected, Selection } from "./use-selection.ts";
import type { ZipFormat } from "./zip-transcripts.ts";
import "../parts/note.css";
import "./selection-bar.css";

type Kind = keyof typeof selectionText.done;

/** What the last action has done. */
interface Outcome extends BulkResult {
  readonly kind: Kind;
}

/** The number of failures that are named. */
const namedMax = 5;

/** The actions on the selected transcripts, their progress and what they have done. */
export function SelectionBar({
  selection,
  filter,
}: {
  readonly selection: Selection;
  readonly filter: string;
}) {
  const t = useText();
  const { scopes } = useSession();
  const { running, outcome, start, stop, close } = useBulk(selection);
  const [asking, setAsking] = useState<"remove" | "keyword" | "zip">();
  const rows = [...selection.selected.values()];
  if (rows.length === 0 && !running && !outcome) return null;
  const begin = (act: Act) => {
    setAsking(undefined);
    void start(rows, act);
  };
  const isIdle = !running && rows.length > 0;
  return (
    <section className="selection-bar" aria-label={t(selectionText.bar)}>
      <p>{t(selectionText.selected)(rows.length)}</p>
      <SelectAll {...{ selection, filter }} isDisabled={running !== undefined} />
      <Button look="quiet" isDisabled={!isIdle} onPress={() => selection.replace([])}>
        {t(selectionText.selectNone)}
      </Button>
      <Button isDisabled={!isIdle} onPress={() => setAsking("zip")}>
        {t(selectionText.zip)}
      </Button>
      {scopes.includes("transcripts.write") && (
        <>
          <Button isDisabled={!isIdle} onPress={() => setAsking("keyword")}>
            {t(selectionText.addKeyword)}
          </Button>
          <Button isDisabled={!isIdle} onPress={() => begin(again)}>
            {t(selectionText.again)}
          </Button>
          <Button isDisabled={!isIdle} onPress={() => setAsking("remove")}>
            {t(selectionText.remove)}
          </Button>
        </>
      )}
      {running && <Progress {...running} onStop={stop} />}
      {outcome && (
        <OutcomeNote
          outcome={outcome}
          onUndo={() => void start(outcome.done, restore)}
          onClose={close}
        />
      )}
      {asking === "remove" && (
        <RemoveDialog
          count={rows.length}
          onClose={() => setAsking(undefined)}
          onRemove={() => begin(remove)}
        />
      )}
      {asking === "zip" && (
        <ZipDialog onClose={() => setAsking(undefined)} onDownload={(as) => begin(zipping(as))} />
      )}
      {asking === "keyword" && (
        <KeywordDialog
          onClose={() => setAsking(undefined)}
          onAdd={(keyword) => begin(addingKeyword(keyword))}
        />
      )}
    </section>
  );
}

type Act = (rows: readonly Selected[], run: BulkRun) => Promise<Outcome>;

const again: Act = async (rows, run) => ({ ...(await transcribeAll(rows, run)), kind: "again" });

const restore: Act = async (rows, run) => ({ ...(await restoreAll(rows, run)), kind: "restored" });

const remove: Act = async (rows, run) => {
  const { isInBin, ...result } = await binAll(rows, run);
  return { ...result, kind: isInBin ? "binned" : "removed" };
};

const addingKeyword =
  (keyword: string): Act =>
  async (rows, run) => ({ ...(await addKeyword(rows, keyword, run)), kind: "keyword" });

const zipping =
  (format: ZipFormat): Act =>
  async (rows, run) => {
    const { zipTranscripts } = await import("./zip-transcripts.ts");
    const { zip, ...result } = await zipTranscripts(rows, format, run);
    if (zip) saveFile(zip, "hlust.zip");
    return { ...result, kind: "zip" };
  };

/** Runs an action at a time. What it has not done stays selected. */
function useBulk(selection: Selection) {
  const t = useText();
  const announce = useAnnounce();
  const queries = useQueryClient();
  const [running, setRunning] = useState<{ readonly tried: number; readonly all: number }>();
  const [outcome, setOutcome] = useState<Outcome>();
  const stopping = useRef<AbortController>(undefined);
  const start = async (rows: readonly Selected[], act: Act) => {
    const all = rows.length;
    const { signal } = (stopping.current = new AbortController());
    setOutcome(undefined);
    setRunning({ tried: 0, all });
    const result = await act(rows, { signal, onProgress: (tried) => setRunning({ tried, all }) });
    setRunning(undefined);
    setOutcome(result);
    selection.replace([...result.failed.map(({ row }) => row), ...result.left]);
    announce(t(selectionText.done[result.kind])(result.done.length));
    void queries.invalidateQueries({ queryKey: ["bin"] });
    void queries.invalidateQueries({ queryKey: ["jobs"] });
    void queries.invalidateQueries({ queryKey: ["transcripts", "counts"] });
    newLists();
  };
  return {
    running,
    outcome,
    start,
    stop: () => stopping.current?.abort(),
    close: () => setOutcome(undefined),
  };
}

function Progress({
  tried,
  all,
  onStop,
}: {
  readonly tried: number;
  readonly all: number;
  readonly onStop: () => void;
}) {
  const t = useText();
  const { language } = useLanguage();
  const numberOf = (count: number) => numberText(language, count);
  return (
    <p>
      <progress value={tried} max={all} aria-label={t(selectionText.bar)} />{" "}
      {t(selectionText.progress)(numberOf(tried), numberOf(all))}{" "}
      <Button look="quiet" onPress={onStop}>
        {t(selectionText.stop)}
      </Button>
    </p>
  );
}

/** What was done, what failed, and the way back from the bin. */
function OutcomeNote({
  outcome: { kind, done, failed, left },
  onUndo,
  onClose,
}: {
  readonly outcome: Outcome;
  readonly onUndo: () => void;
  readonly onClose: () => void;
}) {
  const t = useText();
  const first = failed.find(({ error }) => error instanceof Error)?.error;
  return (
    <div className="note" ref={focusTitleAfter}>
      <div>
        <p>{t(selectionText.done[kind])(done.length)}</p>
        {left.length > 0 && <p>{t(selectionText.stopped)(left.length)}</p>}
        {failed.length > 0 && (
          <>
            <p className="failed">{t(selectionText.failed)(failed.length)}</p>
            <ul>
              {failed.slice(0, namedMax).map(({ row }) => (
                <li key={row.id} dir="auto">
                  {row.subject || t(transcriptsText.untitled)}
                </li>
              ))}
              {failed.length > namedMax && <li>…</li>}
            </ul>
            {first instanceof Error && <ProblemNote error={first} />}
          </>
        )}
      </div>
      {kind === "binned" && done.length > 0 && (
        <Button onPress={onUndo}>{t(commonText.undo)}</Button>
      )}
      <Button look="quiet" onPress={onClose}>
        {t(commonText.close)}
      </Button>
    </div>
  );
}

function RemoveDialog({
  count,
  onClose,
  onRemove,
}: {
  readonly count: number;
  readonly onClose: () => void;
  readonly onRemove: () => void;
}) {
  const t = useText();
  const { data: days, error, refetch } = useQuery(binDaysQuery);
  return (
    <DialogBox title={t(selectionText.removeTitle)(count)} isOpen isDismissable onClose={onClose}>
      <p>
        {days === undefined && !error && t(commonText.loading)}
        {days === 0 && t(selectionText.removeForever)}
        {days !== undefined && days > 0 && t(selectionText.removeBin)(days)}
      </p>
      {error && days === undefined && <ProblemNote error={error} onRetry={() => void refetch()} />}
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="danger" isDisabled={days === undefined} onPress={onRemove}>
          {t(selectionText.remove)}
        </Button>
      </div>
    </DialogBox>
  );
}

function KeywordDialog({
  onClose,
  onAdd,
}: {
  readonly onClose: () => void;
  readonly onAdd: (keyword: string) => void;
}) {
  const t = useText();
  const [keyword, setKeyword] = useState("");
  const text = keyword.trim();
  return (
    <DialogBox title={t(selectionText.addKeyword)} isOpen isDismissable onClose={onClose}>
      <TextInput
        label={t(selectionText.keyword)}
        value={keyword}
        maxLength={metadataLimits.keywordChars}
        onChange={setKeyword}
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="primary" isDisabled={text === ""} onPress={() => onAdd(text)}>
          {t(selectionText.addKeyword)}
        </Button>
      </div>
    </DialogBox>
  );
}

const zipFormats = ["TEXT", "DOCX", "ODT", "SRT", "VTT", "JSON"] as const;

function ZipDialog({
  onClose,
  onDownload,
}: {
  readonly onClose: () => void;
  readonly onDownload: (format: ZipFormat) => void;
}) {
  const t = useText();
  const [format, setFormat] = useState<ZipFormat>("TEXT");
  return (
    <DialogBox title={t(selectionText.zip)} isOpen isDismissable onClose={onClose}>
      <Choice
        label={t(selectionText.format)}
        value={format}
        options={zipFormats.map((value) => ({ value, text: t(selectionText.formatOf[value]) }))}
        onChange={setFormat}
      />
      <div className="dialog-actions">
        <Button onPress={onClose}>{t(commonText.cancel)}</Button>
        <Button look="primary" onPress={() => onDownload(format)}>
          {t(selectionText.zip)}
        </Button>
      </div>
    </DialogBox>
  );
}
