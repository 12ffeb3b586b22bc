import { UtteranceCutter } from "../../src/audio/utterance-cutter.ts";
import type { VoiceActivity } from "../../src/audio/voice-activity.ts";
import { frameSamples, type Talk, truth } from "./talk.ts";

/** What was counted with a detector in one or several talks. */
export interface Counts {
  speechFrames: number;
  missedFrames: number;
  silenceFrames: number;
  falseFrames: number;
  utterances: number;
  lostUtterances: number;
  /** Utterances that are cut out of the talk and overlap no speech. */
  falseUtterances: number;
  seconds: number;
  cpuMs: number;
  /** How much later than the speech the first speech of the detector begins, in milliseconds. */
  readonly startErrorsMs: number[];
  /** How much later than the speech the last speech of the detector ends, in milliseconds. */
  readonly endErrorsMs: number[];
}

export function noCounts(): Counts {
  return {
    speechFrames: 0,
    missedFrames: 0,
    silenceFrames: 0,
    falseFrames: 0,
    utterances: 0,
    lostUtterances: 0,
    falseUtterances: 0,
    seconds: 0,
    cpuMs: 0,
    startErrorsMs: [],
    endErrorsMs: [],
  };
}

/** Returns the sum of counts. */
export function addCounts(all: readonly Counts[]): Counts {
  const sum = noCounts();
  for (const counts of all) {
    sum.speechFrames += counts.speechFrames;
    sum.missedFrames += counts.missedFrames;
    sum.silenceFrames += counts.silenceFrames;
    sum.falseFrames += counts.falseFrames;
    sum.utterances += counts.utterances;
    sum.lostUtterances += counts.lostUtterances;
    sum.falseUtterances += counts.falseUtterances;
    sum.seconds += counts.seconds;
    sum.cpuMs += counts.cpuMs;
    sum.startErrorsMs.push(...counts.startErrorsMs);
    sum.endErrorsMs.push(...counts.endErrorsMs);
  }
  return sum;
}

/** As in the service. */
const silenceMsMin = 500;
const utteranceMsMax = 20_000;
/** The parts of an utterance before speech and after it that the cutter adds. */
const leadFrames = 15;
const trailFrames = silenceMsMin / 10;

interface Found {
  readonly startFrame: number;
  endFrame: number;
}

/** Cuts a talk into utterances with this detector, and adds what is wrong to the counts. */
export function score(
  counts: Counts,
  talk: Talk,
  samples: Int16Array,
  activity: VoiceActivity,
): void {
  const detected = new Uint8Array(talk.frames.length);
  let at = 0;
  const watched: VoiceActivity = {
    name: activity.name,
    frameSamples: activity.frameSamples,
    delayFrames: activity.delayFrames,
    get learnedFrames() {
      return activity.learnedFrames;
    },
    isSpeech(frame) {
      const isSpeech = activity.isSpeech(frame);
      const [from, to] = [at / frameSamples, (at + frame.length) / frameSamples];
      if (isSpeech) detected.fill(1, Math.round(from), Math.round(to));
      at += frame.length;
      return isSpeech;
    },
    save: () => activity.save(),
    restore: (saved) => activity.restore(saved),
  };
  const cutter = new UtteranceCutter({ voiceActivity: watched, silenceMsMin, utteranceMsMax });
  const before = process.cpuUsage();
  const found: Found[] = [];
  const cuts = [...cutter.push(samples), ...cutter.endUtterance()];
  const { user, system } = process.cpuUsage(before);
  for (const cut of cuts) {
    if (cut.kind === "begin") {
      found.push({ startFrame: cut.startSample / frameSamples, endFrame: talk.frames.length });
    }
    const last = found.at(-1);
    if (cut.kind === "end" && last) last.endFrame = cut.endSample / frameSamples;
  }
  for (const [frame, isSpeech] of detected.entries()) {
    if (talk.frames[frame] === truth.speech) {
      counts.speechFrames += 1;
      counts.missedFrames += 1 - isSpeech;
    } else if (talk.frames[frame] === truth.silence) {
      counts.silenceFrames += 1;
      counts.falseFrames += isSpeech;
    }
  }
  counts.seconds += samples.length / 16_000;
  counts.cpuMs += (user + system) / 1000;
  scoreUtterances(counts, talk, found);
}

function scoreUtterances(counts: Counts, talk: Talk, found: readonly Found[]): void {
  const used = new Set<Found>();
  for (const { startFrame, endFrame } of talk.spans) {
    const over = found.filter((each) => each.startFrame < endFrame && each.endFrame > startFrame);
    for (const each of over) used.add(each);
    counts.utterances += 1;
    const [first, last] = [over[0], over.at(-1)];
    if (!first || !last) counts.lostUtterances += 1;
    else {
      counts.startErrorsMs.push(10 * (first.startFrame + leadFrames - startFrame));
      counts.endErrorsMs.push(10 * (last.endFrame - trailFrames - endFrame));
    }
  }
  counts.falseUtterances += found.filter((each) => !used.has(each)).length;
}
