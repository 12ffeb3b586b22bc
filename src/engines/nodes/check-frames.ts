import { type ChildSession, unreportedSecondsMax } from "../pool/child-session.ts";
import type { Frame, FrameKind } from "../protocol/engine-frames.ts";
import { alignedWordsMax } from "../protocol/alignment.ts";
import { checkedAbsence } from "./check-absence.ts";
import { checkCheckpoint } from "./check-checkpoint.ts";
import {
  checkList,
  checkNumber,
  checkWhole,
  isNumber,
  isObject,
  isOneOf,
  isText,
  parseJson,
  shown,
  type Unchecked,
} from "./unchecked.ts";

/** The error for a frame that an engine node may not send. */
export class BadFrame extends Error {
  /** The session of the frame; 0: none. */
  readonly session: number;

  constructor(message: string, session: number, options?: ErrorOptions) {
    super(message, options);
    this.session = session;
  }
}

/** The limits of what is recognized. An utterance has at most a minute of speech. */
const lettersMax = 50_000;
const wordsMax = 5_000;
const alternativesMax = 30;
const payloadBytesMax = 4 << 20;
const turnsMax = 100_000;
/** A result may end this long after the audio that was sent: the last frame of an engine. */
const beyondMsMax = 2_000;

const ofSessions: ReadonlySet<FrameKind> = new Set([
  "interim",
  "speechEvent",
  "committed",
  "speakers",
  "aligned",
  "received",
  "progress",
  "done",
  "error",
  "outputs",
]);

/**
 * Checks the frames that one process of an engine node sends, before anything is done with them:
 * their form, that numbers are numbers, and that results neither come twice, nor out of order, nor
 * for audio that was not sent.
 */
export class FrameCheck {
  /** What each session has committed so far. */
  readonly #commits = new WeakMap<ChildSession, LastCommit>();

  /** Returns the frame with its parsed payload. Throws BadFrame. */
  check(frame: Frame, session: ChildSession | undefined): Frame {
    try {
      return this.#checked(frame, session);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      throw new BadFrame(`${frame.kind}: ${problem}`, frame.session, { cause: error });
    }
  }

  #checked(frame: Frame, session: ChildSession | undefined): Frame {
    const { kind, payload } = frame;
    if (kind === "load") return { ...frame, parsed: loadOf(parse(payload)) };
    if (kind === "working") return frame;
    if (!ofSessions.has(kind)) throw new Error("an engine node sends no such frame");
    // Frames may still arrive for a session that was left.
    if (!session || kind === "outputs") return frame;
    if (kind === "done") {
      checkEnd(session);
      return frame;
    }
    const parsed = parse(payload);
    this.#checkPayload(kind, parsed, session);
    return { ...frame, parsed };
  }

  #checkPayload(kind: FrameKind, parsed: unknown, session: ChildSession): void {
    if (kind === "interim" || kind === "speechEvent") checkRecognition(parsed, session);
    else if (kind === "committed") this.#checkCommit(parsed, session);
    else if (kind === "received") checkWhole(parsed, "received", session.inFlightSamples);
    else if (kind === "progress") checkWhole(parsed, "progress", session.endSamples);
    else if (kind === "aligned") checkAligned(parsed);
    else if (kind === "speakers") checkSpeakers(parsed);
    else checkError(parsed);
  }

  #checkCommit(parsed: unknown, session: ChildSession): void {
    if (!isObject(parsed)) throw new Error("a commit is not an object");
    const last = this.#commits.get(session) ?? { ...session.startPosition, finalMs: -1 };
    const { checkpoint, final } = parsed;
    if (!isObject(checkpoint)) throw new Error("a commit has no checkpoint");
    const position = checkPosition(checkpoint, last, session);
    checkCheckpoint(checkpoint, position.samples, session.client.sampleRateHertz);
    let { finalMs } = last;
    if (final !== undefined) {
      finalMs = checkRecognition(final, session);
      if (isObject(final) && final["isFinal"] !== true) throw new Error("a final is not final");
      if (finalMs <= last.finalMs) {
        throw new Error(`a final at ${finalMs} ms comes after one at ${last.finalMs} ms`);
      }
    }
    this.#commits.set(session, { ...position, finalMs });
  }
}

interface LastCommit {
  readonly samples: number;
  readonly flushMarkers: number;
  readonly finalMs: number;
}

function parse(payload: Buffer): unknown {
  if (payload.length <= payloadBytesMax) return parseJson(payload);
  throw new Error(
    `the payload has ${payload.length} bytes; at most ${payloadBytesMax} are allowed`,
  );
}

/** Checks that a session that is done has had its whole input, or its words would be lost. */
function checkEnd({ isInputEnded, inFlightSamples, client }: ChildSession): void {
  if (!isInputEnded) throw new Error("the input of the session has not ended");
  if (inFlightSamples <= unreportedSecondsMax * client.sampleRateHertz) return;
  throw new Error(`${inFlightSamples} samples of the session were not received`);
}

