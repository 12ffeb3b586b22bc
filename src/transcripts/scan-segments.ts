import { transcriptLimits } from "./check-transcript.ts";
import { JsonCopier, Unusual } from "./json-copier.ts";

/**
 * Reads the JSON of a list of segments, which is UTF-8, checks every rule that check-transcript.ts
 * has for it, and answers it in canonical form, as packSegments() keeps it: in one pass over the
 * bytes, without an object for each word (the general way takes ten times as long). It knows what
 * clients write: names in lowerCamelCase in any order, no null, times that are not negative.
 * undefined for everything else, and for whatever breaks a rule: then it is for the general way to
 * read it, or to say what is wrong.
 */
export function scanSegments(json: Uint8Array): Buffer | undefined {
  try {
    return new SegmentsScan(json).list();
  } catch (error) {
    if (error instanceof Unusual) return undefined;
    throw error;
  }
}

const quote = 0x22;
const comma = 0x2c;
const openList = 0x5b;
const closeList = 0x5d;
const openObject = 0x7b;
const closeObject = 0x7d;

const keyOf = (name: string): Buffer => Buffer.from(`${name}"`);
const startTimeKey = keyOf("startTime");
const endTimeKey = keyOf("endTime");
const wordsKey = keyOf("words");
const wordKey = keyOf("word");
const speakerIdKey = keyOf("speakerId");

const startTimeText = Buffer.from('{"startTime":"');
const endTimeText = Buffer.from('s","endTime":"');
const wordText = Buffer.from('s","word":"');
const wordsText = Buffer.from('s","words":[');
const speakerIdText = Buffer.from('],"speakerId":"');
const endText = Buffer.from('"}');

const limits = transcriptLimits;
const nanosMax = limits.hours * 3600 * 1e9;
/** What is not given. */
const none = -1;

class SegmentsScan {
  readonly #json: JsonCopier;
  #segments = 0;
  #words = 0;

  constructor(json: Uint8Array) {
    // The least that a segment or a word takes becomes less than twice as long.
    this.#json = new JsonCopier(json, json.length * 2 + 64);
  }

  list(): Buffer {
    const json = this.#json;
    json.expect(openList);
    json.put(openList);
    let previousStart = 0;
    if (!json.takes(closeList)) {
      do {
        if (this.#segments > 0) json.put(comma);
        this.#segments += 1;
        if (this.#segments > limits.segments) throw new Unusual();
        previousStart = this.#segment(previousStart);
      } while (json.takes(comma));
      json.expect(closeList);
    }
    json.put(closeList);
    return json.end();
  }

  /**
   * Its start. The words are read when the times are known, whatever stands first; so is the
   * speaker, who is written last.
   */
  #segment(previousStart: number): number {
    const json = this.#json;
    let start = none;
    let end = none;
    let wordsAt = none;
    let speakerAt = none;
    let hasWords = false;
    json.expect(openObject);
    do {
      json.expect(quote);
      if (start === none && json.takesKey(startTimeKey)) start = json.time();
      else if (end === none && json.takesKey(endTimeKey)) end = json.time();
      else if (wordsAt === none && json.takesKey(wordsKey)) {
        wordsAt = json.at;
        hasWords = start !== none && end !== none;
        if (hasWords) this.#timedWords(start, end);
        else json.skipList();
      } else if (speakerAt === none && json.takesKey(speakerIdKey)) {
        speakerAt = json.at;
        json.skipString();
      } else throw new Unusual();
    } while (json.takes(comma));
    json.expect(closeObject);
    if (start < previousStart || end < start || end > nanosMax) throw new Unusual();
    const behind = json.at;
    if (!hasWords) {
      json.at = wordsAt;
      this.#timedWords(start, end);
    }
    json.copy(speakerIdText);
    if (speakerAt !== none) {
      json.at = speakerAt;
      json.string(limits.speakerIdChars);
    }
    json.copy(endText);
    json.at = behind;
    return start;
  }

  /** Writes a segment up to the end of its words, which begin at #at; none: it has no words. */
  #timedWords(start: number, end: number): void {
    const json = this.#json;
    json.copy(startTimeText);
    json.putTime(start);
    json.copy(endTimeText);
    json.putTime(end);
    json.copy(wordsText);
    if (json.at === none) return;
    json.expect(openList);
    if (json.takes(closeList)) return;
    let previousStart = start;
    for (let isFirst = true; isFirst || json.takes(comma); isFirst = false) {
      if (!isFirst) json.put(comma);
      previousStart = this.#word(previousStart, end);
    }
    json.expect(closeList);
  }

  #word(startMin: number, endMax: number): number {
    const json = this.#json;
    let start = none;
    let end = none;
    let wordAt = none;
    this.#words += 1;
    if (this.#words > limits.words) throw new Unusual();
    json.expect(openObject);
    do {
      json.expect(quote);
      if (start === none && json.takesKey(startTimeKey)) start = json.time();
      else if (end === none && json.takesKey(endTimeKey)) end = json.time();
      else if (wordAt === none && json.takesKey(wordKey)) {
        wordAt = json.at;
        json.skipString();
      } else throw new Unusual();
    } while (json.takes(comma));
    json.expect(closeObject);
    if (start < startMin || end < start || end > endMax) throw new Unusual();
    json.copy(startTimeText);
    json.putTime(start);
    json.copy(endTimeText);
    json.putTime(end);
    json.copy(wordText);
    if (wordAt !== none) {
      const behind = json.at;
      json.at = wordAt;
      json.string(limits.wordChars);
      json.at = behind;
    }
    json.copy(endText);
    return start;
  }
}
