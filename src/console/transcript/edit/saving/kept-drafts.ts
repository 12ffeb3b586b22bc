import type { Speakers } from "../editor/schema.ts";

/** A draft as this browser and the service keep it, as plain data. */
export interface KeptDraft {
  /** What encodeDraft() has written. */
  readonly draft: string;
  readonly speakers: Speakers;
  /** The id of the version on which the draft is saved. */
  readonly savedVersion: string;
  /** When the text was last changed, in milliseconds since 1970. */
  readonly changedAt: number;
  /** The page that has written it, in the histories of drafts; "" if this is not known. */
  readonly by: string;
}

/** The drafts of a user and a transcript, as plain data. This browser and the service keep both. */
export interface KeptDrafts {
  /** The draft that is edited; undefined if it was saved or discarded. */
  readonly current: KeptDraft | undefined;
  /** Drafts that were written apart from it, and wait until the user decides. */
  readonly others: readonly KeptDraft[];
  /** For each page that has changed the drafts, the number of its last change that is in them. */
  readonly history: DraftHistory;
}

export type DraftHistory = Readonly<Record<string, number>>;

/** Whether there is nothing to keep. */
export function isEmpty({ current, others }: KeptDrafts): boolean {
  return !current && others.length === 0;
}

/** Whether drafts were written with knowledge of all changes of others. */
export function includes({ history }: KeptDrafts, { history: other }: KeptDrafts): boolean {
  return Object.entries(other).every(([page, count]) => countOf(history, page) >= count);
}

function countOf(history: DraftHistory, page: string): number {
  return Object.hasOwn(history, page) ? (history[page] ?? 0) : 0;
}

/**
 * Joins drafts of two places. If neither has all changes of the other, the one that was changed
 * later is current, and the other one waits.
 */
export function mergedDrafts(one: KeptDrafts, other: KeptDrafts): KeptDrafts {
  if (includes(one, other)) return one;
  if (includes(other, one)) return other;
  const [later, earlier] = isLater(other.current, one.current) ? [other, one] : [one, other];
  return withOthers(later, earlier);
}

/**
 * Returns drafts that have those of another place among the ones that wait, except those that are
 * earlier states of the current one: `page` has written them itself.
 */
export function withOthers(drafts: KeptDrafts, added: KeptDrafts, page?: string): KeptDrafts {
  const history = { ...drafts.history };
  for (const [page, count] of Object.entries(added.history)) {
    history[page] = Math.max(countOf(history, page), count);
  }
  const { current = added.current } = drafts;
  const others: KeptDraft[] = [...drafts.others];
  for (const one of [added.current, ...added.others]) {
    const isKnown = [current, ...others].some((known) => known && one && isSame(known, one));
    if (one && !isKnown && (page === undefined || one.by !== page)) others.push(one);
  }
  return { current, others, history };
}

function isLater(one: KeptDraft | undefined, other: KeptDraft | undefined): boolean {
  return (one?.changedAt ?? 0) > (other?.changedAt ?? 0);
}

/** Whether two drafts have the same text. */
function isSame(one: KeptDraft, other: KeptDraft): boolean {
  const speakers = JSON.stringify(one.speakers) === JSON.stringify(other.speakers);
  return one.draft === other.draft && speakers;
}

/** Reads what this browser or the service has kept; undefined if it is damaged. */
export function readKeptDrafts(value: unknown): KeptDrafts | undefined {
  if (!isRecord(value)) return undefined;
  if ("draft" in value) return ofOneDraft(value);
  const { current, others, history } = value;
  if (!Array.isArray(others) || !isHistory(history)) return undefined;
  const read = others.map(readKept);
  const waiting = read.filter((one) => one !== undefined);
  const now = readKept(current);
  const isDamaged = waiting.length < read.length || (current !== undefined && !now);
  return isDamaged ? undefined : { current: now, others: waiting, history };
}

/** Reads one draft, as earlier versions of the console have kept it. */
function ofOneDraft(value: unknown): KeptDrafts | undefined {
  const current = readKept(value);
  return current && { current, others: [], history: { [`before-${current.changedAt}`]: 1 } };
}

function readKept(value: unknown): KeptDraft | undefined {
  if (!isRecord(value)) return undefined;
  const { draft, speakers, savedVersion, changedAt, by = "" } = value;
  const isWhole =
    typeof draft === "string" &&
    typeof savedVersion === "string" &&
    typeof changedAt === "number" &&
    typeof by === "string" &&
    isSpeakers(speakers);
  return isWhole ? { draft, speakers, savedVersion, changedAt, by } : undefined;
}

function isSpeakers(value: unknown): value is Speakers {
  return isRecord(value) && Object.values(value).every(isRecord);
}

function isHistory(value: unknown): value is DraftHistory {
  return isRecord(value) && Object.values(value).every((count) => typeof count === "number");
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