/** Checks a result or an event. Returns the end of its audio. */
function checkRecognition(value: unknown, session: ChildSession): number {
  if (!isObject(value) || typeof value["isFinal"] !== "boolean")
    throw new Error("it is not a result");
  const endMsMax = (1000 * session.endSamples) / session.client.sampleRateHertz + beyondMsMax;
  const endMs = checkNumber(value["audioEndMs"], "audioEndMs", endMsMax);
  const { alternatives, speechEvent, effort } = value;
  if (!isOneOf(speechEvent, [undefined, "start", "end", "flushed"])) {
    throw new Error(`there is no speech event ${shown(speechEvent)}`);
  }
  if (!isOneOf(effort, [undefined, "quick", "full"])) {
    throw new Error(`there is no effort ${shown(effort)}`);
  }
  for (const each of checkList(alternatives, "alternatives", alternativesMax)) {
    if (!isObject(each) || !isText(each["text"], lettersMax)) {
      throw new Error(`an alternative has no text of at most ${lettersMax} letters`);
    }
    checkShare(each["confidence"], "confidence");
    for (const word of checkList(each["words"], "words", wordsMax)) checkWord(word, endMsMax);
  }
  return endMs;
}

function checkWord(word: unknown, endMsMax: number): void {
  if (!isObject(word) || !isText(word["text"], lettersMax)) throw new Error("a word has no text");
  const endMs = checkNumber(word["endMs"], "endMs", endMsMax);
  checkNumber(word["startMs"], "startMs", endMs);
  checkShare(word["confidence"], "confidence");
}

function checkPosition(checkpoint: Unchecked, last: LastCommit, session: ChildSession) {
  const { position } = checkpoint;
  if (!isObject(position)) throw new Error("a checkpoint has no position");
  const samples = checkWhole(position["samples"], "position.samples", session.endSamples);
  const flushMarkers = checkWhole(
    position["flushMarkers"],
    "position.flushMarkers",
    session.endMarkers,
  );
  if (samples < last.samples || flushMarkers < last.flushMarkers) {
    throw new Error(`position ${samples} comes after ${last.samples}`);
  }
  return { samples, flushMarkers };
}

function checkAligned(value: unknown): void {
  for (const word of checkList(value, "aligned", alignedWordsMax)) {
    if (!isObject(word)) throw new Error("a word is not an object");
    const endMs = checkNumber(word["endMs"], "endMs", 1e9);
    checkNumber(word["startMs"], "startMs", endMs);
    checkNumber(word["score"], "score", 1);
  }
}

function checkSpeakers(value: unknown): void {
  if (!isObject(value)) throw new Error("it has no speakers");
  for (const turn of checkList(value["turns"], "turns", turnsMax)) {
    if (!isObject(turn)) throw new Error("a turn is not an object");
    const endMs = checkNumber(turn["endMs"], "endMs", 1e9);
    checkNumber(turn["startMs"], "startMs", endMs);
    checkNumber(turn["speaker"], "speaker", 1e6);
  }
  for (const each of checkList(value["speakers"], "speakers", 1_000)) {
    if (!isObject(each)) throw new Error("a speaker is not an object");
    checkNumber(each["speaker"], "speaker", 1e6);
    checkNumber(each["seconds"], "seconds", 1e9);
    if (!checkList(each["embedding"], "embedding", 10_000).every(isNumber)) {
      throw new Error("an embedding must be numbers");
    }
  }
}

function checkError(value: unknown): void {
  if (!isObject(value) || !isText(value["message"], lettersMax)) {
    throw new Error("the message of an error is not a text");
  }
  const { stack, absence, answer } = value;
  if (stack !== undefined && !isText(stack, lettersMax)) throw new Error("a stack is not a text");
  if (answer !== undefined && !isText(answer, lettersMax))
    throw new Error("an answer is not a text");
  checkedAbsence(absence);
}

function loadOf(value: unknown): unknown {
  if (!isObject(value)) throw new Error("it is not a report");
  checkedAbsence(value["absence"]);
  checkNumber(value["seconds"], "seconds", 1e6);
  checkNumber(value["liveLateMs"], "liveLateMs", 1e9);
  for (const pair of checkList(value["live"], "live", 100_000)) {
    const [session, demand, ...rest] = checkList(pair, "live", 2);
    checkWhole(session, "live", 0xffff_ffff);
    checkNumber(demand, "live", 1e6);
    if (rest.length > 0) throw new Error("live has more than pairs");
  }
  for (const session of checkList(value["busy"] ?? [], "busy", 100_000)) {
    checkWhole(session, "busy", 0xffff_ffff);
  }
  const { work, fullWork } = value;
  if (!isObject(work)) throw new Error("it has no work");
  for (const each of [work["live"], work["short"], work["job"], fullWork]) {
    if (!isObject(each)) throw new Error("work is not an object");
    checkNumber(each["cpuSeconds"], "cpuSeconds", 1e9);
    checkNumber(each["audioSeconds"], "audioSeconds", 1e9);
  }
  return value;
}

function checkShare(value: unknown, name: string): void {
  if (value !== undefined) checkNumber(value, name, 1);
}
