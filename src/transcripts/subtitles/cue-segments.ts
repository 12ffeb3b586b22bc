import type { SpokenSegment, SpokenWord } from "../spoken.ts";
import type { CueSpan, ReadCue } from "./read-cue.ts";
import { joinsUnspaced } from "../../cues/unspaced.ts";

/** A segment of an imported file, whose speaker has no id yet. */
export interface VoicedSegment extends Omit<SpokenSegment, "speakerId"> {
  /** The name of the speaker; empty if the file does not name one. */
  readonly voice: string;
}

/**
 * Converts cues to segments, in order: one for each cue with text, or for each voice in a cue.
 * Words are separated by single spaces. The last word of a cue also ends with a space if another
 * cue follows, so that all words joined are the text. Times are those in the file; words between
 * two known times share that time in proportion to their lengths.
 */
export function segmentsOfCues(cues: readonly ReadCue[], wordCharsMax: number): VoicedSegment[] {
  const texts = cues
    .map((cue) => ({ cue, words: wordsOf(cue.spans, wordCharsMax) }))
    .filter(({ words }) => words.length > 0);
  return texts.flatMap(({ cue, words }, index) => {
    const last = words.at(-1);
    const next = texts[index + 1]?.words[0]?.text;
    if (last) last.text = endOf(last.text.trimEnd(), next);
    return voicedSegments(timed(words, cue));
  });
}

function endOf(text: string, next: string | undefined): string {
  return next === undefined || joinsUnspaced(text, next) ? text : `${text} `;
}

interface Word {
  text: string;
  readonly voice: string;
  readonly fromMs: number | undefined;
}

const unbreakable = String.raw`(?:[^\s]|[\u00a0\u2007\u202f])`;
const controls = /[^\P{Cc}\s]/gu;

function wordsOf(spans: readonly CueSpan[], wordCharsMax: number): Word[] {
  const word = new RegExp(String.raw`(\s*)(${unbreakable}{1,${wordCharsMax - 1}})(\s*)`, "gu");
  const words: Word[] = [];
  for (const { text, voice, fromMs } of spans) {
    const clean = text.replaceAll(controls, "");
    const before = words.at(-1);
    if (before && /^\s/.test(clean)) before.text = spaced(before.text);
    if (clean.trim() === "") continue;
    let isFirst = true;
    for (const [, , text = "", space] of clean.matchAll(word)) {
      const previous = words.at(-1);
      if (previous?.text.endsWith("\n") === true) {
        previous.text = endOf(previous.text.trimEnd(), text);
      }
      const tail = space === "" ? "" : space?.includes("\n") === true ? "\n" : " ";
      words.push({ text: text + tail, voice, fromMs: isFirst ? fromMs : undefined });
      isFirst = false;
    }
  }
  return words;
}

function spaced(text: string): string {
  return /\s$/.test(text) ? text : `${text} `;
}

interface TimedWord extends SpokenWord {
  readonly voice: string;
}

/**
 * Sets the times of words: those between two known times share that time in proportion to their
 * lengths.
 */
function timed(words: readonly Word[], { startMs, endMs }: ReadCue): TimedWord[] {
  const found: TimedWord[][] = [];
  let from = 0;
  let fromMs = startMs;
  while (from < words.length) {
    const least = fromMs;
    const isKnown = (ms: number | undefined) => ms !== undefined && ms >= least && ms <= endMs;
    if (isKnown(words[from]?.fromMs)) fromMs = words[from]?.fromMs ?? fromMs;
    let to = from + 1;
    while (to < words.length && !isKnown(words[to]?.fromMs)) to += 1;
    const toMs = words[to]?.fromMs ?? endMs;
    found.push(shared(words.slice(from, to), fromMs, toMs));
    from = to;
    fromMs = toMs;
  }
  return found.flat();
}

function shared(words: readonly Word[], fromMs: number, toMs: number): TimedWord[] {
  const chars = words.reduce((sum, { text }) => sum + text.length, 0);
  const timeAt = (at: number) => fromMs + Math.round(((toMs - fromMs) * at) / chars);
  let at = 0;
  return words.map(({ text, voice }) => {
    const startMs = timeAt(at);
    at += text.length;
    return { text, voice, startMs, endMs: timeAt(at) };
  });
}

function voicedSegments(words: readonly TimedWord[]): VoicedSegment[] {
  const groups: TimedWord[][] = [];
  for (const word of words) {
    const group = groups.at(-1);
    if (group && group[0]?.voice === word.voice) group.push(word);
    else groups.push([word]);
  }
  return groups.map((group) => ({
    startMs: group[0]?.startMs ?? 0,
    endMs: group.at(-1)?.endMs ?? 0,
    voice: group[0]?.voice ?? "",
    words: group.map(({ text, startMs, endMs }) => ({ text, startMs, endMs })),
  }));
}
